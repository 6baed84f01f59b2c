// Vec: one register of float32 lanes of the instruction set being compiled, and what the kernels do with it. Only included by
// *.isa.cpp files; everything lies in that set's namespace, so that the linker never mixes two sets. No file here includes an inline
// function of the standard library. Element types: float and Bf16. Loads of n < kLanes elements fill the other lanes with 0 and
// touch no memory beyond; stores to Bf16 round to nearest even and keep NaN.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/kernels/isa/Bf16.h"

#define STEPSCOPE_INLINE inline __attribute__((always_inline))

// Each defines: struct Vec {kLanes}, all(), load(), store(), + - * /, fma(a, b, c) = a * b + c, max(), min() (the second operand when
// one is NaN), sqrt(), roundNearest(), power2(p, n) = p * 2^n for whole n in [-160, 160], firstLanes(v, n, fill), sum(), largest(),
// swapNeighbours() (lanes 1, 0, 3, 2, ...). load() of bytes with a sign gives kLanes whole numbers; loadHalves(p, high) the low or the high halves of
// kLanes bytes, less 8.
// And struct Words, a register of 32-bit words, each one float32 or two bf16 that are neighbours: words(p), store(p, w), allWords(w), bits(v),
// floats(w), pairs(p, q) of bf16 from two rows, lowHalves(w) and highHalves(w) as float32, fmaPairs(sum, a, b) = sum + a.low * b.low + a.high *
// b.high by what the set has for it.
#if STEPSCOPE_ISA_LEVEL >= 2
#include "core/kernels/isa/VecAvx512.h"
#elif STEPSCOPE_ISA_LEVEL == 1
#include "core/kernels/isa/VecAvx2.h"
#else
#include "core/kernels/isa/VecBaseline.h"
#endif

namespace stepscope::STEPSCOPE_ISA {

constexpr std::int64_t kLanes = Vec::kLanes;

#if STEPSCOPE_ISA_LEVEL < 2
STEPSCOPE_INLINE Vec rounded(Vec a) {
    Bf16 halves[kLanes];
    store(halves, a);
    return load(halves);
}
STEPSCOPE_INLINE Words pairs(Vec low, Vec high) {
    Bf16 halves[2][kLanes];
    store(halves[0], low);
    store(halves[1], high);
    return pairs(halves[0], halves[1]);
}
#endif

STEPSCOPE_INLINE Vec zero() {
    return all(0.0f);
}
STEPSCOPE_INLINE Vec operator-(Vec a) {
    return zero() - a;
}

// e^x to 2 units in the last place; inf above 88.73, 0 or denormal below -87.3, NaN for NaN. Polynomial of Cephes' expf.
STEPSCOPE_INLINE Vec exp(Vec x) {
    const Vec bounded = max(all(-105.0f), min(all(89.0f), x));
    const Vec n = roundNearest(bounded * all(1.44269504088896341f));
    const Vec r = fma(n, all(2.12194440e-4f), fma(n, all(-0.693359375f), bounded));
    Vec p = fma(all(1.9875691500e-4f), r, all(1.3981999507e-3f));
    p = fma(p, r, all(8.3334519073e-3f));
    p = fma(p, r, all(4.1665795894e-2f));
    p = fma(p, r, all(1.6666665459e-1f));
    p = fma(p, r, all(5.0000001201e-1f));
    return power2(fma(p * r, r, r) + all(1.0f), n);
}

// 2^y to 3 parts in a million, for results that become Bf16 or are summed by the hundred: half the operations of exp(). Cephes' exp2f, one term less.
STEPSCOPE_INLINE Vec roughPower2(Vec y) {
    const Vec bounded = max(all(-150.0f), y), n = roundNearest(bounded), f = bounded - n;
    Vec p = fma(all(1.339887440e-3f), f, all(9.618437357e-3f));
    p = fma(p, f, all(5.550332471e-2f));
    p = fma(p, f, all(2.402264791e-1f));
    p = fma(p, f, all(6.931472029e-1f));
    return power2(fma(p, f, all(1.0f)), n);
}

// e^(x - reference) with the precision that elements of the given type deserve. For Bf16 x - reference is below 88.
STEPSCOPE_INLINE Vec expOf(float, Vec x, Vec reference) {
    return exp(x - reference);
}
STEPSCOPE_INLINE Vec expOf(Bf16, Vec x, Vec reference) {
    return roughPower2((x - reference) * all(1.44269504088896341f));
}

// 1 / (1 + e^-x), the relative error below 5e-7 wherever the result is normal.
STEPSCOPE_INLINE Vec sigmoid(Vec x) {
    return all(1.0f) / (all(1.0f) + exp(-x));
}

// tanh(x) with an absolute error below 3e-7: 2 sigmoid(2x) - 1. Small x lose relative, not absolute, precision.
STEPSCOPE_INLINE Vec tanh(Vec x) {
    return fma(all(2.0f), sigmoid(x + x), all(-1.0f));
}

// Calls step(offset, lanes) for every register of a row of `count` elements: whole ones with lanes = kLanes, known when inlined,
// then the rest.
template <class Step>
STEPSCOPE_INLINE void forLanes(std::int64_t count, Step step) {
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) step(i, kLanes);
    if (i < count) step(i, count - i);
}

// load and store that are whole when `lanes` is the constant kLanes.
template <class T>
STEPSCOPE_INLINE Vec get(const T* from, std::int64_t lanes) {
    return lanes == kLanes ? load(from) : load(from, lanes);
}
template <class T>
STEPSCOPE_INLINE void put(T* to, Vec v, std::int64_t lanes) {
    lanes == kLanes ? store(to, v) : store(to, v, lanes);
}

}  // namespace stepscope::STEPSCOPE_ISA
