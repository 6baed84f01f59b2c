// zero: AdamW's moments dealt out among the workers of a run, each updating its own part of the weights (Rajbhandari et al. 2020, "ZeRO", stage 1).
// What a worker alone has, it has whole.
#include "core/optimizations/registry/Switch.h"

namespace stepscope {
namespace {

Verdict zeroUsable(const Machine&, const RunConfig& config, const Value& value) {
    if (word(value) == "0") return Verdict::yes();
    if (config.word("optimizer") == "8-bit")
        return Verdict::no("it deals out moments in float32, and optimizer=8-bit keeps others; choose one of the two.");
    return Verdict::yes();
}

SwitchNote nobodyToDealOutTo(const Machine&, const PlanDraft& draft, const Value& value) {
    if (draft.workers() > 1) return {};
    return idleNote("zero=" + word(value) + " does nothing in a run of one worker: there is nobody to deal moments out to.");
}

}  // namespace

Switch zeroMoments() {
    return {.id = "zero",
            .title = "Moments dealt out to workers",
            .group = SwitchGroup::Optimizer,
            .why =
                "With 1 each of several workers keeps AdamW's moments of its own part of the weights alone, and updates that part: of two workers "
                "each has half "
                "of them, of eight an eighth. Losses stay what they are; each update does less work on each worker.",
            .cost =
                "After each update the workers hand each other their parts of the weights, which all wait for. A checkpoint brings the moments "
                "together with the "
                "first worker, which needs memory for all of them then; and when a worker dies its part is lost, so that no checkpoint of the last "
                "step is "
                "kept, and the run goes on from the newest one.",
            .reported = "moments take 1/W of their memory on each of W workers",
            .values = Choices{{"0", "1"}},
            .byDefault = "0",
            .applicable = zeroUsable,
            .note = nobodyToDealOutTo,
            .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.momentShares = word(value) == "1" ? draft.workers() : 1; },
            .racing = {.role = RaceRole::Never}};
}

}  // namespace stepscope
