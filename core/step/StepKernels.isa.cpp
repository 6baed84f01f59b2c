// The row and tile operations behind StepKernels.h, compiled once for each instruction set.
#include "core/base/DropoutMask.h"
#include "core/kernels/bias_gelu/GeluVec.h"
#include "core/kernels/gemm/PairRows.h"
#include "core/step/StepKernelsTable.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

using namespace step;

using i64 = std::int64_t;

inline i64 least(i64 a, i64 b) {
    return a < b ? a : b;
}

template <typename E>
E* at(void* base, i64 offset) {
    return static_cast<E*>(base) + offset;
}
template <typename E>
const E* at(const void* base, i64 offset) {
    return static_cast<const E*>(base) + offset;
}

// The rows of a tile, just written to `rows`, once more as words of the panel they belong to. Columns beyond the last become zeros.
template <typename E>
STEPSCOPE_INLINE void pairTile(const E* from, i64 stride, i64 row, i64 column, i64 rows, i64 columns, std::uint32_t* pairs, i64 panelStride) {
    std::uint32_t* to = pairs + column / gemm::kPanel * panelStride + row / kPerWord<E> * gemm::kPanel;
    for (i64 r = 0; r < rows; r += kPerWord<E>, to += gemm::kPanel) {
        const E* even = from + r * stride;
        const E* odd = r + 1 < rows ? even + stride : nullptr;
        if (columns == gemm::kPanel) {
            pairRows(even, odd, gemm::kPanel, to);
            continue;
        }
        pairRows(even, odd, columns, to);
        for (i64 c = columns; c < gemm::kPanel; ++c) to[c] = 0;
    }
}

template <typename E>
void convert(const float* from, i64 fromStride, i64 rows, i64 columns, void* to, i64 toStride, float* columnSum) {
    for (i64 r = 0; r < rows; ++r) {
        auto* out = at<E>(to, r * toStride);
        const float* in = from + r * fromStride;
        if (columnSum == nullptr) {
            forLanes(columns, [&](i64 c, i64 n) { put(out + c, get(in + c, n), n); });
            continue;
        }
        forLanes(columns, [&](i64 c, i64 n) {
            put(out + c, get(in + c, n), n);
            put(columnSum + c, (get(columnSum + c, n) + get(out + c, n)), n);
        });
    }
}

// What dropout multiplies up to a panel's width of elements by, from element `first` of the activation on. A loop of its own: it becomes vector code.
STEPSCOPE_INLINE void keepFactors(const Dropout& d, i64 first, i64 count, float* factors) {
    const std::uint64_t begin = d.element + static_cast<std::uint64_t>(first);
    for (i64 i = 0; i < count; ++i) factors[i] = dropoutKeeps(d.key, begin + static_cast<std::uint64_t>(i), d.threshold) ? d.factor : 0.0f;
}

void drop(Dropout dropout, i64 count, float* values) {
    float factors[gemm::kPanel];
    for (i64 first = 0; first < count; first += gemm::kPanel) {
        const i64 here = least(gemm::kPanel, count - first);
        keepFactors(dropout, first, here, factors);
        forLanes(here, [&](i64 c, i64 n) { put(values + first + c, get(values + first + c, n) * get(factors + c, n), n); });
    }
}

template <typename E>
void convertDropped(Dropout dropout, const float* from, i64 rows, i64 columns, void* to, i64 toStride, float* columnSum) {
    float factors[gemm::kPanel], kept[gemm::kPanel];
    for (i64 r = 0; r < rows; ++r)
        for (i64 first = 0; first < columns; first += gemm::kPanel) {
            const i64 place = r * columns + first, here = least(gemm::kPanel, columns - first);
            keepFactors(dropout, place, here, factors);
            forLanes(here, [&](i64 c, i64 n) { put(kept + c, get(from + place + c, n) * get(factors + c, n), n); });
            convert<E>(kept, 0, 1, here, at<E>(to, r * toStride + first), 0, columnSum == nullptr ? nullptr : columnSum + first);
        }
}

template <typename E>
void columnSum(const void* from, i64 stride, i64 rows, i64 columns, float* sum) {
    for (i64 r = 0; r < rows; ++r) {
        const auto* in = at<E>(from, r * stride);
        forLanes(columns, [&](i64 c, i64 n) { put(sum + c, (get(sum + c, n) + get(in + c, n)), n); });
    }
}

template <typename E>
void biasTile(void* context, float* tile, i64 row, i64 column, i64 rows, i64 columns) {
    const auto& t = *static_cast<const BiasTile*>(context);
    for (i64 r = 0; r < rows; ++r) {
        auto* out = at<E>(t.out, (row + r) * t.stride + column);
        const float* in = tile + r * gemm::kPanel;
        forLanes(columns, [&](i64 c, i64 n) {
            const Vec v = get(in + c, n);
            put(out + c, t.bias == nullptr ? v : (v + get(t.bias + column + c, n)), n);
        });
    }
}

template <bool Drops>
void residualTile(void* context, float* tile, i64 row, i64 column, i64 rows, i64 columns) {
    const auto& t = *static_cast<const ResidualTile*>(context);
    float factors[gemm::kPanel];
    for (i64 r = 0; r < rows; ++r) {
        const i64 place = (row + r) * t.stride + column;
        const float* in = tile + r * gemm::kPanel;
        if constexpr (Drops) keepFactors(t.dropout, place, columns, factors);
        forLanes(columns, [&](i64 c, i64 n) {
            Vec v = get(in + c, n);
            if (t.bias != nullptr) v = (v + get(t.bias + column + c, n));
            if constexpr (Drops) v = v * get(factors + c, n);
            put(t.out + place + c, get(t.from + place + c, n) + v, n);
        });
    }
}

template <typename E>
void geluTile(void* context, float* tile, i64 row, i64 column, i64 rows, i64 columns) {
    const auto& t = *static_cast<const GeluTile*>(context);
    auto* after = at<E>(t.after, row * t.afterStride + column);
    for (i64 r = 0; r < rows; ++r) {
        auto* before = at<E>(t.before, (row + r) * t.beforeStride + column);
        const float* in = tile + r * gemm::kPanel;
        forLanes(columns, [&](i64 c, i64 n) {
            Vec v = get(in + c, n);
            if (t.bias != nullptr) v = v + get(t.bias + column + c, n);
            put(before + c, v, n);
            put(after + r * t.afterStride + c, gelu<E>(v), n);
        });
    }
}

template <typename E>
void geluBackwardTile(void* context, float* tile, i64 row, i64 column, i64 rows, i64 columns) {
    const auto& t = *static_cast<const GeluBackwardTile*>(context);
    const auto* before = at<E>(t.before, row * t.beforeStride + column);
    auto* out = at<E>(t.out, row * t.outStride + column);
    alignas(64) E activated[gemm::kStrip * gemm::kPanel];
    forLanes(columns, [&](i64 c, i64 n) {
        Vec sum = zero();
        for (i64 r = 0; r < rows; ++r) {
            const auto [value, slope] = geluBoth<E>(get(before + r * t.beforeStride + c, n));
            const Vec d = get(tile + r * gemm::kPanel + c, n) * slope;
            put(activated + r * gemm::kPanel + c, value, n);
            put(out + r * t.outStride + c, d, n);
            sum = sum + d;
        }
        if (t.biasGradient != nullptr) put(t.biasGradient + column + c, get(t.biasGradient + column + c, n) + sum, n);
    });
    pairTile(out, t.outStride, row, column, rows, columns, t.pairs, t.panelStride);
    pairTile(activated, gemm::kPanel, row, column, rows, columns, t.activatedPairs, t.panelStride);
}

template <typename E>
constexpr Kernels tableOf() {
    return {.convert = convert<E>,
            .convertDropped = convertDropped<E>,
            .drop = drop,
            .columnSum = columnSum<E>,
            .biasTile = biasTile<E>,
            .residualTile = residualTile<false>,
            .droppedResidualTile = residualTile<true>,
            .geluTile = geluTile<E>,
            .geluBackwardTile = geluBackwardTile<E>};
}

}  // namespace

extern const step::Table stepTable;  // a constant is local to its file otherwise
const step::Table stepTable = {.kernels = {tableOf<float>(), tableOf<Bf16>()}};

}  // namespace stepscope::STEPSCOPE_ISA
