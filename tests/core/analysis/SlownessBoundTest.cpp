// What a script that must not grow slower hears of an experiment: the bounds decide, not the estimate.
#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/SlownessBound.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

ExperimentJudged judged(const char* outcome, double ratio, double low, double high) {
    return {.over = true, .outcome = outcome, .ratio = ratio, .low = low, .high = high, .pairs = 40, .pilotVariance = 1e-4, .pilotMad = 0.007};
}

Slowness of(const ExperimentJudged& judged, double percent) {
    ExperimentHistory history;
    history.add(ExperimentBegan{});
    history.add(judged);
    return slownessOf(history, percent);
}

TEST(SlownessBound, OfAVerdictTheBoundDecidesAndNotTheEstimate) {
    // Ten per cent slower as an estimate, three for sure.
    const ExperimentJudged slower = judged("slower", 0.90, 0.84, 0.97);
    EXPECT_EQ(of(slower, 2), Slowness::Beyond);
    EXPECT_EQ(of(slower, 5), Slowness::Unknown) << "the estimate is beyond it, the bound is not";
    EXPECT_EQ(of(slower, 20), Slowness::Within);
    EXPECT_EQ(of(judged("equivalent", 1, 0.995, 1.005), 1), Slowness::Within);
    EXPECT_EQ(of(judged("faster", 1.2, 1.1, 1.3), 0), Slowness::Within);
    EXPECT_EQ(slownessOf({}, 5), Slowness::Unknown);
}

TEST(SlownessBound, WhereRareSlowStepsWeighTheirMeanMustSayTheSame) {
    // Most steps are 2 % slower, and all of them together 7 %.
    ExperimentJudged rare = judged("slower", 0.93, 0.979, 0.981);
    EXPECT_EQ(of(rare, 5), Slowness::Within) << "the bound decides where nothing else is known";
    rare.rareSlowSteps = true;
    EXPECT_EQ(of(rare, 5), Slowness::Unknown);
    EXPECT_EQ(of(rare, 10), Slowness::Within);
    EXPECT_EQ(of(rare, 1), Slowness::Beyond);
}

TEST(SlownessBound, WithoutAVerdictOnlyAWideIntervalSaysAnything) {
    ExperimentJudged wide = judged("inconclusive", 0.99, 0.97, 1.01);
    for (const char* reason : {"too-few-pairs", "rebuilds-differ", "order-matters", "discards-decide", "rare-slow-steps"}) {
        wide.reason = reason;
        EXPECT_EQ(of(wide, 5), Slowness::Unknown) << reason;
    }
}

// Forty pairs around 1, over six instances; `left` more that say B is a fifth slower were left out, and `drift` is in two blocks of one side in turn.
ExperimentHistory wideHistory(int left, double drift) {
    ExperimentHistory history;
    history.add(ExperimentBegan{});
    ExperimentJudged newest = judged("inconclusive", 1, 0.97, 1.03);
    newest.reason = "too-wide";
    newest.over = false;
    for (int i = 0; i < 40 + left; ++i) {
        newest.pair = i;
        newest.rebuild = i % 6;
        newest.discarded = i >= 40;
        newest.difference = newest.discarded ? -0.2 : i % 2 == 0 ? 0.01 : -0.01;
        newest.sameArm = newest.discarded ? kUnknown : drift + (i % 4 < 2 ? 0.002 : -0.002);
        newest.sameArmTurned = i % 2 == 0;
        history.add(newest);
    }
    newest.over = true;
    history.add(newest);
    return history;
}

TEST(SlownessBound, OfAWideIntervalAsksWhetherDiscardingOrTheOrderMadeIt) {
    EXPECT_EQ(slownessOf(wideHistory(0, 0), 5), Slowness::Within);
    EXPECT_EQ(slownessOf(wideHistory(200, 0), 5), Slowness::Unknown) << "with the pairs that were left out it would be another answer";
    EXPECT_EQ(slownessOf(wideHistory(0, 0.03), 5), Slowness::Unknown) << "what came first was the slower one";
}

}  // namespace
}  // namespace stepscope
