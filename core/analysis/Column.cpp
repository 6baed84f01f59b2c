// A full node of level k is made the moment its last row arrives, so a query needs at most 2 * kFan nodes a
// level and the rows at the two ragged ends.
#include "core/analysis/Column.h"

#include <cmath>

#include "core/base/Check.h"

namespace stepscope {

void Column::widen(Node& node, const Node& by) const {
    if (by.low != kNone && (node.low == kNone || m_values[by.low] < m_values[node.low])) node.low = by.low;
    if (by.high != kNone && (node.high == kNone || m_values[by.high] > m_values[node.high])) node.high = by.high;
    if (by.lowPositive != kNone && (node.lowPositive == kNone || m_values[by.lowPositive] < m_values[node.lowPositive]))
        node.lowPositive = by.lowPositive;
}

Column::Node Column::leaf(std::size_t row) const {
    const float value = m_values[row];
    if (!std::isfinite(value)) return {};
    const auto index = static_cast<std::uint32_t>(row);
    return {index, index, value > 0 ? index : kNone};
}

// As widening by each leaf would, with the values at hand instead of looked up again for every comparison.
Column::Node Column::leaves(std::size_t begin, std::size_t end) const {
    Node node;
    float low = 0, high = 0, lowPositive = 0;
    for (std::size_t row = begin; row < end; ++row) {
        const float value = m_values[row];
        if (!std::isfinite(value)) continue;
        const auto index = static_cast<std::uint32_t>(row);
        if (node.low == kNone || value < low) low = value, node.low = index;
        if (node.high == kNone || value > high) high = value, node.high = index;
        if (value > 0 && (node.lowPositive == kNone || value < lowPositive)) lowPositive = value, node.lowPositive = index;
    }
    return node;
}

void Column::append(double value) {
    SS_CHECK(m_values.size() < kNone);
    m_values.push_back(static_cast<float>(value));
    std::size_t below = m_values.size();  // complete items of the level below
    for (std::size_t level = 0; below % kFan == 0; ++level) {
        if (level == m_levels.size()) m_levels.emplace_back();
        Node node;
        if (level == 0)
            node = leaves(below - kFan, below);
        else
            for (std::size_t i = below - kFan; i < below; ++i) widen(node, m_levels[level - 1][i]);
        m_levels[level].push_back(node);
        below = m_levels[level].size();
    }
}

void Column::clear() {
    m_values.clear();
    m_levels.clear();
}

void Column::cut(std::size_t rows) {
    SS_CHECK(rows <= m_values.size());
    m_values.resize(rows);
    for (auto& level : m_levels) level.resize(rows /= kFan);
    while (!m_levels.empty() && m_levels.back().empty()) m_levels.pop_back();
}

Column::Extremes Column::extremes(std::size_t begin, std::size_t end, bool positiveOnly) const {
    SS_CHECK(begin <= end && end <= m_values.size());
    Node found;
    // Level 0 here are the rows themselves, level k the nodes of m_levels[k - 1]; the ragged ends are taken, the middle climbs.
    for (std::size_t level = 0; begin < end; ++level) {
        const auto take = [&](std::size_t i) { widen(found, level == 0 ? leaf(i) : m_levels[level - 1][i]); };
        const std::size_t complete = level < m_levels.size() ? m_levels[level].size() * kFan : 0;
        while (begin < end && (begin % kFan != 0 || begin >= complete)) take(begin++);
        while (begin < end && (end % kFan != 0 || end > complete)) take(--end);
        begin /= kFan;
        end /= kFan;
    }
    if (positiveOnly) {
        if (found.lowPositive == kNone) return {};
        return {found.lowPositive, found.high, true};
    }
    if (found.low == kNone) return {};
    return {found.low, found.high, true};
}

}  // namespace stepscope
