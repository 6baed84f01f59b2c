// zero-grad: how gradients are cleared between steps.
#include "core/optimizations/registry/Switch.h"

namespace stepscope {
namespace {

SwitchNote zeroGradIdle(const Machine&, const PlanDraft& draft, const Value&) {
    if (draft.plan.execution == Execution::Eager) return {};
    const std::string other = draft.plan.execution == Execution::Planned ? "fusion=step" : "cuda-graph=on";
    return idleNote("zero-grad=zero does nothing beside " + other + ", which keeps the gradients in one place and writes them afresh.");
}

}  // namespace

Switch zeroGrad() {
    return {.id = "zero-grad",
            .title = "Clearing of gradients",
            .group = SwitchGroup::Optimizer,
            .why =
                "\"zero\" fills the old gradients with zeros and adds the new ones to them; \"set-to-none\" drops them, so that backward writes "
                "fresh ones. "
                "Dropping saves two passes over the gradients.",
            .cost =
                "\"zero\" keeps the gradients' memory between steps. fusion=step and cuda-graph keep them in one place anyway and write them afresh, "
                "whatever is chosen here.",
            .reported = "small",
            .values = Choices{{"zero", "set-to-none"}},
            .byDefault = "set-to-none",
            .note = zeroGradIdle,
            .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.keepsGradients = word(value) == "zero"; }};
}

}  // namespace stepscope
