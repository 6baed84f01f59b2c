// What attention's two directions are made of: small products over packed tiles in cache, and the packing. Only included by
// Attention*.isa.cpp. A unit is what one multiply-add takes along the summed dimension: a float, or a pair of Bf16 where the
// instruction set multiplies pairs; both are 32 bits, so that one packing and one product serve both. Where a processor multiplies
// pairs slowly they can be taken apart (Way::Apart): each half is a unit, as float32, the upper one before the lower, in which order
// the pair product adds them; both ways give the same bits.
#pragma once
#include "core/kernels/attention/AttentionCpu.h"
#include "core/kernels/isa/FlushDenormals.h"
#include "core/kernels/isa/Transpose4.h"
#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {

using Unit = std::uint32_t;

enum class Way { Units, Apart, Tiles };  // Tiles: units, multiplied by AMX (AttentionByTiles.h)

template <class T>
constexpr bool kPairs = STEPSCOPE_ISA_LEVEL >= 3 && sizeof(T) == 2;  // the instruction set multiplies pairs of T
template <class T, Way W>
constexpr bool kApart = kPairs<T>&& W == Way::Apart;
template <class T, Way W>
constexpr std::int64_t kPerUnit = kPairs<T>&& W != Way::Apart ? 2 : 1;
constexpr Way kOther = kPairs<Bf16> ? Way::Apart : Way::Units;  // of Bf16, beside Way::Units
constexpr Way kByTiles = kPairs<Bf16> ? Way::Tiles : Way::Units;
template <class T>
constexpr std::int64_t kTogether = kPairs<T> ? 2 : 1;  // elements that are rounded and padded together, in either way

STEPSCOPE_INLINE std::int64_t roundUp(std::int64_t n, std::int64_t to) {
    return (n + to - 1) / to * to;
}

// Hands out pieces of the scratch; with a null base it only counts them.
struct Pieces {
    char* base;
    std::int64_t used = 0;
    template <class E>
    E* take(std::int64_t count) {
        char* at = base + used;
        used += roundUp(count * static_cast<std::int64_t>(sizeof(E)), 64);
        return reinterpret_cast<E*>(at);
    }
};

template <std::int64_t PerUnit>
STEPSCOPE_INLINE Vec multiplyAdd(Unit a, const Unit* b, Vec sum) {
    if constexpr (PerUnit == 2)
        return fmaPairs(sum, allWords(a), words(b));
    else
        return fma(floats(allWords(a)), floats(words(b)), sum);
}

// A of a product: the unit of row r and summed place p is at[r * row + p * place].
struct Rows {
    const Unit* at;
    std::int64_t row, place;
};

template <std::int64_t PerUnit, int R, int N>
STEPSCOPE_INLINE void tile(std::int64_t units, Rows a, const Unit* b, std::int64_t bRow, float* c, std::int64_t cRow, bool add) {
    Vec sums[R][N];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) sums[r][n] = add ? load(c + r * cRow + n * kLanes) : zero();
    for (std::int64_t p = 0; p < units; ++p)
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
            for (int n = 0; n < N; ++n) sums[r][n] = multiplyAdd<PerUnit>(a.at[r * a.row + p * a.place], b + p * bRow + n * kLanes, sums[r][n]);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) store(c + r * cRow + n * kLanes, sums[r][n]);
}

template <std::int64_t PerUnit, int N>
STEPSCOPE_INLINE void columnPanel(std::int64_t rows, std::int64_t units, Rows a, const Unit* b, std::int64_t bRow, float* c, std::int64_t cRow,
                                  bool add) {
    std::int64_t r = 0;
    const auto from = [&] { return Rows{a.at + r * a.row, a.row, a.place}; };
    for (; r + 4 <= rows; r += 4) tile<PerUnit, 4, N>(units, from(), b, bRow, c + r * cRow, cRow, add);
    for (; r < rows; ++r) tile<PerUnit, 1, N>(units, from(), b, bRow, c + r * cRow, cRow, add);
}

// c (rows, columns) = or += sum over `units` places of a * b. b (units, columns) with bRow units a row; columns a multiple of kLanes.
// 4 x 4 registers of sums on AVX-512, 4 x 2 where there are 16: enough to hide the latency, and none is spilled.
template <class T, Way W>
__attribute__((noinline)) void product(std::int64_t rows, std::int64_t columns, std::int64_t units, Rows a, const Unit* b, std::int64_t bRow,
                                       float* c, std::int64_t cRow, bool add) {
    constexpr std::int64_t PerUnit = kPerUnit<T, W>;
    const FlushDenormals flushing(kApart<T, W>);
    std::int64_t n = 0;
    if constexpr (STEPSCOPE_ISA_LEVEL >= 2)
        for (; n + 4 * kLanes <= columns; n += 4 * kLanes) columnPanel<PerUnit, 4>(rows, units, a, b + n, bRow, c + n, cRow, add);
    for (; n + 2 * kLanes <= columns; n += 2 * kLanes) columnPanel<PerUnit, 2>(rows, units, a, b + n, bRow, c + n, cRow, add);
    for (; n < columns; n += kLanes) columnPanel<PerUnit, 1>(rows, units, a, b + n, bRow, c + n, cRow, add);
}

// Stores a register of numbers as units along a row, at `element`, which is even.
template <class T, Way W>
STEPSCOPE_INLINE void putUnits(Unit* to, std::int64_t element, Vec v) {
    if constexpr (kPerUnit<T, W> == 2)
        store(reinterpret_cast<Bf16*>(to) + element, v);
    else if constexpr (kApart<T, W>)
        store(reinterpret_cast<float*>(to) + element, swapNeighbours(rounded(v)));
    else
        store(reinterpret_cast<float*>(to) + element, v);
}

// Units down the rows of two registers, of which one lies below the other: one row of units, or two, `row` apart, the second on top.
template <class T, Way W>
STEPSCOPE_INLINE void putPairs(Unit* to, std::int64_t row, Vec even, Vec odd) {
    if constexpr (kPerUnit<T, W> == 2) {
        store(to, pairs(even, odd));
    } else if constexpr (kApart<T, W>) {
        store(reinterpret_cast<float*>(to), rounded(odd));
        store(reinterpret_cast<float*>(to + row), rounded(even));
    } else {
        store(reinterpret_cast<float*>(to), even);
    }
}

// to (rows padded, row units): the rows as they are, in units along the width; padded with zeros in both directions.
template <class T, Way W>
void stageRows(HeadRows<const T> from, std::int64_t rows, std::int64_t width, Unit* to, std::int64_t rowUnits, std::int64_t rowsPadded) {
    constexpr std::int64_t per = kPerUnit<T, W>;
    for (std::int64_t r = 0; r < rowsPadded; ++r, to += rowUnits) {
        if (r >= rows) {
            __builtin_memset(to, 0, static_cast<std::size_t>(rowUnits) * sizeof(Unit));
            continue;
        }
        const T* row = from.data + r * from.stride;
        for (std::int64_t u = width / per; u < rowUnits; ++u) to[u] = 0;
        if constexpr (per == 2)
            __builtin_memcpy(to, row, static_cast<std::size_t>(width) * sizeof(T));
        else if constexpr (kApart<T, W>)
            forLanes(width, [&](std::int64_t c, std::int64_t lanes) {
                put(reinterpret_cast<float*>(to) + c, swapNeighbours(get(row + c, lanes)), roundUp(lanes, 2));
            });
        else
            forLanes(width, [&](std::int64_t c, std::int64_t lanes) { put(reinterpret_cast<float*>(to) + c, get(row + c, lanes), lanes); });
    }
}

// to (units down rowsPadded, columns): units of rows below each other; columns beyond the width and rows beyond `rows` are zero.
template <class T, Way W>
void pairRows(HeadRows<const T> from, std::int64_t rows, std::int64_t width, Unit* to, std::int64_t columns, std::int64_t rowsPadded) {
    constexpr std::int64_t together = kTogether<T>, per = kPerUnit<T, W>;
    for (std::int64_t r = 0; r < rowsPadded; r += together, to += together / per * columns)
        for (std::int64_t c = 0; c < columns; c += kLanes) {
            const std::int64_t lanes = width - c < kLanes ? (width - c < 0 ? 0 : width - c) : kLanes;
            const Vec even = r < rows ? get(from.data + r * from.stride + c, lanes) : zero();
            const Vec odd = together == 2 && r + 1 < rows ? get(from.data + (r + 1) * from.stride + c, lanes) : zero();
            putPairs<T, W>(to + c, columns, even, odd);
        }
}

// to (columns, rows) = from (rows, columns), both multiples of 4.
inline void transposeUnits(const Unit* from, std::int64_t rows, std::int64_t columns, Unit* to) {
    for (std::int64_t c = 0; c < columns; c += 4)
        for (std::int64_t r = 0; r < rows; r += 4) transpose4(from + r * columns + c, columns, to + c * rows + r, rows);
}

template <class T>
STEPSCOPE_INLINE void putRows(const float* from, std::int64_t fromRow, std::int64_t rows, std::int64_t width, HeadRows<T> to) {
    for (std::int64_t r = 0; r < rows; ++r)
        forLanes(width, [&](std::int64_t c, std::int64_t lanes) { put(to.data + r * to.stride + c, get(from + r * fromRow + c, lanes), lanes); });
}

}  // namespace stepscope::STEPSCOPE_ISA
