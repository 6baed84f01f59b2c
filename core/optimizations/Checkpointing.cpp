// checkpointing: which activations are computed again in backward instead of being kept.
#include "core/optimizations/Optimization.h"

namespace stepscope {
namespace {

RecomputePlan planFor(const std::string& name) {
    if (name == "selective") return {.everyKthBlock = 0, .attentionOnly = true};
    return {.everyKthBlock = name == "every-block" ? 1 : name == "every-2nd" ? 2 : name == "every-3rd" ? 3 : name == "every-4th" ? 4 : 0, .attentionOnly = false};
}

}  // namespace

Optimization checkpointing() {
    return {.id = "checkpointing",
            .title = "Activation checkpointing",
            .group = SwitchGroup::Memory,
            .why = "Keeps only the input of a block (of every one, or of every k-th) and runs the block again when backward needs what was inside (Chen et al. 2016). "
                   "\"selective\" does so for attention alone, whose table of scores is the largest part at long contexts.",
            .cost = "Time: each recomputed block runs its forward pass twice. The gradients are the same.",
            .reported = "long contexts fit",
            .values = Choices{{"off", "every-block", "every-2nd", "every-3rd", "every-4th", "selective"}},
            .byDefault = "off",
            .install = [](ProgramBuilder& builder, const Value& value) { builder.setRecompute(planFor(word(value))); }};
}

}  // namespace stepscope
