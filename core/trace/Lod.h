// Level of detail over the slices of a lane, so that a picture of a hundred million of them reads about as much as it has pixels. Level 0 is the
// slices as they were recorded. Each level above has a bucket width, four times that of the one below, on an absolute grid of the session's clock:
// what is shorter than a bucket is folded into the one that it begins in, by depth, and what is not is kept slice by slice. A slice is kept by one
// level only, the highest whose buckets are not wider than it (its class), so that level k is drawn from the folds of k and what k and all levels
// above it keep: together every slice once. A lane has levels only from the one on that is worth it (`finest`): where slices lie so far apart that
// buckets would hold few of them, level 0 is drawn up to a coarser zoom and stands for all classes below. Made by LodBuilder, stored as chunks
// (LodCodec.h), read by TraceIndex.
#pragma once
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/Slice.h"

namespace stepscope {

constexpr int kLodLevels = 12;    // above level 0
constexpr int kFinestShift = 14;  // level 1 has buckets of 2^14 ns, 16 us
constexpr int kTileBuckets = 12;  // a tile is 2^12 buckets wide
constexpr int kRecordedTile = 8;  // of level 0: 2^8 buckets of the finest level

// log2 of the bucket width in ns; level 1 to kLodLevels.
constexpr int lodShift(int level) {
    return kFinestShift + 2 * (level - 1);
}
constexpr std::int64_t lodWidth(int level) {
    return level == 0 ? 0 : std::int64_t{1} << lodShift(level);
}
constexpr int tileShift(int level, int finest) {
    return level == 0 ? lodShift(finest) + kRecordedTile : lodShift(level) + kTileBuckets;
}
// The level that keeps a slice of this duration.
constexpr int lodClass(std::int64_t duration, int finest = 1) {
    if (duration < lodWidth(finest)) return 0;
    const int level = (std::bit_width(static_cast<std::uint64_t>(duration)) - 1 - kFinestShift) / 2 + 1;
    return level < kLodLevels ? level : kLodLevels;
}
// The level to draw where a pixel is so many ns wide: what it folds is narrower than a pixel.
constexpr int lodLevel(double nsPerPixel, int finest) {
    if (nsPerPixel < static_cast<double>(lodWidth(finest))) return 0;
    int level = finest;
    while (level < kLodLevels && static_cast<double>(lodWidth(level + 1)) <= nsPerPixel) ++level;
    return level;
}

// Of times that a stranger may have made up: stops where no sum of real ones comes to, instead of overflowing.
constexpr std::int64_t kMostTime = std::int64_t{1} << 61;
inline std::int64_t cappedSum(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) || sum > kMostTime ? kMostTime : sum;
}

// What a slice looks like: which of them share one is drawn alike.
struct LodStyle {
    std::string name, role;
    SliceKind kind = SliceKind::Operation;
    bool operator==(const LodStyle&) const = default;
};

struct KeptSlice {
    std::int64_t start = 0, duration = 0;  // ns
    std::uint32_t style = 0;
    std::int64_t end() const { return start + duration; }
    bool operator==(const KeptSlice&) const = default;
};
// Slices that begin in one bucket.
struct Fold {
    std::int64_t start = 0;   // ns, of the bucket
    std::int64_t count = 0;   // slices
    std::int64_t total = 0;   // ns, of all
    std::uint32_t style = 0;  // that most of the time has, as far as four styles at once tell
    bool operator==(const Fold&) const = default;
};
struct LodRow {
    std::int32_t depth = 0;
    std::vector<KeptSlice> kept;  // by start
    std::vector<Fold> folds;      // by start
    bool operator==(const LodRow&) const = default;
};

// Of one lane and level what begins in [index << s, (index + 1) << s), s = tileShift(level, finest).
struct LodTile {
    std::int64_t lane = 0;
    int level = 0;
    std::int64_t index = 0;
    std::vector<LodRow> rows;  // by depth
    std::size_t bytes() const {
        std::size_t sum = sizeof(LodTile);
        for (const auto& row : rows) sum += sizeof(LodRow) + row.kept.size() * sizeof(KeptSlice) + row.folds.size() * sizeof(Fold);
        return sum;
    }
    const LodRow* row(std::int32_t depth) const {
        for (const auto& one : rows)
            if (one.depth == depth) return &one;
        return nullptr;
    }
};
using LodTilePtr = std::shared_ptr<const LodTile>;

}  // namespace stepscope
