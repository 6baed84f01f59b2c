// ChunkedLoss: the head and the cross-entropy a few rows at a time, so that all logits never exist at once. A slot of ModelOps.
#pragma once
#include "core/model/ModelOps.h"

namespace stepscope {

// As plain::loss, with at most `rows` tokens' logits in memory. Gradients are computed in the forward pass, chunk by chunk, and only
// multiplied in backward (Hsu et al., "Liger Kernel", 2024, section 3.2). rows >= 1.
at::Tensor chunkedLoss(std::int64_t rows, const at::Tensor& hidden, const at::Tensor& headWeight, const at::Tensor& targets,
                       const LossSettings& settings);

}  // namespace stepscope
