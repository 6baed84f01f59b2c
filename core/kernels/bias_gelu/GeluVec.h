// GELU in its tanh form and its derivative on registers, with the precision that elements E deserve. Included by *.isa.cpp files only: the row
// form here and the tile form of core/step. Large finite x give 0 or x and infinite ones NaN where the plain form does (BiasGelu.h).
#pragma once
#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {

// 2 sqrt(2/pi) (x + 0.044715 x^3) and its derivative: gelu(x) = x sigmoid(that), which keeps the digits of large negative x.
constexpr float kGeluLinear = 1.5957691216057308f, kGeluCubic = 0.07135481282f;

// e^-(the sigmoid's argument). Above e^110, whatever the set, it is infinite.
template <class E>
STEPSCOPE_INLINE Vec geluPower(Vec x, Vec square) {
    return expOf(E{}, min(all(110.0f), x * fma(all(-kGeluCubic), square, all(-kGeluLinear))), zero());
}

template <class E>
STEPSCOPE_INLINE Vec gelu(Vec x) {
    return x / (all(1.0f) + geluPower<E>(x, x * x));
}

// The derivative at x, and gelu(x) on the way.
struct GeluBoth {
    Vec value, slope;
};
template <class E>
STEPSCOPE_INLINE GeluBoth geluBoth(Vec x) {
    const Vec square = x * x, e = geluPower<E>(x, square), s = all(1.0f) / (all(1.0f) + e);
    // Both bounded, so that a large finite x gives 0 * finite and only an infinite one 0 * inf = NaN, as in the plain form.
    const Vec rest = min(all(1e37f), e) * s;  // 1 - s
    const Vec slope = min(all(1e30f), fma(all(3 * kGeluCubic), square, all(kGeluLinear)));
    const Vec value = x * s;
    return {value, fma(value * rest, slope, s)};
}
template <class E>
STEPSCOPE_INLINE Vec geluSlope(Vec x) {
    return geluBoth<E>(x).slope;
}

}  // namespace stepscope::STEPSCOPE_ISA
