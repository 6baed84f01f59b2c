// loader-workers: threads that cut the next batches while the step runs.
#include <fmt/format.h>

#include "core/optimizations/registry/Switch.h"

namespace stepscope {

Switch loaderWorkers() {
    return {.id = "loader-workers",
            .title = "Loader threads",
            .group = SwitchGroup::Data,
            .why =
                "Threads that cut the next batches while the current step computes, so that the step does not wait for them. The order of the "
                "batches does not "
                "depend on how many there are.",
            .cost =
                "On a CPU they take time from the very cores that train: worth it only where cutting is slow, as with data-source=text. Without "
                "effect with "
                "data-source=device, where the device cuts.",
            .reported = "1.1–1.2×",
            .values = IntegerRange{0, 64},
            .byDefault = std::int64_t{0},
            .note = [](const Machine&, const PlanDraft& draft, const Value& value) -> SwitchNote {
                if (draft.plan.feed.place != TokenPlace::Device) return {};
                return idleNote(fmt::format("loader-workers={} does nothing with data-source=device, where the device cuts.", integer(value)));
            },
            .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.feed.workers = integer(value); },
            .racing = {.promise = 25, .values = {"0", "1", "2"}}};
}

}  // namespace stepscope
