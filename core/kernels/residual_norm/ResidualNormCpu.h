// Residual addition + LayerNorm or RMSNorm on the CPU, forwards and backwards, over a range of rows. Called by core/fused and by the
// whole-step program; any thread. Row-major (rows, columns); the residual stream, statistics and weights are float32, T (float or
// Bf16) is the type of the activations beside it. LayerNorm: Ba et al. 2016; RMSNorm: Zhang and Sennrich 2019.
#pragma once
#include "core/kernels/isa/Bf16.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {

struct NormShape {
    std::int64_t columns = 0;
    float epsilon = 1e-5f;
    bool rms = false;         // RMSNorm: no mean is taken away
    std::int64_t stride = 0;  // elements from row to row of normed and its gradient; 0 = columns
};

template <class T>
struct ResidualNormTable {
    // sum = x + delta; normed = (sum - mean) * rstd * weight + bias; mean and rstd (rows) are kept for backward (mean stays untouched for
    // RMSNorm and may be null). delta null: nothing is added and sum is not written, it may be null. sum may be x. bias null = none.
    void (*forward)(NormShape shape, const float* x, const T* delta, const float* weight, const float* bias, float* sum, T* normed, float* mean,
                    float* rstd, std::int64_t begin, std::int64_t end);
    // gradSum (rows, columns) = gradResidual (what came back along the stream; null = nothing) + the gradient through the norm; gradDelta, when
    // not null, gets the same numbers as T. gradSum may be gradResidual. gradWeight and gradBias (columns) += this range's sums; null = not wanted.
    void (*backward)(NormShape shape, const T* gradNormed, const float* sum, const float* mean, const float* rstd, const float* weight,
                     const float* gradResidual, float* gradSum, T* gradDelta, float* gradWeight, float* gradBias, std::int64_t begin,
                     std::int64_t end);
};
STEPSCOPE_ISA_TABLES(ResidualNormTable, residualNorm)

}  // namespace stepscope
