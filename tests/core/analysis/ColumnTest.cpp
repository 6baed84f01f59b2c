// The pyramid answers what a plain scan answers, for every range; rolling quantiles and summaries agree with sorting.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/analysis/Column.h"
#include "core/analysis/RollingQuantiles.h"
#include "core/analysis/Statistics.h"

namespace stepscope {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

Column makeColumn(std::size_t rows, unsigned seed, double gapShare) {
    std::mt19937 random(seed);
    std::normal_distribution<double> values(0, 10);
    std::uniform_real_distribution<double> share(0, 1);
    Column column;
    for (std::size_t i = 0; i < rows; ++i) column.append(share(random) < gapShare ? kNan : values(random));
    return column;
}

void expectAsByScan(const Column& column, std::size_t begin, std::size_t end, bool positiveOnly) {
    double low = kNan, high = kNan;
    for (std::size_t row = begin; row < end; ++row) {
        const double value = column[row];
        if (!std::isfinite(value) || (positiveOnly && value <= 0)) continue;
        if (!(low <= value)) low = value;
        if (!(high >= value)) high = value;
    }
    const Column::Extremes found = column.extremes(begin, end, positiveOnly);
    ASSERT_EQ(found.any, std::isfinite(low)) << begin << ".." << end;
    if (!found.any) return;
    ASSERT_GE(found.low, begin);
    ASSERT_LT(found.high, end);
    ASSERT_EQ(column[found.low], low) << begin << ".." << end;
    ASSERT_EQ(column[found.high], high) << begin << ".." << end;
}

TEST(Column, FindsTheExtremesOfEveryRangeOfShortColumns) {
    for (const std::size_t rows : {1u, 15u, 16u, 17u, 64u}) {
        const Column column = makeColumn(rows, static_cast<unsigned>(rows), 0.3);
        for (std::size_t begin = 0; begin <= rows; ++begin)
            for (std::size_t end = begin; end <= rows; ++end)
                for (const bool positive : {false, true}) expectAsByScan(column, begin, end, positive);
    }
}

TEST(Column, FindsTheExtremesOfRandomRangesAcrossAllLevels) {
    const std::size_t rows = 16 * 16 * 16 * 5 + 7;
    const Column column = makeColumn(rows, 3, 0.1);
    std::mt19937 random(4);
    for (int i = 0; i < 2000; ++i) {
        std::size_t begin = random() % (rows + 1), end = random() % (rows + 1);
        if (begin > end) std::swap(begin, end);
        if (i % 2 == 0) end = std::min(end, begin + random() % 100);
        expectAsByScan(column, begin, end, i % 3 == 0);
    }
}

TEST(Column, SaysSoWhenARangeHoldsOnlyGaps) {
    Column column;
    for (int i = 0; i < 100; ++i) column.append(i < 50 ? kNan : std::numeric_limits<double>::infinity());
    EXPECT_FALSE(column.extremes(0, 100).any);
    column.append(-1);
    EXPECT_TRUE(column.extremes(0, 101).any);
    EXPECT_FALSE(column.extremes(0, 101, true).any);
}

TEST(SumColumn, GivesTheMeanOfAnyRange) {
    SumColumn column;
    for (int i = 0; i < 10; ++i) column.append(i);
    EXPECT_DOUBLE_EQ(column.mean(2, 5), 3);
    EXPECT_DOUBLE_EQ(column[7], 7);
    EXPECT_EQ(column.size(), 10u);
}

TEST(RollingQuantiles, AgreeWithSortingTheLastValues) {
    RollingQuantiles rolling(100);
    std::vector<double> all;
    std::mt19937 random(5);
    EXPECT_TRUE(std::isnan(rolling.quantile(0.5)));
    for (int i = 0; i < 1000; ++i) {
        const double value = static_cast<double>(random() % 50);  // with many ties
        rolling.add(value);
        rolling.add(kNan);
        all.push_back(value);
        const std::size_t n = std::min<std::size_t>(100, all.size());
        const std::span<const double> window(all.data() + all.size() - n, n);
        for (const double q : {0.0, 0.1, 0.5, 0.9, 1.0}) ASSERT_DOUBLE_EQ(rolling.quantile(q), quantile(window, q)) << i;
    }
}

TEST(Summary, AgreesWithTheQuantilesAndLeavesOutGaps) {
    std::vector<double> samples;
    std::mt19937 random(7);
    for (int i = 0; i < 501; ++i) samples.push_back(static_cast<double>(random() % 1000));
    const auto with = [&] {
        auto more = samples;
        more.insert(more.begin() + 100, kNan);
        return more;
    }();
    const Summary summary = summarise(with);
    EXPECT_EQ(summary.count, 501U);
    EXPECT_DOUBLE_EQ(summary.mean, mean(samples));
    EXPECT_DOUBLE_EQ(summary.lowerQuartile, quantile(samples, 0.25));
    EXPECT_DOUBLE_EQ(summary.median, median(samples));
    EXPECT_DOUBLE_EQ(summary.upperQuartile, quantile(samples, 0.75));
    EXPECT_DOUBLE_EQ(summary.low, quantile(samples, 0));
    EXPECT_DOUBLE_EQ(summary.high, quantile(samples, 1));
    EXPECT_TRUE(std::isnan(summarise({kNan}).median));
    EXPECT_EQ(summarise({kNan}).count, 0U);
}

}  // namespace
}  // namespace stepscope
