// What is concluded from the steps around a flip, and when the machine is blamed instead of the switch.
#include <gtest/gtest.h>

#include <random>

#include "core/analysis/flips/FlipContext.h"
#include "core/analysis/flips/FlipEffect.h"

namespace stepscope {
namespace {

// Steps that end one after the other, the last at `end` seconds; nearest to the flip first on the side before it.
std::vector<StepSample> stepsOf(double ms, double spread, double end, std::size_t count = FlipEffect::kSteps, double trend = 0) {
    std::vector<StepSample> all;
    for (std::size_t i = 0; i < count; ++i) {
        StepSample step;
        step.ms = ms + (i % 2 == 0 ? spread : -spread) + trend * static_cast<double>(i);
        step.tokensPerSecond = 1e6 / step.ms;
        step.seconds = end - static_cast<double>(i) * ms / 1000;
        all.push_back(step);
    }
    return all;
}

std::vector<MachineSample> machine(double othersBefore, double othersAfter, double stealBefore = 0, double stealAfter = 0) {
    std::vector<MachineSample> all;
    for (int i = 0; i < 40; ++i) {
        const double seconds = 0.5 * i;
        all.push_back({seconds, seconds <= 10 ? othersBefore : othersAfter, seconds <= 10 ? stealBefore : stealAfter});
    }
    return all;
}

FlipSides sides(double before, double after) {
    // 20 steps of 100 ms: the flip is at 10 s, and the steps after it end at 13 s.
    return {stepsOf(before, 1, 10), stepsOf(after, 1, 13), stepsOf(before, 1, 8), {}};
}

TEST(FlipEffect, ComparesOnAMachineThatStaysAsItIs) {
    FlipSides measured = sides(100, 80);
    EXPECT_TRUE(measureFlip(measured).ms.apart());
    EXPECT_EQ(measureFlip(measured).machineChange, "") << "where nobody looked nothing is said";
    measured.machine = machine(30, 32, 4, 5);
    EXPECT_EQ(measureFlip(measured).machineChange, "");
    EXPECT_NEAR(measureFlip(measured).machineBefore.othersPct, 30, 1e-9);
    EXPECT_NEAR(measureFlip(measured).machineAfter.stealPct, 5, 1e-9);
}

TEST(FlipEffect, NamesWhoTookAnotherShareOfTheProcessors) {
    FlipSides measured = sides(100, 132);
    measured.machine = machine(2, 45);
    EXPECT_EQ(measureFlip(measured).machineChange, "other processes took 2 % of the processors before and 45 % after");
    measured.machine = machine(2, 2, 25, 1);
    EXPECT_EQ(measureFlip(measured).machineChange, "the host of this virtual machine took 25 % of the processors before and 1 % after");
}

TEST(FlipEffect, SaysThatTheStepsMovedByThemselves) {
    FlipSides measured = sides(100, 120);
    measured.earlier = stepsOf(85, 1, 8);
    EXPECT_EQ(measureFlip(measured).machineChange, "the steps before the flip had moved by +18 % by themselves");
    measured = sides(100, 120);
    measured.after = stepsOf(110, 0.1, 13, FlipEffect::kSteps, 2);
    EXPECT_EQ(measureFlip(measured).machineChange.substr(0, 24), "the steps after the flip");
}

TEST(FlipEffect, AnEffectMuchLargerThanTheDriftStands) {
    FlipSides measured = sides(100, 50);
    measured.earlier = stepsOf(92, 1, 8);
    EXPECT_TRUE(measureFlip(measured).ms.apart());
    EXPECT_EQ(measureFlip(measured).machineChange, "") << "8 % of drift do not make 50 %";
}

TEST(FlipEffect, WhereAStepTrainsAnotherNumberOfTokensItsThroughputIsTold) {
    FlipSides measured = sides(100, 200);
    FlipEffect effect = measureFlip(measured);
    EXPECT_FALSE(effect.ofThroughput());
    EXPECT_EQ(&effect.told(), &effect.ms);
    EXPECT_FALSE(effect.faster());
    for (StepSample& step : measured.after) step.tokensPerSecond = 2.1e6 / step.ms;
    effect = measureFlip(measured);
    EXPECT_TRUE(effect.ofThroughput());
    EXPECT_EQ(&effect.told(), &effect.tokensPerSecond);
    EXPECT_TRUE(effect.faster()) << "a step takes twice as long, and trains more than twice as much";
    EXPECT_EQ(effect.machineChange, "");
    // Half of what twice the tokens make of a step's time would hide any drift; the throughput gained 5 %.
    measured.earlier = stepsOf(85, 1, 8);
    EXPECT_EQ(measureFlip(measured).machineChange, "the steps before the flip had moved by +18 % by themselves");
}

// A batch of 10 and one of 12: by its time alone every step behind the flip would be slower.
TEST(FlipEffect, AFewTokensMoreInAStepAreSeenHoweverItsTimesScatter) {
    FlipSides measured = sides(100, 115);
    for (StepSample& step : measured.after) step.tokensPerSecond = 1.2e6 / step.ms;
    const FlipEffect effect = measureFlip(measured);
    EXPECT_TRUE(effect.ofThroughput());
    EXPECT_TRUE(effect.faster());
    EXPECT_NEAR(effect.tokensAfter / effect.tokensBefore, 1.2, 1e-9);
    // As many tokens in steps of which half take twice as long as the other half: the product of both medians is an eighth more.
    FlipSides halves = sides(100, 100);
    for (std::size_t i = 0; i < halves.after.size(); ++i) {
        halves.after[i].ms = i % 2 == 0 ? 100 : 200;
        halves.after[i].tokensPerSecond = 1e6 / halves.after[i].ms;
    }
    EXPECT_FALSE(measureFlip(halves).ofThroughput());
}

// Runs in which nothing was flipped, on a machine whose speed wanders as those of shared machines do: at many places the quartiles lie apart, and
// with the drift beside them few are left.
TEST(FlipEffect, WanderingTimesOfRunsThatWereNotFlippedAreOftenApartAndSeldomCalled) {
    std::mt19937 random(7);
    std::normal_distribution<double> noise(0, 1);
    int byQuartiles = 0, called = 0;
    constexpr int kPlaces = 600;
    for (int place = 0; place < kPlaces; ++place) {
        double level = 100;
        std::vector<StepSample> run;
        for (int i = 0; i < 65; ++i) {
            level += 0.35 * noise(random);
            StepSample step;
            step.ms = level + 1.5 * noise(random);
            step.tokensPerSecond = 1e6 / step.ms;
            step.seconds = 0.1 * i;
            run.push_back(step);
        }
        FlipSides measured;
        measured.earlier.assign(run.rend() - 20, run.rend());
        measured.before.assign(run.rend() - 40, run.rend() - 20);
        measured.after.assign(run.begin() + 45, run.end());
        const FlipEffect effect = measureFlip(measured);
        byQuartiles += effect.ms.apart() ? 1 : 0;
        called += effect.ms.apart() && effect.machineChange.empty() ? 1 : 0;
    }
    RecordProperty("by_quartiles", byQuartiles);
    RecordProperty("called", called);
    EXPECT_GT(byQuartiles, kPlaces / 20) << "the machine of this test wanders too little to prove anything";
    EXPECT_LT(called, byQuartiles) << byQuartiles;
}

TEST(FlipContext, IsAnotherForAnotherShapeOrAnotherSwitchAndTheSameForWhatTakesNoTime) {
    RunConfig config;
    config.switches = {{"amp", std::string("off")}, {"fusion", std::string("step")}};
    const std::string context = flipContext(config, "amp");
    const auto with = [&](auto&& change) {
        RunConfig other = config;
        change(other);
        return flipContext(other, "amp");
    };
    EXPECT_EQ(with([](RunConfig& c) { c.switches["amp"] = std::string("bf16"); }), context) << "its own value";
    EXPECT_EQ(with([](RunConfig& c) { c.lr = 0.5; }), context);
    EXPECT_EQ(with([](RunConfig& c) { c.data = "generated"; }), context);
    EXPECT_EQ(with([](RunConfig& c) { c.seed = 3; }), context);
    EXPECT_NE(with([](RunConfig& c) { c.switches["fusion"] = std::string("off"); }), context);
    EXPECT_NE(with([](RunConfig& c) { c.layers = 9; }), context);
    EXPECT_NE(with([](RunConfig& c) { c.tokenizer = "gpt2"; }), context);
    EXPECT_NE(with([](RunConfig& c) { c.threads = 1; }), context);
}

}  // namespace
}  // namespace stepscope
