// How often which duration, in cells that are an eighth of an octave wide at most: what percentiles of millions of slices are told from, within 13 %.
// Sums of them are exact as far as numbers go. A value type; any thread.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>

#include "core/trace/Lod.h"

namespace stepscope {

class LogHistogram {
public:
    static constexpr int kCells = 8 + 60 * 8;
    static int cellOf(std::int64_t value) {
        if (value < 8) return static_cast<int>(std::max<std::int64_t>(0, value));
        const int octave = std::bit_width(static_cast<std::uint64_t>(value)) - 1;
        return 8 + (octave - 3) * 8 + static_cast<int>((value >> (octave - 3)) & 7);
    }
    static std::int64_t cellBegin(int cell) {
        if (cell < 8) return cell;
        if (cell >= kCells) return std::numeric_limits<std::int64_t>::max();  // behind the last cell there is no number more
        return static_cast<std::int64_t>(8 + (cell - 8) % 8) << ((cell - 8) / 8);
    }

    void add(std::int64_t value, std::int64_t times = 1) { addCell(cellOf(value), times); }
    void addCell(int cell, std::int64_t times) {
        std::int64_t& all = m_cells[cell];
        all = cappedSum(all, times);  // a stored one may say anything
    }
    void add(const LogHistogram& other) {
        for (const auto& [cell, times] : other.m_cells) addCell(cell, times);
    }
    const std::map<int, std::int64_t>& cells() const { return m_cells; }
    // The value that `share` (0 to 1) of all are not above, taken evenly within its cell.
    std::int64_t percentile(double share) const {
        double all = 0, before = 0;
        for (const auto& [cell, times] : m_cells) all += static_cast<double>(times);
        const double wanted = share * all;
        for (const auto& [cell, times] : m_cells) {
            if (before + static_cast<double>(times) >= wanted) {
                const auto begin = static_cast<double>(cellBegin(cell)), end = static_cast<double>(cellBegin(cell + 1));
                const double at = begin + (end - begin) * (wanted - before) / static_cast<double>(times);
                return at < end ? static_cast<std::int64_t>(at) : cellBegin(cell + 1);  // as a double the end of the last cell is beyond any number
            }
            before += static_cast<double>(times);
        }
        return 0;
    }
    bool operator==(const LogHistogram&) const = default;

private:
    std::map<int, std::int64_t> m_cells;
};

}  // namespace stepscope
