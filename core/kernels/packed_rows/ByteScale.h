// Between the references of this folder: the scale of neighbours that become whole numbers, those numbers, and where a panel of Int8Dynamic has them.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/packed_rows/PackedRows.h"

namespace stepscope {

// Of `count` neighbours: their scale, so that the largest becomes `most`, and its inverse; 0 where all are as good as zero.
struct ByteScale {
    float scale, inverse;
};
inline ByteScale byteScaleOf(const float* from, std::int64_t count, float most) {
    float largest = 0;
    for (std::int64_t c = 0; c < count; ++c) {
        if (!std::isfinite(from[c])) return {std::numeric_limits<float>::quiet_NaN(), 0};
        largest = std::max(largest, std::fabs(from[c]));
    }
    const float inverse = largest > 0 ? most / largest : 0.0f;
    // Of a denormal largest size the inverse is infinite, and the row is as good as zero.
    return {largest / most, std::isfinite(inverse) ? inverse : 0.0f};
}

inline std::int8_t inSteps(float value, float inverse, float most) {
    return static_cast<std::int8_t>(inverse > 0 ? std::lrint(std::clamp(value * inverse, -most, most)) : 0);
}

// Behind the beginning of the panel.
constexpr std::int64_t quadByte(std::int64_t columns, std::int64_t row, std::int64_t column) {
    return dotRuns(columns) * gemm::kPanel * 4 + (column / kDotColumns * gemm::kPanel + row) * kDotColumns + column % kDotColumns;
}

}  // namespace stepscope
