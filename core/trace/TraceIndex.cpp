#include "core/trace/TraceIndex.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "core/trace/SliceCodec.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBeginning = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostTraceStyles = 1 << 20;  // of all lanes; what is more looks like the first

bool laneBefore(const TraceLane& a, const TraceLane& b) {
    const auto key = [](const TraceLane& lane) {
        const int group = lane.thread.device >= 0 ? 1 : lane.steps ? 0 : 2;
        return std::tuple(lane.thread.rank, group, lane.thread.device, lane.thread.process, -lane.slices, lane.lane);
    };
    // Streams by their numbers, threads by how much there is of them.
    if (a.thread.device >= 0 && b.thread.device >= 0)
        return std::tuple(a.thread.rank, a.thread.device, a.thread.thread, a.lane) <
               std::tuple(b.thread.rank, b.thread.device, b.thread.thread, b.lane);
    return key(a) < key(b);
}

// Bucket by bucket once, whatever number of blocks told of it.
void tidy(LodRow& row) {
    std::ranges::sort(row.kept, [](const KeptSlice& a, const KeptSlice& b) {
        return std::tuple(a.start, -a.duration, a.style) < std::tuple(b.start, -b.duration, b.style);
    });
    std::ranges::stable_sort(row.folds, {}, &Fold::start);
    std::vector<Fold> merged;
    merged.reserve(row.folds.size());
    std::int64_t heaviest = 0;
    for (const Fold& fold : row.folds) {
        if (merged.empty() || merged.back().start != fold.start) {
            merged.push_back(fold);
            heaviest = fold.total;
            continue;
        }
        Fold& into = merged.back();
        if (fold.total > heaviest) {
            into.style = fold.style;
            heaviest = fold.total;
        }
        into.count = cappedSum(into.count, fold.count);
        into.total = cappedSum(into.total, fold.total);
    }
    row.folds = std::move(merged);
}

}  // namespace

Status TraceIndex::cancelled() const {
    if (m_goesOn()) return {};
    return makeError(ErrorCode::Cancelled, "Something else is shown now.");
}

std::uint32_t TraceIndex::styleOf(const LodStyle& style) {
    std::string key = style.name;
    key += '\0';
    key += style.role;
    key += static_cast<char>(style.kind);
    const std::lock_guard lock(m_mutex);
    if (m_styles.size() >= kMostTraceStyles && !m_places.contains(key)) return 0;
    const auto [found, added] = m_places.try_emplace(std::move(key), static_cast<std::uint32_t>(m_styles.size()));
    if (added) m_styles.push_back(style);
    return found->second;
}

std::vector<LodStyle> TraceIndex::stylesFrom(std::size_t from) const {
    const std::lock_guard lock(m_mutex);
    if (from >= m_styles.size()) return {};
    return {m_styles.begin() + static_cast<std::ptrdiff_t>(from), m_styles.end()};
}

Result<TraceLanes> TraceIndex::lanes() {
    const auto all = m_source.lanes();
    if (!all) return all.error();
    std::map<std::int64_t, std::int64_t> covered, depths;
    std::map<std::int64_t, int> finest;
    TraceLanes answer;
    m_kinds.clear();
    for (const auto& one : *all) {
        if (one.kind != kLod) continue;
        covered[one.lane] = one.records;
        const auto done = m_source.read(kLod, one.lane, kBeginning, kEnd, [&](const Chunk& chunk) -> Status {
            if (auto go = cancelled(); !go) return go;
            const auto block = decodeLod(chunk, -1);
            if (!block) return block.error();
            depths[one.lane] = std::max<std::int64_t>(depths[one.lane], block->depths);
            finest[one.lane] = std::max(finest[one.lane], block->finest);
            return {};
        });
        if (!done) return done.error();
    }
    std::map<std::int64_t, TraceLane> lanes;
    for (const auto& one : *all) {
        if (!isSlices(one.kind)) continue;
        TraceLane& lane = lanes[one.lane];
        lane.begin = lane.slices == 0 ? one.begin.ns : std::min(lane.begin, one.begin.ns);
        lane.end = lane.slices == 0 ? one.end.ns : std::max(lane.end, one.end.ns);
        lane.lane = one.lane;
        lane.slices = cappedSum(lane.slices, std::max<std::int64_t>(0, one.records));
        m_kinds[one.lane] = one.kind;
    }
    for (auto& entry : lanes) {  // clang 14 does not let a lambda capture a structured binding
        const std::int64_t number = entry.first;
        TraceLane& lane = entry.second;
        answer.whole = answer.whole && covered[number] >= lane.slices;
        lane.depths = std::max<std::int32_t>(1, static_cast<std::int32_t>(depths[number]));
        lane.finest = std::max(1, finest[number]);
        bool first = true;
        // The first block tells whose lane it is.
        const auto done = m_source.read(m_kinds[number], number, lane.begin, cappedSum(lane.begin, 1), [&](const Chunk& chunk) -> Status {
            if (!std::exchange(first, false)) return {};
            const auto block = decodeSlices(chunk);
            if (!block) return block.error();
            lane.thread = block->thread;
            lane.steps = std::ranges::any_of(block->slices,
                                             [](const Slice& slice) { return slice.kind == SliceKind::Step || slice.kind == SliceKind::Phase; });
            return {};
        });
        if (!done) return done.error();
        answer.begin = answer.lanes.empty() ? lane.begin : std::min(answer.begin, lane.begin);
        answer.end = answer.lanes.empty() ? lane.end : std::max(answer.end, lane.end);
        answer.lanes.push_back(lane);
    }
    std::ranges::stable_sort(answer.lanes, laneBefore);
    m_lanes = answer.lanes;
    return answer;
}

Result<std::vector<LodTilePtr>> TraceIndex::tiles(std::int64_t lane, int level, std::int64_t first, std::int64_t last) {
    const auto known = std::ranges::find(m_lanes, lane, &TraceLane::lane);
    const int finest = known == m_lanes.end() ? 1 : known->finest;
    const int shift = tileShift(level, finest);
    std::vector<LodTile> tiles(static_cast<std::size_t>(last - first + 1));
    std::vector<std::map<std::int32_t, LodRow>> rows(tiles.size());
    const auto rowOf = [&](std::int64_t start, std::int32_t depth) -> LodRow* {
        const std::int64_t index = start >> shift;
        if (index < first || index > last) return nullptr;
        LodRow& row = rows[static_cast<std::size_t>(index - first)][depth];
        row.depth = depth;
        return &row;
    };
    const std::int64_t from = first * (std::int64_t{1} << shift), to = (last + 1) * (std::int64_t{1} << shift);
    if (level == 0) {
        const auto done = slices(lane, from, to, [&](const SliceBlock& block, const Slice& slice) {
            if (lodClass(slice.duration, finest) == 0)
                if (LodRow* row = rowOf(slice.start, slice.depth))
                    row->kept.push_back({slice.start, slice.duration, styleOf({block.strings[slice.name], block.strings[slice.role], slice.kind})});
            return true;
        });
        if (!done) return done.error();
    } else {
        const auto take = [&](const Chunk& chunk) -> Status {
            if (auto go = cancelled(); !go) return go;
            const auto block = decodeLod(chunk, level);
            if (!block) return block.error();
            std::vector<std::uint32_t> styles;
            for (const auto& style : block->styles) styles.push_back(styleOf(style));
            for (const auto& section : block->sections)
                for (const auto& source : section.rows) {
                    for (KeptSlice kept : source.kept)
                        if (LodRow* row = rowOf(kept.start, source.depth)) {
                            kept.style = styles[kept.style];
                            row->kept.push_back(kept);
                        }
                    for (Fold fold : source.folds)
                        if (LodRow* row = rowOf(fold.start, source.depth)) {
                            fold.style = styles[fold.style];
                            row->folds.push_back(fold);
                        }
                }
            return {};
        };
        for (const std::string& kind : {std::string(kLod), lodKind(level)})
            if (const auto done = m_source.read(kind, lane, from, to, take); !done) return done.error();
    }
    std::vector<LodTilePtr> answer;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        tiles[i].lane = lane;
        tiles[i].level = level;
        tiles[i].index = first + static_cast<std::int64_t>(i);
        for (auto& [depth, row] : rows[i]) {
            tidy(row);
            tiles[i].rows.push_back(std::move(row));
        }
        answer.push_back(std::make_shared<const LodTile>(std::move(tiles[i])));
    }
    return answer;
}

Status TraceIndex::slices(std::int64_t lane, std::int64_t from, std::int64_t to, const std::function<bool(const SliceBlock&, const Slice&)>& take) {
    const auto kind = m_kinds.find(lane);
    const std::string name = kind == m_kinds.end() ? std::string(kSlices) : kind->second;
    bool enough = false;
    const auto done = m_source.read(name, lane, from, to, [&](const Chunk& chunk) -> Status {
        if (auto go = cancelled(); !go) return go;
        const auto block = decodeSlices(chunk);
        if (!block) return block.error();
        for (const Slice& slice : block->slices)
            if (!take(*block, slice)) {
                enough = true;
                return makeError(ErrorCode::Cancelled, "Enough.");
            }
        return {};
    });
    if (!done && !enough) return done.error();
    return {};
}

}  // namespace stepscope
