// fused-activation: bias and GELU (or SwiGLU) of the feed-forward layer in one pass, and their gradients in another.
#include "core/fused/FusedOps.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {

Switch fusedActivation() {
    return fusedSwitch({
        .id = "fused-activation",
        .title = "Fused bias + activation",
        .why = "Adds the bias and takes GELU or SwiGLU in one pass over the widest activations of the model. Backward gives the gradient and the "
               "bias's sum "
               "in one pass too.",
        .cost = "None.",
        .reported = "96 → 24 kernels",
        .decides = "activation",
        .choose = [](RunPlan& plan) { plan.fused.activation = true; },
        .install =
            [](ProgramBuilder& builder, const RunPlan& plan) {
                if (plan.fused.activation) builder.setActivationOps({.gelu = fused::linearGelu, .swiglu = fused::linearSwiglu});
            },
    });
}

}  // namespace stepscope
