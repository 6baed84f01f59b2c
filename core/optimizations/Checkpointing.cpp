// checkpointing: which activations are computed again in backward instead of being kept.
#include <charconv>
#include <string_view>

#include "core/optimizations/registry/Switch.h"

namespace stepscope {
namespace {

RecomputePlan planFor(const std::string& name) {
    RecomputePlan plan{.everyKthBlock = name == "every-block" ? 1 : 0, .attentionOnly = name == "selective"};
    constexpr std::string_view prefix = "every-";  // every-2nd, every-12th
    if (name.starts_with(prefix)) std::from_chars(name.data() + prefix.size(), name.data() + name.size(), plan.everyKthBlock);
    return plan;
}

}  // namespace

Switch checkpointing() {
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
            .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.recompute = planFor(word(value)); }};
}

}  // namespace stepscope
