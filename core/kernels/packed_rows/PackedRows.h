// Weights (rows, columns) of one of five types in panels of 32 rows, for products with a few rows of activations at a time, where reading the
// weights is all that takes time; and the plain reference of the product in double. float and bf16 lie as gemm's packers lay them (Gemm.h), so that
// one copy serves the large products too; of 8-bit weights a panel holds, column after column, one byte of each of its 32 rows; of 4-bit weights 16
// bytes, each with one of the first 16 rows in its low half and the row 16 below that in its high half. Of those 8-bit weights that whole numbers
// multiply (DynamicRows.h) a panel holds, for each four columns, four bytes of each of its rows. Torch-free; any thread.
#pragma once
#include <cstdint>

#include "core/kernels/gemm/Gemm.h"

namespace stepscope {

enum class WeightType { F32, Bf16, Int8, Int4, Int8Dynamic };
constexpr int kWeightTypes = 5;
constexpr WeightType kAllWeightTypes[kWeightTypes]{WeightType::F32, WeightType::Bf16, WeightType::Int8, WeightType::Int4, WeightType::Int8Dynamic};
constexpr int kFloatProductTypes = 4;       // the first of them: the activations they are multiplied with stay as they are
constexpr std::int64_t kFourBitGroup = 32;  // columns of a row that share a scale

// Of Int8Dynamic: the bytes of so many columns are multiplied at once, and the sums of so many are kept in 32 bits.
constexpr std::int64_t kDotColumns = 4, kDotRun = 1 << 16;
constexpr std::int64_t dotGroups(std::int64_t columns) {
    return (columns + kDotColumns - 1) / kDotColumns;
}
constexpr std::int64_t dotRuns(std::int64_t columns) {
    return (columns + kDotRun - 1) / kDotRun;
}

// Whether large products take their panels widened to float32.
constexpr bool isWidened(WeightType type) {
    return type == WeightType::Int8 || type == WeightType::Int4;
}

struct PackedRows {
    WeightType type = WeightType::F32;
    std::int64_t rows = 0, columns = 0;
    const void* panels = nullptr;
    // Int8, Int8Dynamic: (panels * 32), an element is its byte times the scale of its row. Int4: (panels, groups, 32), it is its half byte less 8,
    // times the scale of its row and of its group of columns.
    const float* scales = nullptr;

    std::int64_t panelCount() const { return gemm::panels(rows); }
    std::int64_t panelBytes() const { return panelBytes(type, columns); }
    static constexpr std::int64_t panelBytes(WeightType type, std::int64_t columns) {
        if (type == WeightType::Int8) return columns * gemm::kPanel;
        if (type == WeightType::Int4) return columns * gemm::kPanel / 2;
        // In front of the bytes stands what their sums begin with.
        if (type == WeightType::Int8Dynamic) return (dotGroups(columns) * kDotColumns + dotRuns(columns) * 4) * gemm::kPanel;
        return gemm::steps(type == WeightType::Bf16 ? gemm::Element::Bf16 : gemm::Element::F32, columns) * gemm::kPanel * 4;
    }
    // Beside the panels.
    static constexpr std::int64_t scaleCount(WeightType type, std::int64_t rows, std::int64_t columns) {
        return type == WeightType::F32 || type == WeightType::Bf16 ? 0 : gemm::panels(rows) * panelScales(type, columns);
    }
    static constexpr std::int64_t panelScales(WeightType type, std::int64_t columns) {
        return gemm::kPanel * (type == WeightType::Int4 ? (columns + kFourBitGroup - 1) / kFourBitGroup : 1);
    }
};

// Packs panels [begin, end) of the row-major matrix `source` (rows, columns). Missing rows become zeros. Int8: the scale of a row is its largest size
// divided by 127 and its elements are rounded to the nearest multiple, so that each is off by at most half the scale (symmetric quantisation for each
// output channel; Krishnamoorthi, "Quantizing deep convolutional networks for efficient inference", 2018); Int8Dynamic: the same. Int4: the same with
// 7 in place of 127, for each group of columns of a row, whose largest size bounds so few others (Dettmers, Zettlemoyer, "The case for 4-bit
// precision", 2023). A row, or a group of one, with an element that is not finite gives NaN in every product.
void packRows(WeightType type, const float* source, std::int64_t rows, std::int64_t columns, void* panels, float* scales, std::int64_t begin,
              std::int64_t end);

// One row as it is held: an embedding.
void unpackRow(const PackedRows& weights, std::int64_t row, float* out);

// What a product with `count` rows of activations does: out[b][n] = (add ? out[b][n] : 0) + sum over k of weights[n][k] * x[b][k] + bias[n].
struct RowProducts {
    std::int64_t count = 0;
    const float* x = nullptr;
    std::int64_t xStride = 0;
    const float* bias = nullptr;  // (rows); absent = none
    float* out = nullptr;
    std::int64_t outStride = 0;
    bool add = false;
};

// The reference: sums in double, of the weights as they are held and the activations as they are.
void multiplyRows(const PackedRows& weights, const RowProducts& products);

}  // namespace stepscope
