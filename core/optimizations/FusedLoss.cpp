// fused-loss: head and cross-entropy as one operation, which never has logits in memory.
#include "core/fused/FusedOps.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {

Optimization fusedLoss() {
    return fusedSwitch("fused-loss", "Fused head + loss",
                       "Multiplies by the head tile after tile, takes loss and gradients of each tile while it is in cache, and never writes the "
                       "logits to memory. The plain form keeps "
                       "several float32 tables as large as batch × context × vocabulary.",
                       "With amp the exponentials of the logits are rounded to bf16 for the gradients; the loss is summed from unrounded ones.", "",
                       "loss", [](ProgramBuilder& builder) { builder.setLossOp(fused::loss); });
}

}  // namespace stepscope
