// When a course has both arms made anew where its pairs are not as its pilot was.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/experiment/Course.h"
#include "tests/support/CoursePlayer.h"

namespace stepscope {
namespace {

// The pilot's steps are fast, those of the pairs so many times slower; every pair but each n-th is disturbed by others where n is not 0.
std::size_t rebuildsWithPairs(double slower, std::size_t each, double rebuildSeconds) {
    Course course({.budgetSeconds = 60});
    double elapsed = 0;
    for (std::size_t number = 0;; ++number) {
        const auto order = course.next();
        if (!order) break;
        const bool pilot = order->pair < 0;
        const double step = 0.05 * (pilot ? 1 : slower) * (1 + 0.05 * std::sin(static_cast<double>(number) * 12.9898));
        BlockTimes times = blockOf(*order, step, 0);
        times.rebuildSeconds = order->rebuild ? rebuildSeconds : 0;
        times.turnSeconds = times.rebuildSeconds + static_cast<double>(order->warmUp) * step;
        times.others = !pilot && each > 0 && static_cast<std::size_t>(order->pair) % each != 0 ? 1.5 : 0;
        times.elapsed = elapsed += times.turnSeconds + times.seconds;
        course.done(times);
    }
    EXPECT_LE(elapsed, 60 + 2 * rebuildSeconds + 1);
    std::set<std::int32_t> with;
    for (const BlockPair& pair : course.pairs())
        if (!pair.discarded) with.insert(pair.rebuild);
    return with.size();
}

TEST(CourseRebuilds, MakesBothAnewSoonerWherePairsBecomeSlowerOrAreLeftOutSoThatTheBudgetIsEnoughForAClaim) {
    EXPECT_GE(rebuildsWithPairs(1, 0, 1), 6u);
    for (const double slower : {2.0, 4.0, 8.0, 12.0}) EXPECT_GE(rebuildsWithPairs(slower, 0, 1), 6u) << slower;
    for (const std::size_t each : {2u, 3u, 5u}) EXPECT_GE(rebuildsWithPairs(1, each, 0.2), 6u) << each;
    EXPECT_GE(rebuildsWithPairs(3, 0, 4), 6u) << "making both anew takes long";
}

TEST(CourseRebuilds, MakesBothAnewOftenEnoughWherePairsTakeFarLongerThanThePilotsDid) {
    // Somebody begins to use the machine when the pilot is over: by the count of pairs alone there would be too few instances for a claim.
    Course course({.budgetSeconds = 60});
    double elapsed = 0;
    while (const auto order = course.next()) {
        const double step = (order->pair < 0 ? 0.05 : 0.25) * (order->arm == Arm::B ? 1.5 : 1);
        BlockTimes times = blockOf(*order, step, 0);
        times.rebuildSeconds = order->rebuild ? 0.4 : 0;
        times.turnSeconds = static_cast<double>(order->warmUp) * step + times.rebuildSeconds;
        times.elapsed = elapsed += times.turnSeconds + times.seconds;
        course.done(times);
    }
    ASSERT_TRUE(course.plan());
    EXPECT_GE(course.verdict().rebuilds, 6u);
    EXPECT_EQ(course.verdict().outcome, PairedOutcome::Slower);
    EXPECT_LE(course.elapsed(), 60 * 1.15);
}

}  // namespace
}  // namespace stepscope
