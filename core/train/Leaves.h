// Leaves: the State's parameters as autograd's leaves, and with their gradients and moments in groups as the optimizers take them. Made anew
// when the State's buffers or shape change. Owned by a Program; trainer thread.
#pragma once
#include "core/train/Optimizer.h"

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
    std::vector<at::Tensor> m_firstMoments, m_secondMoments, m_firstScales, m_secondScales;
    std::vector<bool> m_decays;
};

}  // namespace stepscope
