#include "core/trace/LodCodec.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/Check.h"
#include "core/trace/ByteColumns.h"
#include "core/trace/SliceCodec.h"

namespace stepscope {
namespace {

constexpr std::uint64_t kMostOfAnything = 1ULL << 62;
constexpr std::uint64_t kMostDepths = 1 << 16;

Error damagedLod(const Chunk& chunk, std::size_t at, std::string_view what) {
    return makeError(ErrorCode::Damaged, fmt::format("A block of kind {} is damaged at byte {}: {}.", chunk.kind, at, what));
}

Status readable(const Chunk& chunk, bool kind, const char* what) {
    if (!kind) return makeError(ErrorCode::BadInput, fmt::format("A block of kind {} holds no {}.", chunk.kind, what));
    return checkChunk(chunk);
}

// Neither before a lane's clock began to count nor behind its end.
bool spans(std::int64_t start, std::int64_t duration) {
    std::int64_t end = 0;
    return duration >= 0 && !__builtin_add_overflow(start, duration, &end);
}

std::int64_t wrapped(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t difference(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

class Extent {
public:
    void take(std::int64_t begin, std::int64_t end) {
        m_begin = std::min(m_begin, begin);
        m_end = std::max(m_end, std::max(end, cappedSum(begin, 1)));
    }
    void into(Chunk& chunk, TimeNs otherwise) const {
        chunk.begin = m_end < m_begin ? otherwise : TimeNs{m_begin};
        chunk.end = m_end < m_begin ? otherwise : TimeNs{m_end};
    }

private:
    std::int64_t m_begin = std::numeric_limits<std::int64_t>::max(), m_end = std::numeric_limits<std::int64_t>::min();
};

std::vector<std::byte> sectionBytes(const LodSection& section, Extent& extent) {
    ByteWriter out;
    const int shift = lodShift(section.level);
    out.whole(section.rows.size());
    for (const auto& row : section.rows) {
        out.whole(static_cast<std::uint64_t>(row.depth));
        out.whole(row.kept.size());
        out.whole(row.folds.size());
    }
    // Column by column over all rows: like packs well beside like.
    std::int64_t before = 0;
    for (const auto& row : section.rows)
        for (const auto& kept : row.kept) {
            out.integer(difference(kept.start, before));
            before = kept.start;
            extent.take(kept.start, kept.end());
        }
    for (const auto& row : section.rows)
        for (const auto& kept : row.kept) out.whole(static_cast<std::uint64_t>(kept.duration));
    for (const auto& row : section.rows)
        for (const auto& kept : row.kept) out.whole(kept.style);
    before = 0;
    for (const auto& row : section.rows)
        for (const auto& fold : row.folds) {
            out.integer((fold.start >> shift) - before);
            before = fold.start >> shift;
            extent.take(fold.start, cappedSum(fold.start, lodWidth(section.level)));
        }
    for (const auto& row : section.rows)
        for (const auto& fold : row.folds) out.whole(static_cast<std::uint64_t>(fold.count));
    for (const auto& row : section.rows)
        for (const auto& fold : row.folds) out.whole(static_cast<std::uint64_t>(fold.total));
    for (const auto& row : section.rows)
        for (const auto& fold : row.folds) out.whole(fold.style);
    return out.take();
}

void readSection(ByteReader& in, LodSection& section, std::uint64_t styles) {
    const int shift = lodShift(section.level);
    const std::int64_t mostBuckets = std::numeric_limits<std::int64_t>::max() >> shift;
    const std::uint64_t rows = in.upTo(std::min<std::uint64_t>(kMostDepths, in.left() / 3), "there are more rows than bytes");
    std::uint64_t left = in.left() / 3;  // a kept slice takes three bytes at least, a fold four
    for (std::uint64_t i = 0; i < rows && in.good(); ++i) {
        LodRow row;
        row.depth = static_cast<std::int32_t>(in.upTo(kMostDepths, "a row is nested too deeply"));
        const std::uint64_t kept = in.upTo(left, "there are more slices than bytes");
        left -= in.good() ? kept : 0;
        const std::uint64_t folds = in.upTo(left, "there are more folds than bytes");
        left -= in.good() ? folds : 0;
        if (!in.good()) return;
        row.kept.resize(kept);
        row.folds.resize(folds);
        section.rows.push_back(std::move(row));
    }
    std::int64_t before = 0;
    for (auto& row : section.rows)
        for (auto& kept : row.kept) kept.start = before = wrapped(before, in.integer());
    for (auto& row : section.rows)
        for (auto& kept : row.kept) {
            kept.duration = static_cast<std::int64_t>(in.upTo(kMostOfAnything, "a slice is longer than it can be"));
            if (!spans(kept.start, kept.duration)) in.fail("a slice ends after the end of time");
        }
    for (auto& row : section.rows)
        for (auto& kept : row.kept) kept.style = static_cast<std::uint32_t>(in.upTo(styles, "a style is not in its table"));
    before = 0;
    for (auto& row : section.rows)
        for (auto& fold : row.folds) {
            before = wrapped(before, in.integer());
            if (before > mostBuckets - 1 || before < -mostBuckets) {
                in.fail("a fold lies outside of time");
                before = 0;
            }
            fold.start = before * (std::int64_t{1} << shift);
        }
    for (auto& row : section.rows)
        for (auto& fold : row.folds) fold.count = static_cast<std::int64_t>(in.upTo(kMostOfAnything, "a fold holds more than there can be"));
    for (auto& row : section.rows)
        for (auto& fold : row.folds) fold.total = static_cast<std::int64_t>(in.upTo(kMostOfAnything, "a fold is longer than it can be"));
    for (auto& row : section.rows)
        for (auto& fold : row.folds) fold.style = static_cast<std::uint32_t>(in.upTo(styles, "a style is not in its table"));
}

SliceKind readKind(ByteReader& in) {
    return static_cast<SliceKind>(in.upTo(kSliceKinds - 1, "a slice is of an unknown kind"));
}

}  // namespace

std::string lodKind(int level) {
    return fmt::format("lod-{}/1", lodShift(level));
}

bool isLod(const std::string& kind) {
    return kind.starts_with("lod") || kind == kNames || kind == kKin;
}

Chunk encodeLod(const LodBlock& block, const std::string& kind, TimeNs at) {
    ByteWriter out;
    out.whole(static_cast<std::uint64_t>(block.depths));
    out.whole(static_cast<std::uint64_t>(block.finest));
    out.whole(block.styles.size());
    for (const auto& style : block.styles) {
        out.text(std::string_view(style.name).substr(0, kLongestSliceName));
        out.text(std::string_view(style.role).substr(0, kLongestSliceName));
        out.whole(static_cast<std::uint64_t>(style.kind));
    }
    Extent extent;
    out.whole(block.sections.size());
    for (const auto& section : block.sections) {
        const auto bytes = sectionBytes(section, extent);
        out.whole(static_cast<std::uint64_t>(section.level));
        out.whole(bytes.size());
        out.bytes(bytes);
    }
    Chunk chunk{.kind = kind, .lane = block.lane, .begin = {}, .end = {}, .count = block.slices, .bytes = out.take()};
    extent.into(chunk, at);
    return chunk;
}

Result<LodBlock> decodeLod(const Chunk& chunk, int only) {
    if (const Status good = readable(chunk, chunk.kind.starts_with("lod"), "folds"); !good) return good.error();
    ByteReader in(chunk.bytes);
    LodBlock block;
    block.lane = chunk.lane;
    block.slices = chunk.count;
    block.depths = static_cast<std::int32_t>(in.upTo(kMostDepths + 1, "a lane is nested too deeply"));
    block.finest = static_cast<std::int32_t>(in.upTo(kLodLevels, "there is no such level"));
    if (in.good() && block.finest == 0) in.fail("there is no such level");
    if (only >= 0) {
        const std::size_t styles = in.upTo(in.left() / 3, "there are more styles than bytes");
        for (std::size_t i = 0; i < styles && in.good(); ++i) {
            LodStyle style;
            style.name = in.text(kLongestSliceName);
            style.role = in.text(kLongestSliceName);
            style.kind = readKind(in);
            block.styles.push_back(std::move(style));
        }
        const std::size_t sections = in.upTo(kLodLevels, "there are more levels than there can be");
        for (std::size_t i = 0; i < sections && in.good(); ++i) {
            LodSection section;
            section.level = static_cast<int>(in.upTo(kLodLevels, "there is no such level"));
            if (in.good() && section.level == 0) in.fail("there is no such level");
            const std::size_t size = in.upTo(in.left(), "a level is longer than its block");
            if (!in.good()) break;
            if (only > 0 && section.level != only) {
                in.skip(size);
                continue;
            }
            const std::size_t begin = in.at();
            // Without styles nothing can be of one.
            readSection(in, section, block.styles.empty() ? 0 : block.styles.size() - 1);
            if (in.good() && in.at() - begin != size) in.fail("a level does not end where it says");
            if (in.good() && block.styles.empty() && !section.rows.empty()) in.fail("a style is not in its table");
            block.sections.push_back(std::move(section));
        }
    }
    if (!in.good()) return damagedLod(chunk, in.wrongAt(), in.wrong());
    return block;
}

Chunk encodeNames(const NamesBlock& block) {
    ByteWriter out;
    Extent extent;
    std::int64_t slices = 0, before = 0;
    out.whole(block.strings.size());
    for (const auto& text : block.strings) out.text(std::string_view(text).substr(0, kLongestSliceName));
    out.whole(block.tables.size());
    for (const auto& table : block.tables) {
        out.integer(difference(table.first, before));
        before = table.first;
        out.whole(static_cast<std::uint64_t>(table.last - table.first));
        out.whole(static_cast<std::uint64_t>(table.end - table.first));
        for (const std::int64_t number : {table.slices, table.lost, table.invalid}) out.whole(static_cast<std::uint64_t>(number));
        out.whole(table.sums.size());
        for (const auto& sum : table.sums) {
            out.whole(sum.name);
            out.whole(static_cast<std::uint64_t>(sum.kind));
            for (const std::int64_t number : {sum.count, sum.total, sum.self}) out.whole(static_cast<std::uint64_t>(number));
        }
        extent.take(table.first, table.end);
        slices = cappedSum(slices, table.slices);
    }
    Chunk chunk{.kind = kNames, .lane = block.lane, .begin = {}, .end = {}, .count = slices, .bytes = out.take()};
    extent.into(chunk, {});
    return chunk;
}

Result<NamesBlock> decodeNames(const Chunk& chunk) {
    if (const Status good = readable(chunk, chunk.kind == kNames, "sums by name"); !good) return good.error();
    ByteReader in(chunk.bytes);
    NamesBlock block;
    block.lane = chunk.lane;
    const auto number = [&] { return static_cast<std::int64_t>(in.upTo(kMostOfAnything, "a sum is more than there can be")); };
    const std::size_t strings = in.upTo(in.left(), "there are more names than bytes");
    for (std::size_t i = 0; i < strings && in.good(); ++i) block.strings.push_back(in.text(kLongestSliceName));
    const std::size_t tables = in.upTo(in.left() / 7, "there are more tables than bytes");
    std::int64_t before = 0;
    for (std::size_t i = 0; i < tables && in.good(); ++i) {
        NameTable table;
        table.first = before = wrapped(before, in.integer());
        const std::int64_t last = number(), end = number();
        if (!spans(table.first, last) || !spans(table.first, end)) in.fail("a table ends after the end of time");
        table.last = wrapped(table.first, last);
        table.end = wrapped(table.first, end);
        table.slices = number();
        table.lost = number();
        table.invalid = number();
        const std::size_t sums = in.upTo(in.left() / 5, "there are more sums than bytes");
        if (!in.good()) break;
        table.sums.reserve(sums);
        for (std::size_t j = 0; j < sums && in.good(); ++j) {
            NameSum sum;
            sum.name = static_cast<std::uint32_t>(in.upTo(block.strings.empty() ? 0 : block.strings.size() - 1, "a name is not in its table"));
            if (block.strings.empty()) in.fail("a name is not in its table");
            sum.kind = readKind(in);
            sum.count = number();
            sum.total = number();
            sum.self = number();
            table.sums.push_back(sum);
        }
        block.tables.push_back(std::move(table));
    }
    if (!in.good()) return damagedLod(chunk, in.wrongAt(), in.wrong());
    return block;
}

void KinSum::add(const KinSum& other) {
    shortest = count == 0 ? other.shortest : std::min(shortest, other.shortest);
    longest = std::max(longest, other.longest);
    count = cappedSum(count, other.count);
    total = cappedSum(total, other.total);
    self = cappedSum(self, other.self);
    durations.add(other.durations);
}

Chunk encodeKin(const KinBlock& block) {
    ByteWriter out;
    std::int64_t slices = 0;
    out.whole(block.sums.size());
    for (const auto& sum : block.sums) {
        out.text(std::string_view(sum.name).substr(0, kLongestSliceName));
        out.whole(static_cast<std::uint64_t>(sum.kind));
        for (const std::int64_t number : {sum.count, sum.total, sum.self, sum.shortest, sum.longest}) out.whole(static_cast<std::uint64_t>(number));
        out.whole(sum.durations.cells().size());
        int before = 0;
        for (const auto& [cell, times] : sum.durations.cells()) {
            out.whole(static_cast<std::uint64_t>(cell - before));
            out.whole(static_cast<std::uint64_t>(times));
            before = cell;
        }
        slices = cappedSum(slices, sum.count);
    }
    return {
        .kind = kKin, .lane = block.lane, .begin = {block.begin}, .end = {std::max(block.end, block.begin)}, .count = slices, .bytes = out.take()};
}

Result<KinBlock> decodeKin(const Chunk& chunk) {
    if (const Status good = readable(chunk, chunk.kind == kKin, "sums by name"); !good) return good.error();
    ByteReader in(chunk.bytes);
    KinBlock block{.lane = chunk.lane, .begin = chunk.begin.ns, .end = chunk.end.ns, .sums = {}};
    const auto number = [&] { return static_cast<std::int64_t>(in.upTo(kMostOfAnything, "a sum is more than there can be")); };
    const std::size_t sums = in.upTo(in.left() / 8, "there are more sums than bytes");
    for (std::size_t i = 0; i < sums && in.good(); ++i) {
        KinSum sum;
        sum.name = in.text(kLongestSliceName);
        sum.kind = readKind(in);
        for (std::int64_t* one : {&sum.count, &sum.total, &sum.self, &sum.shortest, &sum.longest}) *one = number();
        const std::size_t cells = in.upTo(LogHistogram::kCells, "a histogram has more cells than there are");
        int cell = 0;
        for (std::size_t j = 0; j < cells && in.good(); ++j) {
            cell += static_cast<int>(in.upTo(LogHistogram::kCells, "a histogram has more cells than there are"));
            if (cell >= LogHistogram::kCells) {
                in.fail("a histogram has more cells than there are");
                break;
            }
            sum.durations.addCell(cell, number());
        }
        block.sums.push_back(std::move(sum));
    }
    if (!in.good()) return damagedLod(chunk, in.wrongAt(), in.wrong());
    return block;
}

}  // namespace stepscope
