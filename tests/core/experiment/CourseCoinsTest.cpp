// The coins of a course: which arm begins a pair, which is made anew first, and what comes in the place of a pair that is left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/experiment/Course.h"

namespace stepscope {
namespace {

struct Tossed {
    std::vector<BlockPair> pairs;
    std::vector<Arm> first, madeFirst;  // of each pair; of each instance that is not the pilot's
};

// Pairs of a course by the usual seed, at most so many, over steps of a twentieth of a second that scatter a little. Others take the processors in
// those pairs that `disturbed` says.
Tossed toss(double budget, std::size_t most, const std::function<bool(std::int64_t pair)>& disturbed) {
    Course course({.budgetSeconds = budget, .delta = 0.0001});
    Tossed tossed;
    double elapsed = 0;
    while (course.pairs().size() < most) {
        const auto order = course.next();
        if (!order) break;
        if (order->pair >= 0 && !order->second) tossed.first.push_back(order->arm);
        if (order->pair >= 0 && order->rebuild) tossed.madeFirst.push_back(order->builtFirst);
        const double step = 0.05 + 0.002 * std::sin(12.9898 * elapsed);
        const auto steps = std::max(order->steps, static_cast<std::int64_t>(std::ceil(order->leastSeconds / step)));
        BlockTimes times;
        times.steps.assign(static_cast<std::size_t>(steps), step);
        times.seconds = step * static_cast<double>(steps);
        times.tokens = 100 * steps;
        times.elapsed = elapsed += times.seconds;
        times.others = order->pair >= 0 && disturbed(order->pair) ? 1.5 : 0.1;
        course.done(times);
    }
    tossed.pairs = course.pairs();
    return tossed;
}

bool never(std::int64_t) {
    return false;
}

bool everyThird(std::int64_t pair) {
    return pair % 3 == 1;
}

// It is one draw of the coins, but that of every experiment of versions that drew no seed: whatever comes of being first would meet the same side in
// all of them.
TEST(CourseCoins, UnderTheUsualSeedNeitherSideIsNearlyAlwaysFirst) {
    for (const double budget : {20.0, 400.0}) {  // pilots of few pairs and of many
        const Tossed tossed = toss(budget, 200, never);
        ASSERT_GE(tossed.first.size(), 8u) << budget;
        ASSERT_GE(tossed.madeFirst.size(), 6u) << budget;
        const auto pairs = std::count(tossed.first.begin(), tossed.first.begin() + 8, Arm::A);
        const auto made = std::count(tossed.madeFirst.begin(), tossed.madeFirst.begin() + 6, Arm::A);
        EXPECT_TRUE(pairs >= 3 && pairs <= 5) << pairs << " of the least number of pairs, budget " << budget;
        EXPECT_TRUE(made >= 2 && made <= 4) << made << " of the least number of instances, budget " << budget;
    }
}

TEST(CourseCoins, WhatComesInThePlaceOfAPairThatIsLeftOutTossesACoinOfItsOwn) {
    const Tossed calm = toss(2000, 60, never), beside = toss(2000, 60, everyThird);
    ASSERT_EQ(calm.pairs.size(), 60u);
    EXPECT_EQ(std::ranges::count(beside.pairs, true, &BlockPair::discarded), 20);
    EXPECT_EQ(beside.first, calm.first) << "as if nothing had been left out: no coin counts twice, and none is chosen";
}

TEST(CourseCoins, OfAPairThatIsLeftOutNoBlockIsHeldAgainstTheNext) {
    const Tossed tossed = toss(2000, 60, everyThird);
    int kept = 0, broken = 0;
    for (std::size_t i = 1; i < tossed.pairs.size(); ++i) {
        if (tossed.first[i] == tossed.first[i - 1]) continue;  // this pair does not begin with the arm that the one before ended with
        const bool told = std::isfinite(tossed.pairs[i].sameArm);
        EXPECT_EQ(told, !tossed.pairs[i].discarded && !tossed.pairs[i - 1].discarded) << i;
        ++(told ? kept : broken);
    }
    EXPECT_GT(kept, 3);
    EXPECT_GT(broken, 3);
}

}  // namespace
}  // namespace stepscope
