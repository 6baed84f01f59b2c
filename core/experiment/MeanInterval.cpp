#include "core/experiment/MeanInterval.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "core/analysis/Statistics.h"

namespace stepscope {

MeanInterval meanInterval(std::span<const double> samples, double alpha) {
    MeanInterval interval;
    interval.mean = mean(samples);
    if (samples.size() < 2) return interval;
    const auto n = static_cast<double>(samples.size());
    double squares = 0;
    for (const double sample : samples) squares += (sample - interval.mean) * (sample - interval.mean);
    const boost::math::students_t t(n - 1);
    const double half = boost::math::quantile(boost::math::complement(t, alpha / 2)) * std::sqrt(squares / (n - 1) / n);
    interval.low = interval.mean - half;
    interval.high = interval.mean + half;
    return interval;
}

}  // namespace stepscope
