// Steps timed without a run: what they leave alone, and how they give way.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <thread>

#include "app/workbench/diagnose/Estimate.h"
#include "app/workbench/diagnose/MachineTurn.h"
#include "app/workbench/diagnose/RunForecast.h"
#include "app/workbench/diagnose/TimedSteps.h"
#include "core/events/Presets.h"

namespace stepscope {
namespace {

StepsRequest tiny() {
    RunConfig config = presetConfig("tiny-cpu").value();
    config.data = "generated";
    config.layers = 1;
    config.heads = 2;
    config.width = 16;
    config.threads = 1;
    config.switches["context"] = std::int64_t{16};
    config.switches["batch-size"] = std::int64_t{2};
    return {.config = Workbench::create()->complete(config).value(), .warmUp = 2, .steps = 5};
}

TEST(TimedSteps, MeasureWhatARunWould) {
    const std::atomic<bool> no{false};
    StepsRequest request = tiny();
    request.validation = true;
    request.capturedSteps = 2;
    std::vector<std::string> said;
    const auto timing = timeSteps(
        Workbench::create()->machine(), request, [&](const std::string& what) { said.push_back(what); }, no);
    ASSERT_TRUE(timing) << timing.error().sentence;
    EXPECT_EQ(timing->stepMs.size(), 5u);
    EXPECT_GT(timing->validationMs, 0);
    ASSERT_TRUE(timing->captured);
    EXPECT_EQ(timing->captured->steps, 2);
    EXPECT_DOUBLE_EQ(timing->captured->operations, timing->operations);
    EXPECT_FALSE(said.empty());
}

TEST(TimedSteps, CountTheCheckpointsThatARunWouldWrite) {
    const std::atomic<bool> no{false};
    const auto folder = std::filesystem::temp_directory_path() / fmt::format("stepscope-timed-{}", ::getpid());
    std::filesystem::create_directories(folder);
    StepsRequest request = tiny();
    request.config.steps = 100;
    request.config.checkpointEvery = 30;
    request.config.checkpointAtEnd = "on";
    request.checkpointFolder = folder.string();
    const Machine machine = Workbench::create()->machine();
    const auto timing = timeSteps(machine, request, {}, no);
    ASSERT_TRUE(timing) << timing.error().sentence;
    EXPECT_GT(timing->checkpointMs, 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder)) << "it is gone again";
    const TimeEstimate estimate = estimateTime(*timing);
    EXPECT_EQ(estimate.checkpoints, 4) << "at 30, 60, 90 and at the end";
    EXPECT_NEAR(estimate.seconds, (100 * timing->meanMs() + 4 * timing->checkpointMs) / 1e3, 1e-9);
    EXPECT_EQ(checkpointsOf(request.config, 60), 2);
    // The same of what is kept of it, as a run is forecast.
    const TimedSteps kept{.steps = 5, .ms = 10, .lowMs = 9, .highMs = 12, .checkpointMs = 500};
    EXPECT_NEAR(forecastFrom(kept, timing->plan, timing->trainTokens).seconds, 100 * 0.010 + 4 * 0.5, 1e-9);
    EXPECT_NEAR(forecastFrom(kept, timing->plan, timing->trainTokens, 60).seconds, 40 * 0.010 + 2 * 0.5, 1e-9);
    RunPlan validates = timing->plan;
    validates.config.steps = 150;
    validates.validation.everySteps = 100;
    EXPECT_EQ(validationsOf(validates, timing->trainTokens), 2) << "at 100 and at the end";
    EXPECT_EQ(validationsOf(validates, timing->trainTokens, 50), 2) << "of a run that goes on, those that it still makes";
    EXPECT_EQ(validationsOf(validates, timing->trainTokens, 100), 1);
    EXPECT_EQ(validationsOf(validates, timing->trainTokens, 150), 0);
    request.config.checkpointEvery = 0;
    request.config.checkpointAtEnd = "off";
    const auto without = timeSteps(machine, request, {}, no);
    ASSERT_TRUE(without);
    EXPECT_TRUE(std::isnan(without->checkpointMs)) << "none is planned, so none is written";
    std::filesystem::remove_all(folder);
}

TEST(TimedSteps, SayWhoDisturbedThemAndAreThenNotKept) {
    StepsTiming timing;
    timing.plan.config = tiny().config;
    timing.stepMs = {80, 82, 84, 85, 90};
    timing.tokens = 32;
    timing.othersPct = 9;
    timing.stealPct = 4;
    EXPECT_EQ(timing.disturbedBy(), "");
    timing.othersPct = 48;
    EXPECT_EQ(timing.disturbedBy(), "other programs took 48 % of the processors");
    timing.stealPct = 20;
    EXPECT_EQ(timing.disturbedBy(), "other programs took 48 % of the processors and the host of this machine gave 20 % of the processors to others");
    EXPECT_EQ(estimateTime(timing).disturbed, timing.disturbedBy());
    const auto folder = std::filesystem::temp_directory_path() / fmt::format("stepscope-disturbed-{}", ::getpid());
    std::filesystem::create_directories(folder);
    const std::string database = (folder / "s.db").string();
    const Machine machine = Workbench::create()->machine();
    keepTimedSteps(database, timing, machine);
    EXPECT_FALSE(std::filesystem::exists(database));
    timing.othersPct = timing.stealPct = 2;
    keepTimedSteps(database, timing, machine);
    EXPECT_TRUE(std::filesystem::exists(database));
    timing.othersPct = timing.stealPct = 50;
    timing.stepMs = {1, 1, 1};
    EXPECT_EQ(timing.disturbedBy(), "") << "too short to tell from what the system counts";
    std::filesystem::remove_all(folder);
}

TEST(TimedSteps, EndWhenTheirTimeIsSpentButNotBeforeThree) {
    const std::atomic<bool> no{false};
    StepsRequest request = tiny();
    request.steps = 1000;
    request.mostSeconds = 1e-9;
    const auto timing = timeSteps(Workbench::create()->machine(), request, {}, no);
    ASSERT_TRUE(timing);
    EXPECT_EQ(timing->stepMs.size(), static_cast<std::size_t>(kFewestTimed));
}

TEST(TimedSteps, AreRefusedWhileARunGoesOn) {
    const std::atomic<bool> no{false};
    const RunTurn run;
    const auto timing = timeSteps(Workbench::create()->machine(), tiny(), {}, no);
    ASSERT_FALSE(timing);
    EXPECT_EQ(timing.error().code, ErrorCode::Unsupported);
}

TEST(TimedSteps, GiveWayToARunThatBegins) {
    const std::atomic<bool> no{false};
    StepsRequest request = tiny();
    request.steps = kMostTimed;
    std::atomic<bool> timingNow{false};
    std::optional<Result<StepsTiming>> timing;
    std::jthread look([&] {
        timing = timeSteps(
            Workbench::create()->machine(), request, [&](const std::string& what) { timingNow = timingNow || what == "timing steps"; }, no);
    });
    while (!timingNow) std::this_thread::yield();
    {
        const RunTurn run;  // waits for the look's end
        EXPECT_FALSE(LookTurn().taken());
    }
    look.join();
    ASSERT_TRUE(timing && !*timing);
    EXPECT_EQ(timing->error().code, ErrorCode::Cancelled);
    EXPECT_TRUE(LookTurn().taken());
}

TEST(TimedSteps, StopWhenAskedTo) {
    const std::atomic<bool> yes{true};
    const auto timing = timeSteps(Workbench::create()->machine(), tiny(), {}, yes);
    ASSERT_FALSE(timing);
    EXPECT_EQ(timing.error().code, ErrorCode::Cancelled);
}

}  // namespace
}  // namespace stepscope
