// The plain loops, computed in double and rounded once per stored number.
#include "core/kernels/adamw/AdamW.h"

#include <cmath>

#include "core/base/Check.h"

namespace stepscope {

double sumOfSquares(std::span<const float> g) {
    double total = 0;
    for (const float x : g) total += static_cast<double>(x) * x;
    return total;
}

void adamWUpdate(AdamWStep step, std::span<const float> g, std::span<float> weights, std::span<float> first, std::span<float> second) {
    SS_CHECK(weights.size() == g.size() && first.size() == g.size() && second.size() == g.size());
    const double beta1 = step.beta1, beta2 = step.beta2, newer1 = step.newer1, newer2 = step.newer2;
    for (std::size_t i = 0; i < g.size(); ++i) {
        const double x = static_cast<double>(g[i]) * step.gradientScale;
        const double m = beta1 * first[i] + newer1 * x, v = beta2 * second[i] + newer2 * x * x;
        first[i] = static_cast<float>(m);
        second[i] = static_cast<float>(v);
        weights[i] =
            static_cast<float>(step.keep * static_cast<double>(weights[i]) - step.stepSize * m / (std::sqrt(v) / step.rootOfSecond + step.epsilon));
    }
}

}  // namespace stepscope
