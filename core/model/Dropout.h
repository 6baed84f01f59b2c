// Dropout (Srivastava et al. 2014) masks as tensors, from the counter-based function of core/base/DropoutMask.h: the same elements
// on every device and in every Program. Called by the model's dropout operation.
#pragma once
#include <ATen/core/Tensor.h>

namespace stepscope {

struct DropoutPlace {
    double rate = 0;                // [0, 1)
    std::uint64_t key = 0;          // dropoutKey(seed, step, site)
    std::int64_t firstElement = 0;  // index of the tensor's first element within the whole step
};

// Bool, true where the element is kept.
at::Tensor dropoutMask(at::IntArrayRef shape, const DropoutPlace& place, at::Device device);
// The same by tensor operations, as devices without a loop of their own make it.
at::Tensor dropoutMaskByTensors(at::IntArrayRef shape, const DropoutPlace& place, at::Device device);

}  // namespace stepscope
