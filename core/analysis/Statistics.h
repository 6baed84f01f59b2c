// Plain descriptive statistics over samples. Torch-free, Qt-free; used by summaries, benches and the window.
#pragma once
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace stepscope {

// Quantile q in [0, 1] with linear interpolation between order statistics (type 7 of Hyndman and Fan 1996); NaN when empty.
double quantile(std::span<const double> samples, double q);
inline double median(std::span<const double> samples) {
    return quantile(samples, 0.5);
}

// Of a run's steps, those that tell its speed: without the first 3 (allocation, caches, code paths met for the first time), unless it has no others.
inline std::span<const double> withoutWarmUp(std::span<const double> steps) {
    return steps.size() > 3 ? steps.subspan(3) : steps;
}
double mean(std::span<const double> samples);  // NaN when empty

// What is said of many samples at once; NaN where there are none.
struct Summary {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    std::size_t count = 0;
    double mean = kNone, low = kNone, lowerQuartile = kNone, median = kNone, upperQuartile = kNone, high = kNone;
};
Summary summarise(std::vector<double> samples);  // those that are not finite are left out

}  // namespace stepscope
