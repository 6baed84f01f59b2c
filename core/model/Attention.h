// Attention: causal self-attention over heads, as the operations a Program can choose from. q, k, v: (B, H, T, D).
// Manual: Vaswani et al. 2017, equation 1, written out; Sdpa: LibTorch's fused operator with whatever back-ends the
// Program's Scope allows.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

namespace stepscope {

using AttentionFunction = std::function<at::Tensor(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v)>;  // -> (B, H, T, D)

at::Tensor manualAttention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);
at::Tensor sdpaAttention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

// Which back-end scaled_dot_product_attention takes for these tensors under the present process-wide settings:
// "sdpa-math", "sdpa-flash", "sdpa-efficient", "sdpa-cudnn".
std::string chosenSdpa(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

}  // namespace stepscope
