// Bias and GELU in one pass, forwards and backwards, compiled once per instruction set.
#include "core/kernels/bias_gelu/BiasGeluCpu.h"

#include "core/kernels/bias_gelu/GeluVec.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

template <class T>
void forward(std::int64_t columns, const T* in, const float* bias, T* out, std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
        const T* from = in + r * columns;
        T* to = out + r * columns;
        forLanes(columns, [&](std::int64_t c, std::int64_t lanes) {
            const Vec x = get(from + c, lanes);
            put(to + c, gelu<T>(bias ? x + get(bias + c, lanes) : x), lanes);
        });
    }
}

template <class T>
void backward(std::int64_t columns, const T* gradOut, const T* in, const float* bias, T* gradIn, float* gradBias, std::int64_t begin,
              std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t row = r * columns;
        forLanes(columns, [&](std::int64_t c, std::int64_t lanes) {
            const Vec x = get(in + row + c, lanes);
            const Vec g = get(gradOut + row + c, lanes) * geluSlope<T>(bias ? x + get(bias + c, lanes) : x);
            put(gradIn + row + c, g, lanes);
            if (gradBias) put(gradBias + c, get(gradBias + c, lanes) + g, lanes);
        });
    }
}

}  // namespace

const BiasGeluTable<float> biasGeluFloat{forward<float>, backward<float>};
const BiasGeluTable<Bf16> biasGeluBf16{forward<Bf16>, backward<Bf16>};

}  // namespace stepscope::STEPSCOPE_ISA
