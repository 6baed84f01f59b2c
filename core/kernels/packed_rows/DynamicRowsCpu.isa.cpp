// Products of 8-bit weights with activations that became whole numbers, compiled once per instruction set: the sums of a block stay in registers over
// all columns of a run, so that a weight is read once for as many rows of activations as there are registers.
#include "core/kernels/packed_rows/DynamicRowsCpu.h"

#include "core/kernels/isa/ByteDots.h"
#include "core/kernels/packed_rows/RowParts.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

constexpr i64 kGroupBytes = kPanelRows * kDotColumns;
constexpr i64 kRunGroups = kDotRun / kDotColumns;

// As dotGroups() and dotRuns(), which lie outside the set's namespace.
STEPSCOPE_INLINE i64 groupsOf(i64 columns) {
    return (columns + kDotColumns - 1) / kDotColumns;
}
STEPSCOPE_INLINE i64 runsOf(i64 columns) {
    return (columns + kDotRun - 1) / kDotRun;
}

void quantiseOne(const float* x, i64 columns, std::uint8_t* numbers, float* scale) {
    constexpr float kMost = 127.0f;
    Vec sizes = zero(), nothing = zero();
    forLanes(columns, [&](i64 at, i64 lanes) {
        const Vec v = get(x + at, lanes);
        sizes = max(max(v, -v), sizes);
        nothing = fma(v, zero(), nothing);  // NaN once there was one, or an infinite one
    });
    const i64 stride = groupsOf(columns) * kDotColumns;
    for (i64 c = columns; c < stride; ++c) numbers[c] = 128;
    const float found = largest(sizes);
    if (!(sum(nothing) == 0)) {
        *scale = __builtin_nanf("");
        for (i64 c = 0; c < columns; ++c) numbers[c] = 128;
        return;
    }
    float inverse = found > 0 ? kMost / found : 0.0f;
    if (!(inverse <= __FLT_MAX__)) inverse = 0;
    *scale = found / kMost;
    forLanes(columns, [&](i64 at, i64 lanes) { storeNumbers(numbers + at, get(x + at, lanes) * all(inverse), lanes); });
}

void quantise(const float* x, i64 columns, const QuantisedRows& into, i64 begin, i64 end) {
    for (i64 r = begin; r < end; ++r) quantiseOne(x + r * columns, columns, into.numbers + r * groupsOf(columns) * kDotColumns, into.scales + r);
}

// One group of columns.
template <class Dots, int B>
STEPSCOPE_INLINE void group(const std::int8_t* at, const std::uint8_t* x, i64 xStride, Ints (&sums)[B][kVectors]) {
    Ints w[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
        const std::int8_t* from = at + v * kLanes * kDotColumns;
        if (B <= 2) __builtin_prefetch(from + kAheadBytes, 0, 3);
        w[v] = ints(from);
    }
#pragma GCC unroll 8
    for (int b = 0; b < B; ++b) {
        const auto four = Dots::four(x + b * xStride);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) sums[b][v] = Dots::dot(sums[b][v], w[v], four);
    }
}

// B rows of activations with kBlockRows rows of a panel, of which `at` is the first, over `groups` of columns.
template <class Dots, int B, int U>
STEPSCOPE_INLINE void block(const std::int8_t* at, const std::int32_t* starts, i64 groups, const std::uint8_t* x, i64 xStride,
                            Ints (&sums)[B][kVectors]) {
    Ints parts[U][B][kVectors];
#pragma GCC unroll 4
    for (int u = 0; u < U; ++u)
#pragma GCC unroll 8
        for (int b = 0; b < B; ++b)
#pragma GCC unroll 2
            for (int v = 0; v < kVectors; ++v) parts[u][b][v] = u == 0 ? Dots::start(starts + v * kLanes) : noInts();
    i64 g = 0;
    for (; g + U <= groups; g += U)
#pragma GCC unroll 4
        for (int u = 0; u < U; ++u) group<Dots, B>(at + (g + u) * kGroupBytes, x + (g + u) * kDotColumns, xStride, parts[u]);
    for (; g < groups; ++g) group<Dots, B>(at + g * kGroupBytes, x + g * kDotColumns, xStride, parts[0]);
#pragma GCC unroll 8
    for (int b = 0; b < B; ++b)
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
            sums[b][v] = parts[0][b][v];
#pragma GCC unroll 4
            for (int u = 1; u < U; ++u) sums[b][v] = sums[b][v] + parts[u][b][v];
        }
}

// Rows [first, first + B) of the activations with one panel, of which `row` is the first row.
template <class Dots, int B>
__attribute__((noinline)) void panel(const PackedRows& weights, const QuantisedRows& x, const RowProducts& products, i64 row, const void* data,
                                     i64 first) {
    const i64 groups = groupsOf(weights.columns), runs = runsOf(weights.columns), left = weights.rows - row, stride = groups * kDotColumns;
    const auto* starts = static_cast<const std::int32_t*>(data);
    const auto* bytes = reinterpret_cast<const std::int8_t*>(starts + runs * kPanelRows);
    for (i64 within = 0; within < kPanelRows && within < left; within += kBlockRows) {
        Vec sums[B][kVectors];
#pragma GCC unroll 8
        for (int b = 0; b < B; ++b)
#pragma GCC unroll 2
            for (int v = 0; v < kVectors; ++v) sums[b][v] = zero();
        for (i64 run = 0; run < runs; ++run) {
            const i64 begin = run * kRunGroups, here = groups - begin < kRunGroups ? groups - begin : kRunGroups;
            Ints whole[B][kVectors];
            block<Dots, B, kParts<B>>(bytes + begin * kGroupBytes + within * kDotColumns, starts + run * kPanelRows + within, here,
                                      x.numbers + first * stride + begin * kDotColumns, stride, whole);
#pragma GCC unroll 8
            for (int b = 0; b < B; ++b)
#pragma GCC unroll 2
                for (int v = 0; v < kVectors; ++v) sums[b][v] = sums[b][v] + floats(whole[b][v]);
        }
#pragma GCC unroll 8
        for (int b = 0; b < B; ++b)
#pragma GCC unroll 2
            for (int v = 0; v < kVectors; ++v) sums[b][v] = sums[b][v] * all(x.scales[first + b]);
        putSums(products, weights.rows, row + within, first, weights.scales, sums);
    }
}

template <class Dots>
void multiply(const PackedRows& weights, const QuantisedRows& x, const RowProducts& products, i64 begin, i64 end) {
    const i64 bytes = (groupsOf(weights.columns) * kDotColumns + runsOf(weights.columns) * 4) * kPanelRows;
    for (i64 p = begin; p < end; ++p) {
        const void* data = static_cast<const char*>(weights.panels) + p * bytes;
        inParts(products.count, [&]<int B>(i64 first) { panel<Dots, B>(weights, x, products, p * kPanelRows, data, first); });
    }
}

bool hasAtOnce() {
#if STEPSCOPE_ISA_LEVEL >= 1
    __builtin_cpu_init();
#endif
#if STEPSCOPE_ISA_LEVEL >= 2
    return __builtin_cpu_supports("avx512vnni") != 0;
#elif STEPSCOPE_ISA_LEVEL == 1
    return __builtin_cpu_supports("avxvnni") != 0;
#else
    return false;
#endif
}

}  // namespace

#if STEPSCOPE_ISA_LEVEL >= 1
const DynamicRowsTable dynamicRowsTable{quantise, {multiply<Apart>, multiply<AtOnce>}, hasAtOnce};
#else
const DynamicRowsTable dynamicRowsTable{quantise, {multiply<Apart>, nullptr}, hasAtOnce};
#endif

}  // namespace stepscope::STEPSCOPE_ISA
