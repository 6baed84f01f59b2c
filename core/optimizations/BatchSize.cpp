// batch-size: sequences of one micro-batch.
#include "core/optimizations/registry/Switch.h"

namespace stepscope {

Switch batchSize() {
    return {.id = "batch-size",
            .title = "Batch size",
            .group = SwitchGroup::Batch,
            .why = "How many sequences go through the model at once. Larger batches use the hardware better until it is full.",
            .cost = "Activations and logits grow with it; and the optimizer sees fewer, less noisy gradients per token.",
            .reported = "16/32/64/128 → about 4/6/10/18 GB; 256 → 128: ×1.3 on a 16 GB card that was swapping",
            .values = IntegerRange{1, 1'000'000'000},
            .byDefault = std::int64_t{12},
            .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.batchSize = integer(value); },
            .racing = {.role = RaceRole::Size}};
}

}  // namespace stepscope
