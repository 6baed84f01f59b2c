#include "core/model/Attention.h"

#include <ATen/SDPBackend.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include <cmath>
#include <limits>

namespace stepscope {

at::Tensor manualAttention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    const std::int64_t T = q.size(2);
    const at::Tensor future = at::ones({T, T}, q.options().dtype(at::kBool).requires_grad(false)).triu_(1);  // (T, T)
    const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
    at::Tensor scores = at::matmul(q, k.transpose(-2, -1)) * scale;  // (B, H, T, T)
    scores = scores.masked_fill(future, -std::numeric_limits<double>::infinity());
    const at::Tensor weights = at::softmax(scores, -1);
    return at::matmul(weights, v);
}

at::Tensor sdpaAttention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    return at::scaled_dot_product_attention(q, k, v, /*attn_mask=*/{}, /*dropout_p=*/0.0, /*is_causal=*/true);
}

std::string chosenSdpa(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    const auto choice = static_cast<at::SDPBackend>(at::_fused_sdp_choice(q, k, v, {}, 0.0, true));
    switch (choice) {
        case at::SDPBackend::math:
            return "sdpa-math";
        case at::SDPBackend::flash_attention:
            return "sdpa-flash";
        case at::SDPBackend::efficient_attention:
            return "sdpa-efficient";
        case at::SDPBackend::cudnn_attention:
            return "sdpa-cudnn";
        default:
            return "another back-end";
    }
}

}  // namespace stepscope
