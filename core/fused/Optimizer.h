// Global norm and AdamW over lists of tensors, by the flat kernels: one pass each, shared among LibTorch's threads. Installed by
// fused-optimizer; trainer thread. All tensors float32 on the CPU.
#pragma once
#include "core/kernels/adamw/AdamWCpu.h"

#include <ATen/core/Tensor.h>
#include <vector>

namespace stepscope::fused {

// Square root of the sum of squares of every element; the same bits whatever the number of threads.
double globalNorm(const std::vector<at::Tensor>& gradients);

// One update in place; the four lists have one order and equal sizes. Parameters and moments are contiguous.
void adamW(AdamWStep step, const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gradients, const std::vector<at::Tensor>& firstMoments,
           const std::vector<at::Tensor>& secondMoments);

}  // namespace stepscope::fused
