// How often a course claims a difference that is not there, finds one that is, and holds the true one: over simulated machines. Recorded ones are
// played by tests/bench/course_simulation.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/CoursePlayer.h"

namespace stepscope {
namespace {

struct Noise {
    const char* name;
    double white = 0;                             // standard deviation of a step, as a share
    double slow = 0;                              // of an autoregressive part,
    double memory = 0;                            //   whose correlation from step to step this is
    double drift = 0;                             // per step, as a share
    double heavy = 0;                             // chance that a step takes
    double heavyBy = 1;                           //   so many times as long
    std::size_t burstEvery = 0, burstLength = 0;  // steps,
    double burstBy = 1;                           //   slower by this
};

StepSeries simulated(const Noise& noise, std::uint64_t seed, std::size_t steps = 12'000) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    StepSeries series;
    series.seconds.reserve(steps);
    double slow = 0, level = 1;
    for (std::size_t i = 0; i < steps; ++i) {
        slow = noise.memory * slow + std::sqrt(1 - noise.memory * noise.memory) * noise.slow * normal(random);
        level *= 1 + noise.drift;
        double step = 0.04 * level * std::exp(slow + noise.white * normal(random));
        if (uniform(random) < noise.heavy) step *= noise.heavyBy;
        if (noise.burstEvery > 0 && i % noise.burstEvery < noise.burstLength) step *= noise.burstBy;
        series.seconds.push_back(step);
    }
    return series;
}

const std::vector<Noise> kMachines{
    {.name = "idle", .white = 0.01, .slow = 0.005, .memory = 0.99},
    {.name = "slow waves", .white = 0.01, .slow = 0.05, .memory = 0.995},
    {.name = "drift", .white = 0.01, .drift = 2e-5},
    {.name = "rare slow steps", .white = 0.01, .heavy = 0.01, .heavyBy = 8},
    {.name = "bursts", .white = 0.02, .burstEvery = 700, .burstLength = 200, .burstBy = 1.6},
};

struct Counts {
    int claims = 0, right = 0, wrong = 0, holds = 0, judged = 0, equivalent = 0;
};

Counts play(const Noise& noise, double slowdown, int times, double delta, double budget = 60) {
    Counts counts;
    const double truth = 1 / slowdown;
    for (int i = 0; i < times; ++i) {
        const StepSeries series = simulated(noise, static_cast<std::uint64_t>(i) * 7919 + 13);
        PlayOptions options{.rules = {.seed = static_cast<std::uint64_t>(i) + 1, .budgetSeconds = budget, .delta = delta}};
        options.start = static_cast<std::size_t>(i) * 37;
        options.slowdownOfB = slowdown;
        const PairedVerdict verdict = playCourse(series, options).verdict();
        if (verdict.pairs == 0) continue;
        ++counts.judged;
        const bool claims = verdict.outcome == PairedOutcome::Faster || verdict.outcome == PairedOutcome::Slower;
        counts.claims += claims;
        counts.right += claims && (verdict.outcome == PairedOutcome::Slower) == (slowdown > 1);
        counts.wrong += claims && (verdict.outcome == PairedOutcome::Faster) == (slowdown > 1);
        counts.holds += verdict.low <= truth && truth <= verdict.high;
        counts.equivalent += verdict.outcome == PairedOutcome::Equivalent;
    }
    return counts;
}

constexpr int kTimes = 200;

// 5 % of 1000 and two standard deviations are 61.
TEST(CourseSimulation, ClaimsADifferenceThatIsNotThereInAtMostOneOfTwenty) {
    int claims = 0, judged = 0;
    for (const Noise& noise : kMachines) {
        const Counts counts = play(noise, 1, kTimes, 0.01);
        EXPECT_LE(counts.claims, kTimes * 0.061 + 3) << noise.name;
        claims += counts.claims;
        judged += counts.judged;
    }
    EXPECT_EQ(judged, kTimes * static_cast<int>(kMachines.size()));
    EXPECT_LE(claims, judged * 61 / 1000);
}

TEST(CourseSimulation, HoldsTheTrueRatioWhenItStops) {
    for (const double slowdown : {1.0, 1.01, 0.97, 1.1}) {
        int holds = 0, judged = 0;
        // Where rare slow steps are cut off, the interval is of the cut mean.
        for (const Noise& noise : {kMachines[0], kMachines[1], kMachines[2], kMachines[4]}) {
            const Counts counts = play(noise, slowdown, kTimes / 2, 0.01);
            holds += counts.holds;
            judged += counts.judged;
        }
        EXPECT_GE(holds, judged * 0.94) << slowdown;
    }
}

TEST(CourseSimulation, FindsThreePerCentOnAnIdleMachineWithinThreeMinutes) {
    const Counts counts = play(kMachines[0], 1.03, kTimes, 0.01, 180);
    EXPECT_GE(counts.right, kTimes * 0.9);
    EXPECT_EQ(counts.wrong, 0);
}

TEST(CourseSimulation, CallsEqualArmsEquivalentOnAnIdleMachine) {
    const Counts counts = play(kMachines[0], 1, kTimes, 0.02, 180);
    EXPECT_GE(counts.equivalent, kTimes * 0.8);
}

}  // namespace
}  // namespace stepscope
