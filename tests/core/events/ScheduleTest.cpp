// Learning-rate curves against values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "core/events/Schedule.h"

namespace stepscope {
namespace {

RunConfig configWith(const std::string& schedule) {
    RunConfig config;
    config.schedule = schedule;
    config.lr = 1.0;
    config.minLr = 0.1;
    config.warmup = 10;
    config.steps = 110;
    return config;
}

TEST(Schedule, ConstantIsConstantWithoutWarmUp) {
    const RunConfig config = configWith("constant");
    for (const std::int64_t step : {1, 5, 10, 110, 100'000}) EXPECT_DOUBLE_EQ(learningRate(config, step), 1.0);
}

TEST(Schedule, WarmUpRisesInEqualStepsAndStays) {
    const RunConfig config = configWith("warmup");
    EXPECT_DOUBLE_EQ(learningRate(config, 1), 0.1);
    EXPECT_DOUBLE_EQ(learningRate(config, 5), 0.5);
    EXPECT_DOUBLE_EQ(learningRate(config, 10), 1.0);
    EXPECT_DOUBLE_EQ(learningRate(config, 110), 1.0);
}

TEST(Schedule, CosineFallsFromTheFirstStepToItsFloor) {
    const RunConfig config = configWith("cosine");
    EXPECT_NEAR(learningRate(config, 55), 0.55, 1e-12);                            // half way: the middle
    EXPECT_NEAR(learningRate(config, 110), 0.1, 1e-12);                            // the end: the floor
    EXPECT_NEAR(learningRate(config, 22), 0.1 + 0.9 * 0.9045084971874737, 1e-12);  // a fifth: (1 + cos 36 degrees) / 2
    EXPECT_NEAR(learningRate(config, 1), 0.1 + 0.45 * (1 + std::cos(3.14159265358979323846 / 110)), 1e-12);
}

TEST(Schedule, WarmUpThenCosineReachesThePeakAndThenTheFloor) {
    const RunConfig config = configWith("warmup-cosine");
    EXPECT_DOUBLE_EQ(learningRate(config, 1), 0.1);
    EXPECT_DOUBLE_EQ(learningRate(config, 10), 1.0);
    EXPECT_NEAR(learningRate(config, 60), 0.55, 1e-12);
    EXPECT_NEAR(learningRate(config, 35), 0.1 + 0.9 * 0.8535533905932737, 1e-12);  // a quarter: (1 + cos 45 degrees) / 2
    EXPECT_NEAR(learningRate(config, 110), 0.1, 1e-12);
}

TEST(Schedule, LinearFallsInEqualSteps) {
    const RunConfig config = configWith("linear");
    EXPECT_DOUBLE_EQ(learningRate(config, 10), 1.0);
    EXPECT_NEAR(learningRate(config, 11), 0.991, 1e-12);
    EXPECT_NEAR(learningRate(config, 60), 0.55, 1e-12);
    EXPECT_NEAR(learningRate(config, 110), 0.1, 1e-12);
}

TEST(Schedule, OneCycleRisesToThePeakAndFallsFarBelowItsStart) {
    const RunConfig config = configWith("one-cycle");  // 30 % of 110 steps: the peak is at step 33
    EXPECT_DOUBLE_EQ(learningRate(config, 33), 1.0);
    EXPECT_NEAR(learningRate(config, 110), 0.04 * 1e-4, 1e-15);
    for (std::int64_t step = 2; step <= 110; ++step) EXPECT_EQ(learningRate(config, step) > learningRate(config, step - 1), step <= 33) << step;
}

// What torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1, total_steps=N).get_last_lr() is before update number `step`.
TEST(Schedule, OneCycleGivesTheRatesOfPyTorch) {
    struct Rate {
        std::int64_t steps, step;
        double rate;
    };
    for (const auto& [steps, step, rate] : {Rate{110, 1, 0.04},
                                            {110, 2, 0.042311331197345536},
                                            {110, 5, 0.07653782439458245},
                                            {110, 11, 0.253326288150591},
                                            {110, 33, 1.0},
                                            {110, 34, 0.9995839013366927},
                                            {110, 71, 0.510201227898628},
                                            {110, 110, 4e-06},
                                            {1000, 34, 0.06856545397964886},
                                            {1000, 300, 1.0},
                                            {1000, 110, 0.32185277465472095},
                                            {7, 1, 0.04},
                                            {7, 2, 0.9805566273349586},
                                            {7, 5, 0.35773877573965707},
                                            {7, 7, 4e-06}}) {
        RunConfig config = configWith("one-cycle");
        config.steps = steps;
        EXPECT_NEAR(learningRate(config, step), rate, 1e-12) << step << " of " << steps;
    }
}

TEST(Schedule, TrapezoidWarmsStaysAndFallsInTheLastFifth) {
    const RunConfig config = configWith("trapezoid");  // a fifth of 110 steps: 22
    EXPECT_DOUBLE_EQ(learningRate(config, 5), 0.5);
    for (const std::int64_t step : {10, 50, 88}) EXPECT_DOUBLE_EQ(learningRate(config, step), 1.0) << step;
    EXPECT_NEAR(learningRate(config, 99), 0.55, 1e-12);
    EXPECT_NEAR(learningRate(config, 110), 0.1, 1e-12);
}

TEST(Schedule, ATrapezoidOfWarmUpAndFallAloneStillReachesBothEnds) {
    RunConfig config = configWith("trapezoid");
    config.warmup = 100;
    config.steps = 110;
    EXPECT_DOUBLE_EQ(learningRate(config, 100), 1.0);
    EXPECT_NEAR(learningRate(config, 110), 0.1, 1e-12);
}

TEST(Schedule, RangeTestMultipliesByTheSameFactorAtEachStep) {
    const RunConfig config = configWith("range-test");
    EXPECT_DOUBLE_EQ(learningRate(config, 1), 0.1);
    EXPECT_NEAR(learningRate(config, 110), 1.0, 1e-12);
    const double factor = learningRate(config, 2) / learningRate(config, 1);
    EXPECT_NEAR(std::pow(factor, 109), 10, 1e-9);
    for (std::int64_t step = 2; step <= 110; ++step) EXPECT_NEAR(learningRate(config, step) / learningRate(config, step - 1), factor, 1e-12) << step;
}

TEST(Schedule, KeepsTheLastRateBeyondTheEnd) {
    for (const char* schedule : {"constant", "warmup", "cosine", "linear", "warmup-cosine", "one-cycle", "trapezoid", "range-test"}) {
        const RunConfig config = configWith(schedule);
        EXPECT_DOUBLE_EQ(learningRate(config, 1'000'000), learningRate(config, config.steps)) << schedule;
    }
}

TEST(Schedule, NeverLeavesTheRangeBetweenFloorAndPeakAfterWarmUp) {
    for (const char* schedule : {"constant", "cosine", "linear", "warmup-cosine", "trapezoid", "range-test"}) {
        const RunConfig config = configWith(schedule);
        for (std::int64_t step = 10; step <= 200; ++step) {
            EXPECT_LE(learningRate(config, step), 1.0) << schedule << " step " << step;
            EXPECT_GE(learningRate(config, step), 0.1 - 1e-15) << schedule << " step " << step;
        }
    }
}

TEST(Schedule, TakesARunThatIsShorterThanItsWarmUp) {
    RunConfig config = configWith("warmup-cosine");
    config.steps = 4;
    EXPECT_DOUBLE_EQ(learningRate(config, 1), 0.25);
    EXPECT_DOUBLE_EQ(learningRate(config, 4), 1.0);
}

TEST(Schedule, TakesAWarmUpOfZero) {
    RunConfig config = configWith("warmup-cosine");
    config.warmup = 0;
    EXPECT_GT(learningRate(config, 1), 0.99);
    EXPECT_NEAR(learningRate(config, 110), 0.1, 1e-12);
}

TEST(Schedule, NeverRisesToAFloorThatLiesAboveTheRate) {
    RunConfig config;
    config.schedule = "cosine";
    config.steps = 10;
    config.lr = 1e-5;
    config.minLr = 2e-4;
    for (std::int64_t step = 1; step <= 12; ++step) EXPECT_EQ(learningRate(config, step), 1e-5) << step;
}

}  // namespace
}  // namespace stepscope
