// Quantiles over the last N values, kept sorted: one value costs a binary search and a short move (N is 100).
// Used by RunHistory for the p10..p90 band of throughput.
#pragma once
#include <cstddef>
#include <deque>
#include <vector>

namespace stepscope {

class RollingQuantiles {
public:
    explicit RollingQuantiles(std::size_t window) : m_window(window) {}

    void add(double value);           // not finite: ignored
    double quantile(double q) const;  // type 7 of Hyndman and Fan 1996, as Statistics.h; NaN when empty
    void reset();

private:
    std::size_t m_window;
    std::deque<double> m_byAge;
    std::vector<double> m_sorted;
};

}  // namespace stepscope
