// Steps that may be kept: what comes behind them is cut to those that are, by the step that had it launched or by when it was, and what is lost is
// told of the step that it may be of. Times are the test's.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/AllocationCodec.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"
#include "core/train/captures/HeldSteps.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kStepTakes = 10 * kMs;

// Steps that follow each other without a pause, the first one at 100 s.
std::int64_t beginOf(std::int64_t step) {
    return 100'000 * kMs + step * kStepTakes;
}

ChunkPtr kernelsOf(const std::vector<std::pair<std::int64_t, std::int64_t>>& stepsAndTimes, std::int64_t lost = 0, TimeNs at = {}) {
    SliceBlock block{.thread = {.process = 0, .thread = 7, .name = "stream 7", .lane = 1234, .device = 0}, .lost = lost};
    block.strings = {"", "kernel"};
    for (const auto& [step, start] : stepsAndTimes)
        block.slices.push_back({.start = start, .duration = 1000, .name = 1, .kind = SliceKind::Kernel, .step = step});
    return std::make_shared<const Chunk>(encodeSlices(std::move(block), at));
}

struct HeldStepsTest : ::testing::Test {
    void add(std::int64_t step) { held.add(step, {{beginOf(step)}, {beginOf(step + 1)}}); }
    void only(std::int64_t wanted, bool andNewest = true) {
        held.drop([&](std::int64_t step) { return std::abs(step - wanted) <= 1; }, andNewest);
    }
    // Starts of slices, by the step that they are held with; what is lost as the negative of it.
    std::map<std::int64_t, std::vector<std::int64_t>> slices() const {
        std::map<std::int64_t, std::vector<std::int64_t>> all;
        for (const auto& [step, one] : held.steps())
            for (const auto& chunk : one.chunks) {
                if (!isSlices(chunk->kind)) continue;
                const auto block = decodeSlices(*chunk);
                EXPECT_TRUE(block);
                EXPECT_EQ(block.value().thread.lane, 1234);
                for (const Slice& slice : block.value().slices) all[step].push_back(slice.start);
                if (block.value().lost > 0) all[step].push_back(-block.value().lost);
            }
        return all;
    }
    HeldSteps held;
};

using Found = std::map<std::int64_t, std::vector<std::int64_t>>;

TEST_F(HeldStepsTest, CutsWhatComesLateToTheStepsThatAreWanted) {
    for (int step = 1; step <= 9; ++step) add(step);
    only(4);
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    for (int step = 1; step <= 8; ++step) all.emplace_back(step, beginOf(step) + kMs);
    all.emplace_back(kNoStep, beginOf(5) + 2 * kMs);  // nobody knows what launched it
    all.emplace_back(kNoStep, beginOf(7) + 2 * kMs);
    all.emplace_back(4, beginOf(5) + 3 * kMs);  // a GPU that was still at it
    held.addLate(kernelsOf(all));
    held.sortIn(false);
    EXPECT_EQ(slices(),
              (Found{{3, {beginOf(3) + kMs}}, {4, {beginOf(4) + kMs, beginOf(5) + 3 * kMs}}, {5, {beginOf(5) + kMs, beginOf(5) + 2 * kMs}}}));
}

TEST_F(HeldStepsTest, WhatReachesIntoTheNewestStepWaitsUntilItIsKnownWhetherThatIsWanted) {
    for (int step = 1; step <= 5; ++step) add(step);
    only(100);
    const std::vector<std::pair<std::int64_t, std::int64_t>> both{{4, beginOf(4) + kMs}, {5, beginOf(5) + kMs}};
    held.addLate(kernelsOf(both));
    const std::size_t bytes = held.bytes();
    held.sortIn(false);
    EXPECT_EQ(slices(), Found());
    EXPECT_EQ(held.bytes(), bytes) << "it is held";
    add(6);
    only(6);  // it stands out, so that the one before it is its neighbour
    held.sortIn(false);
    EXPECT_EQ(slices(), (Found{{5, {beginOf(5) + kMs}}}));
}

TEST_F(HeldStepsTest, NothingIsHeldOfStepsThatAreNotWanted) {
    for (int step = 1; step <= 9; ++step) add(step);
    only(100);
    for (int step = 1; step <= 8; ++step) held.addLate(kernelsOf({{step, beginOf(step) + kMs}}, step));
    held.sortIn(false);
    EXPECT_EQ(held.bytes(), 0u);
    held.addLate(kernelsOf({{9, beginOf(9) + kMs}}));
    only(100, false);
    held.sortIn(true);
    EXPECT_EQ(held.bytes(), 0u);
    EXPECT_TRUE(held.take().empty());
}

TEST_F(HeldStepsTest, WhatWasLostIsToldOnceAndOfAStepThatItMayBeOf) {
    for (int step = 1; step <= 200; ++step) add(step);
    only(4);
    held.addLate(kernelsOf({{4, beginOf(4) + kMs}, {5, beginOf(5) + kMs}}, 7));
    held.addLate(kernelsOf({}, 3, {beginOf(20)}));   // told a while later, as CUPTI is asked a few times a second
    held.addLate(kernelsOf({}, 9, {beginOf(190)}));  // of others
    held.sortIn(false);
    EXPECT_EQ(slices(), (Found{{3, {-3}}, {4, {beginOf(4) + kMs, -7}}, {5, {beginOf(5) + kMs}}}));
}

TEST_F(HeldStepsTest, SamplesAreOfTheStepThatTheyLieInAndAMeterStandsForAShortStep) {
    const auto samplesAt = [](std::int64_t device, const std::vector<std::int64_t>& times) {
        SampleBlock block{.lane = 5, .device = device, .name = "meter"};
        block.series = {{}, {"power", "W"}};
        for (const std::int64_t at : times) block.samples.push_back({at, 1, 1.5});
        return std::make_shared<const Chunk>(encodeSamples(std::move(block)));
    };
    for (int step = 40; step <= 90; ++step) add(step);
    only(60);
    const std::vector<std::int64_t> times{beginOf(59) - 300 * kMs, beginOf(59) - 100 * kMs, beginOf(60) + 2 * kMs, beginOf(61), beginOf(62) + 1};
    for (const std::int64_t device : {-1, 0}) held.addLate(samplesAt(device, times));
    held.sortIn(true);
    std::map<std::int64_t, Found> found;  // by device
    for (const auto& [step, one] : held.steps())
        for (const auto& chunk : one.chunks) {
            const auto block = decodeSamples(*chunk);
            ASSERT_TRUE(block) << block.error().sentence;
            EXPECT_EQ(block->name, "meter");
            EXPECT_EQ(block->series.at(1).unit, "W");
            for (const Sample& sample : block->samples) found[block->device][step].push_back(sample.at);
        }
    EXPECT_EQ(found[-1], (Found{{60, {beginOf(60) + 2 * kMs, beginOf(61)}}}));
    EXPECT_EQ(found[0], (Found{{59, {beginOf(59) - 100 * kMs}}, {60, {beginOf(60) + 2 * kMs, beginOf(61)}}}));
}

TEST(OnlyLost, KeepsTheLaneOfABlockAndCountsWhatWasInIt) {
    const ChunkPtr slices = onlyLost(*kernelsOf({{4, 1000}, {5, 2000}}, 3));
    ASSERT_TRUE(slices);
    EXPECT_EQ(slices->count, 0);
    EXPECT_EQ(slices->lane, 1234);
    const auto block = decodeSlices(*slices);
    EXPECT_EQ(block.value().lost, 5);
    EXPECT_EQ(block.value().thread.name, "stream 7");
    AllocationBlock taken{.lane = 9, .rank = 2};
    taken.allocations = {{.at = 5, .address = 1, .bytes = 10}};
    const auto allocations = decodeAllocations(*onlyLost(encodeAllocations(taken)));
    EXPECT_EQ(allocations.value().lost, 1);
    EXPECT_EQ(allocations.value().rank, 2);
    EXPECT_EQ(onlyLost({.kind = "note/1"}), nullptr);
}

}  // namespace
}  // namespace stepscope
