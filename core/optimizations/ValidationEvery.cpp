// validation-every: how often the loop evaluates.
#include "core/optimizations/registry/Switch.h"

namespace stepscope {

Switch validationEvery() {
    return {.id = "validation-every",
            .title = "Validation every",
            .group = SwitchGroup::Loop,
            .why =
                "Evaluates the loss on text that is never trained on, every N steps inside the loop and at the end; 0 = never. "
                "\"epoch\" does so whenever as many tokens were trained on as the training part has. Only this loss tells learning from memorising.",
            .cost = "The time of a few forward passes, shown apart from the steps.",
            .values = IntegerRange{0, 1'000'000'000, "epoch", "never"},
            .byDefault = std::int64_t{100},
            .resolve =
                [](PlanDraft& draft, const Value& value) {
                    const auto* steps = std::get_if<std::int64_t>(&value);
                    draft.plan.validation.everyEpoch = steps == nullptr;
                    draft.plan.validation.everySteps = steps == nullptr ? 0 : *steps;
                },
            .racing = {.role = RaceRole::Never}};
}

}  // namespace stepscope
