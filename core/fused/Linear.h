// A linear as the fused operations want it on a GPU, beside which LibTorch's would cast: the sums of its gradients stay in float32. Included by
// core/fused/*.cpp only; the slot's function is in FusedOps.h.
#pragma once
#include "core/fused/Rows.h"
#include "core/model/Weight.h"

namespace stepscope::fused {

enum class BiasGradient { Here, Elsewhere };  // Elsewhere: somebody sums it in the same pass as something else

// x (..., I), weight (O, I), bias (O) or undefined -> (..., O) under autograd and autocast.
at::Tensor product(const at::Tensor& x, const Weight& weight, const Weight& bias, BiasGradient whose);

// rows (..., columns) -> (columns) float32: the gradient of a bias. name: of the operation.
at::Tensor columnSums(const char* name, const at::Tensor& rows);

}  // namespace stepscope::fused
