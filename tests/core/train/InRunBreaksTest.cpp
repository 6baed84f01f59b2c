// Two values that take turns within a run while something goes wrong or comes in between: a turn that breaks does not take the run with it, and what
// is done between the steps is not part of the blocks. Programs that break or dawdle stand in for a value that does. CTest.
#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <thread>

#include "TinyTraining.h"
#include "core/events/Event.h"
#include "core/memory/HostAllocator.h"
#include "tests/support/PlayedPrograms.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;
using testing::Interference;
using ::testing::Not;
using testing::PlayedFactory;
using ::testing::StartsWith;

StepResult noNumber() {
    StepResult result;
    result.breakdown = Breakdown::Loss;
    return result;
}

// A run with fusion=off that measures fusion=kernels from step 3 on.
struct InRunBreaks : ::testing::Test {
    void SetUp() override {
        host_memory::install();  // before any tensor is made
        at::set_num_threads(1);
        RunConfig made = testing::tinyConfig(registry, 1'000'000);
        made.switches["fusion"] = std::string("off");
        made.switches["validation-every"] = validationEvery;
        trainer.emplace(registry.complete(made).value());
        trainer->setup.factory = &factory;
        trainer->sink.onEvent = [this](const Event& event) {
            if (const auto* done = std::get_if<StepDone>(&event); done && done->step == 3)
                trainer->commands.push(Measure{.id = "fusion", .value = std::string("kernels"), .budgetSeconds = 600});
            if (const auto* done = std::get_if<StepDone>(&event); done && endAt > 0 && done->step >= endAt) trainer->commands.push(Stop{});
            if (const auto* judged = std::get_if<ExperimentJudged>(&event); judged && judged->over) endAt = judged->step + 20;
            if (also) also(event);
        };
    }
    // The State is written, and then the step throws.
    static StepResult writeAndThrow(const std::function<StepResult()>& real) {
        (void)real();
        throw std::runtime_error("it went wrong behind the update");
    }
    // Beginning with its so many-th step.
    static Interference::Step from(int number, Interference::Step then) {
        return [number, then, made = std::make_shared<int>(0)](const std::function<StepResult()>& real) {
            return ++*made < number ? real() : then(real);
        };
    }
    std::vector<ExperimentJudged> over() const {
        std::vector<ExperimentJudged> all = trainer->sink.all<ExperimentJudged>();
        std::erase_if(all, [](const ExperimentJudged& judged) { return !judged.over; });
        return all;
    }
    // The run trains on with its own value, and no step is missing or made twice.
    void expectItGoesOn(const std::string& why) {
        EXPECT_EQ(trainer->run().state, RunState::Stopped);
        const auto judged = over();
        ASSERT_EQ(judged.size(), 1u);
        EXPECT_THAT(judged[0].why, StartsWith(why));
        EXPECT_THAT(judged[0].why, Not(HasSubstr("was stopped")));
        const auto steps = trainer->sink.all<StepDone>();
        for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i].step, static_cast<std::int64_t>(i) + 1);
        EXPECT_FALSE(steps.back().disturbed);
        EXPECT_TRUE(trainer->sink.all<SwitchApplied>().empty());
        const auto lines = trainer->sink.all<LogLine>();
        EXPECT_TRUE(std::ranges::any_of(lines, [&](const LogLine& line) {
            return line.level == LogLevel::Warning && line.text.starts_with("The measurement ends here: " + why);
        }));
    }
    void expectItEndsJudged(const char* why) {
        const TrainerOutcome outcome = trainer->run();
        EXPECT_EQ(outcome.state, RunState::Failed);
        EXPECT_THAT(outcome.error.sentence, HasSubstr(why));
        const auto judged = over();
        ASSERT_EQ(judged.size(), 1u) << "what was measured is not lost with the run";
        EXPECT_THAT(judged[0].why, HasSubstr(why));
    }

    Registry registry{testing::plainCpu()};
    Interference interference;
    PlayedFactory factory{registry, interference};
    std::optional<testing::TinyTrainer> trainer;
    std::int64_t endAt = 0;
    std::int64_t validationEvery = 0;
    std::function<void(const Event&)> also;
};

TEST_F(InRunBreaks, TheRunGoesOnWhereTheOtherValueDiverges) {
    interference.step["kernels"] = from(20, [](const auto&) { return noNumber(); });
    expectItGoesOn("fusion kernels diverged");
}

TEST_F(InRunBreaks, TheRunGoesOnWhereTheOtherValueRunsOutOfMemory) {
    interference.step["kernels"] = from(20, [](const auto&) -> StepResult { throw std::bad_alloc(); });
    expectItGoesOn("fusion kernels cannot go on: The run needs more memory");
}

TEST_F(InRunBreaks, TheRunGoesOnWhereBothTogetherLeaveItsOwnValueTooLittleMemory) {
    bool once = false;
    interference.step["off"] = from(20, [&](const auto& real) {
        if (!std::exchange(once, true)) throw std::bad_alloc();
        return real();
    });
    expectItGoesOn("fusion off cannot go on: The run needs more memory");
}

TEST_F(InRunBreaks, ARunWhoseOwnValueDivergesMeanwhileFailsAndSaysWhatWasMeasured) {
    interference.step["off"] = from(20, [](const auto&) { return noNumber(); });
    expectItEndsJudged("is not a number at step");
}

TEST_F(InRunBreaks, WhereTheStateWasWrittenTheRunFailsAndSaysWhatWasMeasured) {
    interference.step["kernels"] = from(20, writeAndThrow);
    expectItEndsJudged("it went wrong behind the update");
}

TEST_F(InRunBreaks, AFlipThatIsRefusedOrChangesNothingLeavesItAlone) {
    std::int64_t blocks = 0;
    also = [&](const Event& event) {
        if (!std::holds_alternative<BlockDone>(event)) return;
        ++blocks;
        if (blocks == 1) {
            trainer->commands.push(Flip{"amp", std::string("fp7")});
            trainer->commands.push(Flip{"fusion", std::string("off")});
        }
        if (blocks == 3) trainer->commands.push(StopMeasuring{});
    };
    EXPECT_EQ(trainer->run().state, RunState::Stopped);
    EXPECT_EQ(trainer->sink.all<SwitchRefused>().size(), 1u);
    EXPECT_EQ(trainer->sink.all<BlockDone>().size(), 3u);
    EXPECT_EQ(over().size(), 1u);
}

TEST_F(InRunBreaks, APauseIsNoTimeOfItsAndTheBlockUnderWayBeginsAnew) {
    constexpr std::int64_t kPausedAt = 60;
    std::thread resumes;
    also = [&](const Event& event) {
        if (const auto* done = std::get_if<StepDone>(&event); done && done->step == kPausedAt) trainer->commands.push(Pause{});
        if (const auto* state = std::get_if<StateChanged>(&event); state && state->state == RunState::Paused)
            resumes = std::thread([this] {
                std::this_thread::sleep_for(std::chrono::milliseconds(400));
                trainer->commands.push(Resume{});
            });
        if (const auto* block = std::get_if<BlockDone>(&event); block && block->step > kPausedAt) trainer->commands.push(StopMeasuring{});
    };
    EXPECT_EQ(trainer->run().state, RunState::Stopped);
    ASSERT_TRUE(resumes.joinable());
    resumes.join();
    for (const BlockDone& block : trainer->sink.all<BlockDone>())
        EXPECT_TRUE(block.step <= kPausedAt || block.step - block.steps >= kPausedAt) << "a block of steps from before the pause and after it";
    const auto judged = over();
    ASSERT_EQ(judged.size(), 1u);
    EXPECT_GE((judged[0].at - trainer->sink.all<ExperimentBegan>()[0].at).seconds(), judged[0].seconds + 0.35);
}

// More than any block of the tiny model takes, in pages and in bytes of a tensor.
TEST_F(InRunBreaks, WhatValidationTakesIsNotPartOfTheBlocks) {
    constexpr std::size_t kPages = 8192, kPage = 4096;
    constexpr std::int64_t kFloats = 16 << 20;
    validationEvery = 7;
    SetUp();
    interference.validation = [] {
        void* memory = mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(memory, MAP_FAILED);
        madvise(memory, kPages * kPage, MADV_NOHUGEPAGE);
        for (std::size_t page = 0; page < kPages; ++page) static_cast<volatile char*>(memory)[page * kPage] = 1;
        munmap(memory, kPages * kPage);
        (void)at::ones({kFloats});
    };
    std::int64_t blocks = 0;
    also = [&](const Event& event) {
        if (std::holds_alternative<BlockDone>(event) && ++blocks == 4) trainer->commands.push(StopMeasuring{});
    };
    EXPECT_EQ(trainer->run().state, RunState::Stopped);
    EXPECT_FALSE(trainer->sink.all<ValidationDone>().empty());
    for (const BlockDone& block : trainer->sink.all<BlockDone>()) {
        EXPECT_LT(block.pageFaults, static_cast<std::int64_t>(kPages));
        ASSERT_TRUE(std::isfinite(block.peakBytes));
        EXPECT_LT(block.peakBytes, kFloats * 4);
    }
}

// However long a block is: of the steps that the run made, those that something else was done in or behind are in none.
TEST_F(InRunBreaks, CapturesTextAndCheckpointsAreKeptOutOfTheBlocks) {
    constexpr std::int64_t kCaptured = 10, kWritten = 10, kCheckpoints = 10;
    const auto folder = std::filesystem::temp_directory_path() / fmt::format("stepscope-in-run-breaks-{}", ::getpid());
    trainer->setup.generate = [this](const GenerateText&, const TrainState&, bool) { trainer->disturbances = 1; };
    std::int64_t last = 0;
    also = [&](const Event& event) {
        if (const auto* done = std::get_if<StepDone>(&event)) {
            if (done->step == 40) trainer->commands.push(Capture{.steps = kCaptured});
            if (done->step == 70) trainer->commands.push(GenerateText{});
            if (done->step == 70 + kWritten) trainer->disturbances = 0;
            if (done->step >= 100 && done->step < 100 + 3 * kCheckpoints && done->step % 3 == 0)
                trainer->commands.push(SaveCheckpoint{(folder / std::to_string(done->step)).string()});
        }
        if (const auto* block = std::get_if<BlockDone>(&event); block && block->step > 200) {
            last = block->step;
            trainer->commands.push(StopMeasuring{});
        }
    };
    EXPECT_EQ(trainer->run().state, RunState::Stopped);
    EXPECT_GE(trainer->sink.all<CheckpointSaved>().size(), static_cast<std::size_t>(kCheckpoints));
    EXPECT_EQ(trainer->sink.all<CaptureDone>().size(), 1u);
    std::int64_t inBlocks = 0;
    for (const BlockDone& block : trainer->sink.all<BlockDone>())
        if (block.step <= last) inBlocks += block.warmUp + block.steps;
    // A checkpoint costs the step behind it, unless a block ends just there.
    EXPECT_LE(inBlocks, last - 3 - kCaptured - kWritten - kCheckpoints / 2);
    std::filesystem::remove_all(folder);
}

TEST_F(InRunBreaks, MemoryOfABlockIsThatOfItsArmAlone) {
    constexpr std::int64_t kFloats = 16 << 20;
    interference.memory["kernels"] = [] { return at::ones({kFloats}); };
    std::int64_t blocks = 0;
    also = [&](const Event& event) {
        if (std::holds_alternative<BlockDone>(event) && ++blocks == 4) trainer->commands.push(StopMeasuring{});
    };
    EXPECT_EQ(trainer->run().state, RunState::Stopped);
    const auto all = trainer->sink.all<BlockDone>();
    ASSERT_EQ(all.size(), 4u);
    for (const BlockDone& block : all) {
        ASSERT_TRUE(std::isfinite(block.peakBytes));
        if (block.arm == Arm::A)
            EXPECT_LT(block.peakBytes, kFloats * 4) << "what the other value's Program keeps is not this one's";
        else
            EXPECT_GT(block.peakBytes, kFloats * 4);
    }
}

TEST_F(InRunBreaks, UpdatesThatFp16LeavesOutCountInTimeAndNotInTokens) {
    interference.step["kernels"] = testing::everySecondLeftOut();
    std::int64_t blocks = 0;
    also = [&](const Event& event) {
        if (std::holds_alternative<BlockDone>(event) && ++blocks == 4) trainer->commands.push(StopMeasuring{});
    };
    EXPECT_EQ(trainer->run().state, RunState::Stopped);
    for (const BlockDone& block : trainer->sink.all<BlockDone>()) {
        const std::int64_t whole = block.steps * 4 * 12;
        EXPECT_GE(block.steps, 3);
        if (block.arm == Arm::A)
            EXPECT_EQ(block.tokens, whole);
        else
            EXPECT_NEAR(static_cast<double>(block.tokens), static_cast<double>(whole) / 2, 4 * 12);
    }
}

TEST_F(InRunBreaks, AskedAgainItTossesOtherCoins) {
    int began = 0;
    also = [&](const Event& event) {
        if (std::holds_alternative<ExperimentBegan>(event)) ++began;
        if (std::holds_alternative<BlockDone>(event)) trainer->commands.push(StopMeasuring{});
        if (const auto* judged = std::get_if<ExperimentJudged>(&event); judged && judged->over && began == 1) {
            endAt = 0;
            trainer->commands.push(Measure{.id = "fusion", .value = std::string("kernels"), .budgetSeconds = 600});
        }
    };
    EXPECT_EQ(trainer->run().state, RunState::Stopped);
    const auto all = trainer->sink.all<ExperimentBegan>();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_NE(all[0].seed, all[1].seed);
}

}  // namespace
}  // namespace stepscope
