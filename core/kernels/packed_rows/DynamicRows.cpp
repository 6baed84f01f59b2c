#include "core/kernels/packed_rows/DynamicRows.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/kernels/packed_rows/ByteScale.h"

namespace stepscope {

void quantiseRow(const float* x, std::int64_t columns, std::uint8_t* numbers, float& scale) {
    const ByteScale found = byteScaleOf(x, columns, 127);
    scale = found.scale;
    std::fill_n(numbers, QuantisedRows::stride(columns), std::uint8_t{128});
    for (std::int64_t c = 0; c < columns; ++c) numbers[c] = static_cast<std::uint8_t>(128 + inSteps(x[c], found.inverse, 127));
}

void multiplyQuantised(const PackedRows& weights, const QuantisedRows& x, const RowProducts& products) {
    const auto held = [&](std::int64_t row, std::int64_t column) {
        const auto* panel = static_cast<const std::int8_t*>(weights.panels) + row / gemm::kPanel * weights.panelBytes();
        return panel[quadByte(weights.columns, row % gemm::kPanel, column)];
    };
    for (std::int64_t n = 0; n < weights.rows; ++n)
        for (std::int64_t b = 0; b < products.count; ++b) {
            const std::uint8_t* numbers = x.numbers + b * QuantisedRows::stride(weights.columns);
            std::int64_t sum = 0;
            for (std::int64_t k = 0; k < weights.columns; ++k) sum += held(n, k) * (numbers[k] - 128);
            float& out = products.out[b * products.outStride + n];
            const double scaled = static_cast<double>(sum) * x.scales[b] * weights.scales[n];
            out = static_cast<float>((products.add ? out : 0.0) + scaled + (products.bias != nullptr ? products.bias[n] : 0.0f));
        }
}

}  // namespace stepscope
