// Plain descriptive statistics over samples. Torch-free, Qt-free; used by summaries, benches and the window.
#pragma once
#include <span>

namespace stepscope {

// Quantile q in [0, 1] with linear interpolation between order statistics (type 7 of Hyndman and Fan 1996); NaN when empty.
double quantile(std::span<const double> samples, double q);
inline double median(std::span<const double> samples) { return quantile(samples, 0.5); }
double mean(std::span<const double> samples);  // NaN when empty

}  // namespace stepscope
