// A block of a configuration that races: what its times are of, and what is said where it breaks. CTest.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>

#include "TinyTraining.h"
#include "core/train/RaceRunner.h"
#include "tests/support/PlayedPrograms.h"

namespace stepscope {
namespace {

struct RaceRunnerTest : ::testing::Test {
    void SetUp() override {
        at::set_num_threads(1);
        config = testing::tinyConfig(registry, 1'000'000);
        config.switches["fusion"] = std::string("off");
        config = registry.complete(config).value();
        plan = registry.plan(config, 61).value();
    }
    RaceBlock run(const RaceOrder& order) {
        RaceRunner runner({.batches = testing::tinyBatches(),
                           .start = std::make_shared<const TrainState>(TrainState::initialise(registry.modelShape(plan, 61), 1)),
                           .factory = &factory,
                           .clock = &clock});
        return runner.run(config, plan, order);
    }
    RaceBlock run(std::int64_t steps) { return run(RaceOrder{.steps = steps}); }

    Registry registry{testing::plainCpu()};
    testing::Interference interference;
    testing::PlayedFactory factory{registry, interference};
    SessionClock clock;
    RunConfig config;
    RunPlan plan;
};

TEST_F(RaceRunnerTest, UpdatesThatFp16LeavesOutCountInTimeAndNotInTokens) {
    const auto tokensAStep = [](const RaceBlock& block) { return block.times.msPerStep / 1e3 / block.times.perToken; };
    EXPECT_NEAR(tokensAStep(run(10)), 4 * 12, 1e-6);
    interference.step["off"] = testing::everySecondLeftOut();
    EXPECT_NEAR(tokensAStep(run(10)), 4 * 12 / 2, 1e-6);
}

TEST_F(RaceRunnerTest, OfSlowStepsTheFirstAloneDoesNotCountAndOneThatIsHopelessEndsTheBlock) {
    int steps = 0;
    interference.step["off"] = [&](const auto& real) {
        ++steps;
        return real();
    };
    run({.steps = 2});
    EXPECT_EQ(steps, 4);
    steps = 0;
    run({.steps = 2, .settlesOnce = true});
    EXPECT_EQ(steps, 3);
    steps = 0;
    const RaceBlock hopeless = run({.steps = 5, .giveUpSeconds = 1e-9, .settlesOnce = true});
    EXPECT_EQ(steps, 2);
    EXPECT_GT(hopeless.times.msPerStep, 0);
    EXPECT_EQ(hopeless.times.failure, "");
}

TEST_F(RaceRunnerTest, ABlockThatBreaksOffSaysSoAndThrowsNothing) {
    interference.step["off"] = [](const auto&) -> StepResult { throw std::bad_alloc(); };
    EXPECT_THAT(run(10).times.failure, ::testing::HasSubstr("more memory"));
    interference.step["off"] = [](const auto& real) {
        StepResult result = real();
        result.skipped = true;
        return result;
    };
    EXPECT_THAT(run(10).times.failure, ::testing::HasSubstr("float16 overflowed"));
}

}  // namespace
}  // namespace stepscope
