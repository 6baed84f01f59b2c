#include "core/state/BlockCode.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace stepscope {
namespace {

constexpr int kDecades = 7;
constexpr int kTableShift = 16;

// Magnitudes of one sign: in each decade, from 1e-7 up, twice as many as in the one below, in the middles of equal steps; the largest
// is 1, so that a block's greatest value comes back exactly.
std::vector<double> magnitudes(int lowestCount) {
    std::vector<double> all;
    for (int decade = 0; decade < kDecades; ++decade) {
        const int count = lowestCount << decade;
        const double top = std::pow(10.0, decade - (kDecades - 1));
        for (int i = 0; i < count; ++i) all.push_back(top * (0.1 + 0.9 * (i + 0.5) / count));
    }
    all.back() = 1;
    return all;
}

}  // namespace

BlockCode::BlockCode(Kind kind) : m_signed(kind == Kind::Signed) {
    std::vector<double> values{0};
    for (const double magnitude : magnitudes(m_signed ? 1 : 2)) {
        values.push_back(magnitude);
        if (m_signed) values.push_back(-magnitude);
    }
    std::ranges::sort(values);
    while (values.size() < m_values.size()) values.push_back(values.back());  // a spare code repeats the largest value
    std::ranges::copy(values, m_values.begin());
    m_zero = static_cast<std::uint8_t>(std::ranges::find(m_values, 0.0f) - m_values.begin());
    for (std::size_t c = 0; c + 1 < m_values.size(); ++c)
        m_borders[c] = m_values[c] == m_values[c + 1] ? std::numeric_limits<float>::infinity() : 0.5f * (m_values[c] + m_values[c + 1]);
    m_borders.back() = std::numeric_limits<float>::infinity();
    // Within one cell of the table (a 128th of its value) lies at most one border: codes are further apart than that.
    const std::uint32_t cells = (std::bit_cast<std::uint32_t>(1.0f) >> kTableShift) + 1;
    m_first.resize(cells);
    std::uint8_t code = m_zero;
    for (std::uint32_t cell = 0; cell < cells; ++cell) {
        while (std::bit_cast<float>(cell << kTableShift) >= m_borders[code]) ++code;
        m_first[cell] = code;
    }
}

std::uint8_t BlockCode::nearest(float x) const {
    const float magnitude = std::min(1.0f, std::abs(x));
    std::uint8_t code = m_first[std::bit_cast<std::uint32_t>(magnitude) >> kTableShift];
    if (magnitude >= m_borders[code]) ++code;
    if (!m_signed) return code == m_zero && magnitude > 0 ? static_cast<std::uint8_t>(code + 1) : code;
    return x < 0 ? static_cast<std::uint8_t>(2 * m_zero - code) : code;
}

void BlockCode::encode(const float* values, std::int64_t count, std::uint8_t* codes, float* scales) const {
    for (std::int64_t begin = 0; begin < count; begin += kCodeBlock) {
        const std::int64_t end = std::min(count, begin + kCodeBlock);
        float largest = 0;
        for (std::int64_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
        scales[begin / kCodeBlock] = largest;
        for (std::int64_t i = begin; i < end; ++i) codes[i] = largest > 0 ? nearest(values[i] / largest) : m_zero;
    }
}

void BlockCode::decode(const std::uint8_t* codes, const float* scales, std::int64_t count, float* values) const {
    for (std::int64_t i = 0; i < count; ++i) values[i] = m_values[codes[i]] * scales[i / kCodeBlock];
}

const BlockCode& firstMomentCode() {
    static const BlockCode code(BlockCode::Kind::Signed);
    return code;
}
const BlockCode& secondMomentCode() {
    static const BlockCode code(BlockCode::Kind::Positive);
    return code;
}

}  // namespace stepscope
