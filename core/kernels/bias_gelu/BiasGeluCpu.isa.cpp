// See BiasGeluCpu.h: compiled once per instruction set.
#include "core/kernels/bias_gelu/BiasGeluCpu.h"

#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

// 2 sqrt(2/pi) (x + 0.044715 x^3) and its derivative: gelu(x) = x sigmoid(that), which keeps the digits of large negative x.
constexpr float kLinear = 1.5957691216057308f, kCubic = 0.07135481282f, kCubicSlope = 3 * 0.07135481282f;

STEPSCOPE_INLINE Vec gelu(Vec x) { return x * sigmoid(x * fma(all(kCubic) * x, x, all(kLinear))); }

STEPSCOPE_INLINE Vec geluSlope(Vec x) {
    const Vec square = x * x;
    const Vec e = exp(-(x * fma(all(kCubic), square, all(kLinear))));
    const Vec s = all(1.0f) / (all(1.0f) + e);
    // Both bounded, so that a large finite x gives 0 * finite and only an infinite one 0 * inf = NaN, as in the plain form.
    const Vec rest = min(all(1e37f), e) * s;  // 1 - s
    const Vec slope = min(all(1e30f), fma(all(kCubicSlope), square, all(kLinear)));
    return fma(x * s * rest, slope, s);
}

template <class T>
void forward(std::int64_t columns, const T* in, const float* bias, T* out, std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
        const T* from = in + r * columns;
        T* to = out + r * columns;
        forLanes(columns, [&](std::int64_t c, std::int64_t lanes) {
            const Vec x = get(from + c, lanes);
            put(to + c, gelu(bias ? x + get(bias + c, lanes) : x), lanes);
        });
    }
}

template <class T>
void backward(std::int64_t columns, const T* gradOut, const T* in, const float* bias, T* gradIn, float* gradBias, std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t row = r * columns;
        forLanes(columns, [&](std::int64_t c, std::int64_t lanes) {
            const Vec x = get(in + row + c, lanes);
            const Vec g = get(gradOut + row + c, lanes) * geluSlope(bias ? x + get(bias + c, lanes) : x);
            put(gradIn + row + c, g, lanes);
            if (gradBias) put(gradBias + c, get(gradBias + c, lanes) + g, lanes);
        });
    }
}

}  // namespace

const BiasGeluTable<float> biasGeluFloat{forward<float>, backward<float>};
const BiasGeluTable<Bf16> biasGeluBf16{forward<Bf16>, backward<Bf16>};

}  // namespace stepscope::STEPSCOPE_ISA
