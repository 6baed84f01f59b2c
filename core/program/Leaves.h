// Leaves: the State's parameters as autograd's leaves, and with their gradients and moments in groups as the optimizers take them. Made anew
// when the State's buffers or shape change. Owned by a Program; trainer thread.
#pragma once
#include <functional>

#include "core/program/ParameterGroups.h"

namespace stepscope {

class Leaves {
public:
    // True when the leaves are new ones: gradients and everything made from them are gone.
    bool bind(const TrainState& state);

    // complete(slot) when backward has added the last part of a parameter's gradient (a tied table's comes from two places), on the thread that does;
    // empty = nobody is told.
    void onGradient(std::function<void(std::size_t slot)> complete);

    const WeightsView& weights() const { return m_weights; }
    enum class Clear { ToNone, ToZero };
    void clearGradients(Clear how);
    // Two groups: what decays, then what does not.
    std::vector<ParameterGroup> groups() const;
    std::vector<at::Tensor> gradients() const;  // one a slot in the layout's order

private:
    void hook();

    const void *m_boundTo = nullptr, *m_boundMoments = nullptr;
    GptConfig m_boundConfig;
    WeightsView m_weights;
    ParameterLayout m_layout;
    std::function<void(std::size_t)> m_complete;
    std::vector<ParameterGroup> m_groups;  // without gradients: those are the leaves'
};

}  // namespace stepscope
