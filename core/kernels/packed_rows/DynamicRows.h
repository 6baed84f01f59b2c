// Products of 8-bit weights with activations that are rounded to 8 bits when they are there (dynamic quantisation): whole numbers are multiplied and
// summed in 32 bits, exactly, and each sum is scaled once. A row of activations has one scale, its largest size becomes 127, symmetrically: the
// linear layers of PyTorch's quantize_dynamic round per tensor and with a zero point, those of LLM.int8() as here, apart from the outliers that they
// keep in 16 bits and that are not kept here (Dettmers et al., "LLM.int8(): 8-bit matrix multiplication for transformers at scale", 2022, vector-wise
// quantization). Here is the plain reference; DynamicRowsCpu.h computes it. Torch-free; any thread.
#pragma once
#include "core/kernels/packed_rows/PackedRows.h"

namespace stepscope {

// Rows of activations as whole numbers: each with 128 added, 1 to 255, up to a multiple of four columns, the last of which are zeros (128).
struct QuantisedRows {
    std::uint8_t* numbers = nullptr;  // (rows, stride)
    float* scales = nullptr;          // (rows); an activation is its number less 128, times the scale of its row

    static constexpr std::int64_t stride(std::int64_t columns) { return dotGroups(columns) * kDotColumns; }
};

// One row, rounded to the nearest multiple of its scale. With an element that is not finite the scale is NaN, so that every product of the row is;
// all zeros, and what is as good as zero, give zeros.
void quantiseRow(const float* x, std::int64_t columns, std::uint8_t* numbers, float& scale);

// The reference, of Int8Dynamic: sums of whole numbers, scaled in double. products.x is not read.
void multiplyQuantised(const PackedRows& weights, const QuantisedRows& x, const RowProducts& products);

}  // namespace stepscope
