// The bold loss line: no lag behind a falling loss, from the first step on and at the live edge; less noise than the steps themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/analysis/Smoothing.h"

namespace stepscope {
namespace {

TEST(CentredSmoothing, OfAStraightLineIsThatLineAtEveryRowAndEveryWindow) {
    CentredSmoothing line;
    for (int i = 0; i < 300; ++i) line.append(7 - 0.01 * i);
    for (const std::size_t half : {0, 1, 10, 100, 1000})
        for (std::size_t row = 0; row < 300; ++row) ASSERT_NEAR(line.at(row, half), 7 - 0.01 * static_cast<double>(row), 1e-9) << row << ' ' << half;
}

TEST(CentredSmoothing, StaysWithinATenthOfANatOfALossThatFallsThreeNatsInSixtySteps) {
    const auto loss = [](std::size_t step) { return 2.3 + 3.3 * std::exp(-static_cast<double>(step) / 20); };
    CentredSmoothing smoothed;
    for (std::size_t step = 0; step < 600; ++step) {
        smoothed.append(loss(step));
        ASSERT_NEAR(smoothed.at(step, CentredSmoothing::kHalf), loss(step), 0.1) << "at the live edge, step " << step;
    }
    for (std::size_t step = 0; step < 600; ++step) ASSERT_NEAR(smoothed.at(step, CentredSmoothing::kHalf), loss(step), 0.1) << step;
    EXPECT_DOUBLE_EQ(smoothed.at(0, 500), loss(0)) << "the first step is its own value, whatever the window";
}

TEST(CentredSmoothing, TakesAwayThreeQuartersOfTheNoise) {
    std::mt19937 random(3);
    std::normal_distribution<double> noise(0, 1);
    CentredSmoothing smoothed;
    double raw = 0, left = 0;
    for (int i = 0; i < 5000; ++i) {
        const double value = noise(random);
        raw += value * value;
        smoothed.append(2 + value);
    }
    for (std::size_t row = 0; row < 5000; ++row) left += std::pow(smoothed.at(row, CentredSmoothing::kHalf) - 2, 2);
    EXPECT_LT(std::sqrt(left / raw), 0.25);
}

TEST(CentredSmoothing, StaysExactOverAMillionSteps) {
    CentredSmoothing smoothed;
    for (int i = 0; i < 1'000'000; ++i) smoothed.append(5 + (i % 2 == 0 ? 0.5 : -0.5));
    EXPECT_NEAR(smoothed.at(999'989, 10), 5, 0.03);
    EXPECT_NEAR(smoothed.at(999'999, 1000), 5, 0.01);
}

TEST(CentredSmoothing, TakesTheValueBeforeAGapOnceMore) {
    CentredSmoothing smoothed;
    smoothed.append(std::nan(""));
    EXPECT_EQ(smoothed.at(0, 10), 0);
    for (int i = 0; i < 50; ++i) smoothed.append(i == 20 ? std::nan("") : 4);
    EXPECT_NEAR(smoothed.at(40, 5), 4, 1e-9);
    EXPECT_EQ(smoothed.size(), 51U);
}

}  // namespace
}  // namespace stepscope
