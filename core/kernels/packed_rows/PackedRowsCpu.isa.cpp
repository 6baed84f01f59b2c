// Products of packed rows with a few rows of activations, compiled once per instruction set. The panels stream through the registers, each element
// widened to float32 once and multiplied with as many rows of activations as there are registers for sums.
#include "core/kernels/packed_rows/PackedRowsCpu.h"

#include "core/kernels/packed_rows/RowParts.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

// Of each type: what one place of a panel holds, how many columns that is, and its registers v = 0, 1 as float32.
struct Floats {
    using Place = float;
    static constexpr int columns = 1;
    static STEPSCOPE_INLINE void read(const Place* at, Vec (&w)[1]) { w[0] = load(at); }
};
struct Pairs {
    using Place = std::uint32_t;
    static constexpr int columns = 2;
    static STEPSCOPE_INLINE void read(const Place* at, Vec (&w)[2]) {
        const Words both = words(at);
        w[0] = lowHalves(both);
        w[1] = highHalves(both);
    }
};
struct Bytes {
    using Place = std::int8_t;
    static constexpr int columns = 1;
    static STEPSCOPE_INLINE void read(const Place* at, Vec (&w)[1]) { w[0] = load(at); }
};

// Whether register v of a place begins a line of memory: what is asked for is a line.
template <class Kind>
constexpr bool beginsLine(int v) {
    return v == 0 || v * kLanes * static_cast<i64>(sizeof(typename Kind::Place)) % 64 == 0;
}

// One place of a panel, with column k of B rows of activations and the columns behind it that the place holds.
template <class Kind, int B, int V>
STEPSCOPE_INLINE void place(const typename Kind::Place* at, const float* x, i64 xStride, i64 k, bool ahead, Vec (&sums)[B][V]) {
    Vec w[V][Kind::columns];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
        if (ahead && beginsLine<Kind>(v)) __builtin_prefetch(reinterpret_cast<const char*>(at + v * kLanes) + kAheadBytes, 0, 3);
        Kind::read(at + v * kLanes, w[v]);
    }
#pragma GCC unroll 8
    for (int b = 0; b < B; ++b)
#pragma GCC unroll 2
        for (int e = 0; e < Kind::columns; ++e) {
            const Vec factor = all(x[b * xStride + k + e]);
#pragma GCC unroll 8
            for (int v = 0; v < V; ++v) sums[b][v] = fma(w[v][e], factor, sums[b][v]);
        }
}

// An odd last column, whose neighbour in the word is a zero.
template <int B, int V>
STEPSCOPE_INLINE void oddPlace(const std::uint32_t* at, const float* x, i64 xStride, i64 k, Vec (&sums)[B][V]) {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
        Vec w[2];
        Pairs::read(at + v * kLanes, w);
#pragma GCC unroll 8
        for (int b = 0; b < B; ++b) sums[b][v] = fma(w[0], all(x[b * xStride + k]), sums[b][v]);
    }
}

// B rows of activations with V registers of rows of a panel, of which `at` is the first, each sum in U parts.
template <class Kind, int B, int V, int U>
STEPSCOPE_INLINE void block(const typename Kind::Place* at, i64 columns, const float* x, i64 xStride, Vec (&sums)[B][V]) {
    constexpr i64 kEach = Kind::columns;
    constexpr i64 kPanelBytes = kPanelRows * sizeof(typename Kind::Place);  // of a column or two
    Vec parts[U][B][V];
#pragma GCC unroll 4
    for (int u = 0; u < U; ++u)
#pragma GCC unroll 8
        for (int b = 0; b < B; ++b)
#pragma GCC unroll 8
            for (int v = 0; v < V; ++v) parts[u][b][v] = zero();
    i64 k = 0;
    for (; k + U * kEach <= columns; k += U * kEach, at += U * kPanelRows)
#pragma GCC unroll 4
        for (int u = 0; u < U; ++u) place<Kind>(at + u * kPanelRows, x, xStride, k + u * kEach, u * kPanelBytes % 64 == 0, parts[u]);
    for (; k + kEach <= columns; k += kEach, at += kPanelRows) place<Kind>(at, x, xStride, k, false, parts[0]);
    if constexpr (kEach == 2) {
        if (k < columns) oddPlace(at, x, xStride, k, parts[0]);
    }
#pragma GCC unroll 8
    for (int b = 0; b < B; ++b)
#pragma GCC unroll 8
        for (int v = 0; v < V; ++v) {
            sums[b][v] = parts[0][b][v];
#pragma GCC unroll 4
            for (int u = 1; u < U; ++u) sums[b][v] = sums[b][v] + parts[u][b][v];
        }
}

// Rows [first, first + B) of the activations with one panel.
template <class Kind, int B>
__attribute__((noinline)) void panel(const PackedRows& weights, const RowProducts& products, i64 row, const void* data, i64 first) {
    constexpr int V = kWide<B>;
    const auto* places = static_cast<const typename Kind::Place*>(data);
    const i64 left = weights.rows - row;
    for (i64 within = 0; within < kPanelRows && within < left; within += V * kLanes) {
        Vec sums[B][V];
        block<Kind, B, V, kWideParts<B>>(places + within, weights.columns, products.x + first * products.xStride, products.xStride, sums);
        putSums(products, weights.rows, row + within, first, weights.scales, sums);
    }
}

// The same of 4-bit weights: within a group of columns whole numbers are multiplied, and their sums once with its scale.
struct HalfBytes {
    static constexpr i64 kBytes = kPanelRows / 2;  // of a column
};
// Column k of B rows of activations with kBlockRows rows of a panel. A register of 16 lanes takes the low halves first and then the high ones of the
// same bytes; smaller ones stay within one kind.
template <int B>
STEPSCOPE_INLINE void halfBytesColumn(const std::uint8_t* at, bool high, i64 k, const float* x, i64 xStride, Vec (&sums)[B][kVectors]) {
    constexpr bool kBoth = kLanes == HalfBytes::kBytes;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
        const Vec w = loadHalves(at + k * HalfBytes::kBytes + (kBoth ? 0 : v * kLanes), kBoth ? v == 1 : high);
#pragma GCC unroll 8
        for (int b = 0; b < B; ++b) sums[b][v] = fma(w, all(x[b * xStride + k]), sums[b][v]);
    }
}

template <int B, int U>
STEPSCOPE_INLINE void halfBytesBlock(const std::uint8_t* at, bool high, const float* scales, i64 columns, const float* x, i64 xStride,
                                     Vec (&sums)[B][kVectors]) {
#pragma GCC unroll 8
    for (int b = 0; b < B; ++b)
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) sums[b][v] = zero();
    for (i64 k = 0; k < columns; scales += kPanelRows) {
        const i64 end = columns - k < kFourBitGroup ? columns : k + kFourBitGroup;
        Vec parts[U][B][kVectors];
#pragma GCC unroll 4
        for (int u = 0; u < U; ++u)
#pragma GCC unroll 8
            for (int b = 0; b < B; ++b)
#pragma GCC unroll 2
                for (int v = 0; v < kVectors; ++v) parts[u][b][v] = zero();
        for (; k + U <= end; k += U) {
            __builtin_prefetch(at + k * HalfBytes::kBytes + kAheadBytes, 0, 3);
#pragma GCC unroll 4
            for (int u = 0; u < U; ++u) halfBytesColumn<B>(at, high, k + u, x, xStride, parts[u]);
        }
        for (; k < end; ++k) halfBytesColumn<B>(at, high, k, x, xStride, parts[0]);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
            const Vec scale = load(scales + v * kLanes);
#pragma GCC unroll 8
            for (int b = 0; b < B; ++b) {
                Vec group = parts[0][b][v];
#pragma GCC unroll 4
                for (int u = 1; u < U; ++u) group = group + parts[u][b][v];
                sums[b][v] = fma(group, scale, sums[b][v]);
            }
        }
    }
}

template <int B>
__attribute__((noinline)) void halfBytesPanel(const PackedRows& weights, const RowProducts& products, i64 row, const std::uint8_t* bytes,
                                              const float* scales, i64 first) {
    const i64 left = weights.rows - row;
    for (i64 within = 0; within < kPanelRows && within < left; within += kBlockRows) {
        Vec sums[B][kVectors];
        halfBytesBlock<B, kParts<B>>(bytes + within % HalfBytes::kBytes, within >= HalfBytes::kBytes, scales + within, weights.columns,
                                     products.x + first * products.xStride, products.xStride, sums);
        putSums(products, weights.rows, row + within, first, nullptr, sums);
    }
}

template <class Kind>
void multiply(const PackedRows& weights, const RowProducts& products, i64 begin, i64 end) {
    const i64 places = (weights.columns + Kind::columns - 1) / Kind::columns * kPanelRows;
    for (i64 p = begin; p < end; ++p) {
        const void* data = static_cast<const typename Kind::Place*>(weights.panels) + p * places;
        inParts(products.count, [&]<int B>(i64 first) { panel<Kind, B>(weights, products, p * kPanelRows, data, first); });
    }
}

void multiplyHalfBytes(const PackedRows& weights, const RowProducts& products, i64 begin, i64 end) {
    const i64 groups = (weights.columns + kFourBitGroup - 1) / kFourBitGroup;
    for (i64 p = begin; p < end; ++p) {
        const std::uint8_t* bytes = static_cast<const std::uint8_t*>(weights.panels) + p * weights.columns * HalfBytes::kBytes;
        const float* scales = weights.scales + p * groups * kPanelRows;
        inParts(products.count, [&]<int B>(i64 first) { halfBytesPanel<B>(weights, products, p * kPanelRows, bytes, scales, first); });
    }
}

void widenHalfBytes(const PackedRows& weights, i64 panel, float* out) {
    const i64 groups = (weights.columns + kFourBitGroup - 1) / kFourBitGroup;
    const std::uint8_t* from = static_cast<const std::uint8_t*>(weights.panels) + panel * weights.columns * HalfBytes::kBytes;
    const float* scales = weights.scales + panel * groups * kPanelRows;
    for (i64 lane = 0; lane < kPanelRows; lane += kLanes)
        for (i64 k = 0; k < weights.columns; ++k)
            store(out + k * kPanelRows + lane, loadHalves(from + k * HalfBytes::kBytes + lane % HalfBytes::kBytes, lane >= HalfBytes::kBytes) *
                                                   load(scales + k / kFourBitGroup * kPanelRows + lane));
}

void widenPanel(const PackedRows& weights, i64 panel, float* out) {
    if (weights.type == WeightType::Int4) return widenHalfBytes(weights, panel, out);
    const auto* from = static_cast<const std::int8_t*>(weights.panels) + panel * weights.columns * kPanelRows;
    for (i64 lane = 0; lane < kPanelRows; lane += kLanes) {
        const Vec scale = load(weights.scales + panel * kPanelRows + lane);
        for (i64 k = 0; k < weights.columns; ++k) store(out + k * kPanelRows + lane, load(from + k * kPanelRows + lane) * scale);
    }
}

}  // namespace

const PackedRowsTable packedRowsTable{{multiply<Floats>, multiply<Pairs>, multiply<Bytes>, multiplyHalfBytes}, widenPanel};

}  // namespace stepscope::STEPSCOPE_ISA
