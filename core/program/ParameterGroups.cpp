#include "core/program/ParameterGroups.h"

#include <algorithm>

#include "core/base/Check.h"
#include "core/state/EightBitMoments.h"

namespace stepscope {
namespace {

std::size_t groupOf(const ParameterSlot& slot) {
    return slot.decays ? 0 : 1;
}

}  // namespace

std::vector<ParameterGroup> parameterGroups(const TrainState& state) {
    std::vector<ParameterGroup> groups(2);
    groups[0].decays = true;
    const auto blocks = blockOffsets(state.layout);
    for (std::size_t i = 0; i < state.layout.slots().size(); ++i) {
        const ParameterSlot& slot = state.layout.slots()[i];
        ParameterGroup& group = groups[groupOf(slot)];
        group.parameters.push_back(ParameterLayout::view(state.weights, slot));
        if (!state.share.whole()) continue;
        group.firstMoments.push_back(ParameterLayout::view(state.firstMoment, slot));
        group.secondMoments.push_back(ParameterLayout::view(state.secondMoment, slot));
        if (!state.eightBit()) continue;
        group.firstScales.push_back(state.firstScales.narrow(0, blocks[i], blocks[i + 1] - blocks[i]));
        group.secondScales.push_back(state.secondScales.narrow(0, blocks[i], blocks[i + 1] - blocks[i]));
    }
    return groups;
}

std::vector<ParameterGroup> partGroups(const TrainState& state, const std::vector<at::Tensor>& gradients) {
    SS_CHECK(gradients.size() == state.layout.slots().size() && !state.eightBit());
    std::vector<ParameterGroup> groups(2);
    groups[0].decays = true;
    const MomentRange held = momentRange(state.layout, state.share);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        const ParameterSlot& slot = state.layout.slots()[i];
        const std::int64_t begin = std::max(held.begin, slot.offset), count = std::min(held.end, slot.offset + slot.count) - begin;
        if (count <= 0) continue;
        ParameterGroup& group = groups[groupOf(slot)];
        group.parameters.push_back(state.weights.narrow(0, begin, count));
        group.gradients.push_back(gradients[i].view({-1}).narrow(0, begin - slot.offset, count));
        group.firstMoments.push_back(state.firstMoment.narrow(0, begin - held.begin, count));
        group.secondMoments.push_back(state.secondMoment.narrow(0, begin - held.begin, count));
    }
    return groups;
}

std::vector<ParameterGroup> withGradients(std::vector<ParameterGroup> groups, const ParameterLayout& layout,
                                          const std::vector<at::Tensor>& gradients) {
    SS_CHECK(gradients.size() == layout.slots().size());
    for (std::size_t i = 0; i < gradients.size(); ++i) groups[groupOf(layout.slots()[i])].gradients.push_back(gradients[i]);
    return groups;
}

}  // namespace stepscope
