#include "core/program/LowWeights.h"

#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

namespace stepscope {
namespace {

constexpr std::int64_t kAlignment = 64;  // elements, so that each copy begins a cache line and an access of the widest kind

// The embedding and the head are read in float32 too.
bool isCopied(const ParameterSlot& slot) {
    return slot.inProduct;
}

}  // namespace

bool LowWeights::holds(const TrainState& state) const {
    return !m_copies.empty() && m_copied == state.revision();
}

bool LowWeights::bind(const TrainState& state) {
    if (holds(state)) return false;
    m_copied = {};
    const auto& slots = state.layout.slots();
    if (m_copies.empty() || m_placedFor != state.config || m_placedOn != state.weights.device()) {
        m_copies.assign(slots.size(), {});
        m_decays.clear();
        std::vector<std::int64_t> offsets;
        std::int64_t size = 0;
        for (const auto& slot : slots) {
            m_decays.push_back(slot.decays);
            offsets.push_back(size);
            if (isCopied(slot)) size += (slot.count + kAlignment - 1) / kAlignment * kAlignment;
        }
        const at::Tensor all = at::empty({size}, state.weights.options().dtype(at::kBFloat16));
        for (std::size_t i = 0; i < slots.size(); ++i)
            if (isCopied(slots[i])) m_copies[i] = all.narrow(0, offsets[i], slots[i].count).view(slots[i].shape);
        m_placedFor = state.config;
        m_placedOn = state.weights.device();
    }
    const c10::NoGradGuard none;
    for (std::size_t i = 0; i < slots.size(); ++i)
        if (m_copies[i].defined()) m_copies[i].copy_(ParameterLayout::view(state.weights, slots[i]));
    m_copied = state.revision();
    return true;
}

WeightsView LowWeights::over(WeightsView weights) const {
    for (auto& block : weights.blocks)
        for (Weight* const weight : block.linears())
            for (std::size_t i = 0; weight->defined() && i < weights.all.size(); ++i)
                if (m_copies[i].defined() && weights.all[i].is_same(weight->full)) weight->low = m_copies[i];
    return weights;
}

void LowWeights::addTo(std::vector<ParameterGroup>& groups) const {
    for (std::size_t i = 0; i < m_copies.size(); ++i)
        for (auto& group : groups)
            if (group.decays == m_decays[i]) group.lowWeights.push_back(m_copies[i]);
}

}  // namespace stepscope
