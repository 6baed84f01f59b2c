#include "core/train/Leaves.h"

namespace stepscope {

bool Leaves::bind(const TrainState& state) {
    if (m_boundTo == state.weights.data_ptr() && m_boundMoments == state.firstMoment.data_ptr() && m_boundConfig == state.config) return false;
    m_weights = WeightsView::over(state.weights, state.layout, state.config, /*asLeaves=*/true);
    m_groups = parameterGroups(state);
    m_layout = state.layout;
    m_boundTo = state.weights.data_ptr();
    m_boundMoments = state.firstMoment.data_ptr();
    m_boundConfig = state.config;
    return true;
}

void Leaves::clearGradients(Clear how) {
    for (auto& leaf : m_weights.all) {
        if (how == Clear::ToZero && leaf.grad().defined())
            leaf.mutable_grad().zero_();
        else
            leaf.mutable_grad() = at::Tensor();
    }
}

std::vector<ParameterGroup> Leaves::groups() const {
    std::vector<at::Tensor> gradients;
    for (const auto& leaf : m_weights.all) gradients.push_back(leaf.grad());
    return withGradients(m_groups, m_layout, gradients);
}

}  // namespace stepscope
