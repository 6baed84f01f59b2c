#include "core/program/ParameterGroups.h"

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
        group.firstMoments.push_back(ParameterLayout::view(state.firstMoment, slot));
        group.secondMoments.push_back(ParameterLayout::view(state.secondMoment, slot));
        if (!state.eightBit()) continue;
        group.firstScales.push_back(state.firstScales.narrow(0, blocks[i], blocks[i + 1] - blocks[i]));
        group.secondScales.push_back(state.secondScales.narrow(0, blocks[i], blocks[i + 1] - blocks[i]));
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
