// fused-activation: bias and GELU (or SwiGLU) of the feed-forward layer in one pass, and their gradients in another.
#include "core/fused/FusedOps.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {

Optimization fusedActivation() {
    return fusedSwitch(
        "fused-activation", "Fused bias + activation",
        "Adds the bias and takes GELU or SwiGLU in one pass over the widest activations of the model. Backward gives the gradient and the bias's sum "
        "in one pass too.",
        "None.", "96 → 24 kernels", "activation",
        [](ProgramBuilder& builder) { builder.setActivationOps({.gelu = fused::linearGelu, .swiglu = fused::linearSwiglu}); });
}

}  // namespace stepscope
