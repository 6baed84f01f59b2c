// fused-norm: residual addition, statistics and norm in one pass, and their gradients in another.
#include "core/fused/FusedOps.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {

Optimization fusedNorm() {
    return fusedSwitch(
        "fused-norm", "Fused residual + norm",
        "Adds the branch to the residual stream, takes the norm's statistics and writes its output while the row is in cache. With amp the output is "
        "written in bf16 at once, which the next product would otherwise have to convert.",
        "None.", "96 → 24 kernels", "residual sum and norm", [](ProgramBuilder& builder) { builder.setNormOp(fused::residualNorm); });
}

}  // namespace stepscope
