// How records of a lane become slices: how deep each lies and what it called, held against a tree that was made first; what overlaps without nesting;
// blocks that stand for themselves; and what cannot be, counted by its reason.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "tests/sessions/importers/BuiltTrace.h"

namespace stepscope::test {
namespace {

using importing::Record;
using importing::TextStore;
using importing::TraceBuilder;

// Texts and arguments of nothing, as readers that know none leave them.
Record plainRecord(std::uint32_t lane, std::int64_t start, std::int64_t duration, std::uint32_t name = TextStore::kNone) {
    return {.lane = lane,
            .kind = SliceKind::Operation,
            .start = start,
            .duration = duration,
            .name = name,
            .phase = TextStore::kNone,
            .role = TextStore::kNone,
            .arguments = TextStore::kNone};
}

TEST(LaneWriter, ATreeOfCallsComesBackWithItsDepthsAndWhatEachCalled) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 30; ++round) {
        BuiltTrace built;
        const auto lane = *built.trace.lane("1", "2");
        std::vector<Record> records;
        std::map<std::string, std::pair<std::int32_t, std::int64_t>> expected;  // by name: depth, called
        // Children side by side within their parent, now and then with no gap between; no two of one begin and length.
        const std::function<void(std::int64_t, std::int64_t, std::int32_t)> grow = [&](std::int64_t from, std::int64_t to, std::int32_t depth) {
            const std::string name = fmt::format("call {}", records.size());
            records.push_back(plainRecord(lane, from, to - from, built.trace.text(name)));
            std::int64_t called = 0;
            for (std::int64_t at = from + static_cast<std::int64_t>(random() % 3); depth < 6 && at + 3 < to;) {
                const std::int64_t end = std::min(to, at + 2 + static_cast<std::int64_t>(random() % 40));
                if (end - at == to - from) break;
                grow(at, end, depth + 1);
                called += end - at;
                at = end + static_cast<std::int64_t>(random() % 5);
            }
            expected[name] = {depth, called};
        };
        for (std::int64_t at = 0; records.size() < 300; at += 200) grow(at, at + 1 + static_cast<std::int64_t>(random() % 200), 0);
        std::ranges::shuffle(records, random);
        for (const Record& record : records) built.trace.slice(record);
        std::map<std::string, std::pair<std::int32_t, std::int64_t>> got;
        for (const auto& one : built.finish()) got[one.name] = {one.slice.depth, one.slice.called};
        EXPECT_EQ(got, expected) << "round " << round;
    }
}

TEST(LaneWriter, OfWhatOverlapsNoTwoOfARowMeetAndNobodyCallsMoreThanItLasts) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 60; ++round) {
        BuiltTrace built;
        const auto lane = *built.trace.lane("1", "2");
        built.trace.file().roundedNs = round % 3 == 0 ? 4 : 0;
        const std::size_t count = 150;
        for (std::size_t i = 0; i < count; ++i)
            built.trace.slice(plainRecord(lane, static_cast<std::int64_t>(random() % 400), static_cast<std::int64_t>(1 + random() % 60)));
        auto all = built.finish();
        EXPECT_EQ(all.size(), count);
        std::ranges::sort(all, {}, [](const BuiltSlice& one) { return std::pair(one.slice.depth, one.slice.start); });
        const std::int64_t rounded = built.trace.file().roundedNs;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Slice& slice = all[i].slice;
            EXPECT_GE(slice.called, 0);
            EXPECT_LE(slice.called, slice.duration);
            if (i > 0 && all[i - 1].slice.depth == slice.depth) {
                EXPECT_GE(slice.start + rounded, all[i - 1].slice.start + all[i - 1].slice.duration) << "row " << slice.depth;
            }
        }
    }
}

TEST(LaneWriter, WhatSeveralCoverTogetherCountsOnce) {
    BuiltTrace built;
    const auto lane = *built.trace.lane("1", "2");
    built.trace.slice(plainRecord(lane, 0, 100, built.trace.text("outer")));
    built.trace.slice(plainRecord(lane, 10, 50));
    built.trace.slice(plainRecord(lane, 40, 40));
    const auto all = built.finish();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].name, "outer");
    EXPECT_EQ(all[0].slice.called, 70) << "from 10 to 80, whoever worked";
}

TEST(LaneWriter, LanesOfOneNumberInTwoFilesStayApart) {
    BuiltTrace built;
    built.trace.file().baseNs = 1000;
    built.trace.slice(plainRecord(*built.trace.lane("1", "2"), 0, 10, built.trace.text("a")));
    built.trace.beginFile(1);
    built.trace.file().baseNs = 5000;
    built.trace.slice(plainRecord(*built.trace.lane("1", "2"), 0, 10, built.trace.text("b")));
    const auto all = built.finish();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].slice.start, 0);
    EXPECT_EQ(all[1].slice.start, 4000) << "each by its own clock";
    EXPECT_NE(all[0].thread.laneNumber(), all[1].thread.laneNumber());
    EXPECT_EQ(all[1].thread.rank, 1);
    EXPECT_EQ(built.trace.lastEndNs(), 4010);
}

TEST(LaneWriter, TimesThatDoNotFitAreLeftOutAndTheOthersKept) {
    BuiltTrace built;
    const auto lane = *built.trace.lane("1", "2");
    constexpr std::int64_t kFar = std::int64_t{1} << 61;
    built.trace.file().baseNs = std::numeric_limits<std::int64_t>::max() - 100;
    built.trace.slice(plainRecord(lane, -50, 10));
    built.trace.slice(plainRecord(lane, kFar, 1));
    built.trace.slice(plainRecord(lane, kFar + 1, 1));
    built.trace.slice(plainRecord(lane, 1, -1));
    EXPECT_EQ(built.finish().size(), 1U);
    EXPECT_EQ(built.reason("a time that does not fit"), 2);
    EXPECT_EQ(built.reason("a negative duration"), 1);
    EXPECT_EQ(built.trace.counts().skipped, 3);
}

TEST(LaneWriter, DurationsThatNoCaptureLastsAreLeftOutWithTheirSteps) {
    BuiltTrace built;
    const auto lane = *built.trace.lane("1", "2");
    constexpr std::int64_t kHundredDays = std::int64_t{100} * 24 * 3600 * 1'000'000'000;
    for (const std::int64_t duration : {kHundredDays, kHundredDays + 1, std::int64_t{1} << 61, std::numeric_limits<std::int64_t>::max()}) {
        built.trace.step(4, 0, duration);
        built.trace.slice(plainRecord(lane, 0, duration));
    }
    const auto all = built.finish();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].slice.duration, kHundredDays);
    EXPECT_EQ(built.reason("a duration of more than 100 days"), 3);
    EXPECT_EQ(built.trace.counts().skipped, 3);
    EXPECT_EQ(built.trace.counts().steps, 1);
}

TEST(LaneWriter, EachSliceHasTheStepThatGoesOnWhenItBegins) {
    BuiltTrace built;
    const auto lane = *built.trace.lane("1", "2");
    built.trace.step(7, 100, 50);
    built.trace.step(8, 150, 50);
    Record told = plainRecord(lane, 120, 5);
    told.step = 3;
    for (const std::int64_t at : {99, 100, 149, 150, 199, 200}) built.trace.slice(plainRecord(lane, at, 1));
    built.trace.slice(told);
    std::map<std::int64_t, std::int64_t> steps;
    for (const auto& one : built.finish(0)) steps[one.slice.start] = one.slice.step;
    EXPECT_EQ(steps, (std::map<std::int64_t, std::int64_t>{{99, kNoStep}, {100, 7}, {120, 3}, {149, 7}, {150, 8}, {199, 8}, {200, kNoStep}}));
}

TEST(LaneWriter, ABackwardFunctionLearnsWhenItsForwardOperationBegan) {
    BuiltTrace built;
    const auto forward = *built.trace.lane("1", "2"), backward = *built.trace.lane("1", "3");
    built.trace.file().baseNs = 10'000;
    Record one = plainRecord(forward, 100, 10, built.trace.text("forward")), other = plainRecord(backward, 500, 10, built.trace.text("backward"));
    one.sequence = other.sequence = 4;
    other.forwardThread = 1;
    built.trace.slice(one);
    built.trace.slice(other);
    built.trace.slice(plainRecord(backward, 500, 5, built.trace.text("without a number")));
    built.trace.flow("fwdbwd", "1", true, 100, forward);
    built.trace.flow("fwdbwd", "1", false, 500, backward);
    built.trace.flow("fwdbwd", "2", false, 600, backward);
    std::map<std::string, Slice> named;
    std::map<std::string, std::int64_t> numbers;
    for (const auto& slice : built.finish(10'000)) {
        named[slice.name] = slice.slice;
        numbers[slice.name] = slice.thread.number;
    }
    EXPECT_EQ(named["backward"].forwardStart, 100) << "of the session's clock";
    EXPECT_EQ(named["forward"].forwardStart, 0);
    EXPECT_EQ(named["without a number"].forwardStart, 0);
    EXPECT_EQ(numbers["forward"], 1) << "who autograd's thread 1 is";
    EXPECT_EQ(built.trace.counts().flows, 1);
}

TEST(LaneWriter, ACallThatNsightTellsTwiceIsKeptOnceAndWhatLiesBelowItIsTheDrivers) {
    for (const char* source : {"nsys", "kineto"}) {
        BuiltTrace built;
        const auto lane = *built.trace.lane("1", "2");
        built.trace.file().source = source;
        Record call = plainRecord(lane, 0, 100, built.trace.text("cudaLaunchKernel"));
        call.kind = SliceKind::Runtime;
        call.correlation = 5;
        built.trace.slice(call);
        call.start = 10;
        call.duration = 50;
        built.trace.slice(call);
        call.start = 20;
        call.duration = 20;
        call.name = built.trace.text("cuLaunchKernel");
        built.trace.slice(call);
        const auto all = built.finish();
        const auto& counts = built.trace.counts();
        if (built.trace.file().source == "kineto") {
            EXPECT_EQ(all.size(), 3U) << "only Nsight Systems does that";
            EXPECT_EQ(counts.runtimeCalls, 3);
            continue;
        }
        ASSERT_EQ(all.size(), 2U);
        EXPECT_EQ(all[1].slice.kind, SliceKind::Driver);
        EXPECT_EQ(all[1].slice.correlation, 0) << "one of them launches";
        EXPECT_EQ(counts.runtimeCalls, 1);
        EXPECT_EQ(counts.driverCalls, 1);
    }
}

TEST(LaneWriter, NestsAsDeepAsABlockHoldsAndCountsWhatLiesDeeper) {
    BuiltTrace built;
    const auto lane = *built.trace.lane("1", "2");
    constexpr std::int64_t kDeep = 60'010;
    for (std::int64_t i = 0; i < kDeep; ++i) built.trace.slice(plainRecord(lane, i, 2 * kDeep - 2 * i));
    const auto all = built.finish();
    EXPECT_EQ(all.size(), 60'001U);
    EXPECT_EQ(built.reason("nested more than 60000 deep"), kDeep - 60'001);
    EXPECT_EQ(std::ranges::max(all, {}, [](const BuiltSlice& one) { return one.slice.depth; }).slice.depth, 60'000);
}

TEST(LaneWriter, BlocksStandForThemselvesAndAreOfABoundedSize) {
    BuiltTrace built;
    const auto lane = *built.trace.lane("1", "2");
    SliceArguments arguments{.text = "Float[3]", .flops = 7, .extra = R"({"a": 1})"};
    for (std::int64_t i = 0; i < 40'000; ++i) {
        Record record = plainRecord(lane, i * 10, 5, built.trace.text(fmt::format("name {}", i % 7)));
        record.phase = built.trace.text("forward");
        record.role = built.trace.text("mlp");
        arguments.bytes = i % 3;
        record.arguments = built.trace.arguments(arguments);
        built.trace.slice(record);
    }
    const auto all = built.finish();
    ASSERT_EQ(all.size(), 40'000U);
    EXPECT_GE(built.blocks.size(), 3U);
    for (const auto& block : built.blocks) {
        EXPECT_LE(block.slices.size(), 16'400U);
        EXPECT_EQ(block.strings.size(), 1 + 7 + 2U) << "each name once";
        EXPECT_EQ(block.arguments.size(), 4U);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(all[i].name, fmt::format("name {}", i % 7));
        ASSERT_EQ(all[i].role, "mlp");
        ASSERT_EQ(all[i].arguments.bytes, static_cast<std::int64_t>(i % 3));
        ASSERT_EQ(all[i].arguments.extra, R"({"a": 1})");
    }
}

TEST(LaneWriter, LongNamesMakeSmallBlocks) {
    BuiltTrace built;
    const auto lane = *built.trace.lane("1", "2");
    for (std::int64_t i = 0; i < 300; ++i)
        built.trace.slice(plainRecord(lane, i * 10, 5, built.trace.text(fmt::format("{:05}", i) + std::string(60'000, 'x'))));
    EXPECT_EQ(built.finish().size(), 300U);
    EXPECT_GE(built.blocks.size(), 4U) << "of four megabytes of texts each";
}

TEST(LaneWriter, CallsThatAllEndAtOnceMakeBlocksOfABoundedSizeToo) {
    // Together their names are more than a block may have; whatever the last of them is: the end of the lane, or a call behind them all.
    for (const bool another : {false, true}) {
        BuiltTrace built;
        const auto lane = *built.trace.lane("1", "2");
        constexpr std::int64_t kDeep = 1200;
        ASSERT_GT(static_cast<std::size_t>(kDeep) * 60'000, Chunk::kMaxBytes);
        for (std::int64_t i = 0; i < kDeep; ++i)
            built.trace.slice(plainRecord(lane, i, 2 * kDeep - 2 * i, built.trace.text(fmt::format("{:05}", i) + std::string(60'000, 'x'))));
        if (another) built.trace.slice(plainRecord(lane, 3 * kDeep, 5));
        const auto all = built.finish();  // which checks each chunk and reads it again
        EXPECT_EQ(all.size(), static_cast<std::size_t>(kDeep) + (another ? 1 : 0));
        EXPECT_GE(built.blocks.size(), 15U) << "of four megabytes of texts each";
    }
}

TEST(LaneWriter, SamplesKeepEveryBitOfTheirValuesAndTheirSeries) {
    BuiltTrace built(2);
    built.trace.nameProcess("7", "python");
    const std::vector<double> values{0.1, -0.0, 1e308, 5e-324, -1e308};
    for (std::size_t i = 0; i < values.size(); ++i)
        built.trace.sample("7", i % 2 == 0 ? "power" : "loss", i % 2 == 0 ? "W" : "", static_cast<std::int64_t>(i), values[i]);
    built.trace.sample("7", "power", "W", 9, std::numeric_limits<double>::quiet_NaN());
    (void)built.finish();
    ASSERT_EQ(built.samples.size(), 1U);
    const SampleBlock& block = built.samples[0];
    EXPECT_EQ(block.process, 7);
    EXPECT_EQ(block.rank, 2);
    EXPECT_EQ(block.name, "python");
    EXPECT_EQ(block.series.size(), 3U);
    ASSERT_EQ(block.samples.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(block.samples[i].value), std::bit_cast<std::uint64_t>(values[i]));
        EXPECT_EQ(block.series[block.samples[i].series].name, i % 2 == 0 ? "power" : "loss");
    }
    EXPECT_EQ(built.reason("a counter's value that is no finite number"), 1);
}

TEST(LaneWriter, AllocationsKeepTheirNumbersAndWhatIsUnknownOfThem) {
    BuiltTrace built;
    built.trace.allocation("7", {.at = 1, .bytes = 64, .device = 0, .totalAllocated = 64, .totalReserved = -9, .address = ~0ULL, .kind = "weights"});
    built.trace.allocation("7", {.at = 2, .bytes = -64, .totalAllocated = std::numeric_limits<std::int64_t>::min(), .owner = "aten::mm"});
    built.trace.allocation("7", {.at = 3, .bytes = 1, .device = -2});
    built.trace.allocation("7", {.at = 4, .bytes = 1, .device = (1 << 20) + 1});
    (void)built.finish();
    ASSERT_EQ(built.allocations.size(), 1U);
    const auto& block = built.allocations[0];
    ASSERT_EQ(block.allocations.size(), 2U);
    EXPECT_EQ(block.allocations[0].address, ~0ULL);
    EXPECT_EQ(block.allocations[0].totalReserved, -1);
    EXPECT_EQ(block.strings[block.allocations[0].kind], "weights");
    EXPECT_EQ(block.allocations[1].totalAllocated, -1);
    EXPECT_EQ(block.strings[block.allocations[1].owner], "aten::mm");
    EXPECT_EQ(built.reason("a device that cannot be"), 2);
}

TEST(LaneWriter, EndsWhereNobodyTakesMore) {
    BuiltTrace built;
    const auto lane = *built.trace.lane("1", "2");
    for (std::int64_t i = 0; i < 100'000; ++i) built.trace.slice(plainRecord(lane, i * 10, 5));
    int taken = 0;
    EXPECT_TRUE(built.trace.finish([&](const TraceBuilder::Encode&) { return ++taken < 2; }));
    EXPECT_EQ(taken, 2);
}

}  // namespace
}  // namespace stepscope::test
