#include "core/kernels/packed_rows/PackedRows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/kernels/isa/Bf16.h"
#include "core/kernels/rounding/RoundingCpu.h"

namespace stepscope {
namespace {

using gemm::kPanel;

void packBytes(const float* source, std::int64_t rows, std::int64_t columns, std::int8_t* panel, float* scales) {
    for (std::int64_t r = 0; r < kPanel; ++r) {
        const float* row = source + r * columns;
        float largest = 0;
        bool finite = true;
        if (r < rows)
            for (std::int64_t c = 0; c < columns; ++c) {
                largest = std::max(largest, std::fabs(row[c]));
                finite = finite && std::isfinite(row[c]);
            }
        scales[r] = finite ? largest / 127.0f : std::numeric_limits<float>::quiet_NaN();
        const float inverse = finite && largest > 0 ? 127.0f / largest : 0.0f;
        for (std::int64_t c = 0; c < columns; ++c) {
            // Of a denormal largest size the inverse is infinite, and the row is as good as zero.
            const float scaled = r < rows && std::isfinite(inverse) && inverse > 0 ? row[c] * inverse : 0.0f;
            panel[c * kPanel + r] = static_cast<std::int8_t>(std::lrint(std::clamp(scaled, -127.0f, 127.0f)));
        }
    }
}

}  // namespace

void packRows(WeightType type, const float* source, std::int64_t rows, std::int64_t columns, void* panels, float* scales, std::int64_t begin,
              std::int64_t end) {
    const std::int64_t bytes = PackedRows::panelBytes(type, columns);
    std::vector<Bf16> rounded;
    for (std::int64_t p = begin; p < end; ++p) {
        const std::int64_t first = p * kPanel, here = std::min(kPanel, rows - first);
        const float* from = source + first * columns;
        char* to = static_cast<char*>(panels) + p * bytes;
        if (type == WeightType::Int8) {
            packBytes(from, here, columns, reinterpret_cast<std::int8_t*>(to), scales + first);
        } else if (type == WeightType::F32) {
            gemm::packers(gemm::Element::F32).transposed(from, columns, here, columns, reinterpret_cast<std::uint32_t*>(to), bytes / 4);
        } else {
            rounded.resize(static_cast<std::size_t>(here * columns));
            roundingCpu().round(from, rounded.data(), here * columns);
            gemm::packers(gemm::Element::Bf16).transposed(rounded.data(), columns, here, columns, reinterpret_cast<std::uint32_t*>(to), bytes / 4);
        }
    }
}

void unpackRow(const PackedRows& weights, std::int64_t row, float* out) {
    const auto* panel = static_cast<const char*>(weights.panels) + row / kPanel * weights.panelBytes();
    const std::int64_t lane = row % kPanel;
    switch (weights.type) {
        case WeightType::F32:
            for (std::int64_t c = 0; c < weights.columns; ++c) out[c] = reinterpret_cast<const float*>(panel)[c * kPanel + lane];
            break;
        case WeightType::Bf16:
            for (std::int64_t c = 0; c < weights.columns; ++c) {
                const std::uint32_t word = reinterpret_cast<const std::uint32_t*>(panel)[c / 2 * kPanel + lane];
                out[c] = toFloat(Bf16{static_cast<std::uint16_t>(c % 2 == 0 ? word & 0xffff : word >> 16)});
            }
            break;
        case WeightType::Int8:
            for (std::int64_t c = 0; c < weights.columns; ++c)
                out[c] = static_cast<float>(reinterpret_cast<const std::int8_t*>(panel)[c * kPanel + lane]) * weights.scales[row];
            break;
    }
}

void multiplyRows(const PackedRows& weights, const RowProducts& products) {
    std::vector<float> row(static_cast<std::size_t>(weights.columns));
    for (std::int64_t n = 0; n < weights.rows; ++n) {
        unpackRow(weights, n, row.data());
        for (std::int64_t b = 0; b < products.count; ++b) {
            float& out = products.out[b * products.outStride + n];
            double sum = products.add ? out : 0.0;
            for (std::int64_t k = 0; k < weights.columns; ++k)
                sum += static_cast<double>(row[static_cast<std::size_t>(k)]) * products.x[b * products.xStride + k];
            out = static_cast<float>(sum + (products.bias != nullptr ? products.bias[n] : 0.0f));
        }
    }
}

}  // namespace stepscope
