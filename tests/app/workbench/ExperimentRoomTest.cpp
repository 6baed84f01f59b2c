// Whether both sides of an experiment have room: on their device, and in the host's memory for what lies there meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/workbench/experiments/ExperimentRoom.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMb = 1'000'000;

ExperimentNeed needs(std::optional<int> gpu, std::int64_t tensors, std::int64_t available) {
    ExperimentNeed need{.sides = {}, .start = {100 * kMb}, .starts = 1, .hostAvailable = {100'000 * kMb}};
    need.sides[0] = need.sides[1] = {{tensors * kMb}, {100 * kMb}, gpu, {available * kMb}};
    return need;
}

TEST(ExperimentRoom, OfAStateThatBeginsIsWeightsAndTwoMomentsInFloat32) {
    EXPECT_EQ(startBytes(1'000).count, 12'000);
}

TEST(ExperimentRoom, OnTheCpuCountsEachStateThatASideBeginsWith) {
    ExperimentNeed need = needs(std::nullopt, 400, 900);
    ASSERT_TRUE(mustSwap(need));
    EXPECT_FALSE(mustSwap(need).value()) << "800 and the one that both begin with";
    need.starts = 2;
    ASSERT_FALSE(mustSwap(need)) << "sides of other models begin with one each";
    EXPECT_EQ(mustSwap(need).error().code, ErrorCode::OutOfMemory);
    EXPECT_THAT(mustSwap(need).error().sentence, HasSubstr("Both sides at a time need about 1.00"));
}

TEST(ExperimentRoom, SwapsOnAGpuOnlyWhereTheHostHasRoomForWhatWaits) {
    ExperimentNeed need = needs(0, 400, 750);
    ASSERT_TRUE(mustSwap(need));
    EXPECT_TRUE(mustSwap(need).value());
    need.hostAvailable = {299 * kMb};
    ASSERT_FALSE(mustSwap(need)) << "what both begin with, and a State of each";
    EXPECT_EQ(mustSwap(need).error().code, ErrorCode::OutOfMemory);
    EXPECT_THAT(mustSwap(need).error().sentence, HasSubstr("of this machine's memory"));
    need.hostAvailable = {300 * kMb};
    EXPECT_TRUE(mustSwap(need));
    need.starts = 2;
    EXPECT_FALSE(mustSwap(need));
    need = needs(0, 400, 650);
    EXPECT_FALSE(mustSwap(need)) << "not even one State at a time";
}

TEST(ExperimentRoom, WhatBothBeginWithLiesInTheHostsMemoryWhereverTheyRun) {
    ExperimentNeed need = needs(0, 400, 800);
    ASSERT_TRUE(mustSwap(need));
    EXPECT_FALSE(mustSwap(need).value());
    need.hostAvailable = {99 * kMb};
    EXPECT_FALSE(mustSwap(need));
    need = needs(0, 400, 800);
    need.sides[1].gpu.reset();  // B runs on the CPU
    need.hostAvailable = {500 * kMb};
    ASSERT_TRUE(mustSwap(need));
    EXPECT_FALSE(mustSwap(need).value());
    need.hostAvailable = {499 * kMb};
    EXPECT_FALSE(mustSwap(need)) << "B's step and what both begin with";
}

}  // namespace
}  // namespace stepscope
