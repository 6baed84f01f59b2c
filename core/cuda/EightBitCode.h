// Numbers in 8 bits as the GPU finds their code: by search, where the host (core/state/BlockCode) has a table too large for a block's shared
// memory. The same code for every number. Included by AdamWEightBit.cu and by tests/core/state, on machines without a GPU.
#pragma once
#include <cmath>

#include "core/base/HostDevice.h"

namespace stepscope::eight_bit {

constexpr int kCodes = 256;
constexpr int kBlock = 256;  // values that share a scale

// values: of the codes, rising; values[zero] is 0, what lies below mirrors what lies above, and the last two are 1. zero == 0: there are no negative
// numbers, and one that is not 0 never gets the code of 0. x in [-1, 1].
STEPSCOPE_HOST_DEVICE int nearest(const float* values, int zero, float x) {
    const float magnitude = fminf(1.0f, fabsf(x));
    int low = zero, high = kCodes - 2;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (magnitude >= 0.5f * (values[middle] + values[middle + 1]))
            low = middle + 1;
        else
            high = middle;
    }
    if (zero == 0) return low == 0 && magnitude > 0.0f ? 1 : low;
    return x < 0.0f ? 2 * zero - low : low;
}

}  // namespace stepscope::eight_bit
