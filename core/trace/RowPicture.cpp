#include "core/trace/RowPicture.h"

#include <algorithm>
#include <cmath>

namespace stepscope {
namespace {

struct Times {
    std::int64_t from = 0, to = 0;  // half-open, ns
    bool empty() const { return from >= to; }
};

// No slice of a class below the highest is longer than four of its buckets.
std::int64_t reach(int level, int finest) {
    return level == 0 ? lodWidth(finest) : 4 * lodWidth(level);
}

Times seen(std::int64_t begin, std::int64_t end, const PixelSpan& span) {
    constexpr double kFar = 4e18;
    const auto from = static_cast<std::int64_t>(std::floor(std::clamp(span.from, -kFar, kFar)));
    const auto to = static_cast<std::int64_t>(std::ceil(std::clamp(span.to(), -kFar, kFar)));
    return {std::max(from, begin), std::min(to, end)};
}

class Composer {
public:
    Composer(const TileLookup& tiles, const LaneSpan& lane, std::int32_t depth, const PixelSpan& span, RowPicture& picture)
        : m_tiles(tiles), m_lane(lane), m_depth(depth), m_span(span), m_perNs(1 / span.nsPerPixel), m_picture(picture) {}

    void kept(int level, const Times& times) {
        const std::int64_t from = level == kLodLevels ? m_lane.begin : std::max(m_lane.begin, times.from - reach(level, m_lane.finest));
        const int shift = tileShift(level, m_lane.finest);
        for (std::int64_t index = from >> shift; index <= (times.to - 1) >> shift; ++index) {
            const LodTile* tile = m_tiles({m_lane.lane, level, index});
            const LodRow* row = tile == nullptr ? nullptr : tile->row(m_depth);
            if (row == nullptr) continue;
            auto slice = std::ranges::lower_bound(row->kept, from, {}, &KeptSlice::start);
            for (; slice != row->kept.end() && slice->start < times.to; ++slice)
                if (slice->end() > times.from || slice->start >= times.from) add(*slice);
        }
    }
    void folds(int level, const Times& times) {
        if (level > kLodLevels || times.empty()) return;
        const int shift = tileShift(level, m_lane.finest);
        for (std::int64_t index = times.from >> shift; index <= (times.to - 1) >> shift; ++index) {
            const std::int64_t tileBegin = index * (std::int64_t{1} << shift);
            const Times part{std::max(times.from, tileBegin), std::min(times.to, tileBegin + (std::int64_t{1} << shift))};
            const LodTile* tile = m_tiles({m_lane.lane, level, index});
            if (tile == nullptr) {
                folds(level == 0 ? m_lane.finest : level + 1, part);
                continue;
            }
            const LodRow* row = tile->row(m_depth);
            if (row == nullptr || level == 0) continue;
            const std::int64_t width = lodWidth(level);
            auto fold = std::ranges::lower_bound(row->folds, part.from - width + 1, {}, &Fold::start);
            for (; fold != row->folds.end() && fold->start < part.to; ++fold) add(*fold, width, part);
        }
    }

private:
    RowPicture::Column* column(double x) {
        if (m_picture.columns.empty()) m_picture.columns.resize(static_cast<std::size_t>(m_span.pixels));
        const auto place = static_cast<std::int64_t>(x);
        if (x < 0 || place >= m_span.pixels) return nullptr;
        return &m_picture.columns[static_cast<std::size_t>(place)];
    }
    static void weigh(RowPicture::Column& column, std::uint32_t style, double covered) {
        column.covered += covered;
        if (static_cast<float>(covered) <= column.weight) return;
        column.weight = static_cast<float>(covered);
        column.style = style;
    }
    void add(const KeptSlice& slice) {
        const double left = (static_cast<double>(slice.start) - m_span.from) * m_perNs;
        if (static_cast<double>(slice.duration) >= m_span.nsPerPixel) {
            m_picture.bars.push_back({left, left + static_cast<double>(slice.duration) * m_perNs, slice});
        } else if (RowPicture::Column* into = column(std::max(0.0, left))) {
            into->count = cappedSum(into->count, 1);
            weigh(*into, slice.style, std::max(1.0, static_cast<double>(slice.duration)));
        }
    }
    void add(const Fold& fold, std::int64_t width, const Times& part) {
        const double left = (static_cast<double>(std::max(fold.start, part.from)) - m_span.from) * m_perNs;
        const auto covered = std::max(1.0, static_cast<double>(fold.total));
        const double pixels = static_cast<double>(width) * m_perNs;
        RowPicture::Column* first = column(std::max(0.0, left));
        if (first == nullptr) return;
        first->count = cappedSum(first->count, fold.count);
        if (pixels <= 1) return weigh(*first, fold.style, covered);
        const double right = std::min<double>((static_cast<double>(std::min(fold.start + width, part.to)) - m_span.from) * m_perNs, m_span.pixels);
        for (double x = std::floor(std::max(0.0, left)); x < right; ++x)
            if (RowPicture::Column* into = column(x)) {
                weigh(*into, fold.style, covered / pixels);
                into->coarse = true;
            }
    }

    const TileLookup& m_tiles;
    const LaneSpan& m_lane;
    std::int32_t m_depth;
    const PixelSpan& m_span;
    double m_perNs;
    RowPicture& m_picture;
};

// The levels that play a part, the coarsest first: there are few tiles of those, and a picture can be made of them.
template <class Use>
void eachLevel(const LaneSpan& lane, const PixelSpan& span, Use use) {
    const int level = lodLevel(span.nsPerPixel, lane.finest);
    for (int each = kLodLevels; each >= std::max(level, lane.finest); --each) use(each);
    if (level == 0) use(0);
}

}  // namespace

std::vector<TilePlace> tilesOf(const LaneSpan& lane, const PixelSpan& span) {
    std::vector<TilePlace> all;
    const Times times = seen(lane.begin, lane.end, span);
    if (times.empty()) return all;
    eachLevel(lane, span, [&](int level) {
        const std::int64_t from = level == kLodLevels ? lane.begin : std::max(lane.begin, times.from - reach(level, lane.finest));
        const int shift = tileShift(level, lane.finest);
        for (std::int64_t index = from >> shift; index <= (times.to - 1) >> shift; ++index) all.push_back({lane.lane, level, index});
    });
    return all;
}

void composeRow(const TileLookup& tiles, const LaneSpan& lane, std::int32_t depth, const PixelSpan& span, RowPicture& picture,
                std::set<TilePlace>* missing) {
    picture.bars.clear();
    picture.columns.clear();
    const Times times = seen(lane.begin, lane.end, span);
    if (times.empty() || span.pixels <= 0) return;
    Composer composer(tiles, lane, depth, span, picture);
    eachLevel(lane, span, [&](int level) { composer.kept(level, times); });
    composer.folds(lodLevel(span.nsPerPixel, lane.finest), times);
    if (missing == nullptr) return;
    for (const TilePlace& place : tilesOf(lane, span))
        if (tiles(place) == nullptr) missing->insert(place);
}

}  // namespace stepscope
