// context: tokens of one sequence.
#include "core/optimizations/registry/Switch.h"

namespace stepscope {

Switch context() {
    return {.id = "context",
            .title = "Context",
            .group = SwitchGroup::Batch,
            .why = "How many tokens the model sees at once. Attention's work grows with its square, everything else in proportion.",
            .cost = "Longer sequences need more memory; new positions start untrained.",
            .reported = "no figure is known of context alone",
            .values = IntegerRange{1, 1'000'000},
            .byDefault = std::int64_t{128},
            .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.context = integer(value); },
            .shape = [](GptConfig& wanted, const RunPlan& plan) { wanted.positions = std::max(wanted.positions, plan.context); },
            .racing = {.role = RaceRole::Size}};
}

}  // namespace stepscope
