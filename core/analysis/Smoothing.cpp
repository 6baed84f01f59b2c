#include "core/analysis/Smoothing.h"

#include <algorithm>
#include <cmath>

#include "core/base/Check.h"

namespace stepscope {

void CentredSmoothing::append(double value) {
    if (std::isfinite(value)) m_last = value;
    m_moments.push_back(m_moments.back() + m_last * static_cast<double>(size()));
    m_sums.push_back(m_sums.back() + m_last);
}

void CentredSmoothing::cut(std::size_t rows) {
    SS_CHECK(rows <= size());
    m_sums.resize(rows + 1);
    m_moments.resize(rows + 1);
    m_last = rows > 0 ? m_sums[rows] - m_sums[rows - 1] : 0;
}

double CentredSmoothing::at(std::size_t row, std::size_t half) const {
    SS_CHECK(row < size());
    half = std::min(half, row / 2);
    const std::size_t after = std::min(half, size() - 1 - row);
    const std::size_t begin = row - std::min(2 * half - after, row / 2), end = row + after + 1;
    const auto count = static_cast<double>(end - begin);
    const double sum = m_sums[end] - m_sums[begin];
    const double middle = (static_cast<double>(begin) + static_cast<double>(end - 1)) / 2;
    const double spread = count * (count * count - 1) / 12;  // of consecutive whole numbers around their mean
    if (spread == 0) return sum;
    const double slope = (m_moments[end] - m_moments[begin] - middle * sum) / spread;
    return sum / count + slope * (static_cast<double>(row) - middle);
}

}  // namespace stepscope
