// Column: one metric of a run, a value a step, with an implicit pyramid over it that answers "where are the smallest and
// the largest value of rows [begin, end)" in O(log n) whatever the range. Appended on the GUI thread; only charts ask.
// Values lie in a deque, so that appending never moves what is there (a million steps would copy 100 MB at once).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace stepscope {

class Column {
public:
    // Rows of the extremes of a range; rows, not values, so that what is drawn is a real measurement at its real place.
    struct Extremes {
        std::size_t low = 0;
        std::size_t high = 0;
        bool any = false;  // false: no usable value in the range
    };

    void append(double value);  // NaN and infinities are gaps
    void clear();
    void cut(std::size_t rows);  // to the first so many; there are that many

    std::size_t size() const { return m_values.size(); }
    bool empty() const { return m_values.empty(); }
    double operator[](std::size_t row) const { return m_values[row]; }
    double back() const { return m_values.back(); }

    // Over the finite values of rows [begin, end), or with `positiveOnly` (a logarithmic axis) over those above zero.
    Extremes extremes(std::size_t begin, std::size_t end, bool positiveOnly = false) const;

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;
    static constexpr std::size_t kFan = 16;
    struct Node {
        std::uint32_t low = kNone, high = kNone, lowPositive = kNone;
    };
    void widen(Node& node, const Node& by) const;
    Node leaf(std::size_t row) const;
    Node leaves(std::size_t begin, std::size_t end) const;

    std::deque<float> m_values;               // 7 digits are more than a pixel can show
    std::vector<std::vector<Node>> m_levels;  // m_levels[k][i] covers rows [i * kFan^(k+1), (i + 1) * kFan^(k+1))
};

// Sums over any range in O(1): phase times are drawn as means, because a stack of maxima would not add up to anything.
class SumColumn {
public:
    void append(double value) { m_sums.push_back(m_sums.back() + value); }  // finite values only
    void clear() { m_sums.assign(1, 0.0); }
    void cut(std::size_t rows) { m_sums.resize(rows + 1); }  // to the first so many; there are that many
    std::size_t size() const { return m_sums.size() - 1; }
    double operator[](std::size_t row) const { return m_sums[row + 1] - m_sums[row]; }
    double sum(std::size_t begin, std::size_t end) const { return m_sums[end] - m_sums[begin]; }
    double mean(std::size_t begin, std::size_t end) const { return sum(begin, end) / static_cast<double>(end - begin); }

private:
    std::deque<double> m_sums{0.0};
};

}  // namespace stepscope
