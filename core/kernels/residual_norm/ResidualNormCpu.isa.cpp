// The residual sum and its norm in one pass, forwards and backwards, compiled once per instruction set.
#include "core/kernels/residual_norm/ResidualNormCpu.h"

#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

template <class T>
void forward(NormRows rows, const NormForward<T>& norm, std::int64_t begin, std::int64_t end) {
    // Copied: what is written below could lie where the arguments do, as far as the compiler knows.
    const float *const x = norm.x, *const weight = norm.weight, *const bias = norm.bias;
    const T* const delta = norm.delta;
    T* const normed = norm.normed;
    const bool rms = norm.rms;
    const float epsilon = norm.epsilon;
    const std::int64_t C = rows.columns, stride = rows.stride > 0 ? rows.stride : C;
    const float share = C > 0 ? 1.0f / static_cast<float>(C) : 0.0f;
    for (std::int64_t r = begin; r < end; ++r) {
        const float* row = x + r * C;
        Vec total = zero();
        if (delta != nullptr) {
            float* to = norm.sum + r * C;
            forLanes(C, [&](std::int64_t c, std::int64_t lanes) {
                const Vec s = get(row + c, lanes) + get(delta + r * C + c, lanes);
                put(to + c, s, lanes);
                total = total + s;
            });
            row = to;
        } else if (!rms) {
            forLanes(C, [&](std::int64_t c, std::int64_t lanes) { total = total + get(row + c, lanes); });
        }
        const float centre = rms ? 0.0f : sum(total) * share;
        // Two passes over a row that is in L1: the mean of squares less the square of the mean would lose the digits of a large mean.
        Vec squares = zero();
        forLanes(C, [&](std::int64_t c, std::int64_t lanes) {
            const Vec d = firstLanes(get(row + c, lanes) - all(centre), lanes, zero());
            squares = fma(d, d, squares);
        });
        const float scale = 1.0f / __builtin_sqrtf(sum(squares) * share + epsilon);
        if (!rms) norm.mean[r] = centre;
        norm.rstd[r] = scale;
        forLanes(C, [&](std::int64_t c, std::int64_t lanes) {
            const Vec hat = (get(row + c, lanes) - all(centre)) * all(scale);
            const Vec w = get(weight + c, lanes);
            put(normed + r * stride + c, bias ? fma(hat, w, get(bias + c, lanes)) : hat * w, lanes);
        });
    }
}

template <class T>
void backward(NormRows rows, const NormBackward<T>& norm, std::int64_t begin, std::int64_t end) {
    const T* const gradNormed = norm.gradNormed;
    const float *const sums = norm.sum, *const weight = norm.weight, *const gradResidual = norm.gradResidual;
    float *const gradSum = norm.gradSum, *const gradWeight = norm.gradWeight, *const gradBias = norm.gradBias;
    T* const gradDelta = norm.gradDelta;
    const bool rms = norm.rms;
    const std::int64_t C = rows.columns, stride = rows.stride > 0 ? rows.stride : C;
    const float share = C > 0 ? 1.0f / static_cast<float>(C) : 0.0f;
    for (std::int64_t r = begin; r < end; ++r) {
        const Vec centre = all(rms ? 0.0f : norm.mean[r]), scale = all(norm.rstd[r]);
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
        const Vec a = all(rms ? 0.0f : sum(plain) * share), b = all(sum(alongHat) * share);
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
