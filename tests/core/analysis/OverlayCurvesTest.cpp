// Curves of stored runs: decimation keeps every extreme, the median of one run is that run, a band holds what it is drawn around, and values under
// the cursor are those of the line, for rows of one step and of several.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "core/analysis/overlay/OverlayCurves.h"

namespace stepscope {
namespace {

constexpr RunMetric kAll[] = {RunMetric::Loss,       RunMetric::LearningRate, RunMetric::GradientNorm, RunMetric::StepTime,
                              RunMetric::Throughput, RunMetric::Utilisation,  RunMetric::Memory};

struct MadeCurves {
    std::int64_t session = 1, steps = 1000, tokens = 100;
    double ms = 10, level = 0;
    std::size_t every = 1;
    unsigned seed = 1;
    std::int64_t from = 1;
};

std::shared_ptr<const OverlaidRun> curvesOf(const MadeCurves& made) {
    std::mt19937 random(made.seed);
    std::normal_distribution<double> normal;
    OverlaidRunBuilder builder(made.session, std::make_shared<SessionInfo>(), made.every);
    for (std::int64_t i = 0; i < made.steps; ++i) {
        OverlaidStep step;
        step.step = made.from + i;
        step.ms = made.ms + std::abs(normal(random));
        step.seconds = static_cast<double>(i + 1) * made.ms / 1000;
        step.tokens = made.tokens;
        step.loss = made.level + 3 + 0.1 * normal(random);
        step.learningRate = 1e-3 * (1 + made.level);
        step.gradientNorm = std::exp(0.3 * normal(random));
        step.bytes = 1e6 * (1 + made.level);
        builder.add(step);
        if (i % 50 == 0) builder.addSample({.at = TimeNs::fromSeconds(step.seconds), .cpuPct = 50 + normal(random)});
    }
    return builder.finish();
}

CurveView viewOf(const OverlaidRun& run, XAxis axis, std::size_t pixels, std::size_t smoothing) {
    return {axis, {0, run.places(axis).back(), false}, pixels, smoothing, false};
}

std::pair<double, double> rangeOf(const std::vector<Line>& lines) {
    std::pair<double, double> range{1e300, -1e300};
    for (const Line& line : lines)
        for (const Point& point : line) range = {std::min(range.first, point.y), std::max(range.second, point.y)};
    return range;
}

TEST(OverlayCurves, DecimationKeepsTheExtremesOfEveryRunHoweverFewPixels) {
    for (const std::size_t every : {1, 4, 7})
        for (const std::size_t pixels : {3, 40, 700}) {
            MadeCurves made{.steps = 5'003, .every = every};
            std::mt19937 random(3);
            OverlaidRunBuilder builder(1, nullptr, every);
            double low = 1e300, high = -1e300;
            for (std::int64_t i = 0; i < made.steps; ++i) {
                const double loss = 3 + 0.001 * static_cast<double>(random() % 1000) + (i == 777 ? 40 : i == 4'321 ? -40 : 0);
                low = std::min(low, loss);
                high = std::max(high, loss);
                builder.add({.step = i + 1, .seconds = 0.01 * static_cast<double>(i + 1), .ms = 10, .tokens = 1, .loss = loss});
            }
            const auto run = builder.finish();
            for (const XAxis axis : {XAxis::Step, XAxis::Tokens, XAxis::WallTime}) {
                const auto [least, most] = rangeOf(curveOf(*run, RunMetric::Loss, viewOf(*run, axis, pixels, 0)));
                EXPECT_FLOAT_EQ(static_cast<float>(least), static_cast<float>(low)) << every << ' ' << pixels;
                EXPECT_FLOAT_EQ(static_cast<float>(most), static_cast<float>(high)) << every << ' ' << pixels;
            }
        }
}

TEST(OverlayCurves, NeverHasMoreThanTwoPointsAColumn) {
    const auto run = curvesOf({.steps = 20'000});
    for (const RunMetric metric : kAll)
        for (const std::size_t smoothing : {0, 10}) {
            std::size_t points = 0;
            for (const Line& line : curveOf(*run, metric, viewOf(*run, XAxis::Step, 100, smoothing))) points += line.size();
            EXPECT_LE(points, 2U * 100 + 2) << static_cast<int>(metric);
            EXPECT_GE(points, 50U) << static_cast<int>(metric);
        }
}

TEST(OverlayCurves, TheMedianOfOneRunIsThatRun) {
    for (const std::size_t every : {1, 3}) {
        const auto run = curvesOf({.every = every});
        const OverlaidRun* const one[] = {run.get()};
        for (const RunMetric metric : kAll)
            for (const std::size_t smoothing : {0, 10})
                for (const XAxis axis : {XAxis::Step, XAxis::Tokens, XAxis::WallTime}) {
                    const CurveView view = viewOf(*run, axis, 64, smoothing);
                    const auto samples = resample(*run, metric, view);
                    const GroupCurve group = groupCurve(one, metric, view);
                    std::size_t known = 0, at = 0;
                    for (const CurveSample& sample : samples) known += std::isfinite(sample.middle);
                    ASSERT_EQ(group.low.size(), known);
                    std::size_t points = 0;
                    for (const Line& line : group.median) points += line.size();
                    ASSERT_EQ(points, known);
                    std::vector<double> medians;
                    for (const Line& line : group.median)
                        for (const Point& point : line) medians.push_back(point.y);
                    for (const CurveSample& sample : samples)
                        if (std::isfinite(sample.middle)) {
                            EXPECT_EQ(medians[at++], sample.middle);
                        }
                }
    }
}

TEST(OverlayCurves, TheBandHoldsEveryRunAndTheMedianLiesWithinIt) {
    std::vector<std::shared_ptr<const OverlaidRun>> runs;
    std::vector<const OverlaidRun*> plain;
    for (unsigned seed = 1; seed <= 5; ++seed) {
        runs.push_back(curvesOf({.session = seed, .steps = 400 + 100 * static_cast<std::int64_t>(seed), .level = 0.2 * seed, .seed = seed}));
        plain.push_back(runs.back().get());
    }
    for (const RunMetric metric : kAll)
        for (const std::size_t smoothing : {0, 5}) {
            const CurveView view = viewOf(*runs.back(), XAxis::Step, 80, smoothing);
            const GroupCurve group = groupCurve(plain, metric, view);
            ASSERT_EQ(group.low.size(), group.high.size());
            std::size_t inMedian = 0;
            for (const Line& line : group.median)
                for (const Point& point : line) {
                    ASSERT_LE(group.low[inMedian].y, point.y);
                    ASSERT_GE(group.high[inMedian].y, point.y);
                    ++inMedian;
                }
            EXPECT_EQ(inMedian, group.low.size());
            for (const OverlaidRun* run : plain) {
                const auto samples = resample(*run, metric, view);
                std::size_t column = 0;
                for (const CurveSample& sample : samples) {
                    const bool any = std::ranges::any_of(plain, [&](const OverlaidRun* other) {
                        return std::isfinite(resample(*other, metric, view)[static_cast<std::size_t>(&sample - samples.data())].middle);
                    });
                    if (!any) continue;
                    if (std::isfinite(sample.middle)) {
                        EXPECT_LE(group.low[column].y, sample.low);
                        EXPECT_GE(group.high[column].y, sample.high);
                    }
                    ++column;
                }
            }
        }
}

TEST(OverlayCurves, TheMedianIsOverThoseThatReachThere) {
    const auto shorter = curvesOf({.session = 1, .steps = 100, .level = 0}), longer = curvesOf({.session = 2, .steps = 1000, .level = 2});
    const OverlaidRun* const both[] = {shorter.get(), longer.get()};
    const GroupCurve group = groupCurve(both, RunMetric::LearningRate, viewOf(*longer, XAxis::Step, 100, 0));
    EXPECT_NEAR(group.median[0][2].y, (1e-3 + 3e-3) / 2, 1e-9);
    EXPECT_NEAR(group.median[0][50].y, 3e-3, 1e-9);
}

TEST(OverlayCurves, StepTimeAndThroughputAreMeansOfAllStepsAndNotOfRows) {
    for (const std::size_t every : {1, 4, 9}) {
        const auto run = curvesOf({.steps = 1'003, .every = every});
        const CurveView view = viewOf(*run, XAxis::Step, 1, 0);
        const double ms = run->ms.sum(0, run->rows());
        EXPECT_NEAR(curveOf(*run, RunMetric::StepTime, view).at(0).at(0).y, ms / 1'003, 1e-9) << every;
        EXPECT_NEAR(curveOf(*run, RunMetric::Throughput, view).at(0).at(0).y, 1000 * 1'003 * 100 / ms, 1e-6) << every;
    }
}

TEST(OverlayCurves, OfAResumedRunTheThroughputIsOfItsOwnTokens) {
    for (const std::size_t every : {1, 4}) {
        auto info = std::make_shared<SessionInfo>();
        info->firstStep = 30'000;
        OverlaidRunBuilder builder(1, info, every);
        for (std::int64_t i = 1; i <= 200; ++i)
            builder.add({.step = 30'000 + i, .seconds = 0.01 * static_cast<double>(i), .ms = 10, .tokens = 100, .loss = 3});
        const auto run = builder.finish();
        EXPECT_EQ(run->tokens.back(), 30'200.0 * 100) << "its place goes on where the other one ended";
        for (const std::size_t smoothing : {0, 20}) {
            const CurveView view{XAxis::Step, {30'000, 30'201, false}, 50, smoothing, false};
            const auto [least, most] = rangeOf(curveOf(*run, RunMetric::Throughput, view));
            EXPECT_NEAR(least, 10'000, 1e-6);
            EXPECT_NEAR(most, 10'000, 1e-6) << "the tokens of the run before are none of its first steps";
        }
    }
}

TEST(OverlayCurves, OfALogThatTellsNoTokensOrTimesNoneIsDrawn) {
    OverlaidRunBuilder withoutTokens(1, nullptr), withoutTimes(2, nullptr);
    for (int i = 1; i <= 60; ++i) {
        withoutTokens.add({.step = i, .seconds = i * 0.1, .ms = 100, .loss = 3.0});
        withoutTimes.add({.step = i, .tokens = 100, .loss = 3.0});
    }
    const auto noTokens = withoutTokens.finish(), noTimes = withoutTimes.finish();
    for (const std::size_t smoothing : {0, 5}) {
        EXPECT_TRUE(curveOf(*noTokens, RunMetric::Throughput, viewOf(*noTokens, XAxis::Step, 40, smoothing)).empty());
        EXPECT_TRUE(std::isnan(valueAt(*noTokens, RunMetric::Throughput, XAxis::Step, 30, smoothing)));
        EXPECT_NEAR(valueAt(*noTokens, RunMetric::StepTime, XAxis::Step, 30, smoothing), 100, 1e-9);
        EXPECT_TRUE(curveOf(*noTimes, RunMetric::StepTime, viewOf(*noTimes, XAxis::Step, 40, smoothing)).empty());
        EXPECT_TRUE(std::isnan(valueAt(*noTimes, RunMetric::StepTime, XAxis::Step, 30, smoothing)));
    }
    for (const RunMetric metric : {RunMetric::Loss, RunMetric::StepTime}) {
        EXPECT_TRUE(curveOf(*noTokens, metric, {XAxis::Tokens, {-1, 1, false}, 40, 0, false}).empty()) << "all would be at no tokens";
        EXPECT_FALSE(std::isfinite(resample(*noTokens, metric, {XAxis::Tokens, {-1, 1, false}, 2, 0, false}).at(0).middle));
    }
    EXPECT_TRUE(curveOf(*noTimes, RunMetric::Loss, {XAxis::WallTime, {-1, 1, false}, 40, 0, false}).empty());
    EXPECT_TRUE(std::isnan(valueAt(*noTimes, RunMetric::Loss, XAxis::WallTime, 0, 0)));
    EXPECT_EQ(valueAt(*noTimes, RunMetric::Loss, XAxis::Step, 30, 0), 3.0);
    EXPECT_TRUE(std::isnan(lossUpTo(*noTokens, XAxis::Tokens, 0))) << "nobody knows after how many tokens";
    EXPECT_EQ(lossUpTo(*noTokens, XAxis::WallTime, 3), 3.0);
    EXPECT_TRUE(std::isnan(lossUpTo(*noTimes, XAxis::WallTime, 3))) << "nor after how long";
    EXPECT_EQ(lossUpTo(*noTimes, XAxis::Tokens, 6'000), 3.0);
    EXPECT_TRUE(std::isnan(noTimes->figures.msMedian));
    EXPECT_TRUE(std::isnan(noTimes->figures.tokensPerSecond));
    EXPECT_TRUE(std::isnan(lossUpTo(*noTimes, XAxis::Tokens, kUnknown)));
}

TEST(OverlayCurves, TheCursorReadsWhatTheLineShowsAndNothingBeyondTheRun) {
    const auto run = curvesOf({.steps = 100, .from = 501});
    for (const RunMetric metric : kAll)
        for (const std::size_t smoothing : {0, 7}) {
            const CurveView view{XAxis::Step, {500, 600, false}, 4'000, smoothing, false};  // every step has columns of its own
            for (const Line& line : curveOf(*run, metric, view))
                for (const Point& point : line)
                    if (point.x >= 501) {
                        EXPECT_NEAR(valueAt(*run, metric, XAxis::Step, point.x, smoothing), point.y, 1e-6 * (1 + std::abs(point.y)));
                    }
            EXPECT_TRUE(std::isnan(valueAt(*run, metric, XAxis::Step, 450, smoothing)));
            EXPECT_TRUE(std::isnan(valueAt(*run, metric, XAxis::Step, 640, smoothing)));
        }
    EXPECT_TRUE(std::isnan(valueAt(*run, RunMetric::Loss, XAxis::Step, kUnknown, 0)));
}

TEST(OverlayCurves, UnknownLossesBreakTheLineAndAreNoValues) {
    OverlaidRunBuilder builder(1, nullptr);
    for (int i = 1; i <= 30; ++i) builder.add({.step = i, .seconds = i * 0.1, .ms = 1, .tokens = 1, .loss = i > 10 && i <= 20 ? kUnknown : 2.0});
    const auto run = builder.finish();
    EXPECT_EQ(curveOf(*run, RunMetric::Loss, viewOf(*run, XAxis::Step, 1000, 0)).size(), 2U);
    EXPECT_EQ(curveOf(*run, RunMetric::Loss, viewOf(*run, XAxis::Step, 1000, 3)).size(), 2U);
    EXPECT_TRUE(std::isnan(valueAt(*run, RunMetric::Loss, XAxis::Step, 15, 3)));
    EXPECT_TRUE(curveOf(*run, RunMetric::GradientNorm, viewOf(*run, XAxis::Step, 1000, 3)).empty());
    EXPECT_TRUE(curveOf(*run, RunMetric::Utilisation, viewOf(*run, XAxis::Step, 1000, 0)).empty());
    EXPECT_EQ(lossUpTo(*run, XAxis::Step, 15), 2.0);
    EXPECT_TRUE(std::isnan(lossUpTo(*run, XAxis::Step, 0.5)));
}

TEST(OverlayCurves, LossesUpToAPlaceAreThoseOfTheCommandCompare) {
    const auto run = curvesOf({.steps = 300});
    StoredRun stored;
    for (std::size_t row = 0; row < run->rows(); ++row) {
        stored.tokens.push_back(run->tokens[row]);
        stored.seconds.push_back(run->seconds[row]);
        stored.ms.push_back(run->ms[row]);
        stored.losses.push_back(run->loss.low[row]);
    }
    for (const double tokens : {50.0, 1'000.0, 12'345.0, 1e9}) {
        const double expected = lossAtTokens(stored, tokens), found = lossUpTo(*run, XAxis::Tokens, tokens);
        EXPECT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected))) << tokens;
    }
    EXPECT_EQ(lossUpTo(*run, XAxis::WallTime, 1.5), lossAtSeconds(stored, 1.5));
}

TEST(OverlayCurves, AStrangersNumbersNeverGoBackAlongAnAxis) {
    OverlaidRunBuilder builder(1, nullptr);
    const double seconds[] = {5, 1, 3, 7};
    for (const std::int64_t step : {9, 2, 4, 11}) builder.add({.step = step, .seconds = seconds[step % 4], .ms = -5, .tokens = -100, .loss = 1});
    const auto run = builder.finish();
    for (const XAxis axis : {XAxis::Step, XAxis::Tokens, XAxis::WallTime}) EXPECT_TRUE(std::ranges::is_sorted(run->places(axis)));
    EXPECT_EQ(run->ms.sum(0, run->rows()), 0);
    EXPECT_TRUE(curveOf(*run, RunMetric::Throughput, viewOf(*run, XAxis::Step, 10, 0)).empty());
}

}  // namespace
}  // namespace stepscope
