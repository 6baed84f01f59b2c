#include "core/analysis/RollingQuantiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepscope {

void RollingQuantiles::add(double value) {
    if (!std::isfinite(value)) return;
    if (m_byAge.size() == m_window) {
        m_sorted.erase(std::lower_bound(m_sorted.begin(), m_sorted.end(), m_byAge.front()));
        m_byAge.pop_front();
    }
    m_byAge.push_back(value);
    m_sorted.insert(std::upper_bound(m_sorted.begin(), m_sorted.end(), value), value);
}

double RollingQuantiles::quantile(double q) const {
    if (m_sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
    const double place = q * static_cast<double>(m_sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto above = std::min(below + 1, m_sorted.size() - 1);
    return m_sorted[below] + (m_sorted[above] - m_sorted[below]) * (place - static_cast<double>(below));
}

void RollingQuantiles::reset() {
    m_byAge.clear();
    m_sorted.clear();
}

}  // namespace stepscope
