// The list of a run's flips: each measured by itself where there are steps enough around it, those too near each other together.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/analysis/flips/FlipsOfRun.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

struct Steps {
    RunHistory history;
    std::int64_t step = 0;

    explicit Steps(std::int64_t firstStep = 0) : step(firstStep) {
        auto info = std::make_shared<SessionInfo>();
        info->firstStep = firstStep;
        history.append(SessionStarted{1, info, false});
    }
    void steps(int count, double ms, bool disturbed = false) {
        for (int i = 0; i < count; ++i) {
            ++step;
            history.append(StepDone{.step = step, .duration = TimeNs::fromSeconds(ms / 1000), .tokens = 1000, .disturbed = disturbed});
        }
    }
    void flip(const std::string& id) { history.append(SwitchApplied{step, {}, id, std::string("off"), std::string("on"), ""}); }
};

TEST(FlipsOfRun, AreMeasuredAgainstTheStepsBeforeEach) {
    Steps run;
    run.steps(40, 10);
    run.flip("amp");
    run.steps(5, 80);  // warm-up
    run.steps(40, 5);
    run.flip("attention");
    run.steps(40, 4);
    const auto flips = flipsOf(run.history);
    ASSERT_EQ(flips.size(), 2U);
    EXPECT_TRUE(flips[0].alone() && flips[1].alone());
    EXPECT_NEAR(flips[0].effect.ms.before.median, 10, 1e-4);
    EXPECT_NEAR(flips[0].effect.ms.after.median, 5, 1e-4) << "without the warm-up";
    EXPECT_NEAR(flips[1].effect.ms.before.median, 5, 1e-4);
    EXPECT_NEAR(flips[1].effect.ms.after.median, 4, 1e-4);
    EXPECT_EQ(flips[1].effect.stepsBefore, FlipEffect::kSteps);
    EXPECT_EQ(run.history.detailOf(run.history.markers()[flips[1].marker]).substr(0, 9), "attention");
}

TEST(FlipsOfRun, AreMeasuredTogetherWhereTheyFollowEachOtherTooFast) {
    Steps run(500);
    run.steps(40, 10);
    run.flip("amp");
    run.flip("attention");
    run.steps(3, 9);
    run.flip("fusion");
    run.steps(40, 5);
    const auto flips = flipsOf(run.history);
    ASSERT_EQ(flips.size(), 3U);
    for (const RunFlip& flip : flips) {
        EXPECT_EQ(flip.first, 0U);
        EXPECT_EQ(flip.last, 2U);
        EXPECT_FALSE(flip.alone());
        EXPECT_NEAR(flip.effect.ms.ratio(), 0.5, 1e-4);
    }
}

TEST(FlipsOfRun, SayNothingWhereThereAreTooFewSteps) {
    Steps run;
    run.flip("amp");
    run.steps(8, 10);
    auto flips = flipsOf(run.history);
    ASSERT_EQ(flips.size(), 1U);
    EXPECT_FALSE(flips[0].effect.measured());
    run.steps(40, 10, /*disturbed=*/true);
    run.flip("fusion");
    flips = flipsOf(run.history);
    ASSERT_EQ(flips.size(), 2U);
    EXPECT_EQ(flips[1].effect.stepsBefore, 3U) << "neither the warm-up nor the disturbed ones";
    EXPECT_FALSE(flips[1].effect.measured());
    EXPECT_TRUE(flipsOf(RunHistory()).empty());
}

TEST(FlipsOfRun, OfWhichOnlyTheNewestAreAskedForAreSaidTheSameOf) {
    Steps run;
    for (int i = 0; i < 12; ++i) {
        run.steps(i % 3 == 0 ? 4 : 30, 10 + i);  // every third belongs to the flip before it
        run.flip("amp");
    }
    run.steps(30, 9);
    const auto all = flipsOf(run.history);
    ASSERT_EQ(all.size(), 12U);
    for (std::size_t most = 0; most <= 13; ++most) {
        const NewestFlips newest = newestFlips(run.history, most);
        EXPECT_EQ(newest.all, 12U);
        ASSERT_EQ(newest.flips.size(), std::min<std::size_t>(most, 12));
        for (std::size_t i = 0; i < newest.flips.size(); ++i) {
            const RunFlip &flip = newest.flips[i], &same = all[12 - newest.flips.size() + i];
            EXPECT_EQ(flip.marker, same.marker);
            EXPECT_EQ(flip.number, 12 - newest.flips.size() + i);
            EXPECT_EQ(flip.first, same.first) << "of " << most;
            EXPECT_EQ(flip.last, same.last);
            EXPECT_EQ(flip.effect.stepsBefore, same.effect.stepsBefore) << "of " << most;
            EXPECT_EQ(flip.effect.stepsAfter, same.effect.stepsAfter);
        }
    }
}

TEST(FlipsOfRun, OfTwoHundredThousandEachIsLookedAtOnceAndTheNewestAloneAreMeasured) {
    constexpr std::size_t kAll = 200'000, kMost = 1000;
    Steps run;
    for (std::size_t i = kMost; i < kAll; ++i) run.flip("amp");
    run.steps(40, 10);
    for (std::size_t i = 0; i < kMost; ++i) {
        run.flip("amp");
        run.steps(25, 10);  // as many as are compared: each flip looks for places without one
    }
    const NewestFlips newest = newestFlips(run.history, kMost);
    EXPECT_EQ(newest.all, kAll);
    ASSERT_EQ(newest.flips.size(), kMost);
    EXPECT_EQ(newest.flips.front().number, kAll - kMost);
    EXPECT_EQ(newest.flips.back().number, kAll - 1);
    for (const RunFlip& flip : newest.flips) ASSERT_TRUE(flip.alone() && flip.effect.complete());
    EXPECT_EQ(newest.measured, kMost);
    EXPECT_LE(newest.looked, kAll + kMost) << "all of them once, not once a flip";
    EXPECT_EQ(newestFlips(run.history, kMost + 1).measured, kMost + 1) << "those without a step between them together";
    EXPECT_LE(newestFlips(run.history, kMost + 1).looked, kAll + kMost + 10'001) << "and not all the way back";
}

}  // namespace
}  // namespace stepscope
