// Global norm and AdamW over lists of tensors, by the flat kernels: one pass each, on a CPU shared among LibTorch's threads. Installed by
// fused-optimizer; trainer thread. All tensors float32 on one device.
#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "core/kernels/adamw/AdamWCpu.h"

namespace stepscope::fused {

// Square root of the sum of squares of every element; the same bits whatever the number of threads.
double globalNorm(const std::vector<at::Tensor>& gradients);

// What an update reads and writes; the lists have one order and equal sizes, and all but the gradients are contiguous.
struct AdamWLists {
    const std::vector<at::Tensor>&parameters, &gradients, &firstMoments, &secondMoments;
    const std::vector<at::Tensor>& lowWeights;  // bfloat16: the new weights rounded, where defined; may be empty
};

// One update in place.
void adamW(AdamWStep step, const AdamWLists& lists);

// The same on a GPU without ever waiting for it, as a captured step must: norm (float32, no dimensions) is written, the numbers of the
// step are read from `step` (as many float32 as AdamWStep has), gradients are clipped to maxNorm (0 = not), and nothing is changed when
// the norm is not finite.
void globalNormTo(const at::Tensor& norm, const std::vector<at::Tensor>& gradients);
void adamWFrom(const at::Tensor& step, const at::Tensor& norm, double maxNorm, const AdamWLists& lists);

}  // namespace stepscope::fused
