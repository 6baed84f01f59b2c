// The reading of a range test on curves whose answer is known.
#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/LrRange.h"
#include "core/base/CounterRandom.h"

namespace stepscope {
namespace {

// Loss over log10(rate) from 1e-6 to 1: flat at 5, a logistic fall by 2 centred on 10^centre, then a rise from 10^breaks on.
std::vector<LrRangePoint> sweep(double centre, double breaks, double noise, std::size_t count = 200) {
    std::vector<LrRangePoint> points;
    for (std::size_t i = 0; i < count; ++i) {
        const double place = -6 + 6.0 * static_cast<double>(i) / static_cast<double>(count - 1);
        const double random = static_cast<double>(counterRandom(1, 2, i) >> 11) * 0x1p-53 - 0.5;
        points.push_back({std::pow(10, place), 5 - 2 / (1 + std::exp(-6 * (place - centre))) + std::exp(8 * (place - breaks)) + noise * random});
    }
    return points;
}

TEST(LrRange, SuggestsTheRateOfTheSteepestFall) {
    for (const double centre : {-4.0, -3.0, -2.0}) {
        const auto range = readLrRange(sweep(centre, -0.5, 0));
        ASSERT_TRUE(range.ok()) << range.error().sentence;
        EXPECT_NEAR(std::log10(range->suggestion), centre, 0.1);
        EXPECT_GT(range->lowest, range->suggestion);
        EXPECT_GT(range->divergedAt, range->lowest);
    }
}

TEST(LrRange, FindsItUnderTheNoiseOfBatches) {
    const auto range = readLrRange(sweep(-3, -0.5, 0.3));
    ASSERT_TRUE(range.ok());
    EXPECT_NEAR(std::log10(range->suggestion), -3, 0.4);
}

TEST(LrRange, EndsWhereTheLossIsNoNumberAnyMore) {
    auto points = sweep(-3, 5, 0);
    for (std::size_t i = 150; i < points.size(); ++i) points[i].loss = std::nan("");
    const auto range = readLrRange(points);
    ASSERT_TRUE(range.ok());
    EXPECT_NEAR(std::log10(range->suggestion), -3, 0.1);
    EXPECT_EQ(range->divergedAt, points[150].rate);
    EXPECT_TRUE(std::isnan(range->smoothed[150]));
    EXPECT_EQ(endingOf(*range, points, false), "from 0.033 on it breaks down");
}

TEST(LrRange, ACurveThatNeverBreaksDownHasNoDivergence) {
    const auto points = sweep(-3, 5, 0);
    const auto range = readLrRange(points);
    ASSERT_TRUE(range.ok());
    EXPECT_EQ(range->divergedAt, 0);
    EXPECT_EQ(endingOf(*range, points, true), "it did not break down up to the highest rate");
}

TEST(LrRange, SaysHowFarASweepCameThatWasEndedBeforeItsHighestRate) {
    auto points = sweep(-3, 5, 0);
    points.resize(133);
    const auto range = readLrRange(points);
    ASSERT_TRUE(range.ok());
    EXPECT_EQ(endingOf(*range, points, false), "it did not break down up to 0.0095, where it ended");
}

TEST(LrRange, ALossThatRoseToAMultipleOfItsLowestHasBrokenDownWhereverItBegan) {
    auto points = sweep(-3, 5, 0);
    for (LrRangePoint& point : points) point.loss -= 2.8;  // from 2.2 to 0.2
    points.resize(150);
    points.back().loss = 1;
    const auto range = readLrRange(points);
    ASSERT_TRUE(range.ok());
    EXPECT_EQ(range->divergedAt, 0);
    EXPECT_EQ(endingOf(*range, points, false), "at 0.031 it broke down");
}

TEST(LrRange, SmoothsAnyNumberOfPoints) {
    EXPECT_TRUE(smoothedLoss({}).empty());
    const std::vector<LrRangePoint> three{{1e-3, 5}, {1e-2, 2}, {1e-1, 2}};
    EXPECT_EQ(smoothedLoss(three), (std::vector<double>{5, 3, 2}));
    const auto points = sweep(-3, -0.5, 0.3);
    EXPECT_EQ(smoothedLoss(points), readLrRange(points)->smoothed);
}

TEST(LrRange, SaysSoWhenTheLossFallsNowhereOrThePointsAreTooFew) {
    const auto flat = readLrRange(sweep(5, 9, 0));
    ASSERT_FALSE(flat.ok());
    EXPECT_NE(flat.error().sentence.find("fell nowhere"), std::string::npos);
    const auto rising = readLrRange(sweep(5, -5.9, 0));
    EXPECT_FALSE(rising.ok());
    const auto few = readLrRange(sweep(-3, -0.5, 0, 19));
    ASSERT_FALSE(few.ok());
    EXPECT_NE(few.error().sentence.find("steps"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
