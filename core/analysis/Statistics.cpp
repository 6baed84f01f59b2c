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

Summary summarise(std::vector<double> samples) {
    std::erase_if(samples, [](double value) { return !std::isfinite(value); });
    if (samples.empty()) return {};
    auto from = samples.begin();  // what lies before it is no larger than what follows
    const auto at = [&](double q) {
        const double place = q * static_cast<double>(samples.size() - 1);
        const auto below = samples.begin() + static_cast<std::ptrdiff_t>(place);
        std::nth_element(from, below, samples.end());
        from = below;
        const double low = *below, high = below + 1 == samples.end() ? low : *std::min_element(below + 1, samples.end());
        return low + (high - low) * (place - std::floor(place));
    };
    Summary summary{.count = samples.size(), .mean = mean(samples)};
    const auto [low, high] = std::ranges::minmax(samples);
    summary.low = low;
    summary.high = high;
    summary.lowerQuartile = at(0.25);
    summary.median = at(0.5);
    summary.upperQuartile = at(0.75);
    return summary;
}

}  // namespace stepscope
