// fused-loss: head and cross-entropy as one operation, which never has logits in memory.
#include "core/fused/FusedOps.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {

Switch fusedLoss() {
    return fusedSwitch(
        {.id = "fused-loss",
         .title = "Fused head + loss",
         .why = "Multiplies by the head tile after tile, takes loss and gradients of each tile while it is in cache, and never writes the "
                "logits to memory. The plain form keeps "
                "several float32 tables as large as batch × context × vocabulary.",
         .cost = "With amp the exponentials of the logits are rounded to bf16 for the gradients; the loss is summed from unrounded ones.",
         .decides = "loss",
         .choose = [](RunPlan& plan) { plan.loss = LossKind::Fused; },
         .install =
             [](ProgramBuilder& builder, const RunPlan& plan) {
                 if (plan.loss == LossKind::Fused) builder.setLossOp(fused::loss);
             }});
}

}  // namespace stepscope
