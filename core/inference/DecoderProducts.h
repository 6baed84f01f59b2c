// Between the two halves of a Decoder: which products are few rows of activations, and in what elements the others are computed.
#pragma once
#include "core/kernels/packed_rows/PackedRows.h"

namespace stepscope {

// Up to so many rows of activations the weights are read as they lie and multiplied at once; beyond, as tiles of a matrix product.
constexpr std::int64_t kFewRows = 16;

// 8-bit and 4-bit panels are widened to float32 for a large product.
constexpr gemm::Element productElement(WeightType type) {
    return type == WeightType::Bf16 ? gemm::Element::Bf16 : gemm::Element::F32;
}

}  // namespace stepscope
