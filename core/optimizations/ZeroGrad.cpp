// zero-grad: how gradients are cleared between steps.
#include "core/optimizations/Optimization.h"

namespace stepscope {
namespace {

std::string idle(const Machine&, const RunConfig& config, const Value&) {
    for (const char* id : {"fusion", "cuda-graph"})
        if (const std::string& value = config.word(id); value == "step" || value == "on")
            return std::string("zero-grad=zero does nothing beside ") + id + "=" + value +
                   ", which keeps the gradients in one place and writes them afresh.";
    return {};
}

}  // namespace

Optimization zeroGrad() {
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
            .note = idle,
            .install = [](ProgramBuilder& builder, const Value& value) { builder.setKeepGradients(word(value) == "zero"); }};
}

}  // namespace stepscope
