#include "core/analysis/Statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace stepscope {

double quantile(std::span<const double> samples, double q) {
    if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> sorted(samples.begin(), samples.end());
    const double place = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(below), sorted.end());
    const double low = sorted[below];
    if (below + 1 >= sorted.size()) return low;
    const double high = *std::min_element(sorted.begin() + static_cast<std::ptrdiff_t>(below) + 1, sorted.end());
    return low + (high - low) * (place - static_cast<double>(below));
}

double mean(std::span<const double> samples) {
    if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
    return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

}  // namespace stepscope
