// optimizer: which AdamW runs: plain loop, foreach, or LibTorch's fused kernel. The same arithmetic up to rounding.
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {

Optimization optimizer() {
    return {.id = "optimizer",
            .title = "AdamW implementation",
            .group = SwitchGroup::Optimizer,
            .why = "\"loop\" updates one tensor after the other with a dozen operations each, \"foreach\" runs each operation over all tensors, \"fused\" does "
                   "everything in one pass over memory.",
            .cost = "None: the three are the same arithmetic up to rounding.",
            .reported = "5–15 % of the optimizer step",
            .values = Choices{{"loop", "foreach", "fused"}},
            .byDefault = "fused",
            .install = [](ProgramBuilder& builder, const Value& value) {
                const std::string& name = word(value);
                // The default gives way to our own pass, which is the same arithmetic; another choice is a second claim.
                if (name == "fused" && fusedOn(builder.config(), "fused-optimizer")) return;
                builder.setOptimizer(name, name == "loop" ? adamWLoop : name == "foreach" ? adamWForeach : adamWFused);
            }};
}

}  // namespace stepscope
