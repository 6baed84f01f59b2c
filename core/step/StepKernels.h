// The tile operations of a planned step, which finish a product while it is in cache, and those row operations that only it needs, chosen for the
// instruction set at run time; what the operations under autograd need too is in core/kernels. Elements (E) are float32 or bf16 by
// gemm::Element; strides are in elements; rows are [0, rows). One thread a call.
#pragma once
#include <cstdint>

#include "core/kernels/gemm/Gemm.h"

namespace stepscope::step {

// Contexts of the tile functions that finish a product while it is in cache. Rows and columns are those of the product.
struct BiasTile {                 // out = tile + bias, E
    const float* bias = nullptr;  // may be absent
    void* out = nullptr;
    std::int64_t stride = 0;
};
// Which elements of an activation are kept (core/base/DropoutMask.h): `element` is the number of its first one, rows follow each other without gaps.
struct Dropout {
    std::uint64_t key = 0, element = 0;
    std::uint32_t threshold = 0;
    float factor = 1;  // of what is kept, 1 / (1 - rate)
};
struct ResidualTile {  // out = from + tile + bias, float32; the dropped form multiplies (tile + bias) by 0 or the factor
    const float* bias = nullptr;
    const float* from = nullptr;
    float* out = nullptr;
    std::int64_t stride = 0;  // the width of a row too
    Dropout dropout;
};
struct GeluTile {  // before = tile + bias, E; after = gelu_tanh(before), E
    const float* bias = nullptr;
    void* before = nullptr;
    void* after = nullptr;
    std::int64_t beforeStride = 0, afterStride = 0;
};
struct GeluBackwardTile {  // out = tile * gelu_tanh'(before), E; biasGradient[column] += the sum over rows
    const void* before = nullptr;
    void* out = nullptr;
    float* biasGradient = nullptr;
    std::int64_t beforeStride = 0, outStride = 0;
    // As panels that sum over rows (Gemm.h), of these rows: `out` once more, and gelu_tanh(before), which its slope is made of anyway.
    std::uint32_t *pairs = nullptr, *activatedPairs = nullptr;
    std::int64_t panelStride = 0;
};

struct Kernels {
    // E <- float32, and columnSum[c] += the sum over rows (of the rounded values) unless absent.
    void (*convert)(const float* from, std::int64_t fromStride, std::int64_t rows, std::int64_t columns, void* to, std::int64_t toStride,
                    float* columnSum);
    // The same of what dropout leaves of `from` (rows, columns).
    void (*convertDropped)(Dropout dropout, const float* from, std::int64_t rows, std::int64_t columns, void* to, std::int64_t toStride,
                           float* columnSum);
    // Dropout in place.
    void (*drop)(Dropout dropout, std::int64_t count, float* values);
    void (*columnSum)(const void* from, std::int64_t stride, std::int64_t rows, std::int64_t columns, float* sum);

    gemm::TileFunction biasTile, residualTile, droppedResidualTile, geluTile, geluBackwardTile;
};
const Kernels& kernels(gemm::Element element);

}  // namespace stepscope::step
