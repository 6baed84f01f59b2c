// grad-sums: in which precision several workers send each other the gradients that they add up, as bf16_compress_hook of PyTorch's DDP does (Li et
// al., VLDB 2020). One worker adds up nothing.
#include "core/optimizations/registry/Switch.h"

namespace stepscope {
namespace {

SwitchNote nothingToAddUp(const Machine&, const PlanDraft& draft, const Value& value) {
    if (draft.workers() > 1) return {};
    return idleNote("grad-sums=" + word(value) + " does nothing in a run of one worker: there is nothing to add up.");
}

}  // namespace

Switch gradSums() {
    return {
        .id = "grad-sums",
        .title = "Sums of gradients between workers",
        .group = SwitchGroup::Optimizer,
        .why =
            "In which precision several workers send each other the gradients that they add up. \"bf16\" sends half the bytes of \"float32\", "
            "which counts where the line between them is slow.",
        .cost =
            "In bf16 each worker's gradients are rounded to 8 bits, and so is each sum of two: with two workers a gradient is off by at most 0.8 % "
            "of its parts, and the loss curve moves a little. Rounding takes one pass before the sum and one after it.",
        .reported = "half the traffic of float32",
        .values = Choices{{"float32", "bf16"}},
        .byDefault = "float32",
        .note = nothingToAddUp,
        .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.sums = word(value) == "bf16" ? SumPrecision::Bf16 : SumPrecision::Float32; },
        .racing = {.role = RaceRole::Never}};
}

}  // namespace stepscope
