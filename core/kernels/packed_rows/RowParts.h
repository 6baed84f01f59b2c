// What the products of packed rows share (*.isa.cpp of this folder alone): how much of a panel and how many rows of activations are in registers at a
// time, and where the sums go.
#pragma once
#include "core/kernels/isa/Vec.h"
#include "core/kernels/packed_rows/PackedRows.h"

namespace stepscope::STEPSCOPE_ISA {

using i64 = std::int64_t;

constexpr i64 kPanelRows = 32;  // gemm::kPanel; a block is as many of them as two registers hold
constexpr int kVectors = 2;
constexpr i64 kBlockRows = kVectors * kLanes;
static_assert(kPanelRows % kBlockRows == 0);
constexpr int kMostColumns = STEPSCOPE_ISA_LEVEL >= 2 ? 8 : 4;  // rows of activations at once: 16 sums of 32 registers, 8 of 16
constexpr i64 kAheadBytes = 2048;  // weights come from memory: what is asked for now is needed when so many bytes more are used up

// With few sums each is kept in so many parts, or one would wait for the other.
template <int B>
constexpr int kParts = B == 1   ? 4
                       : B == 2 ? 2
                                : 1;

// With few rows of activations there are registers for more rows of the weights at a time, up to a whole panel: then memory is read from one end to
// the other, and not every second line of it first.
constexpr int kFewSums = 8;
template <int B>
constexpr int vectorsAtOnce() {
    int vectors = kVectors;
    while (2 * vectors * kLanes <= kPanelRows && 2 * vectors * B <= kFewSums) vectors *= 2;
    return vectors;
}
template <int B>
constexpr int kWide = vectorsAtOnce<B>();
template <int B>
constexpr int kWideParts = B* kWide<B> < kFewSums ? kFewSums / (B * kWide<B>) : 1;

// Where the sums of a block go: rows of the weights from `row` on, B rows of activations from `first` on.
template <int B, int V>
STEPSCOPE_INLINE void putSums(const RowProducts& products, i64 rows, i64 row, i64 first, const float* scales, const Vec (&sums)[B][V]) {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
        const i64 n = row + v * kLanes;
        if (n >= rows) break;
        const i64 lanes = rows - n < kLanes ? rows - n : kLanes;
#pragma GCC unroll 8
        for (int b = 0; b < B; ++b) {
            float* to = products.out + (first + b) * products.outStride + n;
            Vec value = sums[b][v];
            if (scales != nullptr) value = value * get(scales + n, lanes);
            if (products.bias != nullptr) value = value + get(products.bias + n, lanes);
            if (products.add) value = value + get(to, lanes);
            put(to, value, lanes);
        }
    }
}

// Calls some.template operator()<B>(first) for rows [first, first + B) of the activations, until all `count` of them are through.
template <class Some>
STEPSCOPE_INLINE void inParts(i64 count, Some some) {
    i64 first = 0;
    if constexpr (kMostColumns == 8) {
        for (; count - first >= 8; first += 8) some.template operator()<8>(first);
        const i64 left = count - first;
        if (left == 7) return some.template operator()<7>(first);
        if (left == 6) return some.template operator()<6>(first);
        if (left == 5) return some.template operator()<5>(first);
    }
    for (; count - first >= 4; first += 4) some.template operator()<4>(first);
    const i64 left = count - first;
    if (left == 3) some.template operator()<3>(first);
    if (left == 2) some.template operator()<2>(first);
    if (left == 1) some.template operator()<1>(first);
}

}  // namespace stepscope::STEPSCOPE_ISA
