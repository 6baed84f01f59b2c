// One update of AdamW (Loshchilov and Hutter, ICLR 2019): its numbers, and the arithmetic of one element in float32 for the GPU and for the
// host, where the tests hold it against the reference. Included by AdamWCpu.h, core/cuda and tests/core/kernels.
#pragma once
#include <cmath>

#include "core/base/HostDevice.h"

namespace stepscope {

struct AdamWStep {
    float keep = 1;          // 1 - rate * weightDecay
    float stepSize = 0;      // rate / (1 - beta1^t)
    float rootOfSecond = 1;  // sqrt(1 - beta2^t)
    float beta1 = 0.9f, beta2 = 0.95f, epsilon = 1e-8f;
    float gradientScale = 1;  // what clipping multiplies every gradient by
    // 1 - beta, subtracted in double: of 1 - 0.999999 float32's beta leaves two digits.
    float newer1 = 0.1f, newer2 = 0.05f;
};

STEPSCOPE_HOST_DEVICE void adamWElement(const AdamWStep& s, float gradient, float& weight, float& first, float& second) {
    const float g = gradient * s.gradientScale;
    first = s.beta1 * first + s.newer1 * g;
    second = s.beta2 * second + s.newer2 * (g * g);
    weight = s.keep * weight - s.stepSize * first / (sqrtf(second) / s.rootOfSecond + s.epsilon);
}

// What clipping by the global norm multiplies by (Pascanu et al. 2013), as torch.nn.utils.clip_grad_norm_ has it.
STEPSCOPE_HOST_DEVICE float clipFactor(float norm, float maxNorm) {
    const float factor = maxNorm / (norm + 1e-6f);
    return factor < 1.0f ? factor : 1.0f;
}

}  // namespace stepscope
