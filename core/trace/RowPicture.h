// RowPicture: one row of a timeline as pixels: the slices that are a pixel wide or wider, one by one, and for each pixel what is narrower, folded.
// Made from whatever tiles are there: where the wanted ones are missing the folds of the next coarser level stand in, and the missing ones are named.
// No QPainter in it; tested as numbers.
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <tuple>
#include <vector>

#include "core/trace/Lod.h"

namespace stepscope {

struct TilePlace {
    std::int64_t lane = 0;
    int level = 0;
    std::int64_t index = 0;
    auto operator<=>(const TilePlace&) const = default;
};

struct PixelSpan {
    double from = 0;        // ns, of the left edge of pixel 0
    double nsPerPixel = 1;  // more than 0
    int pixels = 0;
    double to() const { return from + nsPerPixel * pixels; }
};

struct RowPicture {
    struct Bar {
        double left = 0, right = 0;  // pixels; right - left >= 1; either may lie outside
        KeptSlice slice;
    };
    struct Column {
        std::int64_t count = 0;  // folded slices that begin in it
        double covered = 0;      // ns of it that they take, more where they lie over each other
        float weight = 0;        // of the style, ns
        std::uint32_t style = 0;
        bool coarse = false;  // a fold wider than the pixel stands in until finer ones are there
        bool some() const { return covered > 0 || count > 0; }
    };
    std::vector<Bar> bars;        // by class, then start
    std::vector<Column> columns;  // one a pixel; empty: nothing is folded
};

struct LaneSpan {
    std::int64_t lane = 0;
    std::int64_t begin = 0, end = 0;  // ns; outside of it nothing is asked for
    int finest = 1;                   // TraceLane::finest
};

using TileLookup = std::function<const LodTile*(const TilePlace&)>;  // null: not there yet

// `missing`: gathers what a sharp picture of this span lacks.
void composeRow(const TileLookup& tiles, const LaneSpan& lane, std::int32_t depth, const PixelSpan& span, RowPicture& picture,
                std::set<TilePlace>* missing = nullptr);
// The tiles that a sharp picture of the span needs, of every level that plays a part.
std::vector<TilePlace> tilesOf(const LaneSpan& lane, const PixelSpan& span);

}  // namespace stepscope
