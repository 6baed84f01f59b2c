// The arithmetic of one element of the fused bias + SwiGLU in float32, for the GPU and for the host, where the tests hold it against the
// reference. Included by core/cuda/*.cu and tests/core/kernels.
#pragma once
#include <cmath>

#include "core/base/HostDevice.h"

namespace stepscope::swiglu {

STEPSCOPE_HOST_DEVICE float sigmoid(float x) {
#if defined(__CUDA_ARCH__)
    return __fdividef(1.0f, 1.0f + __expf(-x));
#else
    return 1.0f / (1.0f + std::exp(-x));
#endif
}

STEPSCOPE_HOST_DEVICE float value(float gate, float up) {
    return gate * sigmoid(gate) * up;
}

struct Gradients {
    float gate, up;
};
STEPSCOPE_HOST_DEVICE Gradients gradients(float gradOut, float gate, float up) {
    const float s = sigmoid(gate), silu = gate * s;
    return {gradOut * up * (silu * (1.0f - s) + s), gradOut * silu};
}

}  // namespace stepscope::swiglu
