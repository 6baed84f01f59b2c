// See Leaves.h.
#include "core/train/Leaves.h"

#include "core/train/EightBitMoments.h"

namespace stepscope {

bool Leaves::bind(const TrainState& state) {
    if (m_boundTo == state.weights.data_ptr() && m_boundMoments == state.firstMoment.data_ptr() && m_boundConfig == state.config) return false;
    m_weights = WeightsView::over(state.weights, state.layout, state.config, /*asLeaves=*/true);
    m_firstMoments.clear();
    m_secondMoments.clear();
    m_firstScales.clear();
    m_secondScales.clear();
    m_decays.clear();
    const auto blocks = blockOffsets(state.layout);
    for (std::size_t i = 0; i < state.layout.slots().size(); ++i) {
        const auto& slot = state.layout.slots()[i];
        if (state.eightBit()) {
            m_firstScales.push_back(state.firstScales.narrow(0, blocks[i], blocks[i + 1] - blocks[i]));
            m_secondScales.push_back(state.secondScales.narrow(0, blocks[i], blocks[i + 1] - blocks[i]));
        }
        m_firstMoments.push_back(ParameterLayout::view(state.firstMoment, slot));
        m_secondMoments.push_back(ParameterLayout::view(state.secondMoment, slot));
        m_decays.push_back(slot.decays);
    }
    m_boundTo = state.weights.data_ptr();
    m_boundMoments = state.firstMoment.data_ptr();
    m_boundConfig = state.config;
    return true;
}

void Leaves::clearGradients(Clear how) {
    for (auto& leaf : m_weights.all) {
        if (how == Clear::ToZero && leaf.grad().defined()) leaf.mutable_grad().zero_();
        else leaf.mutable_grad() = at::Tensor();
    }
}

std::vector<ParameterGroup> Leaves::groups() const {
    std::vector<ParameterGroup> both(2);
    both[0].decays = true;
    for (std::size_t i = 0; i < m_weights.all.size(); ++i) {
        ParameterGroup& group = both[m_decays[i] ? 0 : 1];
        group.parameters.push_back(m_weights.all[i].detach());
        group.gradients.push_back(m_weights.all[i].grad());
        group.firstMoments.push_back(m_firstMoments[i]);
        group.secondMoments.push_back(m_secondMoments[i]);
        if (m_firstScales.empty()) continue;
        group.firstScales.push_back(m_firstScales[i]);
        group.secondScales.push_back(m_secondScales[i]);
    }
    return both;
}

}  // namespace stepscope
