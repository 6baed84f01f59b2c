// The arithmetic of one element of the fused bias + GELU in float32, written once for the GPU and for the host, where
// the tests hold it against the reference without a GPU. Included by core/cuda/*.cu and tests/core/kernels.
#pragma once
#include <cmath>

#include "core/base/HostDevice.h"

namespace stepscope::bias_gelu {

// tanh by one exponential: 1 - 2 / (exp(2u) + 1). Saturates to +-1 without overflow, since exp gives 0 or infinity there.
STEPSCOPE_HOST_DEVICE float tanhOf(float u) {
#if defined(__CUDA_ARCH__)
    return 1.0f - __fdividef(2.0f, __expf(2.0f * u) + 1.0f);
#else
    return 1.0f - 2.0f / (std::exp(2.0f * u) + 1.0f);
#endif
}

STEPSCOPE_HOST_DEVICE float inner(float x) {
    return 0.7978845608028654f * x * (1.0f + 0.044715f * x * x);
}

STEPSCOPE_HOST_DEVICE float value(float x) {
    return 0.5f * x * (1.0f + tanhOf(inner(x)));
}

STEPSCOPE_HOST_DEVICE float derivative(float x) {
    const float t = tanhOf(inner(x));
    const float bend = 1.0f - t * t;
    // Where tanh has saturated, x * x may be infinite though x is not: 0 * inf would be NaN. An infinite x has no slope, as in the reference.
    const float curved = bend > 0.0f ? 0.5f * x * bend * 0.7978845608028654f * (1.0f + 0.134145f * x * x) : 0.0f * x;
    return 0.5f * (1.0f + t) + curved;
}

}  // namespace stepscope::bias_gelu
