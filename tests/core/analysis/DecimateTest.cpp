// Whatever is left out of a picture, no extreme is: properties of decimation over random data, ranges and widths.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core/analysis/Decimate.h"

namespace stepscope {
namespace {

const double kNoNumber = std::numeric_limits<double>::quiet_NaN();

struct Sample {
    std::vector<double> x;
    Column y;
    Places places() const {
        return {x.size(), [this](std::size_t row) { return x[row]; }};
    }
};

Sample makeSample(std::size_t rows, unsigned seed, double gapShare) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> step(0, 3), share(0, 1);
    std::lognormal_distribution<double> values(0, 1);
    Sample sample;
    double x = 1;
    for (std::size_t i = 0; i < rows; ++i) {
        x += std::floor(step(random));  // with ties
        sample.x.push_back(x);
        sample.y.append(share(random) < gapShare ? kNoNumber : values(random) - 0.2);
    }
    return sample;
}

std::vector<Point> joined(const std::vector<Line>& lines) {
    std::vector<Point> points;
    for (const Line& line : lines) points.insert(points.end(), line.begin(), line.end());
    return points;
}

TEST(Decimate, ShowsTheExtremesOfEveryPixelColumnWhateverRangeWidthAndAxes) {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const Sample sample = makeSample(1 + random() % 5000, static_cast<unsigned>(round), 0.1);
        const double span = sample.x.back() - sample.x.front();
        const double low = sample.x.front() + span * 0.3 * (random() % 3);
        const Scale x{low, low + std::max(1.0, span * 0.4 * (1 + random() % 3)), random() % 2 == 0};
        const std::size_t pixels = 1 + random() % 700;
        const bool logarithmicY = random() % 2 == 0;

        const std::vector<Point> points = joined(decimate(sample.places(), sample.y, x, pixels, logarithmicY));
        ASSERT_LE(points.size(), 2 * pixels + 2);
        ASSERT_TRUE(std::is_sorted(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; }));

        std::vector<double> lowest(pixels, kNoNumber), highest(pixels, kNoNumber), shownLow(pixels, kNoNumber), shownHigh(pixels, kNoNumber);
        const auto collect = [&](double at, double value, std::vector<double>& lows, std::vector<double>& highs) {
            if (at < x.low || at > x.high || !std::isfinite(value) || (logarithmicY && value <= 0)) return;
            std::size_t pixel = 0;  // as the axis defines it, without inverting the logarithm
            while (pixel + 1 < pixels && at >= x.fromShare(static_cast<double>(pixel + 1) / static_cast<double>(pixels))) ++pixel;
            if (!(lows[pixel] <= value)) lows[pixel] = value;
            if (!(highs[pixel] >= value)) highs[pixel] = value;
        };
        for (std::size_t row = 0; row < sample.x.size(); ++row) collect(sample.x[row], sample.y[row], lowest, highest);
        for (const Point& point : points) collect(point.x, point.y, shownLow, shownHigh);
        for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
            ASSERT_EQ(std::isnan(lowest[pixel]), std::isnan(shownLow[pixel])) << "round " << round << " pixel " << pixel;
            if (std::isnan(lowest[pixel])) continue;
            ASSERT_EQ(lowest[pixel], shownLow[pixel]) << "round " << round << " pixel " << pixel;
            ASSERT_EQ(highest[pixel], shownHigh[pixel]) << "round " << round << " pixel " << pixel;
        }
    }
}

TEST(Decimate, KeepsEveryPointWhenThereIsRoom) {
    const Sample sample = makeSample(50, 1, 0);
    Sample distinct;
    for (std::size_t i = 0; i < 50; ++i) {
        distinct.x.push_back(static_cast<double>(i));
        distinct.y.append(sample.y[i]);
    }
    const auto lines = decimate(distinct.places(), distinct.y, {0, 49, false}, 500, false);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].size(), 50u);
}

TEST(Decimate, BreaksTheLineWhereAWholePixelColumnIsAGap) {
    Sample sample;
    for (int i = 0; i < 300; ++i) {
        sample.x.push_back(i);
        sample.y.append(i >= 100 && i < 200 ? kNoNumber : 1);
    }
    EXPECT_EQ(decimate(sample.places(), sample.y, {0, 299, false}, 30, false).size(), 2u);
    // A gap inside a pixel column cannot be seen and breaks nothing.
    Sample fine;
    for (int i = 0; i < 300; ++i) {
        fine.x.push_back(i);
        fine.y.append(i % 2 == 0 ? kNoNumber : 1);
    }
    EXPECT_EQ(decimate(fine.places(), fine.y, {0, 299, false}, 30, false).size(), 1u);
}

TEST(Decimate, LeadsTheLineOutOfThePictureOnBothSides) {
    Sample sample;
    for (int i = 0; i < 100; ++i) {
        sample.x.push_back(i);
        sample.y.append(i);
    }
    const auto points = joined(decimate(sample.places(), sample.y, {20.5, 30.5, false}, 100, false));
    EXPECT_EQ(points.front().x, 20);
    EXPECT_EQ(points.back().x, 31);
}

TEST(Decimate, GivesNothingForNothing) {
    const Sample empty;
    EXPECT_TRUE(decimate(empty.places(), empty.y, {0, 1, false}, 100, false).empty());
    EXPECT_TRUE(pixelColumns(empty.places(), {0, 1, false}, 100).empty());
}

TEST(Decimate, PixelColumnsCoverEveryVisibleRowOnce) {
    const Sample sample = makeSample(5000, 9, 0);
    const Scale x{sample.x[100], sample.x[4000], false};
    std::size_t next = sample.places().firstAt(x.low);
    for (const RowRange& rows : pixelColumns(sample.places(), x, 333)) {
        EXPECT_EQ(rows.begin, next);
        EXPECT_LT(rows.begin, rows.end);
        next = rows.end;
    }
    EXPECT_GT(sample.x[next], x.high);
    EXPECT_EQ(sample.x[next - 1], x.high);
}

TEST(Scale, GoesThereAndBackOnBothKindsOfAxis) {
    for (const bool logarithmic : {false, true}) {
        const Scale scale{0.5, 2000, logarithmic};
        EXPECT_DOUBLE_EQ(scale.toShare(0.5), 0);
        EXPECT_DOUBLE_EQ(scale.toShare(2000), 1);
        EXPECT_NEAR(scale.fromShare(scale.toShare(70)), 70, 1e-9);
    }
    EXPECT_TRUE(std::isnan(Scale({1, 10, true}).toShare(0)));
}

}  // namespace
}  // namespace stepscope
