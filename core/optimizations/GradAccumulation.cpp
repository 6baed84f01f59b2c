// grad-accumulation: micro-batches per update.
#include "core/optimizations/registry/Switch.h"

namespace stepscope {

Switch gradAccumulation() {
    return {.id = "grad-accumulation",
            .title = "Gradient accumulation",
            .group = SwitchGroup::Batch,
            .why =
                "Adds the gradients of N micro-batches before one update: the gradients of a batch N times larger with the memory of one. "
                "Each micro-batch's loss is divided by N.",
            .cost = "A step takes N times as long.",
            .reported = "effective batch 512 with the memory of one micro-batch",
            .values = IntegerRange{1, 65536},
            .byDefault = std::int64_t{1},
            .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.accumulation = integer(value); },
            .racing = {.role = RaceRole::Never}};
}

}  // namespace stepscope
