// fused-loss: cross-entropy whose gradient is written over the logits at once.
#include "core/fused/FusedOps.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {

Optimization fusedLoss() {
    return fusedSwitch("fused-loss", "Fused cross-entropy",
                       "Takes loss and gradient of each row of logits while it is in cache and writes the gradient in the logits' place. The plain form keeps several "
                       "float32 tables as large as batch × context × vocabulary.",
                       "With amp the gradient of the logits is rounded to bf16, as the plain form does a moment later.", "", "loss",
                       [](ProgramBuilder& builder) { builder.setLossOp(fused::loss); });
}

}  // namespace stepscope
