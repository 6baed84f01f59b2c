// loader-prefetch: how many batches the loader's threads keep ready.
#include <fmt/format.h>

#include "core/optimizations/registry/Switch.h"

namespace stepscope {
namespace {

SwitchNote loaderPrefetchIdle(const Machine&, const PlanDraft& draft, const Value& value) {
    if (draft.plan.feed.place == TokenPlace::Device)
        return idleNote(fmt::format("loader-prefetch={} does nothing with data-source=device, where the device cuts.", integer(value)));
    if (draft.plan.feed.workers > 0) return {};
    return idleNote(fmt::format("loader-prefetch={} does nothing while loader-workers is 0: each batch is cut when it is needed.", integer(value)));
}

}  // namespace

Switch loaderPrefetch() {
    return {.id = "loader-prefetch",
            .title = "Batches ahead",
            .group = SwitchGroup::Data,
            .why =
                "How many batches the loader's threads make ahead of the step. More of them bridge a slow read; two are enough when each takes about "
                "as long.",
            .cost = "16 bytes a token and batch. Without effect while loader-workers is 0: then each batch is cut when it is needed.",
            .reported = "1.1–1.2×, with the threads",
            .values = IntegerRange{1, 1024},
            .byDefault = std::int64_t{2},
            .note = loaderPrefetchIdle,
            .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.feed.prefetch = integer(value); },
            .racing = {.promise = 5, .values = {"2", "8"}}};
}

}  // namespace stepscope
