// fused-attention: our own causal attention on the CPU, tile by tile, forwards and backwards.
#include "core/fused/FusedOps.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {

Switch fusedAttention() {
    return fusedSwitch({
        .id = "fused-attention",
        .title = "Fused attention",
        .why = "Scores, softmax and the sum over values of a tile stay in the cache, and keys after their query are never computed. It is used where "
               "attention=auto "
               "leaves the choice open.",
        .cost = "With amp, probabilities are rounded to bf16 between two products, as flash attention does.",
        .reported = "240 → 60 kernels",
        .decides = "attention",
        .choose = [](RunPlan& plan) { plan.attention = AttentionKind::Fused; },
        .install =
            [](ProgramBuilder& builder, const RunPlan& plan) {
                if (plan.attention == AttentionKind::Fused) builder.setAttention({"fused", fused::attention, {}});
            },
        .onGpuInstead = "on a GPU attention is LibTorch's; choose attention=auto or attention=sdpa-flash.",
    });
}

}  // namespace stepscope
