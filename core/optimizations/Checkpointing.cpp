// checkpointing: which activations are computed again in backward instead of being kept.
#include "core/events/ConfigKeys.h"
#include "core/optimizations/Optimization.h"

namespace stepscope {
namespace {

RecomputePlan planFor(const std::string& name) {
    return {.everyKthBlock = recomputedEvery(name), .attentionOnly = name == "selective"};
}

}  // namespace

Optimization checkpointing() {
    return {.id = "checkpointing",
            .title = "Activation checkpointing",
            .group = SwitchGroup::Memory,
            .why =
                "Keeps only the input of a block (of every one, or of one in 2 to 12) and runs the block again when backward needs what was inside "
                "(Chen et al. 2016). "
                "\"selective\" does so for attention alone, whose table of scores is the largest part at long contexts.",
            .cost = "Time: each recomputed block runs its forward pass twice. The gradients are the same.",
            .reported = "long contexts fit",
            .values = Choices{{"off", "every-block", "every-2nd", "every-3rd", "every-4th", "every-5th", "every-6th", "every-7th", "every-8th",
                               "every-9th", "every-10th", "every-11th", "every-12th", "selective"}},
            .byDefault = "off",
            .install = [](ProgramBuilder& builder, const Value& value) { builder.setRecompute(planFor(word(value))); }};
}

}  // namespace stepscope
