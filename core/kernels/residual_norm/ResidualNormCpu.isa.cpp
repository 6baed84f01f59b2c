// See ResidualNormCpu.h: compiled once per instruction set.
#include "core/kernels/residual_norm/ResidualNormCpu.h"

#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

template <class T>
void forward(NormShape shape, const float* x, const T* delta, const float* weight, const float* bias, float* sums, T* normed, float* mean,
             float* rstd, std::int64_t begin, std::int64_t end) {
    const std::int64_t C = shape.columns, stride = shape.stride > 0 ? shape.stride : C;
    const float share = C > 0 ? 1.0f / static_cast<float>(C) : 0.0f;
    for (std::int64_t r = begin; r < end; ++r) {
        const float* row = x + r * C;
        Vec total = zero();
        if (delta != nullptr) {
            float* to = sums + r * C;
            forLanes(C, [&](std::int64_t c, std::int64_t lanes) {
                const Vec s = get(row + c, lanes) + get(delta + r * C + c, lanes);
                put(to + c, s, lanes);
                total = total + s;
            });
            row = to;
        } else if (!shape.rms) {
            forLanes(C, [&](std::int64_t c, std::int64_t lanes) { total = total + get(row + c, lanes); });
        }
        const float centre = shape.rms ? 0.0f : sum(total) * share;
        // Two passes over a row that is in L1: the mean of squares less the square of the mean would lose the digits of a large mean.
        Vec squares = zero();
        forLanes(C, [&](std::int64_t c, std::int64_t lanes) {
            const Vec d = firstLanes(get(row + c, lanes) - all(centre), lanes, zero());
            squares = fma(d, d, squares);
        });
        const float scale = 1.0f / __builtin_sqrtf(sum(squares) * share + shape.epsilon);
        if (!shape.rms) mean[r] = centre;
        rstd[r] = scale;
        forLanes(C, [&](std::int64_t c, std::int64_t lanes) {
            const Vec hat = (get(row + c, lanes) - all(centre)) * all(scale);
            const Vec w = get(weight + c, lanes);
            put(normed + r * stride + c, bias ? fma(hat, w, get(bias + c, lanes)) : hat * w, lanes);
        });
    }
}

template <class T>
void backward(NormShape shape, const T* gradNormed, const float* sums, const float* mean, const float* rstd, const float* weight,
              const float* gradResidual, float* gradSum, T* gradDelta, float* gradWeight, float* gradBias, std::int64_t begin, std::int64_t end) {
    const std::int64_t C = shape.columns, stride = shape.stride > 0 ? shape.stride : C;
    const float share = C > 0 ? 1.0f / static_cast<float>(C) : 0.0f;
    for (std::int64_t r = begin; r < end; ++r) {
        const Vec centre = all(shape.rms ? 0.0f : mean[r]), scale = all(rstd[r]);
        Vec plain = zero(), alongHat = zero();
        forLanes(C, [&](std::int64_t c, std::int64_t lanes) {
            const Vec g = get(gradNormed + r * stride + c, lanes);
            const Vec hat = (get(sums + r * C + c, lanes) - centre) * scale;
            if (gradWeight) put(gradWeight + c, fma(g, hat, get(gradWeight + c, lanes)), lanes);
            if (gradBias) put(gradBias + c, get(gradBias + c, lanes) + g, lanes);
            const Vec scaled = g * get(weight + c, lanes);
            plain = plain + scaled;
            alongHat = fma(scaled, firstLanes(hat, lanes, zero()), alongHat);
        });
        const Vec a = all(shape.rms ? 0.0f : sum(plain) * share), b = all(sum(alongHat) * share);
        forLanes(C, [&](std::int64_t c, std::int64_t lanes) {
            const Vec hat = (get(sums + r * C + c, lanes) - centre) * scale;
            const Vec scaled = get(gradNormed + r * stride + c, lanes) * get(weight + c, lanes);
            Vec g = (scaled - a - hat * b) * scale;
            if (gradResidual) g = g + get(gradResidual + r * C + c, lanes);
            put(gradSum + r * C + c, g, lanes);
            if (gradDelta) put(gradDelta + r * C + c, g, lanes);
        });
    }
}

}  // namespace

const ResidualNormTable<float> residualNormFloat{forward<float>, backward<float>};
const ResidualNormTable<Bf16> residualNormBf16{forward<Bf16>, backward<Bf16>};

}  // namespace stepscope::STEPSCOPE_ISA
