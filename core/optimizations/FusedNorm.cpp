// fused-norm: residual addition, statistics and norm in one pass, and their gradients in another.
#include "core/fused/FusedOps.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {

Switch fusedNorm() {
    return fusedSwitch({
        .id = "fused-norm",
        .title = "Fused residual + norm",
        .why = "Adds the branch to the residual stream, takes the norm's statistics and writes its output while the row is in cache. With amp the "
               "output is "
               "written in bf16 at once, which the next product would otherwise have to convert.",
        .cost = "None.",
        .reported = "96 → 24 kernels",
        .decides = "residual sum and norm",
        .choose = [](RunPlan& plan) { plan.fused.norm = true; },
        .install =
            [](ProgramBuilder& builder, const RunPlan& plan) {
                if (plan.fused.norm) builder.setNormOp(fused::residualNorm);
            },
    });
}

}  // namespace stepscope
