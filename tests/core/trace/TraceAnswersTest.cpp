// What TraceIndex answers beside pictures, held against looking at every slice: sums and places at the very edges, the next of a name; and that it
// ends where nobody wants the answer any more, or where a block is damaged. Where arrows lead: TraceFlowsTest.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <limits>
#include <random>
#include <tuple>

#include "core/trace/SliceCodec.h"
#include "tests/core/trace/MemoryTrace.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(), kMost = std::numeric_limits<std::int64_t>::max();

// Slices of two threads and a stream, side by side and never nested, so that each can be told by its start; cut into blocks of a few.
struct AskedTrace {
    struct Lane {
        SliceThread thread;
        std::vector<Slice> slices;
    };
    std::vector<std::string> strings{"", "aten::mm", "aten::add_", "Gemm KERNEL", "step 7", "forward", "mlp"};
    std::vector<Lane> lanes;
    MemoryTrace trace;
    TraceIndex index{trace};

    explicit AskedTrace(std::uint64_t seed, std::size_t each = 400) {
        std::mt19937_64 random(seed);
        for (int lane = 0; lane < 3; ++lane) {
            Lane made{.thread = {.process = 1, .thread = lane + 1, .name = "t", .lane = 10 + lane}, .slices = {}};
            if (lane == 2) made.thread.device = 0;
            std::int64_t at = static_cast<std::int64_t>(random() % 1000);
            for (std::size_t i = 0; i < each; ++i) {
                const auto duration = 1 + static_cast<std::int64_t>(random() % 90);
                const auto called = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(duration));
                made.slices.push_back({.start = at,
                                       .duration = duration,
                                       .called = called,
                                       .name = static_cast<std::uint32_t>(1 + random() % 4),
                                       .phase = 5,
                                       .role = 6,
                                       .kind = lane == 2 ? SliceKind::Kernel : static_cast<SliceKind>(random() % 3)});
                at += 100 + static_cast<std::int64_t>(random() % 50);
            }
            SliceBlock block{.thread = made.thread, .strings = strings};
            for (const Slice& slice : made.slices) {
                block.slices.push_back(slice);
                if (random() % 20 != 0) continue;
                trace.add(encodeSlices(block));
                block.slices.clear();
            }
            if (!block.slices.empty()) trace.add(encodeSlices(block));
            lanes.push_back(std::move(made));
        }
        trace.finish();
        EXPECT_TRUE(index.lanes());
    }

    using Sum = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
    std::map<std::pair<std::string, SliceKind>, Sum> summed(std::int64_t from, std::int64_t to, std::optional<std::int64_t> only) const {
        std::map<std::pair<std::string, SliceKind>, Sum> all;
        for (const Lane& lane : lanes) {
            if (only && lane.thread.lane != *only) continue;
            for (const Slice& slice : lane.slices) {
                if (slice.start < from || slice.start >= to) continue;
                auto& [count, total, self] = all[{strings[slice.name], slice.kind}];
                ++count;
                total += slice.duration;
                self += slice.self();
            }
        }
        return all;
    }
    std::map<std::pair<std::string, SliceKind>, Sum> answered(std::int64_t from, std::int64_t to, std::optional<std::int64_t> only = {}) {
        std::map<std::pair<std::string, SliceKind>, Sum> all;
        const auto sums = index.sums(from, to, only);
        EXPECT_TRUE(sums) << sums.error().sentence;
        for (const RangeSum& sum : sums->sums) EXPECT_TRUE(all.emplace(std::pair(sum.name, sum.kind), Sum(sum.count, sum.total, sum.self)).second);
        return all;
    }
};

TEST(TraceSums, AreThoseOfEachLaneAndEachKindOfANameWhereverTheEdgesAre) {
    AskedTrace asked(3);
    std::mt19937_64 random(4);
    for (int round = 0; round < 200; ++round) {
        // Edges on a start, just before and just behind one: the range holds what begins in it, its end not.
        const auto edge = [&] {
            const auto& slices = asked.lanes[random() % 3].slices;
            return slices[random() % slices.size()].start + static_cast<std::int64_t>(random() % 3) - 1;
        };
        const std::int64_t a = edge(), b = edge();
        const auto [from, to] = std::minmax(a, b);
        const auto only = round % 2 == 0 ? std::optional<std::int64_t>() : std::optional<std::int64_t>(10 + round % 3);
        EXPECT_EQ(asked.answered(from, to, only), asked.summed(from, to, only)) << from << " " << to;
    }
}

TEST(TraceSums, OfAllTimeAreThoseOfAllSlicesAndOfNoTimeNone) {
    AskedTrace asked(5);
    EXPECT_EQ(asked.answered(kLeast, kMost), asked.summed(kLeast, kMost, {}));
    EXPECT_TRUE(asked.answered(500, 500).empty());
    EXPECT_TRUE(asked.answered(500, 400).empty());
    EXPECT_TRUE(asked.answered(kMost, kLeast).empty());
    EXPECT_TRUE(asked.answered(kLeast, kMost, 99).empty()) << "a lane that there is not";
}

TEST(TraceSums, ComeWithTheLargestOwnTimeFirst) {
    AskedTrace asked(6);
    const auto sums = asked.index.sums(kLeast, kMost);
    ASSERT_TRUE(sums);
    ASSERT_GT(sums->sums.size(), 4U);
    EXPECT_TRUE(std::ranges::is_sorted(sums->sums, std::ranges::greater{}, &RangeSum::self));
    std::int64_t count = 0;
    for (const auto& sum : sums->sums) count += sum.count;
    EXPECT_EQ(sums->slices, count);
}

TEST(TraceSums, OfDurationsThatNoSessionLastsStayAtTheLargest) {
    MemoryTrace trace;
    SliceBlock block{.thread = {.thread = 1, .name = "t"}, .strings = {"", "forever"}};
    constexpr std::int64_t kLong = std::int64_t{1} << 60;
    for (std::int64_t i = 0; i < 3; ++i) block.slices.push_back({.start = i, .duration = kLong, .name = 1, .depth = static_cast<std::int32_t>(i)});
    trace.add(encodeSlices(block));
    trace.finish();
    TraceIndex index(trace);
    const auto lanes = index.lanes();
    ASSERT_TRUE(lanes);
    for (const auto& [from, to] : {std::pair<std::int64_t, std::int64_t>{kLeast, kMost}, {0, 3}}) {
        const auto sums = index.sums(from, to);
        ASSERT_TRUE(sums) << sums.error().sentence;
        ASSERT_EQ(sums->sums.size(), 1U);
        EXPECT_EQ(sums->sums[0].count, 3);
        EXPECT_EQ(sums->sums[0].total, kMostTime) << "it must not turn negative";
    }
}

TEST(TraceKin, AddsUpWhatIsOfBothTheNameAndTheKindInEveryLane) {
    AskedTrace asked(7);
    for (const SliceKind kind : {SliceKind::Operation, SliceKind::Own, SliceKind::Backward, SliceKind::Kernel, SliceKind::Python}) {
        std::int64_t count = 0;
        for (const auto& lane : asked.lanes)
            count += std::ranges::count_if(lane.slices, [&](const Slice& slice) { return slice.kind == kind && slice.name == 2; });
        const auto kin = asked.index.kin("aten::add_", kind);
        ASSERT_TRUE(kin);
        EXPECT_EQ(kin->count, count) << static_cast<int>(kind);
    }
    EXPECT_EQ(asked.index.kin("ATEN::ADD_", SliceKind::Operation)->count, 0) << "a name is itself, not what looks like it";
}

TEST(TraceAt, IsTheSliceThatCoversTheTimeOrTheNearestWithinReach) {
    AskedTrace asked(8);
    const auto& lane = asked.lanes[0];
    std::mt19937_64 random(9);
    for (int round = 0; round < 500; ++round) {
        const std::int64_t time = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(lane.slices.back().start + 300));
        const auto near = static_cast<std::int64_t>(random() % 40);
        std::int64_t least = near + 1;
        for (const Slice& slice : lane.slices) {
            const std::int64_t last = slice.start + slice.duration - 1;
            least = std::min(least, time < slice.start ? slice.start - time : time > last ? time - last : 0);
        }
        const auto found = asked.index.at(lane.thread.lane, 0, time, near);
        ASSERT_TRUE(found);
        ASSERT_EQ(found->has_value(), least <= near) << time << " within " << near;
        if (!*found) continue;
        const Slice& slice = (*found)->slice;
        const std::int64_t last = slice.start + slice.duration - 1;
        EXPECT_EQ(time < slice.start ? slice.start - time : time > last ? time - last : 0, least);
    }
}

TEST(TraceAt, IsWholeAndOfItsRowOnly) {
    AskedTrace asked(10);
    const auto& lane = asked.lanes[2];
    const Slice& slice = lane.slices[17];
    const auto found = asked.index.at(lane.thread.lane, 0, slice.start, 0);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->lane, lane.thread.lane);
    EXPECT_EQ((*found)->thread.device, 0);
    EXPECT_EQ((*found)->name, asked.strings[slice.name]);
    EXPECT_EQ((*found)->phase, "forward");
    EXPECT_EQ((*found)->role, "mlp");
    EXPECT_FALSE(asked.index.at(lane.thread.lane, 1, slice.start, 0)->has_value()) << "nothing lies in the row below";
    EXPECT_FALSE(asked.index.at(77, 0, slice.start, 1000)->has_value()) << "nor in a lane that there is not";
    EXPECT_FALSE(asked.index.at(lane.thread.lane, 0, kLeast, 100)->has_value());
    EXPECT_FALSE(asked.index.at(lane.thread.lane, 0, kMost, 100)->has_value());
}

TEST(TraceFind, IsTheNextOrTheLastWhateverTheCaseAndWhereverOneLooksFrom) {
    AskedTrace asked(11);
    std::mt19937_64 random(12);
    for (int round = 0; round < 300; ++round) {
        const std::string words = std::array{"MM", "aten::", "gemm kernel", "7", "", "::MM "}[random() % 6];
        const bool forwards = random() % 2 == 0;
        const auto& any = asked.lanes[random() % 3].slices;
        const std::int64_t time = any[random() % any.size()].start + static_cast<std::int64_t>(random() % 3) - 1;
        std::optional<std::int64_t> expected;
        for (const auto& lane : asked.lanes)
            for (const Slice& slice : lane.slices) {
                std::string name = asked.strings[slice.name], wanted = words;
                for (auto* text : {&name, &wanted})
                    std::ranges::transform(*text, text->begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
                if (name.find(wanted) == std::string::npos || (forwards ? slice.start <= time : slice.start >= time)) continue;
                if (!expected || (forwards ? slice.start < *expected : slice.start > *expected)) expected = slice.start;
            }
        const auto found = asked.index.find(words, time, forwards);
        ASSERT_TRUE(found);
        ASSERT_EQ(found->has_value(), expected.has_value()) << words;
        if (expected) {
            EXPECT_EQ((*found)->slice.start, *expected) << words << (forwards ? " behind " : " before ") << time;
        }
    }
}

TEST(TraceFind, WalkingForwardsAndBackMeetsTheSameOnes) {
    AskedTrace asked(13, 60);
    const auto walk = [&](bool forwards) {
        std::vector<std::int64_t> starts;
        std::int64_t time = forwards ? kLeast : kMost;
        while (starts.size() < 1000) {
            const auto next = asked.index.find("kernel", time, forwards);
            if (!next || !*next) break;
            starts.push_back(time = (*next)->slice.start);
        }
        return starts;
    };
    auto back = walk(false);
    std::ranges::reverse(back);
    EXPECT_EQ(walk(true), back);
    EXPECT_GT(back.size(), 20U);
}

TEST(TraceFind, MeetsEachOfThoseThatBeginAtTheSameNanosecond) {
    // As rounded traces have them: a call, what it calls, and the same on another worker; each of a block of its own.
    MemoryTrace trace;
    for (const std::int64_t lane : {20, 10})
        for (const std::int32_t depth : {1, 0}) {
            SliceBlock block{.thread = {.process = 1, .thread = lane, .lane = lane}, .strings = {"", "aten::mm"}};
            for (const std::int64_t start : {500, 900})
                block.slices.push_back({.start = start, .duration = depth == 0 ? 50 : 0, .name = 1, .depth = depth});
            trace.add(encodeSlices(block));
        }
    trace.finish();
    TraceIndex index(trace);
    ASSERT_TRUE(index.lanes());
    const std::vector<TracePlace> all{{500, 10, 0}, {500, 10, 1}, {500, 20, 0}, {500, 20, 1}, {900, 10, 0}, {900, 10, 1}, {900, 20, 0}, {900, 20, 1}};
    for (const bool forwards : {true, false}) {
        std::vector<TracePlace> met;
        TracePlace from = forwards ? TracePlace::before(500) : TracePlace::behind(900);
        while (met.size() < 20) {
            const auto next = index.find("mm", from, forwards);
            ASSERT_TRUE(next);
            if (!*next) break;
            met.push_back(from = (*next)->place());
        }
        if (!forwards) std::ranges::reverse(met);
        EXPECT_EQ(met, all) << forwards;
    }
}

TEST(TraceAnswers, TellWhereSlicesCouldNotBeKeptAndOfVeryManyPlacesEachAsAWhole) {
    constexpr std::int64_t kBlocks = 10'000;
    MemoryTrace trace;
    for (const std::int64_t lane : {10, 11}) {
        SliceBlock block{.thread = {.process = 1, .thread = lane, .lane = lane}, .strings = {"", "aten::mm"}};
        block.slices = {{.start = 100, .duration = 50, .name = 1}, {.start = 400, .duration = 100, .name = 1}};
        if (lane == 11) block.lost = 5, block.invalid = 2;
        trace.add(encodeSlices(block));
    }
    trace.finish();
    TraceIndex index(trace);
    ASSERT_TRUE(index.lanes());
    const auto losses = index.losses();
    ASSERT_TRUE(losses) << losses.error().sentence;
    EXPECT_EQ(*losses, (std::vector<TraceLoss>{{11, 100, 500, 5, 2}}));
    for (std::int64_t i = 0; i < kBlocks; ++i) {
        SliceBlock block{.thread = {.process = 1, .thread = 12, .lane = 12}, .lost = 1, .strings = {"", "aten::mm"}};
        block.slices = {{.start = i * 1000, .duration = 10, .name = 1}};
        trace.add(encodeSlices(block));
    }
    trace.finish();
    ASSERT_TRUE(index.lanes());
    const auto many = index.losses();
    ASSERT_TRUE(many);
    EXPECT_LE(many->size(), 4097u);
    EXPECT_EQ(many->front(), (TraceLoss{11, 100, 500, 5, 2}));
    std::int64_t lost = 0;
    for (std::size_t i = 1; i < many->size(); ++i) {
        lost += (*many)[i].lost;
        EXPECT_TRUE(i == 1 || (*many)[i - 1].to <= (*many)[i].from) << i;
    }
    EXPECT_EQ(lost, kBlocks);
    EXPECT_EQ(many->back().to, (kBlocks - 1) * 1000 + 10);
}

TEST(TraceAnswers, EndWhereNobodyWantsThemAnyMore) {
    AskedTrace asked(14);
    int left = 1 << 20;
    TraceIndex index(asked.trace, [&] { return --left > 0; });
    ASSERT_TRUE(index.lanes());
    const auto one = asked.index.at(10, 0, asked.lanes[0].slices[5].start, 0);
    ASSERT_TRUE(one && *one);
    TraceSlice launch = **one;
    launch.slice.correlation = 123;
    for (int question = 0; question < 5; ++question) {
        left = 1;
        const Error error = question == 0   ? index.sums(kLeast, kMost).error()
                            : question == 1 ? index.kin("aten::mm", SliceKind::Operation).error()
                            : question == 2 ? index.find("no such name, so all is looked at", 0, true).error()
                            : question == 3 ? index.flows(launch).error()
                                            : index.sums(asked.lanes[0].slices[3].start + 1, asked.lanes[0].slices[200].start).error();
        EXPECT_EQ(error.code, ErrorCode::Cancelled) << question;
    }
}

// Hands every block on with a byte of its own in the middle.
class DamagedTrace final : public TraceSource {
public:
    explicit DamagedTrace(TraceSource& whole) : m_whole(whole) {}
    std::string kind;  // of the blocks that are damaged
    Result<std::vector<TraceSourceLane>> lanes() override { return m_whole.lanes(); }
    Status read(const std::string& of, std::int64_t lane, std::int64_t from, std::int64_t to,
                const std::function<Status(const Chunk&)>& take) override {
        return m_whole.read(of, lane, from, to, [&](const Chunk& chunk) {
            Chunk given = chunk;
            if (of == kind) given.bytes.resize(given.bytes.size() / 2);
            return take(given);
        });
    }

private:
    TraceSource& m_whole;
};

// Says of each name that it was called as often as a number can say.
class LyingTrace final : public TraceSource {
public:
    explicit LyingTrace(TraceSource& honest) : m_honest(honest) {}
    Result<std::vector<TraceSourceLane>> lanes() override {
        auto all = m_honest.lanes();
        for (auto& lane : *all) lane.records = kMost;
        return all;
    }
    Status read(const std::string& kind, std::int64_t lane, std::int64_t from, std::int64_t to,
                const std::function<Status(const Chunk&)>& take) override {
        constexpr std::int64_t kLie = std::int64_t{1} << 62;
        return m_honest.read(kind, lane, from, to, [&](const Chunk& chunk) {
            if (kind == kNames) {
                NamesBlock block = *decodeNames(chunk);
                for (auto& table : block.tables) {
                    table.slices = table.lost = table.invalid = kLie;
                    for (auto& sum : table.sums) sum.count = sum.total = sum.self = kLie;
                }
                return take(encodeNames(block));
            }
            if (kind != kKin) return take(chunk);
            KinBlock block = *decodeKin(chunk);
            for (auto& sum : block.sums) sum.count = sum.total = sum.self = kLie;
            return take(encodeKin(block));
        });
    }

private:
    TraceSource& m_honest;
};

TEST(TraceAnswers, SumsOfNumbersThatCannotBeEndWhereNumbersEnd) {
    AskedTrace asked(16);
    LyingTrace lying(asked.trace);
    TraceIndex index(lying);
    const auto lanes = index.lanes();
    ASSERT_TRUE(lanes);
    for (const auto& lane : lanes->lanes) EXPECT_EQ(lane.slices, kMostTime);
    const auto sums = index.sums(kLeast, kMost);
    ASSERT_TRUE(sums);
    EXPECT_EQ(sums->slices, kMostTime);
    EXPECT_EQ(sums->lost, kMostTime);
    EXPECT_EQ(sums->invalid, kMostTime);
    for (const auto& sum : sums->sums) EXPECT_EQ(sum.count, kMostTime) << sum.name;
    const auto kin = index.kin("aten::mm", SliceKind::Operation);
    ASSERT_TRUE(kin);
    EXPECT_EQ(kin->count, kMostTime);
}

TEST(TraceAnswers, AreOneSentenceWhereABlockIsDamaged) {
    AskedTrace asked(15);
    DamagedTrace damaged(asked.trace);
    TraceIndex index(damaged);
    ASSERT_TRUE(index.lanes());
    const std::int64_t inside = asked.lanes[0].slices[30].start;
    damaged.kind = kNames;
    EXPECT_THAT(index.sums(kLeast, kMost).error().sentence, testing::HasSubstr("damaged at byte"));
    EXPECT_THAT(index.find("mm", 0, true).error().sentence, testing::HasSubstr("damaged at byte"));
    damaged.kind = kKin;
    EXPECT_THAT(index.kin("aten::mm", SliceKind::Operation).error().sentence, testing::HasSubstr("damaged at byte"));
    damaged.kind = kSlices;
    EXPECT_THAT(index.at(10, 0, inside, 5).error().sentence, testing::HasSubstr("damaged at byte"));
    EXPECT_THAT(index.sums(inside, inside + 1).error().sentence, testing::HasSubstr("damaged at byte"));
    EXPECT_THAT(index.find("mm", 0, true).error().sentence, testing::HasSubstr("damaged at byte"));
}

}  // namespace
}  // namespace stepscope
