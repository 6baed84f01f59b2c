// Maximum and sum of exponentials of a row in one pass (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018): the sum
// is kept relative to the largest value so far, and two halves of a row are merged by scaling one of them. For the GPU and for the host,
// where the tests hold it against the plain sum. Included by core/cuda/*.cu and tests/core/kernels.
#pragma once
#include <cmath>

#include "core/base/HostDevice.h"

namespace stepscope {

struct OnlineSoftmax {
    float largest = -INFINITY;
    float sum = 0;  // of exp(x - largest)
};

STEPSCOPE_HOST_DEVICE float exponential(float x) {
#if defined(__CUDA_ARCH__)
    return __expf(x);
#else
    return std::exp(x);
#endif
}

// Of the same sum when its reference moves from one value to a larger one. Equal ones, two of -inf too, need no scaling.
STEPSCOPE_HOST_DEVICE float rescale(float from, float to) {
    return from == to ? 1.0f : exponential(from - to);
}

STEPSCOPE_HOST_DEVICE OnlineSoftmax merge(OnlineSoftmax a, OnlineSoftmax b) {
    const float largest = fmaxf(a.largest, b.largest);
    return {largest, a.sum * rescale(a.largest, largest) + b.sum * rescale(b.largest, largest)};
}

// A value that is no number, or +infinite, leaves the sum no number, as the plain form has it; -infinite ones add nothing.
template <int Count>
STEPSCOPE_HOST_DEVICE OnlineSoftmax include(OnlineSoftmax all, const float (&values)[Count]) {
    float largest = all.largest;
    for (int i = 0; i < Count; ++i) largest = fmaxf(largest, values[i]);
    const float reference = largest == -INFINITY ? 0.0f : largest;
    float sum = all.sum * rescale(all.largest, largest);
    for (int i = 0; i < Count; ++i) sum += exponential(values[i] - reference);
    return {largest, sum};
}

}  // namespace stepscope
