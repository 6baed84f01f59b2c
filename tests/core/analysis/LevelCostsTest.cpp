// What observing costs: captured steps beside others, how often the interval holds the truth, which captures and steps count, and the words.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/analysis/RunHistory.h"
#include "core/analysis/captures/LevelCosts.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

// Times as steps have them: none is much faster than the usual one, some are far slower.
std::vector<double> playedTimes(std::mt19937& random, std::size_t count, double usual) {
    std::lognormal_distribution<double> noise(0, 0.02);
    std::uniform_real_distribution<double> fair(0, 1);
    std::vector<double> times;
    for (std::size_t i = 0; i < count; ++i) times.push_back(usual * noise(random) * (fair(random) < 0.05 ? 1.5 : 1));
    return times;
}

TEST(CaptureCost, HoldsTheTruthAsOftenAsItsIntervalSays) {
    std::mt19937 random(14);
    for (const std::size_t captured : {3, 6, 40}) {
        int held = 0;
        constexpr int kTrials = 1000;
        for (int trial = 0; trial < kTrials; ++trial) {
            CaptureCost cost;
            cost.add(playedTimes(random, captured, 10.4), playedTimes(random, 50, 10));
            const MeasuredCost found = cost.cost();
            ASSERT_LE(found.low, found.share);
            ASSERT_LE(found.share, found.high);
            held += found.low <= 0.04 && 0.04 <= found.high ? 1 : 0;
        }
        EXPECT_GE(held, kTrials * 93 / 100) << captured << " captured steps";
        EXPECT_LE(held, kTrials * 99 / 100) << captured << " captured steps: no wider than it has to be";
    }
}

TEST(CaptureCost, OfCapturesAtDifferentSpeedsIsThatOfEach) {
    CaptureCost cost;
    const std::vector<double> fast{10, 10.01, 9.99, 10, 10.02, 9.98, 10, 10, 10.01, 9.99},
        slow{30, 30.03, 29.97, 30, 30.06, 29.94, 30, 30, 30.03, 29.97};
    cost.add(std::vector<double>{10.5, 10.5}, fast);
    cost.add(std::vector<double>{31.5, 31.5}, slow);
    const MeasuredCost found = cost.cost();
    EXPECT_NEAR(found.share, 0.05, 0.001);
    EXPECT_GT(found.low, 0.04);
    EXPECT_LT(found.high, 0.06);
    EXPECT_EQ(found.steps, 4);
    EXPECT_EQ(found.beside, 20);
}

TEST(CaptureCost, OfTooFewStepsIsNotSaid) {
    CaptureCost cost;
    EXPECT_TRUE(std::isnan(cost.cost().share));
    cost.add(std::vector<double>{11, 11}, std::vector<double>(9, 10.0));
    EXPECT_TRUE(std::isnan(cost.cost().share)) << "nine steps beside it";
    cost.add(std::vector<double>{11}, std::vector<double>(10, 10.0));
    EXPECT_NEAR(cost.cost().share, 0.1, 1e-9);
    EXPECT_TRUE(std::isnan(cost.cost().low)) << "one step says nothing of how sure that is";
    EXPECT_EQ(costText(cost.cost()), "+10.0 %");
}

struct PlayedRun {
    RunHistory history;
    std::vector<CaptureDone> captures;
    std::int64_t made = 0;

    PlayedRun() {
        SessionStarted started;
        started.info = std::make_shared<const SessionInfo>();
        history.append(started);
    }
    void steps(int count, double ms, bool disturbed = false) {
        for (int i = 0; i < count; ++i) {
            ++made;
            history.append(StepDone{.step = made, .at = {made * 10'000'000}, .duration = {std::llround(ms * 1e6)}, .disturbed = disturbed});
        }
    }
    void capture(int count, double ms, double operations = 41, RecordingCosts always = {}) {
        steps(count, ms, true);
        captures.push_back({.step = made, .firstStep = made - count + 1, .steps = count, .operations = operations, .always = always});
    }
    LevelCosts levels() const { return levelsOfRun(history, captures); }
};

TEST(LevelCosts, AreThoseOfTheRunsOwnStepsInsideAndOutsideItsCaptures) {
    PlayedRun run;
    EXPECT_FALSE(run.levels().measured());
    run.steps(30, 10);
    run.steps(4, 50, true);  // a checkpoint
    run.capture(3, 10.3, 41, {.recordNs = 2'000, .phasesNs = 300});
    run.steps(30, 10);
    const LevelCosts levels = run.levels();
    EXPECT_NEAR(levels.capture.share, 0.03, 1e-6);
    EXPECT_EQ(levels.capture.steps, 3);
    EXPECT_EQ(levels.capture.beside, 50) << "25 on either side, none of them disturbed";
    EXPECT_NEAR(levels.records(), 2e-4, 1e-9);
    EXPECT_NEAR(levels.phases(), 3e-5, 1e-9);
    EXPECT_EQ(levelSentence(levels),
              "L0 steps: 0.020 % of a step (2.00\u202Fµs); L1 phases: 0.003 % of a step (0.300\u202Fµs); L2 operations and kernels: +3.0 % (95 %: "
              "+3.0 % to +3.0 %), 3 captured steps beside 50.");
}

TEST(LevelCosts, LeaveOutWhatWasKeptBecauseItWasSlowAndWhatRanOtherwise) {
    PlayedRun run;
    run.steps(30, 10);
    run.capture(3, 19, kUnknown, {.recordNs = 1'000});  // of the slowest
    run.steps(30, 10);
    EXPECT_TRUE(std::isnan(run.levels().capture.share));
    EXPECT_EQ(run.levels().always.recordNs, 1'000);
    run.history.append(SwitchApplied{.step = run.made, .id = "fusion", .from = std::string("off"), .to = std::string("step")});
    run.steps(12, 5);
    run.capture(2, 5.5);
    EXPECT_NEAR(run.levels().capture.share, 0.1, 1e-6) << "beside steps of its own Program alone";
    EXPECT_EQ(run.levels().capture.beside, 12);
    run.steps(2, 5, true);
    run.history.append(SwitchApplied{.step = run.made, .id = "fusion", .from = std::string("step"), .to = std::string("off")});
    run.steps(2, 10, true);
    run.captures.push_back({.step = run.made, .firstStep = run.made - 3, .steps = 4, .operations = 41});
    run.steps(30, 10);
    EXPECT_EQ(run.levels().capture.steps, 2) << "not the one during which a switch was flipped";
}

TEST(LevelCosts, SayWhatWasNotMeasured) {
    EXPECT_EQ(levelSentence({}), "L0 steps: not measured; L1 phases: not measured; L2 operations and kernels: not measured.");
    for (const LevelWords& one : levelWords({}, "not measured yet")) EXPECT_EQ(one.cost, "not measured yet") << one.level;
    LevelCosts levels{.stepNs = 1e9, .always = {.recordNs = 1'000}};
    EXPECT_EQ(levelWords(levels)[0].cost, "below 0.001 % of a step (1.00\u202Fµs)");
    levels.capture = {.share = -0.012, .steps = 1, .beside = 20};
    EXPECT_EQ(levelWords(levels)[2].cost, "−1.2 %, 1 captured step beside 20");
}

}  // namespace
}  // namespace stepscope
