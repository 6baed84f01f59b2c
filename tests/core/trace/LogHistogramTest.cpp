// Durations in cells: every number has its cell, and percentiles stay within theirs, to the largest number that there is.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "core/trace/LogHistogram.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

TEST(LogHistogram, HasACellForEveryNumberThatBeginsAtOrBelowIt) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 100'000; ++i) {
        const auto value = static_cast<std::int64_t>(random() >> (1 + random() % 63));
        const int cell = LogHistogram::cellOf(value);
        ASSERT_LT(cell, LogHistogram::kCells);
        ASSERT_LE(LogHistogram::cellBegin(cell), value);
        if (cell + 1 < LogHistogram::kCells) {
            ASSERT_LT(value, LogHistogram::cellBegin(cell + 1));
        }
    }
}

TEST(LogHistogram, KeepsTheLargestNumbersInItsLastCell) {
    EXPECT_EQ(LogHistogram::cellOf(kLargest), LogHistogram::kCells - 1);
    EXPECT_GT(LogHistogram::cellBegin(LogHistogram::kCells - 1), 0);
    EXPECT_EQ(LogHistogram::cellBegin(LogHistogram::kCells), kLargest);
    LogHistogram all;
    all.add(kLargest, 3);
    for (const double share : {0.0, 0.5, 0.99, 1.0}) EXPECT_GE(all.percentile(share), LogHistogram::cellBegin(LogHistogram::kCells - 1)) << share;
}

TEST(LogHistogram, OfCountsThatNobodyCanHaveStaysOne) {
    // As a stored one may say: together they are more than fits into a number.
    LogHistogram all, other;
    for (const int cell : {3, 5}) {
        all.addCell(cell, std::int64_t{1} << 62);
        all.addCell(cell, std::int64_t{1} << 62);
        other.addCell(cell, std::int64_t{1} << 62);
    }
    all.add(other);
    for (const auto& [cell, times] : all.cells()) EXPECT_EQ(times, kMostTime) << cell;
    EXPECT_GE(all.percentile(0.5), 3);
    EXPECT_LE(all.percentile(1), 6);
}

TEST(LogHistogram, TellsPercentilesOfRandomDurationsWithinACellsWidth) {
    std::mt19937_64 random(11);
    std::vector<std::int64_t> values;
    LogHistogram all, left, right;
    for (int i = 0; i < 20'000; ++i) {
        values.push_back(static_cast<std::int64_t>(random() >> (20 + random() % 40)));
        all.add(values.back());
        (i % 3 == 0 ? left : right).add(values.back());
    }
    left.add(right);
    EXPECT_EQ(left, all) << "sums of histograms are exact";
    std::ranges::sort(values);
    for (const double share : {0.01, 0.25, 0.5, 0.95, 0.99}) {
        const auto exact = static_cast<double>(values[static_cast<std::size_t>(share * static_cast<double>(values.size()))]);
        EXPECT_NEAR(static_cast<double>(all.percentile(share)), exact, 0.13 * exact + 1) << share;
    }
}

}  // namespace
}  // namespace stepscope
