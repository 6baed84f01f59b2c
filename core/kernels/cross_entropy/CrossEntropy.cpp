// The plain loops, computed in double and rounded once.
#include "core/kernels/cross_entropy/CrossEntropy.h"

#include <algorithm>
#include <cmath>

#include "core/base/Check.h"

namespace stepscope {

void crossEntropyRows(CrossEntropyShape shape, std::span<const float> logits, std::span<const std::int64_t> targets, std::span<float> losses,
                      std::span<float> gradient) {
    const auto columns = static_cast<std::size_t>(shape.columns), V = static_cast<std::size_t>(shape.vocabulary);
    SS_CHECK(V > 0 && V <= columns && logits.size() == targets.size() * columns && losses.size() == targets.size() &&
             gradient.size() == logits.size());
    const double spread = static_cast<double>(shape.smoothing) / static_cast<double>(V);
    for (std::size_t r = 0; r < targets.size(); ++r) {
        const auto row = logits.subspan(r * columns, V);
        const double most = *std::max_element(row.begin(), row.end());
        double sum = 0, plain = 0;
        for (const float x : row) {
            sum += std::exp(x - most);
            plain += x;
        }
        const auto target = static_cast<std::size_t>(targets[r]);
        const double logSum = most + std::log(sum);
        losses[r] =
            static_cast<float>(logSum - (1 - static_cast<double>(shape.smoothing)) * row[target] - (shape.smoothing > 0 ? spread * plain : 0.0));
        for (std::size_t c = 0; c < columns; ++c) {
            const double p = c < V ? std::exp(row[c] - logSum) - spread - (c == target ? 1 - static_cast<double>(shape.smoothing) : 0.0) : 0.0;
            gradient[r * columns + c] = static_cast<float>(shape.gradientScale * p);
        }
    }
}

}  // namespace stepscope
