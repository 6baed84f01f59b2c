// Fused operations under autograd: each takes the place of one slot of ModelOps (there the shapes and types) and differs from its plain
// form by rounding only. Installed by the fused-* switches; trainer and generator threads. On tensors that no kernel takes (fp16 on a CPU)
// each gives way to the plain form.
#pragma once
#include "core/model/ModelOps.h"

namespace stepscope::fused {

// The gradient of wte comes back as rows of the ids that occurred: sparse when the head's gradient, which is dense, is added to it (a tied
// head: nothing of the size of the table is cleared or added), dense otherwise.
at::Tensor embedTied(const at::Tensor& tokens, const at::Tensor& wte, const at::Tensor& wpe);
at::Tensor embed(const at::Tensor& tokens, const at::Tensor& wte, const at::Tensor& wpe);

// One pass for sum, statistics and output, which is in autocast's type: the next product takes it without a cast.
NormedSum residualNorm(const at::Tensor& x, const at::Tensor& delta, NormSettings settings, const at::Tensor& weight, const at::Tensor& bias);

// On a GPU in 16 bits: weight and bias get their gradients as float32 out of the sums themselves. Elsewhere the plain form.
at::Tensor linear(const at::Tensor& x, const Weight& weight, const Weight& bias);

// The product by LibTorch; bias and activation in one pass, their gradients in another.
at::Tensor linearGelu(const at::Tensor& x, const Weight& weight, const Weight& bias);
at::Tensor linearSwiglu(const at::Tensor& x, const Weight& weight, const Weight& bias);

// Heads as views of the product's rows; backward joins the three gradients without a copy where attention() made them in one buffer.
Heads linearHeads(const at::Tensor& x, const Weight& weight, const Weight& bias, std::int64_t heads);

// Causal; the result lies in token rows, so that merging the heads is a view. On a GPU LibTorch's choice of attention is kept.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

// Head, loss and both gradients at once, in forward: logits are never in memory, gradients only wait there for backward. On a GPU a chunk of
// tokens has logits at a time, and backward must start from LossSettings::backwardScale: asking would wait for the device.
at::Tensor loss(const at::Tensor& hidden, const at::Tensor& headWeight, const at::Tensor& targets, const LossSettings& settings);

}  // namespace stepscope::fused
