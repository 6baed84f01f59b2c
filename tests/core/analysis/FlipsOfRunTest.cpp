// The list of a run's flips: each measured by itself where there are steps enough around it, those too near each other together.
#include <gtest/gtest.h>

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
    EXPECT_EQ(run.history.markers()[flips[1].marker].detail.substr(0, 9), "attention");
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

}  // namespace
}  // namespace stepscope
