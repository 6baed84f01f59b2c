#include "core/trace/LodBuilder.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "core/base/KeyedHash.h"
#include "core/trace/LodCodec.h"

namespace stepscope {
namespace {

constexpr std::size_t kEntries = 8192;                        // folds and slices of one level that fill a block
constexpr std::size_t kTables = 64;                           // base chunks whose sums fill a block
constexpr std::int64_t kKinSlices = 1 << 18;                  // slices whose histograms fill a block
constexpr std::size_t kWorth = 4;                             // slices a fold at least on average, for a level to be worth its room
constexpr std::int64_t kManySlices = 4096;                    // what tells how dense a lane is; before that many it is taken for
constexpr int kSparseLevel = 4;                               //   no sparser than worth this level
constexpr std::size_t kMostKin = 1 << 14;                     // names of them
constexpr std::size_t kMostStyles = 1 << 16;                  // of a lane, until it is brought up to date: then all blocks are written
constexpr std::size_t kMostNameBytes = std::size_t{8} << 20;  // of all these names, so that no block is larger than one can be

// The styles with most of the time, as four counters tell: one that has more than a quarter of it is among them ("space saving", Metwally 2005).
struct Heaviest {
    struct One {
        std::uint32_t style = 0;
        std::int64_t weight = 0;
    };
    std::array<One, 4> ones;

    void add(std::uint32_t style, std::int64_t weight) {
        One* least = ones.data();
        for (One& one : ones) {
            if (one.weight > 0 && one.style == style) {
                one.weight = cappedSum(one.weight, weight);
                return;
            }
            if (one.weight < least->weight) least = &one;
        }
        least->style = style;
        least->weight = cappedSum(least->weight, weight);
    }
    void add(const Heaviest& other) {
        for (const One& one : other.ones)
            if (one.weight > 0) add(one.style, one.weight);
    }
    std::uint32_t style() const { return std::ranges::max_element(ones, {}, &One::weight)->style; }
};

struct Part {
    std::int32_t depth = 0;
    std::int64_t at = 0;
    std::int64_t count = 0, total = 0;
    Heaviest styles;

    void add(const Part& other) {
        count += other.count;
        total = cappedSum(total, other.total);
        styles.add(other.styles);
    }
};
bool before(const Part& a, const Part& b) {
    return std::tuple(a.depth, a.at) < std::tuple(b.depth, b.at);
}

std::int64_t bucketBegin(std::int64_t at, int level) {
    return (at >> lodShift(level)) * lodWidth(level);
}

struct DepthAndStart {
    std::int32_t depth = 0;
    std::int64_t start = 0;
    bool operator==(const DepthAndStart&) const = default;
};
struct HashPlace {
    std::size_t operator()(const DepthAndStart& place) const {
        return keyedHash(static_cast<std::uint64_t>(place.start) ^ (static_cast<std::uint64_t>(place.depth) << 56));
    }
};
struct KeptAt {
    std::int32_t depth = 0;
    KeptSlice slice;
};
// What one level has gathered since its last block.
struct OpenLevel {
    std::unordered_map<DepthAndStart, Part, HashPlace> folds;
    std::vector<KeptAt> kept;
    std::size_t entries() const { return folds.size() + kept.size(); }
};

LodRow& rowAt(LodSection& section, std::int32_t depth) {
    if (section.rows.empty() || section.rows.back().depth != depth) {
        section.rows.emplace_back();
        section.rows.back().depth = depth;
    }
    return section.rows.back();
}

LodSection sectionOf(int level, OpenLevel open) {
    LodSection section{.level = level, .rows = {}};
    std::vector<Part> folds;
    folds.reserve(open.folds.size());
    for (auto& [place, part] : open.folds) folds.push_back(part);
    std::ranges::sort(folds, before);
    std::ranges::sort(open.kept, [](const KeptAt& a, const KeptAt& b) {
        return std::tuple(a.depth, a.slice.start, a.slice.duration, a.slice.style) <
               std::tuple(b.depth, b.slice.start, b.slice.duration, b.slice.style);
    });
    auto fold = folds.begin();
    auto kept = open.kept.begin();
    while (fold != folds.end() || kept != open.kept.end()) {
        const std::int32_t depth = std::min(fold == folds.end() ? INT32_MAX : fold->depth, kept == open.kept.end() ? INT32_MAX : kept->depth);
        LodRow& row = rowAt(section, depth);
        for (; kept != open.kept.end() && kept->depth == depth; ++kept) row.kept.push_back(kept->slice);
        for (; fold != folds.end() && fold->depth == depth; ++fold)
            row.folds.push_back({.start = fold->at, .count = fold->count, .total = fold->total, .style = fold->styles.style()});
    }
    return section;
}

std::string keyOf(const std::string& name, const std::string& role, SliceKind kind) {
    std::string key;
    key.reserve(name.size() + role.size() + 2);
    key += static_cast<char>(kind);
    key += name;
    key += '\0';
    key += role;
    return key;
}

}  // namespace

class LodBuilder::Lane {
public:
    explicit Lane(std::int64_t lane) : m_lane(lane) {}

    void add(const SliceBlock& block, std::vector<ChunkPtr>& out) {
        m_news = true;
        m_seen += static_cast<std::int64_t>(block.slices.size());
        m_slices += static_cast<std::int64_t>(block.slices.size());
        if (m_styles.size() > kMostStyles || m_kinPlaces.size() > kMostKin || m_nameBytes > kMostNameBytes) writeAll(out);
        fold(block);
        sum(block);
        for (int level = 1; level <= kLodLevels; ++level) {
            if (m_open[index(level)].entries() < kEntries) continue;
            if (m_finest == 0) decide();
            if (level >= m_finest) write({level}, lodKind(level), 0, out);
        }
        if (m_names.tables.size() >= kTables) writeNames(out);
        if (m_kinSlices >= kKinSlices) writeKin(out);
    }

    void bringUpToDate(std::vector<ChunkPtr>& out) {
        if (m_news) writeAll(out);
    }
    bool upToDate() const { return !m_news; }

private:
    static std::size_t index(int level) { return static_cast<std::size_t>(level - 1); }

    // From which level on folds save enough; from now on it stays, so that the whole lane is drawn alike.
    void decide() {
        std::int64_t folded = 0;
        for (int level = 1; level <= kLodLevels && m_finest == 0; ++level) {
            folded = 0;
            for (const auto& [place, part] : m_open[index(level)].folds) folded += part.count;
            const auto folds = static_cast<std::int64_t>(m_open[index(level)].folds.size() * kWorth);
            const bool few = m_seen < kManySlices && level >= kSparseLevel;
            if (folds <= folded || few || level == kLodLevels) m_finest = level;
        }
        for (int level = 1; level < m_finest; ++level) m_open[index(level)] = {};
    }

    void fold(const SliceBlock& block) {
        std::vector<std::vector<Part>> classes(kLodLevels + 1);
        // Of a block most slices share few styles: looked up once each.
        KeyedMap<std::uint64_t, std::uint32_t> known;
        for (const Slice& slice : block.slices) {
            const std::uint64_t key = (static_cast<std::uint64_t>(slice.name) << 32) | (static_cast<std::uint64_t>(slice.role & 0xffffff) << 8) |
                                      static_cast<std::uint64_t>(slice.kind);
            const auto [found, added] = known.try_emplace(key, 0U);
            if (added) found->second = styleOf(block.strings[slice.name], block.strings[slice.role], slice.kind);
            m_last = std::max(m_last, slice.start);
            m_depths = std::max(m_depths, slice.depth + 1);
            const int finest = std::max(1, m_finest);
            const int level = lodClass(slice.duration, finest);
            if (level > 0)
                m_open[index(level)].kept.push_back({slice.depth, {.start = slice.start, .duration = slice.duration, .style = found->second}});
            Part part{.depth = slice.depth, .at = slice.start, .count = 1, .total = std::min(slice.duration, kMostTime), .styles = {}};
            part.styles.add(found->second, std::max<std::int64_t>(1, slice.duration));
            classes[static_cast<std::size_t>(level)].push_back(part);
        }
        // Level by level: what a level folds are the folds of the one below and the slices which that one kept.
        std::vector<Part> parts = std::move(classes[0]);
        std::ranges::stable_sort(parts, before);
        for (int level = std::max(1, m_finest); level <= kLodLevels; ++level) {
            std::vector<Part> folded;
            for (const Part& part : parts) {
                const std::int64_t at = bucketBegin(part.at, level);
                if (!folded.empty() && folded.back().depth == part.depth && folded.back().at == at) {
                    folded.back().add(part);
                } else {
                    folded.push_back(part);
                    folded.back().at = at;
                }
            }
            for (const Part& part : folded) {
                const auto [found, added] = m_open[index(level)].folds.try_emplace({part.depth, part.at}, part);
                if (!added) found->second.add(part);
            }
            auto& own = classes[static_cast<std::size_t>(level)];
            std::ranges::stable_sort(own, before);
            parts.clear();
            std::ranges::merge(folded, own, std::back_inserter(parts), before);
        }
    }

    void sum(const SliceBlock& block) {
        NameTable table{.first = 0,
                        .last = 0,
                        .end = 0,
                        .slices = static_cast<std::int64_t>(block.slices.size()),
                        .lost = block.lost,
                        .invalid = block.invalid,
                        .sums = {}};
        KeyedMap<std::uint64_t, std::size_t> places;
        std::vector<std::size_t> kin;
        bool first = true;
        for (const Slice& slice : block.slices) {
            table.first = first ? slice.start : std::min(table.first, slice.start);
            table.last = first ? slice.start : std::max(table.last, slice.start);
            table.end = first ? slice.start + slice.duration : std::max(table.end, slice.start + slice.duration);
            first = false;
            const auto [found, added] =
                places.try_emplace((static_cast<std::uint64_t>(slice.name) << 8) | static_cast<std::uint64_t>(slice.kind), table.sums.size());
            if (added) {
                table.sums.push_back({.name = nameOf(block.strings[slice.name]), .kind = slice.kind});
                kin.push_back(kinOf(block.strings[slice.name], slice.kind));
            }
            NameSum& into = table.sums[found->second];
            ++into.count;
            into.total = cappedSum(into.total, slice.duration);
            into.self = cappedSum(into.self, slice.self());
            KinSum& all = m_kin.sums[kin[found->second]];
            all.shortest = all.count == 0 ? slice.duration : std::min(all.shortest, slice.duration);
            all.longest = std::max(all.longest, slice.duration);
            ++all.count;
            all.total = cappedSum(all.total, slice.duration);
            all.self = cappedSum(all.self, slice.self());
            all.durations.add(slice.duration);
        }
        if (first && table.lost + table.invalid == 0) return;
        if (first) table.first = table.last = table.end = m_last;
        m_kin.begin = m_kinSlices == 0 ? table.first : std::min(m_kin.begin, table.first);
        m_kin.end = m_kinSlices == 0 ? table.end : std::max(m_kin.end, table.end);
        m_kinSlices += table.slices;
        m_names.tables.push_back(std::move(table));
    }

    std::uint32_t styleOf(const std::string& name, const std::string& role, SliceKind kind) {
        const auto [found, added] = m_stylePlaces.try_emplace(keyOf(name, role, kind), static_cast<std::uint32_t>(m_styles.size()));
        if (added) m_nameBytes += name.size() + role.size(), m_styles.push_back({name, role, kind});
        return found->second;
    }
    std::uint32_t nameOf(const std::string& name) {
        const auto [found, added] = m_namePlaces.try_emplace(name, static_cast<std::uint32_t>(m_names.strings.size()));
        if (added) m_nameBytes += name.size(), m_names.strings.push_back(name);
        return found->second;
    }
    std::size_t kinOf(const std::string& name, SliceKind kind) {
        const auto [found, added] = m_kinPlaces.try_emplace(keyOf(name, {}, kind), m_kin.sums.size());
        if (added) {
            m_kin.sums.emplace_back();
            m_kin.sums.back().name = name;
            m_nameBytes += name.size();
            m_kin.sums.back().kind = kind;
        }
        return found->second;
    }

    // These levels as one block, with the styles that they use.
    void write(const std::vector<int>& levels, const std::string& kind, std::int64_t slices, std::vector<ChunkPtr>& out) {
        LodBlock block{.lane = m_lane, .slices = slices, .depths = m_depths, .finest = m_finest, .styles = {}, .sections = {}};
        KeyedMap<std::uint32_t, std::uint32_t> places;
        const auto place = [&](std::uint32_t style) {
            const auto [found, added] = places.try_emplace(style, static_cast<std::uint32_t>(block.styles.size()));
            if (added) block.styles.push_back(m_styles[style]);
            return found->second;
        };
        for (const int level : levels) {
            auto& open = m_open[index(level)];
            if (open.entries() == 0) continue;
            LodSection section = sectionOf(level, std::exchange(open, {}));
            for (auto& row : section.rows) {
                for (auto& kept : row.kept) kept.style = place(kept.style);
                for (auto& fold : row.folds) fold.style = place(fold.style);
            }
            block.sections.push_back(std::move(section));
        }
        out.push_back(std::make_shared<const Chunk>(encodeLod(block, kind, {m_last})));
    }
    void writeNames(std::vector<ChunkPtr>& out) {
        if (m_names.tables.empty()) return;
        m_names.lane = m_lane;
        out.push_back(std::make_shared<const Chunk>(encodeNames(m_names)));
        m_names = {};
        m_namePlaces.clear();
    }
    void writeKin(std::vector<ChunkPtr>& out) {
        if (m_kinSlices == 0) return;
        m_kin.lane = m_lane;
        out.push_back(std::make_shared<const Chunk>(encodeKin(m_kin)));
        m_kin = {};
        m_kinPlaces.clear();
        m_kinSlices = 0;
    }
    void writeAll(std::vector<ChunkPtr>& out) {
        if (m_finest == 0) decide();
        std::vector<int> rest;
        for (int level = m_finest; level <= kLodLevels; ++level) rest.push_back(level);
        write(rest, kLod, std::exchange(m_slices, 0), out);
        writeNames(out);
        writeKin(out);
        m_styles.clear();
        m_stylePlaces.clear();
        m_nameBytes = 0;
        m_news = false;
    }

    std::int64_t m_lane;
    bool m_news = false;
    int m_finest = 0;           // level; 0: not decided yet
    std::int64_t m_seen = 0;    // slices
    std::int64_t m_slices = 0;  // since the lane was brought up to date
    std::int64_t m_last = 0;
    std::int32_t m_depths = 0;
    std::array<OpenLevel, kLodLevels> m_open;
    std::vector<LodStyle> m_styles;
    KeyedMap<std::string, std::uint32_t> m_stylePlaces;
    NamesBlock m_names;
    KeyedMap<std::string, std::uint32_t> m_namePlaces;
    KinBlock m_kin;
    KeyedMap<std::string, std::size_t> m_kinPlaces;
    std::int64_t m_kinSlices = 0;
    std::size_t m_nameBytes = 0;  // in styles, names and kin, since all were written
};

LodBuilder::LodBuilder() = default;
LodBuilder::~LodBuilder() = default;

void LodBuilder::add(const Chunk& chunk, std::vector<ChunkPtr>& out) {
    if (!isSlices(chunk.kind)) return;
    if (const auto block = decodeSlices(chunk)) add(chunk.lane, *block, out);
}

void LodBuilder::add(std::int64_t lane, const SliceBlock& block, std::vector<ChunkPtr>& out) {
    auto& one = m_lanes[lane];
    if (!one) one = std::make_unique<Lane>(lane);
    one->add(block, out);
}

void LodBuilder::bringUpToDate(std::vector<ChunkPtr>& out) {
    for (auto& [number, lane] : m_lanes) lane->bringUpToDate(out);
}

void LodBuilder::bringUpToDate(std::int64_t lane, std::vector<ChunkPtr>& out) {
    if (const auto found = m_lanes.find(lane); found != m_lanes.end()) found->second->bringUpToDate(out);
}

bool LodBuilder::upToDate() const {
    return std::ranges::all_of(m_lanes, [](const auto& lane) { return lane.second->upToDate(); });
}

}  // namespace stepscope
