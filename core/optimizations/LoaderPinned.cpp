// loader-pinned: batches are cut into memory that a GPU can read by itself.
#include "core/optimizations/registry/Switch.h"

namespace stepscope {
namespace {

Verdict loaderPinnedUsable(const Machine& machine, const RunConfig& config, const Value& value) {
    if (word(value) == "off" || config.word("device") != "cpu") return Verdict::yes();
    return onlyOnGpus(machine, "the batch stays in the memory of the CPU, so there is no copy that pinned memory could speed up.");
}

}  // namespace

Switch loaderPinned() {
    return {.id = "loader-pinned",
            .title = "Pinned host memory",
            .group = SwitchGroup::Data,
            .why =
                "Cuts batches into page-locked memory, which a GPU reads by itself without a copy through a buffer of the driver. "
                "Only then can a copy run beside the computation.",
            .cost = "Locked memory is taken from all other programs and is slow to allocate; LibTorch keeps and reuses it.",
            .reported = "1.1–1.2×, with the threads",
            .values = offOn(),
            .byDefault = "off",
            .applicable = loaderPinnedUsable,
            .note = [](const Machine&, const PlanDraft& draft, const Value&) -> SwitchNote {
                if (draft.plan.feed.place != TokenPlace::Device) return {};
                return idleNote("loader-pinned=on does nothing with data-source=device: no batch is copied.");
            },
            .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.feed.pinned = word(value) == "on"; }};
}

}  // namespace stepscope
