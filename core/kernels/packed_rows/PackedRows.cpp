#include "core/kernels/packed_rows/PackedRows.h"

#include <algorithm>
#include <vector>

#include "core/kernels/isa/Bf16.h"
#include "core/kernels/packed_rows/ByteScale.h"
#include "core/kernels/rounding/RoundingCpu.h"

namespace stepscope {
namespace {

using gemm::kPanel;

void packBytes(const float* source, std::int64_t rows, std::int64_t columns, std::int8_t* panel, float* scales) {
    for (std::int64_t r = 0; r < kPanel; ++r) {
        const float* row = source + r * columns;
        const ByteScale found = byteScaleOf(row, r < rows ? columns : 0, 127);
        scales[r] = found.scale;
        for (std::int64_t c = 0; c < columns; ++c) panel[c * kPanel + r] = r < rows ? inSteps(row[c], found.inverse, 127) : std::int8_t{0};
    }
}

// The bytes of four columns of a row beside each other; in front of them, for each run of columns, what its sums begin with where activations are
// held with 128 added: -128 times the sum of the row's bytes.
void packQuads(const float* source, std::int64_t rows, std::int64_t columns, std::int8_t* panel, float* scales) {
    auto* starts = reinterpret_cast<std::int32_t*>(panel);
    std::fill_n(panel, PackedRows::panelBytes(WeightType::Int8Dynamic, columns), std::int8_t{0});
    for (std::int64_t r = 0; r < kPanel; ++r) {
        const float* row = source + r * columns;
        const ByteScale found = byteScaleOf(row, r < rows ? columns : 0, 127);
        scales[r] = found.scale;
        for (std::int64_t c = 0; r < rows && c < columns; ++c) {
            const std::int8_t held = inSteps(row[c], found.inverse, 127);
            panel[quadByte(columns, r, c)] = held;
            starts[c / kDotRun * kPanel + r] -= 128 * held;
        }
    }
}

void packHalfBytes(const float* source, std::int64_t rows, std::int64_t columns, std::uint8_t* panel, float* scales) {
    constexpr std::int64_t kBytes = kPanel / 2;
    constexpr std::uint8_t kZeros = 0x88;
    std::fill_n(panel, columns * kBytes, kZeros);
    for (std::int64_t first = 0; first < columns; first += kFourBitGroup, scales += kPanel) {
        const std::int64_t count = std::min(kFourBitGroup, columns - first);
        for (std::int64_t r = 0; r < kPanel; ++r) {
            if (r >= rows) {
                scales[r] = 0;
                continue;
            }
            const float* from = source + r * columns + first;
            const ByteScale found = byteScaleOf(from, count, 7);
            scales[r] = found.scale;
            const int shift = r < kBytes ? 0 : 4;
            for (std::int64_t c = 0; c < count; ++c) {
                std::uint8_t& byte = panel[(first + c) * kBytes + r % kBytes];
                const int held = inSteps(from[c], found.inverse, 7) + 8;
                byte = static_cast<std::uint8_t>((byte & (0xf0 >> shift)) | (held << shift));
            }
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
        } else if (type == WeightType::Int4) {
            packHalfBytes(from, here, columns, reinterpret_cast<std::uint8_t*>(to), scales + p * PackedRows::panelScales(type, columns));
        } else if (type == WeightType::Int8Dynamic) {
            packQuads(from, here, columns, reinterpret_cast<std::int8_t*>(to), scales + first);
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
        case WeightType::Int8Dynamic:
            for (std::int64_t c = 0; c < weights.columns; ++c)
                out[c] = static_cast<float>(reinterpret_cast<const std::int8_t*>(panel)[quadByte(weights.columns, lane, c)]) * weights.scales[row];
            break;
        case WeightType::Int4:
            for (std::int64_t c = 0; c < weights.columns; ++c) {
                const std::uint8_t byte = reinterpret_cast<const std::uint8_t*>(panel)[c * (kPanel / 2) + lane % (kPanel / 2)];
                const int held = (lane < kPanel / 2 ? byte & 0xf : byte >> 4) - 8;
                const float* scales = weights.scales + row / kPanel * PackedRows::panelScales(weights.type, weights.columns);
                out[c] = static_cast<float>(held) * scales[c / kFourBitGroup * kPanel + lane];
            }
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
