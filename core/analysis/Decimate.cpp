#include "core/analysis/Decimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepscope {

double Scale::toShare(double value) const {
    if (!logarithmic) return (value - low) / (high - low);
    if (!(value > 0)) return std::numeric_limits<double>::quiet_NaN();
    return std::log(value / low) / std::log(high / low);
}

double Scale::fromShare(double share) const {
    return logarithmic ? low * std::pow(high / low, share) : low + (high - low) * share;
}

// By doubling steps from `from` on, then by bisection: who asks for one place after the other pays for the distance between them, not for the run.
std::size_t Places::firstAt(double x, std::size_t from) const {
    std::size_t begin = std::min(from, count), reach = 1;
    while (begin + reach <= count && at(begin + reach - 1) < x) {
        begin += reach;
        reach *= 2;
    }
    std::size_t length = std::min(reach, count - begin);
    while (length > 0) {
        const std::size_t half = length / 2;
        if (at(begin + half) < x) {
            begin += half + 1;
            length -= half + 1;
        } else {
            length = half;
        }
    }
    return begin;
}

namespace {

double justAbove(double x) {
    return std::nextafter(x, std::numeric_limits<double>::infinity());
}

// Calls visit(rows) for every pixel column that holds rows.
template <class Visit>
void forEachPixelColumn(const Places& places, const Scale& x, std::size_t pixels, Visit visit) {
    std::size_t begin = places.firstAt(x.low);
    for (std::size_t pixel = 0; pixel < pixels && begin < places.count; ++pixel) {
        const double right = pixel + 1 == pixels ? justAbove(x.high) : x.fromShare(static_cast<double>(pixel + 1) / static_cast<double>(pixels));
        if (places.at(begin) >= right) continue;
        const std::size_t end = places.firstAt(right, begin);
        visit(RowRange{begin, end});
        begin = end;
    }
}

}  // namespace

RowRange visibleRows(const Places& places, const Scale& x) {
    const std::size_t first = places.firstAt(x.low);
    const std::size_t beyond = places.firstAt(justAbove(x.high), first);
    return {first > 0 ? first - 1 : 0, std::min(beyond + 1, places.count)};
}

std::vector<Line> decimate(const Places& places, const Column& values, const Scale& x, std::size_t pixels, bool logarithmicY) {
    std::vector<Line> lines(1);
    const auto add = [&](std::size_t row) {
        const double y = values[row];
        if (!std::isfinite(y) || (logarithmicY && y <= 0)) {
            if (!lines.back().empty()) lines.emplace_back();
            return;
        }
        const double place = places.at(row);
        if (x.logarithmic && place <= 0) return;
        lines.back().push_back({place, y});
    };

    const RowRange rows = visibleRows(places, x);
    if (rows.begin < rows.end && places.at(rows.begin) < x.low) add(rows.begin);
    forEachPixelColumn(places, x, pixels, [&](RowRange column) {
        const Column::Extremes found = values.extremes(column.begin, column.end, logarithmicY);
        if (!found.any) {
            if (!lines.back().empty()) lines.emplace_back();
            return;
        }
        add(std::min(found.low, found.high));
        if (found.low != found.high) add(std::max(found.low, found.high));
    });
    if (rows.begin < rows.end && places.at(rows.end - 1) > x.high) add(rows.end - 1);
    if (lines.back().empty()) lines.pop_back();
    return lines;
}

std::vector<RowRange> pixelColumns(const Places& places, const Scale& x, std::size_t pixels) {
    std::vector<RowRange> columns;
    columns.reserve(pixels);
    forEachPixelColumn(places, x, pixels, [&](RowRange column) { columns.push_back(column); });
    return columns;
}

}  // namespace stepscope
