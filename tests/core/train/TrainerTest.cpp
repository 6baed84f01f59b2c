// The loop: that it learns, the same for the same seed; commands at step boundaries; validation and checkpoints inside it; failures. Flips are in
// FlipTest.cpp. CTest.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>

#include "PlayedPrograms.h"
#include "TinyTraining.h"
#include "core/events/Event.h"
#include "core/events/Schedule.h"
#include "core/memory/HostAllocator.h"
#include "core/state/Checkpoint.h"

namespace stepscope {
namespace {

using testing::tinyBatches;
using testing::tinyConfig;
using testing::TinyTrainer;

RunConfig config(std::int64_t steps, std::vector<std::pair<std::string, Value>> switches = {}) {
    const Registry registry(testing::plainCpu());
    RunConfig made = tinyConfig(registry, steps);
    for (auto& [id, value] : switches) made.switches[id] = value;
    return made;
}

using testing::lossesOf;

TEST(Trainer, LearnsWhatCanBeLearned) {
    const auto losses = lossesOf(config(300));
    EXPECT_NEAR(losses.front(), std::log(61.0), 0.1);
    EXPECT_LT(losses.back(), losses.front() - 0.7);
}

TEST(Trainer, TheSameSeedGivesTheSameLossesBitForBitAndAnotherOneOthers) {
    RunConfig seven = config(20), eight = config(20);
    seven.seed = 7;
    eight.seed = 8;
    const auto first = lossesOf(seven);
    EXPECT_EQ(first, lossesOf(seven));
    EXPECT_NE(first, lossesOf(eight));
}

TEST(Trainer, GivesTheSameLossesWhateverTheHostMemoryMode) {
    EXPECT_EQ(lossesOf(config(20, {{"host-memory", std::string("system")}})), lossesOf(config(20, {{"host-memory", std::string("caching")}})));
}

TEST(Trainer, AccumulationGivesTheLossesOfOneLargerBatch) {
    const auto one = lossesOf(config(30, {{"batch-size", std::int64_t{8}}}));
    const auto four = lossesOf(config(30, {{"batch-size", std::int64_t{2}}, {"grad-accumulation", std::int64_t{4}}}));
    ASSERT_EQ(one.size(), four.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], four[i], 2e-5) << "step " << i + 1;
}

TEST(Trainer, PaddingTheVocabularyChangesNoLoss) {
    const auto plain = lossesOf(config(30)), padded = lossesOf(config(30, {{"vocab-padding", std::string("128")}}));
    for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(plain[i], padded[i], 2e-5) << "step " << i + 1;
}

TEST(Trainer, ClippingChangesWhatIsTrainedAndReportsTheNormBeforeIt) {
    TinyTrainer clipped(config(3, {{"grad-clip", 0.01}})), free(config(3, {{"grad-clip", 1e6}})), off(config(3, {{"grad-clip", 0.0}}));
    clipped.run(), free.run(), off.run();
    EXPECT_GT(clipped.sink.all<StepDone>()[0].gradientNorm, 0.1);
    EXPECT_EQ(clipped.sink.all<StepDone>()[0].gradientNorm, free.sink.all<StepDone>()[0].gradientNorm);
    EXPECT_TRUE(std::isnan(off.sink.all<StepDone>()[0].gradientNorm));
    EXPECT_EQ(free.sink.losses(), off.sink.losses());
    EXPECT_NE(clipped.sink.losses(), free.sink.losses());
}

TEST(Trainer, ValidatesInsideTheLoopNotOnlyAtTheEnd) {
    TinyTrainer trainer(config(25, {{"validation-every", std::int64_t{10}}}));
    trainer.run();
    const auto validated = trainer.sink.all<ValidationDone>();
    ASSERT_EQ(validated.size(), 3u);
    EXPECT_EQ(validated[0].step, 10);
    EXPECT_EQ(validated[1].step, 20);
    EXPECT_EQ(validated[2].step, 25);
    EXPECT_TRUE(std::isfinite(validated[2].loss));
}

TEST(Trainer, ValidatesAtTheEndOfEveryEpochAlsoWhenResumed) {
    const auto validatedAt = [](std::int64_t cursor) {
        // 48 tokens a step, 270 to train on.
        TinyTrainer trainer(config(18, {{"validation-every", std::string("epoch")}}), tinyBatches(61, 300));
        trainer.setup.state.cursor = cursor;
        EXPECT_EQ(trainer.run().state, RunState::Finished);
        std::vector<std::int64_t> steps;
        for (const auto& done : trainer.sink.all<ValidationDone>()) steps.push_back(done.step);
        return steps;
    };
    EXPECT_EQ(validatedAt(0), (std::vector<std::int64_t>{6, 12, 17, 18}));
    EXPECT_EQ(validatedAt(4 * 5), (std::vector<std::int64_t>{1, 7, 12, 18}));
}

TEST(Trainer, WritesCheckpointsInsideTheLoop) {
    RunConfig wanted = config(25);
    wanted.checkpointEvery = 10;
    TinyTrainer trainer(wanted);
    const auto folder = std::filesystem::temp_directory_path() / ("stepscope-loop-" + std::to_string(::getpid()));
    trainer.setup.checkpointFolder = folder.string();
    trainer.run();
    EXPECT_EQ(trainer.sink.all<CheckpointSaved>().size(), 2u);
    EXPECT_TRUE(std::filesystem::exists(folder / "step-0000020" / "model.safetensors"));
    std::filesystem::remove_all(folder);
}

TEST(Trainer, KeepsWhatWasLearntWhenItEndsOrIsStopped) {
    const auto folder = std::filesystem::temp_directory_path() / ("stepscope-end-" + std::to_string(::getpid()));
    const auto savedBy = [&](RunConfig wanted, std::int64_t stopAfter = 0) {
        TinyTrainer trainer(wanted);
        trainer.setup.checkpointFolder = folder.string();
        trainer.sink.onEvent = [&](const Event& event) {
            const auto* done = std::get_if<StepDone>(&event);
            if (done != nullptr && done->step == stopAfter) trainer.commands.push(Stop{});
        };
        trainer.run();
        std::vector<std::int64_t> steps;
        for (const auto& saved : trainer.sink.all<CheckpointSaved>()) steps.push_back(saved.step);
        std::filesystem::remove_all(folder);
        return steps;
    };
    using Steps = std::vector<std::int64_t>;
    RunConfig wanted = config(12);
    wanted.checkpointAtEnd = "on";
    EXPECT_EQ(savedBy(wanted), Steps{12});
    EXPECT_EQ(savedBy(wanted, 5), Steps{5});
    RunConfig also = wanted;
    also.checkpointEvery = 6;
    EXPECT_EQ(savedBy(also), (Steps{6, 12})) << "what is kept already is not written twice";
    RunConfig sweep = wanted;
    sweep.schedule = "range-test";
    EXPECT_EQ(savedBy(sweep), Steps{}) << "its weights are of no use";
    wanted.checkpointAtEnd = "off";
    EXPECT_EQ(savedBy(wanted), Steps{});
}

TEST(Trainer, SaysThatTheLastCheckpointFailedAndFinishesAllTheSame) {
    RunConfig wanted = config(3);
    wanted.checkpointAtEnd = "on";
    TinyTrainer trainer(wanted);
    trainer.setup.checkpointFolder = "/dev/null/checkpoints";
    const auto outcome = trainer.run();
    EXPECT_EQ(outcome.state, RunState::Finished);
    EXPECT_EQ(outcome.lostCheckpoints, 1) << "a script must not take the weights for kept";
    bool told = false;
    for (const auto& line : trainer.sink.all<LogLine>())
        told = told || (line.level == LogLevel::Error && line.text.find("/dev/null") != std::string::npos);
    EXPECT_TRUE(told);
}

TEST(Trainer, FollowsTheSchedule) {
    RunConfig wanted = config(20);
    wanted.schedule = "warmup-cosine";
    wanted.warmup = 5;
    TinyTrainer trainer(wanted);
    trainer.run();
    for (const auto& step : trainer.sink.all<StepDone>()) EXPECT_EQ(step.learningRate, learningRate(wanted, step.step));
}

TEST(Trainer, PausesResumesAndStopsAtStepBoundaries) {
    TinyTrainer trainer(config(1000));
    std::jthread person;
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done != nullptr && done->step == 5) trainer.commands.push(Pause{});
        const auto* changed = std::get_if<StateChanged>(&event);
        if (changed != nullptr && changed->state == RunState::Paused)
            person = std::jthread([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
                trainer.commands.push(Resume{});
            });
        if (done != nullptr && done->step == 9) trainer.commands.push(Stop{});
    };
    EXPECT_EQ(trainer.run().state, RunState::Stopped);
    const auto steps = trainer.sink.all<StepDone>();
    ASSERT_EQ(steps.size(), 9u);
    EXPECT_GT((steps[5].at - steps[4].at).milliseconds(), 90);
    EXPECT_LT(steps[5].duration.milliseconds(), 90) << "a pause is no part of a step";
    std::vector<RunState> states;
    for (const auto& changed : trainer.sink.all<StateChanged>()) states.push_back(changed.state);
    EXPECT_EQ(states, (std::vector{RunState::Running, RunState::Paused, RunState::Running, RunState::Stopped}));
}

TEST(Trainer, StopsWhilePaused) {
    TinyTrainer trainer(config(1000));
    trainer.commands.push(Pause{});
    trainer.commands.push(Stop{});
    EXPECT_EQ(trainer.run().state, RunState::Stopped);
    EXPECT_TRUE(trainer.sink.losses().empty());
}

TEST(Trainer, ReseedsTheBatchesFromTheNextStepOn) {
    const auto expected = lossesOf(config(10));
    TinyTrainer trainer(config(10));
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done != nullptr && done->step == 5) trainer.commands.push(Reseed{99});
    };
    trainer.run();
    const auto losses = trainer.sink.losses();
    EXPECT_TRUE(std::equal(losses.begin(), losses.begin() + 5, expected.begin()));
    EXPECT_NE(losses[5], expected[5]);
}

TEST(Trainer, WaitsWhileNothingCanBeStoredAndLosesNothing) {
    const auto expected = lossesOf(config(10));
    TinyTrainer trainer(config(10));
    std::atomic<int> questions{0};
    trainer.setup.mustWait = [&] { return trainer.sink.losses().size() == 4 && questions.fetch_add(1) < 5; };
    EXPECT_EQ(trainer.run().state, RunState::Finished);
    EXPECT_EQ(trainer.sink.losses(), expected);
    const auto changes = trainer.sink.all<StateChanged>();
    ASSERT_EQ(changes.size(), 4u);
    EXPECT_EQ(changes[1].state, RunState::Paused);
    EXPECT_EQ(changes[1].step, 4);
    EXPECT_FALSE(changes[1].why.empty());
    EXPECT_TRUE(isHeldUp(changes[1])) << "and not only by its sentence";
    EXPECT_FALSE(isHeldUp(changes[2]));
}

TEST(Trainer, StaysPausedAfterAFullDiskWhenAPersonPausedItMeanwhile) {
    TinyTrainer trainer(config(10));
    std::atomic<int> questions{0};
    trainer.setup.mustWait = [&] { return trainer.sink.losses().size() == 4 && questions.fetch_add(1) < 5; };
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* change = std::get_if<StateChanged>(&event);
        if (change == nullptr || change->state != RunState::Paused) return;
        trainer.commands.push(change->why.empty() ? Command(Resume{}) : Command(Pause{}));
    };
    EXPECT_EQ(trainer.run().state, RunState::Finished);
    const auto changes = trainer.sink.all<StateChanged>();
    ASSERT_EQ(changes.size(), 6u);
    EXPECT_TRUE(changes[1].why.ends_with("goes on when it can.")) << changes[1].why;
    EXPECT_TRUE(changes[2].why.ends_with("stays paused when it can.")) << changes[2].why;
    EXPECT_EQ(changes[3].state, RunState::Paused);
    EXPECT_TRUE(changes[3].why.empty()) << "by the person alone";
    EXPECT_TRUE(isHeldUp(changes[2]));
    EXPECT_FALSE(isHeldUp(changes[3]));
    EXPECT_EQ(changes[4].state, RunState::Running);
    EXPECT_EQ(changes[4].step, 4);
}

TEST(Trainer, ResumeDoesNotSayRunningWhileNothingCanBeStored) {
    TinyTrainer trainer(config(10));
    std::atomic<int> questions{0}, whenRunning{0};
    trainer.setup.mustWait = [&] { return trainer.sink.losses().size() == 4 && questions.fetch_add(1) < 5; };
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* change = std::get_if<StateChanged>(&event);
        if (change == nullptr) return;
        if (change->state == RunState::Paused) trainer.commands.push(Resume{});
        if (change->state == RunState::Running) whenRunning = questions.load();
    };
    EXPECT_EQ(trainer.run().state, RunState::Finished);
    EXPECT_EQ(trainer.sink.all<StateChanged>().size(), 4u);
    EXPECT_GT(whenRunning, 5) << "not before there was room again";
}

TEST(Trainer, ALossThatIsNotANumberEndsTheRunWithADiagnosis) {
    RunConfig wild = config(500, {{"grad-clip", 0.0}});
    wild.lr = 100;
    TinyTrainer trainer(wild);
    trainer.setup.state.weights.fill_(std::numeric_limits<float>::quiet_NaN());
    const auto outcome = trainer.run();
    EXPECT_EQ(outcome.state, RunState::Failed);
    EXPECT_NE(outcome.error.sentence.find("step 1"), std::string::npos) << outcome.error.sentence;
    EXPECT_NE(outcome.error.sentence.find("clipping is off"), std::string::npos) << outcome.error.sentence;
}

TEST(Trainer, RunningOutOfMemoryEndsTheRunWithASentenceAndMemoryComesBack) {
    host_memory::install();
    host_memory::refreshBudget();
    const auto live = host_memory::usage().live.count;
    {
        TinyTrainer trainer(config(5, {{"batch-size", std::int64_t{512}}}));
        host_memory::setBudget({host_memory::usage().live.count + 2'000'000});
        const auto outcome = trainer.run();
        EXPECT_EQ(outcome.state, RunState::Failed);
        EXPECT_EQ(outcome.error.code, ErrorCode::OutOfMemory);
        EXPECT_NE(outcome.error.sentence.find("batch-size"), std::string::npos);
        EXPECT_EQ(outcome.error.sentence.find('\n'), std::string::npos);
    }
    EXPECT_EQ(host_memory::usage().live.count, live);
    host_memory::refreshBudget();
    EXPECT_EQ(lossesOf(config(2)).size(), 2u);
}

TEST(Trainer, RunningOutOfMemoryInTheMiddleOfARunKeepsWhatWasLearnt) {
    host_memory::install();
    const auto folder = std::filesystem::temp_directory_path() / ("stepscope-short-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    TinyTrainer trainer(config(10));
    trainer.setup.checkpointFolder = folder.string();
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done == nullptr || done->step != 4) return;
        host_memory::setBudget({host_memory::usage().live.count + 2'000'000});
        trainer.commands.push(Flip{"batch-size", std::int64_t{512}});
    };
    const auto outcome = trainer.run();
    host_memory::refreshBudget();
    EXPECT_EQ(outcome.error.code, ErrorCode::OutOfMemory);
    const auto saved = trainer.sink.all<CheckpointSaved>();
    ASSERT_EQ(saved.size(), 1u);
    EXPECT_NE(outcome.error.sentence.find("resume from " + saved[0].path), std::string::npos) << outcome.error.sentence;
    const auto state = loadCheckpoint(saved[0].path, 61);
    ASSERT_TRUE(state.ok()) << state.error().sentence;
    EXPECT_EQ(state->updates, 4);
    std::filesystem::remove_all(folder);
}

// Some of the weights may be of a step that is not counted: what goes on from there would train on neither.
TEST(Trainer, AStepThatBreaksWhenItsUpdateHadBegunLeavesTheCheckpointBeforeIt) {
    const auto folder = std::filesystem::temp_directory_path() / ("stepscope-torn-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    RunConfig wanted = config(10, {{"fusion", std::string("off")}});
    wanted.checkpointEvery = 2;
    TinyTrainer trainer(wanted);
    testing::Interference interference;
    const testing::PlayedFactory factory(*trainer.registry, interference);
    interference.step["off"] = [made = 0](const std::function<StepResult()>& real) mutable -> StepResult {
        if (++made < 4) return real();
        (void)real();
        throw std::runtime_error("it went wrong within the update");
    };
    trainer.setup.factory = &factory;
    trainer.setup.checkpointFolder = folder.string();
    const auto outcome = trainer.run();
    EXPECT_EQ(outcome.state, RunState::Failed);
    EXPECT_NE(outcome.error.sentence.find("Step 2 is kept; resume from"), std::string::npos) << outcome.error.sentence;
    EXPECT_EQ(trainer.sink.all<CheckpointSaved>().size(), 1u);
    bool told = false;
    for (const auto& line : trainer.sink.all<LogLine>())
        told = told || line.text.find("the update of the step behind it had begun") != std::string::npos;
    EXPECT_TRUE(told);
    std::filesystem::remove_all(folder);
}

TEST(Trainer, SplitsTheStepIntoPhasesThatAddUpToIt) {
    TinyTrainer trainer(config(5));
    trainer.run();
    for (const auto& step : trainer.sink.all<StepDone>()) {
        std::int64_t sum = 0;
        for (const auto ns : step.phaseNs) sum += ns;
        EXPECT_LE(sum, step.duration.ns);
        EXPECT_GT(sum, step.duration.ns / 2);
        EXPECT_GT(step.phaseNs[static_cast<std::size_t>(Phase::Forward)], 0);
        EXPECT_GT(step.phaseNs[static_cast<std::size_t>(Phase::Backward)], 0);
    }
}

}  // namespace
}  // namespace stepscope
