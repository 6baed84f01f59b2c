// SwiGLU in one pass, forwards and backwards, compiled once per instruction set.
#include "core/kernels/swiglu/SwigluCpu.h"

#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

template <class T>
STEPSCOPE_INLINE Vec biased(const T* row, const float* bias, std::int64_t c, std::int64_t lanes) {
    return bias ? get(row + c, lanes) + get(bias + c, lanes) : get(row + c, lanes);
}

template <class T>
void forward(std::int64_t columns, const T* in, const float* bias, T* out, std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
        const T* row = in + 2 * r * columns;
        forLanes(columns, [&](std::int64_t c, std::int64_t lanes) {
            const Vec gate = biased(row, bias, c, lanes);
            const Vec up = biased(row + columns, bias ? bias + columns : nullptr, c, lanes);
            put(out + r * columns + c, gate * sigmoid(gate) * up, lanes);
        });
    }
}

template <class T>
void backward(std::int64_t columns, const T* gradOut, const T* in, const float* bias, T* gradIn, float* gradBias, std::int64_t begin,
              std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
        const T* row = in + 2 * r * columns;
        T* to = gradIn + 2 * r * columns;
        forLanes(columns, [&](std::int64_t c, std::int64_t lanes) {
            const Vec gate = biased(row, bias, c, lanes);
            const Vec up = biased(row + columns, bias ? bias + columns : nullptr, c, lanes);
            const Vec g = get(gradOut + r * columns + c, lanes);
            const Vec s = sigmoid(gate), silu = gate * s;
            const Vec gradGate = g * up * fma(silu, all(1.0f) - s, s), gradUp = g * silu;
            put(to + c, gradGate, lanes);
            put(to + columns + c, gradUp, lanes);
            if (gradBias) {
                put(gradBias + c, get(gradBias + c, lanes) + gradGate, lanes);
                put(gradBias + columns + c, get(gradBias + columns + c, lanes) + gradUp, lanes);
            }
        });
    }
}

}  // namespace

const SwigluTable<float> swigluFloat{forward<float>, backward<float>};
const SwigluTable<Bf16> swigluBf16{forward<Bf16>, backward<Bf16>};

}  // namespace stepscope::STEPSCOPE_ISA
