// Norm and update of AdamW, compiled once per instruction set.
#include "core/kernels/adamw/AdamWCpu.h"

#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

double sumOfSquares(const float* g, std::int64_t begin, std::int64_t end) {
    double total = 0;
    for (std::int64_t i = begin; i < end; i += 1024) {
        // Four sums, or each addition would wait for the one before.
        Vec s[4] = {zero(), zero(), zero(), zero()};
        const std::int64_t stop = i + 1024 < end ? i + 1024 : end;
        std::int64_t j = i;
        for (; j + 4 * kLanes <= stop; j += 4 * kLanes)
            for (int k = 0; k < 4; ++k) {
                const Vec x = load(g + j + k * kLanes);
                s[k] = fma(x, x, s[k]);
            }
        forLanes(stop - j, [&](std::int64_t c, std::int64_t lanes) {
            const Vec x = get(g + j + c, lanes);
            s[0] = fma(x, x, s[0]);
        });
        total += static_cast<double>(sum((s[0] + s[1]) + (s[2] + s[3])));
    }
    return total;
}

void update(AdamWStep step, const float* g, float* weights, float* first, float* second, Bf16* low, std::int64_t begin, std::int64_t end) {
    const Vec scale = all(step.gradientScale), beta1 = all(step.beta1), beta2 = all(step.beta2);
    const Vec newer1 = all(step.newer1), newer2 = all(step.newer2);
    const Vec perRoot = all(1.0f / step.rootOfSecond), epsilon = all(step.epsilon), keep = all(step.keep), minusStep = all(-step.stepSize);
    forLanes(end - begin, [&](std::int64_t c, std::int64_t lanes) {
        const std::int64_t i = begin + c;
        const Vec x = get(g + i, lanes) * scale;
        const Vec m = fma(beta1, get(first + i, lanes), newer1 * x);
        const Vec v = fma(beta2, get(second + i, lanes), newer2 * (x * x));
        const Vec w = fma(minusStep, m / fma(sqrt(v), perRoot, epsilon), keep * get(weights + i, lanes));
        put(first + i, m, lanes);
        put(second + i, v, lanes);
        put(weights + i, w, lanes);
        if (low) put(low + i, w, lanes);
    });
}

}  // namespace

const AdamWTable adamWTable{sumOfSquares, update};

}  // namespace stepscope::STEPSCOPE_ISA
