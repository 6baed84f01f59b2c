// The level of detail of slices: nothing is lost or counted twice at any zoom, whatever chunks they come in and in whatever order, and damaged blocks
// are refused in a sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <random>

#include "core/trace/LodBuilder.h"
#include "core/trace/RowPicture.h"
#include "core/trace/SliceCodec.h"
#include "core/trace/TraceIndex.h"
#include "tests/core/trace/MemoryTrace.h"

namespace stepscope {
namespace {

// Nested as calls are: lengths from ten ns to seconds.
std::vector<Slice> randomSlices(unsigned seed, std::size_t count, SliceBlock& names) {
    std::mt19937_64 random(seed);
    for (int i = 1; i < 30; ++i) names.strings.push_back("aten::operation_" + std::to_string(i));
    names.strings.emplace_back("mlp");
    std::vector<Slice> all;
    std::int64_t at = 1'000'000;
    while (all.size() < count) {
        const auto length = static_cast<std::int64_t>(std::exp2(4 + static_cast<double>(random() % 2600) / 100));
        const auto name = static_cast<std::uint32_t>(1 + random() % 29);
        all.push_back({.start = at, .duration = length, .called = length / 3, .name = name, .role = random() % 2 == 0 ? 30U : 0U, .depth = 0});
        for (std::int64_t inner = at, i = 0; i < 6 && inner < at + length; ++i) {
            const std::int64_t small = std::min(at + length - inner, 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length)));
            all.push_back({.start = inner, .duration = small, .name = 1 + static_cast<std::uint32_t>(random() % 29), .depth = 1, .sequence = 7});
            inner += small;
        }
        at += length + static_cast<std::int64_t>(random() % 5000);
    }
    return all;
}

// In chunks of random sizes, by when they ended, as they are recorded; `shuffled`: in any order.
MemoryTrace traceOf(const std::vector<Slice>& slices, const SliceBlock& names, unsigned seed, bool shuffled) {
    std::mt19937_64 random(seed);
    std::vector<Slice> order = slices;
    std::ranges::stable_sort(order, {}, [](const Slice& slice) { return slice.start + slice.duration; });
    if (shuffled) std::ranges::shuffle(order, random);
    MemoryTrace trace;
    for (std::size_t at = 0; at < order.size();) {
        const std::size_t size = std::min(order.size() - at, 1 + random() % 3000);
        SliceBlock block = names;
        block.thread = {.process = 1, .thread = 5, .number = 1, .name = "trainer"};
        block.slices.assign(order.begin() + static_cast<std::ptrdiff_t>(at), order.begin() + static_cast<std::ptrdiff_t>(at + size));
        trace.add(encodeSlices(std::move(block)));
        at += size;
    }
    trace.finish();
    return trace;
}

struct Counted {
    std::int64_t folded = 0, total = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> kept;  // start, duration
};
// Everything there is at one level: its folds and what it and those above keep.
Counted everything(TraceIndex& index, int level) {
    const auto lanes = index.lanes();
    Counted sum;
    for (const auto& lane : lanes->lanes)
        for (int each = level; each <= kLodLevels; ++each) {
            if (each > 0 && each < lane.finest) continue;
            const int shift = tileShift(each, lane.finest);
            const auto tiles = index.tiles(lane.lane, each, lane.begin >> shift, lane.end >> shift);
            EXPECT_TRUE(tiles) << tiles.error().sentence;
            for (const auto& tile : *tiles)
                for (const auto& row : tile->rows) {
                    for (const auto& kept : row.kept) sum.kept.emplace_back(kept.start, kept.duration);
                    if (each != level) continue;
                    for (const auto& fold : row.folds) {
                        sum.folded += fold.count;
                        sum.total += fold.total;
                    }
                }
        }
    std::ranges::sort(sum.kept);
    return sum;
}

TEST(Lod, FoldsAndSlicesOfEveryLevelAreTheSlicesWhateverTheChunksAndTheirOrder) {
    SliceBlock names;
    const auto slices = randomSlices(3, 30'000, names);
    for (const bool shuffled : {false, true}) {
        MemoryTrace trace = traceOf(slices, names, shuffled ? 5 : 4, shuffled);
        TraceIndex index(trace);
        const auto lanes = index.lanes();
        ASSERT_TRUE(lanes) << lanes.error().sentence;
        EXPECT_TRUE(lanes->whole);
        ASSERT_EQ(lanes->lanes.size(), 1U);
        EXPECT_EQ(lanes->lanes[0].depths, 2);
        for (int level = 0; level <= kLodLevels; ++level) {
            SCOPED_TRACE(level);
            if (level > 0 && level < lanes->lanes[0].finest) continue;
            Counted expected;
            for (const Slice& slice : slices)
                if (slice.duration < lodWidth(level)) {
                    ++expected.folded;
                    expected.total += slice.duration;
                } else {
                    expected.kept.emplace_back(slice.start, slice.duration);
                }
            std::ranges::sort(expected.kept);
            const Counted got = everything(index, level);
            EXPECT_EQ(got.folded, expected.folded);
            EXPECT_EQ(got.total, expected.total);
            EXPECT_EQ(got.kept, expected.kept);
        }
    }
}

TEST(Lod, TilesAreTheSameForAnyCutIntoChunks) {
    SliceBlock names;
    const auto slices = randomSlices(8, 20'000, names);
    MemoryTrace one = traceOf(slices, names, 1, false), other = traceOf(slices, names, 2, true);
    TraceIndex a(one), b(other);
    const auto lanes = a.lanes();
    ASSERT_TRUE(b.lanes());
    for (int level = 0; level <= kLodLevels; ++level) {
        if (level > 0 && level < lanes->lanes[0].finest) continue;
        const int shift = tileShift(level, lanes->lanes[0].finest);
        const auto first = lanes->begin >> shift, last = lanes->end >> shift;
        const auto left = a.tiles(5, level, first, last), right = b.tiles(5, level, first, last);
        ASSERT_TRUE(left && right);
        for (std::size_t i = 0; i < left->size(); ++i) {
            ASSERT_EQ((*left)[i]->rows.size(), (*right)[i]->rows.size());
            for (std::size_t j = 0; j < (*left)[i]->rows.size(); ++j) {
                const LodRow &x = (*left)[i]->rows[j], &y = (*right)[i]->rows[j];
                ASSERT_EQ(x.kept.size(), y.kept.size());
                ASSERT_EQ(x.folds.size(), y.folds.size());
                for (std::size_t k = 0; k < x.kept.size(); ++k) EXPECT_EQ(x.kept[k].start, y.kept[k].start);
                for (std::size_t k = 0; k < x.folds.size(); ++k)
                    EXPECT_EQ(std::tuple(x.folds[k].start, x.folds[k].count, x.folds[k].total),
                              std::tuple(y.folds[k].start, y.folds[k].count, y.folds[k].total));
            }
        }
    }
}

TEST(RowPicture, DrawsEachSliceOnceAndNoneNarrowerThanAPixelByItself) {
    SliceBlock names;
    const auto slices = randomSlices(11, 20'000, names);
    MemoryTrace trace = traceOf(slices, names, 3, false);
    TraceIndex index(trace);
    const auto lanes = index.lanes();
    const LaneSpan lane{5, lanes->begin, lanes->end, lanes->lanes[0].finest};
    std::map<TilePlace, LodTilePtr> held;
    const TileLookup lookup = [&](const TilePlace& place) { return held.contains(place) ? held[place].get() : nullptr; };
    for (const double nsPerPixel : {150.0, 16'384.0, 20'000.0, 400'000.0, 7'000'000.0}) {
        SCOPED_TRACE(nsPerPixel);
        // From the very begin to behind the end, in as many pixels as that takes.
        const double from = static_cast<double>(lanes->begin);
        const double until = nsPerPixel < 1000 ? from + 2e9 : static_cast<double>(lanes->end);
        const PixelSpan span{from, nsPerPixel, static_cast<int>((until - from) / nsPerPixel) + 1};
        for (const auto& place : tilesOf(lane, span))
            if (!held.contains(place)) held[place] = index.tiles(5, place.level, place.index, place.index)->front();
        for (const std::int32_t depth : {0, 1}) {
            RowPicture picture;
            std::set<TilePlace> missing;
            composeRow(lookup, lane, depth, span, picture, &missing);
            EXPECT_TRUE(missing.empty());
            std::int64_t folded = 0, wide = 0;
            for (const auto& column : picture.columns) folded += column.count;
            std::int64_t all = 0;
            for (const Slice& slice : slices)
                if (slice.depth == depth && static_cast<double>(slice.start) < span.to()) {
                    ++all;
                    wide += static_cast<double>(slice.duration) >= nsPerPixel ? 1 : 0;
                }
            EXPECT_EQ(static_cast<std::int64_t>(picture.bars.size()), wide);
            EXPECT_EQ(folded + wide, all);
            for (const auto& bar : picture.bars) EXPECT_GE(bar.right - bar.left, 0.999);
        }
    }
}

TEST(RowPicture, StandsInWithCoarserFoldsUntilTheFineTilesAreThere) {
    SliceBlock names;
    const auto slices = randomSlices(12, 20'000, names);
    MemoryTrace trace = traceOf(slices, names, 3, false);
    TraceIndex index(trace);
    const auto lanes = index.lanes();
    const auto some =
        std::ranges::find_if(slices, [](const Slice& slice) { return slice.depth == 1 && slice.duration > 2000 && slice.duration < 9000; });
    ASSERT_NE(some, slices.end());
    const PixelSpan span{static_cast<double>(some->start) - 1e5, 1000, 2000};
    const LaneSpan lane{5, lanes->begin, lanes->end, lanes->lanes[0].finest};
    std::map<TilePlace, LodTilePtr> held;
    const auto wanted = tilesOf(lane, span);
    for (const auto& place : wanted)
        if (place.level > lane.finest + 1) held[place] = index.tiles(5, place.level, place.index, place.index)->front();
    RowPicture picture;
    std::set<TilePlace> missing;
    composeRow([&](const TilePlace& place) { return held.contains(place) ? held[place].get() : nullptr; }, lane, 1, span, picture, &missing);
    EXPECT_FALSE(missing.empty());
    EXPECT_EQ(missing.size() + held.size(), wanted.size());
    EXPECT_TRUE(std::ranges::any_of(picture.columns, [](const auto& column) { return column.some() && column.coarse; }));
}

TEST(TraceIndex, SumsOfARangeAreThoseOfItsSlicesWhereverItsEdgesCut) {
    SliceBlock names;
    const auto slices = randomSlices(21, 30'000, names);
    MemoryTrace trace = traceOf(slices, names, 9, false);
    const TraceIndex::GoesOn always = [] { return true; };
    TraceIndex index(trace), stored(trace, always, 0);
    const auto lanes = index.lanes();
    ASSERT_TRUE(stored.lanes());
    std::mt19937_64 random(1);
    for (int round = 0; round < 20; ++round) {
        const auto span = static_cast<std::uint64_t>(lanes->end - lanes->begin);
        const auto from = lanes->begin + static_cast<std::int64_t>(random() % span);
        const auto to = round == 0 ? lanes->end : from + static_cast<std::int64_t>(random() % (span >> (round % 20)) + 1);
        using Sum = std::array<std::int64_t, 4>;
        std::map<std::string, Sum> expected, each, got;
        const Slice* outer = nullptr;  // each is followed by those that lie in it
        bool calls = false;
        for (const Slice& slice : slices) {
            if (slice.depth == 0) outer = &slice;
            if (slice.start < from || slice.start >= to) continue;
            const bool nested = slice.depth > 0 && slice.name == outer->name && outer->start >= from;
            calls = calls || slice.called > 0;
            for (auto* into : {&expected, &each}) {
                auto& [count, total, self, spent] = (*into)[names.strings[slice.name]];
                ++count;
                total += nested && into == &expected ? 0 : slice.duration;
                self += slice.self();
                spent += slice.duration;
            }
        }
        const auto sums = index.sums(from, to);
        ASSERT_TRUE(sums) << sums.error().sentence;
        for (const auto& sum : sums->sums) got[sum.name] = {sum.count, sum.total, sum.self, sum.spent};
        EXPECT_EQ(got, expected);
        EXPECT_FALSE(sums->nestedEach);
        // Where none may be read by itself each counts, and it is said; the rest is the same.
        const auto folded = stored.sums(from, to);
        ASSERT_TRUE(folded) << folded.error().sentence;
        got.clear();
        for (const auto& sum : folded->sums) got[sum.name] = {sum.count, sum.total, sum.self, sum.spent};
        EXPECT_EQ(got, each);
        EXPECT_EQ(folded->nestedEach, calls);
    }
}

TEST(TraceIndex, KinTellsCountMeanAndPercentilesOfANameOverAll) {
    SliceBlock names;
    const auto slices = randomSlices(22, 10'000, names);
    MemoryTrace trace = traceOf(slices, names, 9, true);
    TraceIndex index(trace);
    ASSERT_TRUE(index.lanes());
    std::vector<std::int64_t> durations;
    for (const Slice& slice : slices)
        if (names.strings[slice.name] == "aten::operation_3") durations.push_back(slice.duration);
    std::ranges::sort(durations);
    const auto kin = index.kin("aten::operation_3", SliceKind::Operation);
    ASSERT_TRUE(kin);
    EXPECT_EQ(kin->count, static_cast<std::int64_t>(durations.size()));
    EXPECT_EQ(kin->shortest, durations.front());
    EXPECT_EQ(kin->longest, durations.back());
    for (const double share : {0.5, 0.95}) {
        const auto exact = static_cast<double>(durations[static_cast<std::size_t>(share * static_cast<double>(durations.size()))]);
        EXPECT_NEAR(static_cast<double>(kin->durations.percentile(share)), exact, 0.15 * exact);
    }
}

TEST(TraceIndex, FindsASliceByPlaceAndTheNextAndTheLastOfAName) {
    SliceBlock names;
    const auto slices = randomSlices(23, 10'000, names);
    MemoryTrace trace = traceOf(slices, names, 9, false);
    TraceIndex index(trace);
    ASSERT_TRUE(index.lanes());
    const Slice& one = slices[5000];
    const auto found = index.at(5, one.depth, one.start + one.duration / 2, 0);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->slice.start, one.start);
    EXPECT_EQ((*found)->name, names.strings[one.name]);
    for (const bool forwards : {true, false}) {
        std::int64_t expected = forwards ? INT64_MAX : INT64_MIN;
        for (const Slice& slice : slices)
            if (names.strings[slice.name] == "aten::operation_17" && (forwards ? slice.start > one.start : slice.start < one.start))
                expected = forwards ? std::min(expected, slice.start) : std::max(expected, slice.start);
        const auto next = index.find("OPERATION_17", one.start, forwards);
        ASSERT_TRUE(next && *next);
        EXPECT_EQ((*next)->slice.start, expected);
    }
    const auto none = index.find("no such name", 0, true);
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->has_value());
}

TEST(TraceIndex, PutsStreamsBelowTheThreadThatRunsTheStepsAndAboveTheOthers) {
    MemoryTrace trace;
    const auto add = [&trace](std::int64_t lane, std::int32_t device, SliceKind kind, std::int64_t slices) {
        SliceBlock block{.thread = {.process = 1, .thread = lane, .lane = lane, .device = device}, .strings = {"", "a"}};
        for (std::int64_t i = 0; i < slices; ++i) block.slices.push_back({.start = i * 10, .duration = 5, .name = 1, .kind = kind});
        trace.add(encodeSlices(block));
    };
    add(1, -1, SliceKind::Operation, 1);
    add(2, -1, SliceKind::Operation, 9);
    add(3, -1, SliceKind::Step, 2);
    add(20, 0, SliceKind::Kernel, 5);
    add(7, 0, SliceKind::Kernel, 2);
    trace.finish();
    std::vector<std::int64_t> order;
    const auto lanes = TraceIndex(trace).lanes();
    ASSERT_TRUE(lanes) << lanes.error().sentence;
    for (const TraceLane& lane : lanes->lanes) order.push_back(lane.lane);
    EXPECT_EQ(order, (std::vector<std::int64_t>{3, 7, 20, 2, 1}));
}

TEST(TraceIndex, FollowsALaunchToItsKernelAndAForwardOperationToItsBackwardOne) {
    MemoryTrace trace;
    SliceBlock host{.thread = {.process = 1, .thread = 5, .number = 1, .name = "trainer"}};
    host.strings = {"", "cudaLaunchKernel", "aten::mm", "MmBackward0"};
    host.slices = {{.start = 100, .duration = 5, .name = 1, .kind = SliceKind::Runtime, .correlation = 77},
                   {.start = 300, .duration = 50, .name = 2, .sequence = 9},
                   {.start = 900, .duration = 50, .name = 3, .kind = SliceKind::Backward, .sequence = 9, .forwardThread = 1, .forwardStart = 300}};
    trace.add(encodeSlices(host));
    SliceBlock device{.thread = {.process = 0, .thread = 7, .name = "stream 7", .lane = -8, .device = 0}};
    device.strings = {"", "gemm"};
    device.slices = {{.start = 40'000'000, .duration = 50, .name = 1, .kind = SliceKind::Kernel, .correlation = 77}};
    trace.add(encodeSlices(device));
    trace.finish();
    TraceIndex index(trace);
    const auto lanes = index.lanes();
    ASSERT_EQ(lanes->lanes.size(), 2U);
    EXPECT_EQ(lanes->lanes[0].lane, -8) << "no thread runs steps";
    const auto other = [&](std::int64_t lane, std::int64_t time) {
        const auto slice = index.at(lane, 0, time, 0);
        EXPECT_TRUE(slice && *slice);
        const auto ends = index.flows(**slice);
        EXPECT_TRUE(ends);
        return ends->size() == 1 ? ends->front().name : "";
    };
    EXPECT_EQ(other(5, 101), "gemm");
    EXPECT_EQ(other(-8, 40'000'010), "cudaLaunchKernel");
    EXPECT_EQ(other(5, 310), "MmBackward0");
    EXPECT_EQ(other(5, 910), "aten::mm");
}

TEST(LodCodec, RefusesDamagedBlocksInASentence) {
    SliceBlock names;
    const auto slices = randomSlices(31, 3000, names);
    const MemoryTrace trace = traceOf(slices, names, 2, false);
    std::mt19937_64 random(6);
    int refused = 0;
    for (const ChunkPtr& chunk : trace.chunks()) {
        if (!isLod(chunk->kind)) continue;
        for (int round = 0; round < 400; ++round) {
            Chunk broken = *chunk;
            if (round % 2 == 0)
                broken.bytes.resize(random() % broken.bytes.size());
            else
                broken.bytes[random() % broken.bytes.size()] = static_cast<std::byte>(random());
            const auto sentence = chunk->kind == kNames ? (decodeNames(broken) ? "" : decodeNames(broken).error().sentence)
                                  : chunk->kind == kKin ? (decodeKin(broken) ? "" : decodeKin(broken).error().sentence)
                                                        : (decodeLod(broken) ? "" : decodeLod(broken).error().sentence);
            if (sentence.empty()) continue;
            ++refused;
            EXPECT_THAT(sentence, testing::HasSubstr("damaged at byte"));
        }
    }
    EXPECT_GT(refused, 100);
}

TEST(LodCodec, BlocksComeBackAsTheyWere) {
    SliceBlock names;
    const auto slices = randomSlices(32, 3000, names);
    const MemoryTrace trace = traceOf(slices, names, 2, false);
    for (const ChunkPtr& chunk : trace.chunks()) {
        if (!isLod(chunk->kind)) continue;
        ASSERT_TRUE(checkChunk(*chunk)) << chunk->kind;
        if (chunk->kind == kNames)
            EXPECT_EQ(encodeNames(*decodeNames(*chunk)).bytes, chunk->bytes);
        else if (chunk->kind == kKin)
            EXPECT_EQ(encodeKin(*decodeKin(*chunk)).bytes, chunk->bytes);
        else
            EXPECT_EQ(encodeLod(*decodeLod(*chunk), chunk->kind, chunk->begin).bytes, chunk->bytes);
    }
}

TEST(LodCodec, ASliceAtTheEndOfTimeIsInsideItsBlock) {
    constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
    LodBlock block;
    block.depths = 1;
    block.styles.emplace_back();
    block.sections.push_back({.level = 1, .rows = {{.depth = 0, .kept = {{.start = kEnd, .duration = 0, .style = 0}}, .folds = {}}}});
    const Chunk chunk = encodeLod(block, kLod, {});
    EXPECT_EQ(chunk.begin.ns, kEnd);
    EXPECT_EQ(chunk.end.ns, kEnd);
    const auto read = decodeLod(chunk);
    ASSERT_TRUE(read) << read.error().sentence;
    EXPECT_EQ(*read, block);
}

TEST(Lod, BlocksOfVeryLongNamesAreNoLargerThanBlocksMayBe) {
    LodBuilder builder;
    std::vector<ChunkPtr> blocks;
    for (int part = 0; part < 20; ++part) {
        SliceBlock block{.thread = {.thread = 5, .name = "trainer"}, .strings = {""}};
        for (int i = 0; i < 64; ++i) {
            const int number = part * 64 + i;
            block.strings.push_back(std::to_string(10'000'000 + number) + std::string(kLongestSliceName - 8, 'x'));
            block.slices.push_back({.start = number * 1000, .duration = 500, .name = static_cast<std::uint32_t>(i + 1)});
        }
        builder.add(5, block, blocks);
    }
    builder.bringUpToDate(blocks);
    std::size_t bytes = 0;
    for (const auto& block : blocks) {
        ASSERT_TRUE(checkChunk(*block)) << block->kind << " " << block->bytes.size();
        bytes += block->bytes.size();
    }
    EXPECT_GT(bytes, Chunk::kMaxBytes) << "one block could not have held them";
}

}  // namespace
}  // namespace stepscope
