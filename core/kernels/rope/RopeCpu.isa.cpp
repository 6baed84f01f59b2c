// Rotary positions, forwards and backwards, compiled once per instruction set.
#include "core/kernels/rope/RopeCpu.h"

#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

template <class T>
void rotate(RopeShape shape, T* rows, const float* cosines, const float* sines, bool back, std::int64_t begin, std::int64_t end) {
    const std::int64_t half = shape.width / 2;
    const Vec sign = all(back ? -1.0f : 1.0f);
    for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t turn = r % shape.context * half;
        for (std::int64_t h = 0; h < shape.heads; ++h) {
            T* first = rows + r * shape.stride + h * shape.width;
            T* second = first + half;
            forLanes(half, [&](std::int64_t d, std::int64_t lanes) {
                const Vec cosine = get(cosines + turn + d, lanes), sine = get(sines + turn + d, lanes) * sign;
                const Vec x = get(first + d, lanes), y = get(second + d, lanes);
                put(first + d, x * cosine - y * sine, lanes);
                put(second + d, fma(x, sine, y * cosine), lanes);
            });
        }
    }
}

}  // namespace

const RopeTable<float> ropeFloat{rotate<float>};
const RopeTable<Bf16> ropeBf16{rotate<Bf16>};

}  // namespace stepscope::STEPSCOPE_ISA
