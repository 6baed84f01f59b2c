// CentredSmoothing: the bold line over a noisy curve, without lag: at each row the straight line fitted to the values around it (local linear
// regression: Cleveland 1979). An average of the past, biased or not, trails behind a falling loss by as many steps as it remembers.
// Sums over prefixes, so that any row costs O(1) whatever the window, and the window is chosen when it is drawn. Owned by RunHistory.
#pragma once
#include <cstddef>
#include <deque>

namespace stepscope {

class CentredSmoothing {
public:
    static constexpr std::size_t kHalf = 10;  // taken on either side where nobody chose

    // Not finite: the value before it is taken once more (0 before the first).
    void append(double value);
    std::size_t size() const { return m_sums.size() - 1; }
    void cut(std::size_t rows);  // to the first so many; there are that many

    // Over `half` rows on either side. Near the first row never over more than half as many as lie before it: there a loss falls too fast for
    // more, and the first row is its own value. Near the last row what is missing behind it is taken before it.
    double at(std::size_t row, std::size_t half) const;

private:
    std::deque<double> m_sums{0.0}, m_moments{0.0};  // of values, and of value times row
    double m_last = 0;
};

}  // namespace stepscope
