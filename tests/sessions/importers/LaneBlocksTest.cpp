// What the records of a lane and their neighbours are written as: blocks that stand for themselves and are of a bounded size, samples, allocations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "tests/sessions/importers/BuiltTrace.h"

namespace stepscope::test {
namespace {

using importing::Record;
using importing::TraceBuilder;

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
