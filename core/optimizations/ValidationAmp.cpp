// validation-amp: whether validation runs in the precision of amp or in float32.
#include "core/optimizations/registry/Switch.h"

namespace stepscope {
namespace {

SwitchNote validationAmpIdle(const Machine&, const PlanDraft& draft, const Value&) {
    if (draft.plan.precision == Precision::Float32)
        return idleNote("validation-amp=on does nothing while amp is off: validation is float32 as training is.");
    if (!draft.plan.validation.happens())
        return idleNote("validation-amp=on does nothing while validation-every is 0, but for a validation that you ask for.");
    return {};
}

}  // namespace

Switch validationAmp() {
    return {.id = "validation-amp",
            .title = "Validation in mixed precision",
            .group = SwitchGroup::Loop,
            .why = "Evaluates with the same mixed precision as training. Off, validation is float32 and comparable between runs of any precision.",
            .cost = "The validation loss is rounded as the training loss is.",
            .values = offOn(),
            .byDefault = "off",
            .note = validationAmpIdle,
            .resolve =
                [](PlanDraft& draft, const Value& value) {
                    // amp stands before it in the list.
                    draft.plan.validation.precision = word(value) == "on" ? draft.plan.precision : Precision::Float32;
                },
            .racing = {.role = RaceRole::Never}};
}

}  // namespace stepscope
