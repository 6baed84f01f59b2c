// The row and tile operations of a planned step that are not matrix products, chosen for the instruction set at run time. Elements (E) are
// float32 or bf16 by gemm::Element; strides are in elements; rows are [0, rows). One thread a call.
#pragma once
#include "core/kernels/gemm/Gemm.h"

#include <cstdint>

namespace stepscope::step {

// Contexts of the tile functions that finish a product while it is in cache. Rows and columns are those of the product.
struct BiasTile {          // out = tile + bias, E
    const float* bias = nullptr;  // may be absent
    void* out = nullptr;
    std::int64_t stride = 0;
};
struct ResidualTile {      // out = from + tile + bias, float32
    const float* bias = nullptr;
    const float* from = nullptr;
    float* out = nullptr;
    std::int64_t stride = 0;
};
struct GeluTile {          // before = tile + bias, E; after = gelu_tanh(before), E
    const float* bias = nullptr;
    void* before = nullptr;
    void* after = nullptr;
    std::int64_t beforeStride = 0, afterStride = 0;
    std::uint32_t* pairs = nullptr;  // `after` once more as panels that sum over rows (Gemm.h), of these rows; may be absent
    std::int64_t panelStride = 0;
};
struct GeluBackwardTile {  // out = tile * gelu_tanh'(before), E; biasGradient[column] += the sum over rows
    const void* before = nullptr;
    void* out = nullptr;
    float* biasGradient = nullptr;
    std::int64_t beforeStride = 0, outStride = 0;
    std::uint32_t* pairs = nullptr;  // as in GeluTile, of `out`
    std::int64_t panelStride = 0;
};
struct AdamWRange {
    float *weight = nullptr, *first = nullptr, *second = nullptr;
    const float* gradient = nullptr;
    void* low = nullptr;  // the new weights as E; may be absent
};
struct AdamWScalars {
    float clip = 1;  // factor on gradients
    float keep = 1;  // 1 - rate * weight decay
    float beta1 = 0.9f, beta2 = 0.95f, epsilon = 1e-8f;
    float stepSize = 0;      // rate / (1 - beta1^t)
    float secondRoot = 1;    // sqrt(1 - beta2^t)
};

struct Kernels {
    // x (rows, width) = tokenTable[ids] + positionTable[positions]
    void (*embed)(const std::int64_t* ids, std::int64_t firstPosition, std::int64_t context, std::int64_t rows, std::int64_t width, const float* tokenTable,
                  const float* positionTable, float* x);
    // LayerNorm (Ba et al. 2016), epsilon 1e-5. mean and deviation (1/sigma) are kept for the backward pass.
    void (*normForward)(const float* x, std::int64_t rows, std::int64_t width, const float* weight, const float* bias, void* out, std::int64_t stride,
                        float* mean, float* inverse);
    // dx (+)= the gradient through the norm; weightGradient, biasGradient += sums over rows. dy (rows, width) float32 with `stride`.
    void (*normBackward)(const float* dy, std::int64_t stride, const float* x, std::int64_t rows, std::int64_t width, const float* weight, const float* mean,
                         const float* inverse, float* dx, bool add, float* weightGradient, float* biasGradient);
    // E <- float32, and columnSum[c] += the sum over rows (of the rounded values) unless absent.
    void (*convert)(const float* from, std::int64_t fromStride, std::int64_t rows, std::int64_t columns, void* to, std::int64_t toStride, float* columnSum);
    void (*columnSum)(const void* from, std::int64_t stride, std::int64_t rows, std::int64_t columns, float* sum);

    gemm::TileFunction biasTile, residualTile, geluTile, geluBackwardTile;

    // Row r of scores (rows, columns) float32 attends to columns <= firstRow + r. out = softmax(scale * scores) as E, zero where it may not
    // look, up to `padded` columns; logSum[r] = log of the sum of exponentials.
    void (*softmax)(const float* scores, std::int64_t stride, std::int64_t rows, std::int64_t firstRow, std::int64_t columns, std::int64_t padded, float scale,
                    void* out, std::int64_t outStride, float* logSum);
    // The same weights again from logSum (P), and dS = P * (dP - sum(P * dP)) * scale, both E. `scores` is used up.
    void (*softmaxBackward)(float* scores, const float* dP, std::int64_t stride, std::int64_t rows, std::int64_t firstRow, std::int64_t columns,
                            std::int64_t padded, float scale, const float* logSum, void* weights, void* dScores, std::int64_t outStride);
    // to[c] += factor * from[c]
    void (*addScaled)(const float* from, std::int64_t count, float factor, float* to);
    double (*sumOfSquares)(const float* values, std::int64_t count);
    void (*adamW)(AdamWRange range, std::int64_t count, AdamWScalars scalars);
};
const Kernels& kernels(gemm::Element element);

}  // namespace stepscope::step
