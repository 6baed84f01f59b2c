// loader-nonblocking: the copy of a batch to the GPU runs on while the host goes on.
#include "core/optimizations/registry/Switch.h"

namespace stepscope {
namespace {

Verdict loaderNonblockingUsable(const Machine& machine, const RunConfig& config, const Value& value) {
    if (word(value) == "off" || config.word("device") != "cpu") return Verdict::yes();
    return onlyOnGpus(machine, "the batch stays in the memory of the CPU, so there is no copy that could run on.");
}

}  // namespace

Switch loaderNonblocking() {
    return {.id = "loader-nonblocking",
            .title = "Copies that run on",
            .group = SwitchGroup::Data,
            .why =
                "The host queues the copy of a batch to the GPU and goes on at once instead of waiting for it. "
                "It overlaps with the computation only from pinned memory (loader-pinned).",
            .cost = "The time of the copy moves from the phase \"copy\" into the phase that first waits for it.",
            .reported = "1.1–1.2×, with the threads",
            .values = offOn(),
            .byDefault = "off",
            .applicable = loaderNonblockingUsable,
            .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.feed.nonBlocking = word(value) == "on"; }};
}

}  // namespace stepscope
