// batch-creation: how a batch is cut out of the tokens. Its share of the step is the phase "batch".
#include "core/optimizations/registry/Switch.h"

namespace stepscope {
namespace {

BatchCreation creationOf(const std::string& name) {
    return name == "loop" ? BatchCreation::Loop : name == "strided" ? BatchCreation::Strided : BatchCreation::Vectorised;
}

}  // namespace

Switch batchCreation() {
    return {
        .id = "batch-creation",
        .title = "Batch creation",
        .group = SwitchGroup::Data,
        .why =
            "\"loop\" fetches token after token, \"vectorised\" a whole sequence at a time, first its inputs and then its targets. \"strided\" "
            "sees the tokens "
            "as overlapping windows and reads each window once for both.",
        .cost = "None: the batch is the same. Compiled loops are fast, so the gain is far smaller here than in Python.",
        .reported = "60–120×; 11 % → 0.1 % of the step",
        .values = Choices{{"loop", "vectorised", "strided"}},
        .byDefault = "vectorised",
        .note = [](const Machine&, const PlanDraft& draft, const Value& value) -> SwitchNote {
            if (draft.plan.feed.place != TokenPlace::Device) return {};
            return idleNote("batch-creation=" + word(value) + " does nothing with data-source=device, where the device cuts in one way of its own.");
        },
        .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.feed.creation = creationOf(word(value)); },
        .racing = {.promise = 30}};
}

}  // namespace stepscope
