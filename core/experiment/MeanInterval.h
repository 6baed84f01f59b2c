// The mean of a few samples and between which values that of what they were drawn from lies. Used where something is told of numbers that were not
// taken in pairs: the speed of each of several arms, what a text costs in one form of the weights beside another. Pure function, any thread.
#pragma once
#include <limits>
#include <span>

namespace stepscope {

struct MeanInterval {
    double mean = std::numeric_limits<double>::quiet_NaN();
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};
// Student's interval: missed in a share alpha of all cases where the samples are independent and about normal. Unbounded with fewer than two.
MeanInterval meanInterval(std::span<const double> samples, double alpha = 0.05);

}  // namespace stepscope
