// Calls within calls of the same name: counted once in total times, whatever lies between, in whichever order they come and wherever blocks are cut;
// and where they are too many to be looked at, each, which is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "core/trace/OutermostCalls.h"
#include "core/trace/SliceCodec.h"
#include "tests/core/trace/MemoryTrace.h"

namespace stepscope {
namespace {

constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min(), kLatest = std::numeric_limits<std::int64_t>::max();

TEST(OutermostCalls, CountEachInstantOnceInWhicheverOrderNestedCallsCome) {
    std::mt19937_64 random(2);
    for (int round = 0; round < 200; ++round) {
        // Nested as calls are: within what is open at most, some as long as their caller, some of no time.
        struct Call {
            std::int64_t begin, duration;
        };
        std::vector<Call> calls;
        std::int64_t outermost = 0, all = 0;
        std::int64_t at = 0;
        for (int i = 0; i < 5; ++i) {
            Call call{at, static_cast<std::int64_t>(random() % 1000)};
            outermost += call.duration;
            at += call.duration + 1 + static_cast<std::int64_t>(random() % 50);
            for (int depth = 0; depth < 4; ++depth) {
                calls.push_back(call);
                all += call.duration;
                const auto inset = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(call.duration + 1));
                call.begin += random() % 3 == 0 ? 0 : inset;
                call.duration -= inset;
            }
        }
        std::ranges::shuffle(calls, random);
        OutermostCalls of;
        std::size_t remembered = 0;
        std::int64_t twice = 0;
        for (const Call& call : calls) twice += of.countedTwice(call.begin, call.duration, remembered, 1000);
        EXPECT_EQ(all - twice, outermost) << round;
        EXPECT_EQ(remembered, 5u) << "those within others are not kept";
    }
}

TEST(OutermostCalls, OfDurationsThatNoSessionLastsStayWithinBounds) {
    OutermostCalls calls;
    std::size_t remembered = 0;
    for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(calls.countedTwice(i, std::int64_t{1} << 61, remembered, 10), 0) << "none lies whole in another";
    EXPECT_EQ(calls.countedTwice(0, kLatest, remembered, 10), kMostTime) << "three of them lie in this one";
    EXPECT_EQ(calls.countedTwice(kLatest - 1, 5, remembered, 10), 5);
}

// Two threads on which x calls itself, in blocks as they are recorded: what ended first comes first, so that a caller is in a later block.
struct NestedTrace {
    std::vector<std::string> strings{"", "x", "y"};
    MemoryTrace trace;
    NestedTrace() {
        for (std::int64_t lane = 0; lane < 2; ++lane) {
            SliceBlock block{.thread = {.process = 1, .thread = lane + 1, .name = "t", .lane = 10 + lane}, .strings = strings};
            const std::vector<Slice> slices{
                {.start = 30, .duration = 10, .name = 1, .depth = 3},
                {.start = 20, .duration = 30, .called = 10, .name = 2, .depth = 2},
                {.start = 10, .duration = 60, .called = 30, .name = 1, .depth = 1},
                {.start = 80, .duration = 10, .name = 1, .depth = 1, .kind = SliceKind::Backward},
                {.start = 0, .duration = 100, .called = 70, .name = 1, .depth = 0},
                {.start = 200, .duration = 5, .name = 1, .depth = 0},
            };
            for (const Slice& slice : slices) {
                block.slices = {slice};
                trace.add(encodeSlices(block));
            }
        }
        trace.finish();
    }
    static const RangeSum* of(const RangeSums& sums, const std::string& name, SliceKind kind = SliceKind::Operation) {
        for (const RangeSum& sum : sums.sums)
            if (sum.name == name && sum.kind == kind) return &sum;
        return nullptr;
    }
};

TEST(TraceSums, ACallWithinOneOfItsOwnNameIsPartOfThatOnesTotalWhateverLiesBetween) {
    NestedTrace nested;
    TraceIndex index(nested.trace);
    ASSERT_TRUE(index.lanes());
    const auto all = index.sums(kEarliest, kLatest);
    ASSERT_TRUE(all) << all.error().sentence;
    EXPECT_FALSE(all->nestedEach);
    const RangeSum* x = NestedTrace::of(*all, "x");
    ASSERT_NE(x, nullptr);
    EXPECT_EQ(x->count, 8);
    EXPECT_EQ(x->total, 2 * 105) << "of each thread the outermost call and the one behind it";
    EXPECT_EQ(x->spent, 2 * 175) << "all calls together";
    EXPECT_EQ(x->self, 2 * (30 + 30 + 10 + 5));
    EXPECT_EQ(NestedTrace::of(*all, "x", SliceKind::Backward)->total, 20) << "of another kind: a name of its own";
    EXPECT_EQ(NestedTrace::of(*all, "y")->total, 60);
    const auto inner = index.sums(5, 150, 10);
    ASSERT_TRUE(inner) << inner.error().sentence;
    EXPECT_EQ(NestedTrace::of(*inner, "x")->total, 60) << "what began before the range is not in it";
    EXPECT_EQ(NestedTrace::of(*inner, "x")->spent, 70);
}

TEST(TraceSums, WhereSlicesAreTooManyEachCallCountsAndItIsSaid) {
    NestedTrace nested;
    for (const std::int64_t most : {0, 11, 12}) {
        TraceIndex index(
            nested.trace, [] { return true; }, most);
        ASSERT_TRUE(index.lanes());
        const bool each = most < 12;  // there are six on each thread
        const auto sums = index.sums(kEarliest, kLatest);
        ASSERT_TRUE(sums) << sums.error().sentence;
        EXPECT_EQ(sums->nestedEach, each) << most;
        EXPECT_EQ(NestedTrace::of(*sums, "x")->total, each ? 350 : 210) << most;
        const auto kin = index.kin("x", SliceKind::Operation);
        ASSERT_TRUE(kin) << kin.error().sentence;
        EXPECT_EQ(kin->nestedEach, each) << most;
        EXPECT_EQ(kin->nested, each ? 0 : 140) << most;
    }
    // Of what calls nothing there is nothing to look for, however much of it there is.
    TraceIndex index(
        nested.trace, [] { return true; }, 0);
    ASSERT_TRUE(index.lanes());
    const auto sums = index.sums(150, kLatest);
    ASSERT_TRUE(sums);
    EXPECT_FALSE(sums->nestedEach);
    EXPECT_EQ(NestedTrace::of(*sums, "x")->total, 10);
    EXPECT_FALSE(index.kin("x", SliceKind::Backward)->nestedEach);
}

TEST(TraceKin, KnowsHowMuchIsOfCallsWithinCallsOfTheName) {
    NestedTrace nested;
    TraceIndex index(nested.trace);
    ASSERT_TRUE(index.lanes());
    const auto kin = index.kin("x", SliceKind::Operation);
    ASSERT_TRUE(kin) << kin.error().sentence;
    EXPECT_EQ(kin->count, 8);
    EXPECT_EQ(kin->total - kin->nested, index.sums(kEarliest, kLatest)->sums.front().total) << "as the sums over all have it";
    EXPECT_EQ(kin->nested, 140);
    EXPECT_EQ(index.kin("y", SliceKind::Operation)->nested, 0);
}

}  // namespace
}  // namespace stepscope
