// Products of two 16-bit matrices whose result is float32 on a GPU, as its matrix units add anyway: a gradient of a parameter is neither rounded to
// 16 bits on its way nor cast afterwards. Included by core/fused/*.cpp only.
#pragma once
#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>

namespace stepscope::fused {

// LibTorch has these products on GPUs alone; elsewhere (tests of the CUDA forms on the host) the same numbers are had by casting first.
inline bool hasFloatProducts(const at::Tensor& a) {
    return a.is_cuda() && a.scalar_type() != at::kFloat;
}

// to (M, N) float32 = a (M, K) b (K, N).
inline void floatProduct(at::Tensor to, const at::Tensor& a, const at::Tensor& b) {
    if (hasFloatProducts(a))
        at::mm_out(to, a, b, at::kFloat);
    else
        at::mm_out(to, a.to(at::kFloat), b.to(at::kFloat));
}

// to += a b.
inline void addFloatProduct(at::Tensor to, const at::Tensor& a, const at::Tensor& b) {
    if (hasFloatProducts(a))
        at::addmm_out(to, to, a, b, at::kFloat);
    else
        at::addmm_out(to, to, a.to(at::kFloat), b.to(at::kFloat));
}

}  // namespace stepscope::fused
