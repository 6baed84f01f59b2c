#include "core/kernels/cached_attention/CachedAttention.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace stepscope {

void attendPlainly(std::span<const double> query, std::span<const double> keys, std::span<const double> values, double scale, std::span<double> out) {
    const std::size_t width = query.size(), positions = keys.size() / width;
    std::vector<double> scores(positions);
    for (std::size_t j = 0; j < positions; ++j) {
        for (std::size_t d = 0; d < width; ++d) scores[j] += query[d] * keys[j * width + d];
        scores[j] *= scale;
    }
    const double highest = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - highest);
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t j = 0; j < positions; ++j)
        for (std::size_t d = 0; d < width; ++d) out[d] += scores[j] / sum * values[j * width + d];
}

}  // namespace stepscope
