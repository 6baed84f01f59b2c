// zero-grad: how gradients are cleared between steps.
#include "core/optimizations/Optimization.h"

namespace stepscope {

Optimization zeroGrad() {
    return {.id = "zero-grad",
            .title = "Clearing of gradients",
            .group = SwitchGroup::Optimizer,
            .why = "\"zero\" fills the old gradients with zeros and adds the new ones to them; \"set-to-none\" drops them, so that backward writes fresh ones. "
                   "Dropping saves two passes over the gradients.",
            .cost = "\"zero\" keeps the gradients' memory between steps. fusion=step and cuda-graph keep them in one place anyway and write them afresh, whatever is chosen here.",
            .reported = "small",
            .values = Choices{{"zero", "set-to-none"}},
            .byDefault = "set-to-none",
            .install = [](ProgramBuilder& builder, const Value& value) { builder.setKeepGradients(word(value) == "zero"); }};
}

}  // namespace stepscope
