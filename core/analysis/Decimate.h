// Decimate: from a column of any length to the few points that a line chart of a given width can show. Per pixel column the
// smallest and the largest value survive (with their real places), so no spike is ever lost; a redraw costs
// O(pixels * log n). A pixel column whose rows are all gaps breaks the line. Called by the charts on the GUI thread.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "core/analysis/Column.h"

namespace stepscope {

// How a value becomes a place along an axis.
struct Scale {
    double low = 0, high = 1;  // what the two ends of the axis show
    bool logarithmic = false;  // then both are > 0

    double toShare(double value) const;  // 0 at low, 1 at high; outside for values outside; NaN when it cannot be shown
    double fromShare(double share) const;
};

// Increasing places of the rows along x, as a function so that steps, tokens and seconds need no copies.
struct Places {
    std::size_t count = 0;
    std::function<double(std::size_t)> at;

    std::size_t firstAt(double x, std::size_t from = 0) const;  // first row >= from whose place is >= x; count when none
};

struct Point {
    double x = 0, y = 0;
};
using Line = std::vector<Point>;  // without gaps

// The rows of [low, high] of `x`, plus one row beyond either end so that lines leave the picture where they should.
struct RowRange {
    std::size_t begin = 0, end = 0;
};
RowRange visibleRows(const Places& places, const Scale& x);

// At most 2 points a pixel column (+ one beyond each end). logarithmicY: values <= 0 are gaps.
std::vector<Line> decimate(const Places& places, const Column& values, const Scale& x, std::size_t pixels, bool logarithmicY);

// One row range a pixel column, empty ones left out: for means (stacked areas) and bands.
std::vector<RowRange> pixelColumns(const Places& places, const Scale& x, std::size_t pixels);

}  // namespace stepscope
