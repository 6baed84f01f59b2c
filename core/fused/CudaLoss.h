// Head and cross-entropy on a GPU, a chunk of tokens at a time. Called by loss() of FusedOps.h; trainer thread.
#pragma once
#include "core/model/ModelOps.h"

namespace stepscope::fused {

// Rows of logits that exist at a time: as many as fill a device, no more than a quarter of a billion of logits.
std::int64_t rowsOfLogits(std::int64_t rows, std::int64_t columns);

at::Tensor lossOnCuda(const at::Tensor& hidden, const at::Tensor& headWeight, const at::Tensor& targets, const LossSettings& settings);

}  // namespace stepscope::fused
