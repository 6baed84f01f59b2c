// Leaves: the State's parameters as autograd's leaves, and with their gradients and moments in groups as the optimizers take them. Made anew
// when the State's buffers or shape change. Owned by a Program; trainer thread.
#pragma once
#include "core/train/ParameterGroups.h"

namespace stepscope {

class Leaves {
public:
    // True when the leaves are new ones: gradients and everything made from them are gone.
    bool bind(const TrainState& state);

    const WeightsView& weights() const { return m_weights; }
    enum class Clear { ToNone, ToZero };
    void clearGradients(Clear how);
    // Two groups: what decays, then what does not.
    std::vector<ParameterGroup> groups() const;

private:
    const void *m_boundTo = nullptr, *m_boundMoments = nullptr;
    GptConfig m_boundConfig;
    WeightsView m_weights;
    ParameterLayout m_layout;
    std::vector<ParameterGroup> m_groups;  // without gradients: those are the leaves'
};

}  // namespace stepscope
