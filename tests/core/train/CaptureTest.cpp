// The Capture command: which steps are observed, what the event says of them, and that nothing silences it: not the counting of a Program's second
// and fifth step, not a flip, not the end of the run.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>

#include "TinyTraining.h"
#include "core/base/OperationSpan.h"
#include "core/events/Event.h"
#include "core/events/ProfileSchedule.h"

namespace stepscope {
namespace {

using testing::TinyTrainer;

RunConfig captureConfig(std::int64_t steps, const std::string& fusion = "off") {
    const Registry registry(testing::plainCpu());
    RunConfig made = testing::tinyConfig(registry, steps);
    made.switches["fusion"] = fusion;
    return made;
}

std::vector<std::string> captureWarnings(const TinyTrainer& trainer) {
    std::vector<std::string> found;
    for (const auto& line : trainer.sink.all<LogLine>())
        if (line.level == LogLevel::Warning) found.push_back(line.text);
    return found;
}

TEST(Capture, IsOfTheStepsThatWereAskedForAndMarksThem) {
    TinyTrainer trainer(captureConfig(12));
    trainer.commands.push(Capture{.steps = 3, .firstStep = 7});
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    const auto captures = trainer.sink.all<CaptureDone>();
    ASSERT_EQ(captures.size(), 1u);
    EXPECT_EQ(captures[0].firstStep, 7);
    EXPECT_EQ(captures[0].step, 9);
    EXPECT_EQ(captures[0].steps, 3);
    EXPECT_EQ(captures[0].leftOut, 0);
    TimeNs duration;
    std::set<std::int64_t> disturbed;
    for (const auto& step : trainer.sink.all<StepDone>()) {
        if (step.step >= 7 && step.step <= 9) duration += step.duration;
        if (step.disturbed) disturbed.insert(step.step);
    }
    EXPECT_EQ(captures[0].duration, duration);
    EXPECT_EQ(disturbed, (std::set<std::int64_t>{7, 8, 9})) << "they are slower than the others";
}

// "kernels" and "step" have operations of our own beside LibTorch's.
class CaptureOf : public ::testing::TestWithParam<std::string> {};

TEST_P(CaptureOf, TheCountedStepsSeesAsMuchAsTheCounterAndIsNotSilenced) {
    TinyTrainer trainer(captureConfig(9, GetParam()));
    trainer.commands.push(Capture{.steps = 8, .firstStep = 2});  // the second and the fifth step are counted too
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    const auto captures = trainer.sink.all<CaptureDone>();
    ASSERT_EQ(captures.size(), 1u);
    EXPECT_EQ(captures[0].steps, 8);
    EXPECT_DOUBLE_EQ(captures[0].operations, trainer.sink.all<StepDone>().back().operations) << "every step was seen, and every one whole";
    std::int64_t launches = 0, ours = 0;
    for (const auto& row : *captures[0].rows) {
        launches += row.launches;
        ours += row.ours ? row.launches : 0;
        EXPECT_GE(row.total, row.self) << row.name;
        EXPECT_FALSE(row.kind.empty()) << row.name;
    }
    EXPECT_DOUBLE_EQ(static_cast<double>(launches), 8 * captures[0].operations);
    EXPECT_EQ(ours > 0, GetParam() != "off");
}

INSTANTIATE_TEST_SUITE_P(Programs, CaptureOf, ::testing::Values("off", "kernels", "step"), [](const auto& info) { return info.param; });

TEST(Capture, GoesOnOverAFlip) {
    TinyTrainer trainer(captureConfig(12));
    trainer.commands.push(Capture{.steps = 6, .firstStep = 3});
    trainer.sink.onEvent = [&](const Event& event) {
        if (const auto* step = std::get_if<StepDone>(&event); step != nullptr && step->step == 5)
            trainer.commands.push(Flip{"fusion", std::string("step")});
    };
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    const auto captures = trainer.sink.all<CaptureDone>();
    ASSERT_EQ(captures.size(), 1u);
    std::set<std::string> names;
    for (const auto& row : *captures[0].rows) names.insert(row.name);
    EXPECT_TRUE(names.contains("norm + QKV")) << "of the planned step";
    EXPECT_TRUE(names.contains("aten::native_layer_norm")) << "of the eager one";
}

TEST(Capture, BeginsWithTheNextStepWhenItsOwnIsPast) {
    TinyTrainer trainer(captureConfig(8));
    trainer.sink.onEvent = [&](const Event& event) {
        if (const auto* step = std::get_if<StepDone>(&event); step != nullptr && step->step == 4)
            trainer.commands.push(Capture{.steps = 1, .firstStep = 2});
    };
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    ASSERT_EQ(trainer.sink.all<CaptureDone>().size(), 1u);
    EXPECT_EQ(trainer.sink.all<CaptureDone>()[0].firstStep, 5);
}

TEST(Capture, IsCutByTheEndOfTheRunAndSaysSo) {
    TinyTrainer trainer(captureConfig(6));
    trainer.commands.push(Capture{.steps = 10, .firstStep = 5});
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    ASSERT_EQ(trainer.sink.all<CaptureDone>().size(), 1u);
    EXPECT_EQ(trainer.sink.all<CaptureDone>()[0].steps, 2);
    EXPECT_EQ(captureWarnings(trainer), std::vector<std::string>{"The capture has 2 of 10 steps: the run has ended."});
}

TEST(Capture, OfAStepThatNeverCameIsNotForgottenInSilence) {
    TinyTrainer trainer(captureConfig(6));
    trainer.commands.push(Capture{.steps = 1, .firstStep = 50});
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    EXPECT_TRUE(trainer.sink.all<CaptureDone>().empty());
    EXPECT_EQ(captureWarnings(trainer), std::vector<std::string>{"Nothing was captured: the run has ended before step 50."});
}

TEST(Capture, IsRefusedWhileAnotherIsAskedForAndWhereItCannotBe) {
    TinyTrainer trainer(captureConfig(6));
    trainer.commands.push(Capture{.steps = 1, .firstStep = 4});
    trainer.commands.push(Capture{.steps = 1, .firstStep = 5, .warmUp = 1});
    trainer.commands.push(Capture{.steps = 0});
    trainer.commands.push(Capture{.steps = kMostCapturedSteps + 1});
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    ASSERT_EQ(trainer.sink.all<CaptureDone>().size(), 1u);
    EXPECT_EQ(captureWarnings(trainer),
              (std::vector<std::string>{"A capture is to begin at step 4; ask again when it is done.", "A capture is of 1 to 1000 steps, not of 0.",
                                        "A capture is of 1 to 1000 steps, not of 1001."}));
}

TEST(Capture, RoundsThatAreAskedForAtOnceAreMadeOneBehindTheOther) {
    TinyTrainer trainer(captureConfig(14));
    for (const Capture& round : capturesOf({.wait = 1, .warmup = 1, .active = 2, .repeat = 4}, 0)) trainer.commands.push(round);
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    std::vector<std::pair<std::int64_t, std::int64_t>> rounds;
    for (const auto& done : trainer.sink.all<CaptureDone>()) rounds.emplace_back(done.firstStep, done.steps);
    EXPECT_EQ(rounds, (std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 2}, {7, 2}, {11, 2}}));
    std::set<std::int64_t> disturbed;
    for (const auto& step : trainer.sink.all<StepDone>())
        if (step.disturbed) disturbed.insert(step.step);
    EXPECT_EQ(disturbed, (std::set<std::int64_t>{2, 3, 4, 6, 7, 8, 10, 11, 12, 14})) << "those that warm up are observed, too, and no other";
    EXPECT_EQ(captureWarnings(trainer), std::vector<std::string>{"Nothing was captured: the run has ended before step 15."});
}

TEST(Capture, EndsWhereCapturesTakeAllTheRoomThatTheyMayAndNoOtherBegins) {
    TinyTrainer trainer(captureConfig(12));
    std::atomic<std::int64_t> stored = 0;
    trainer.setup.captureCap = 2'000'000;
    trainer.setup.captureBytes = [&] { return stored.load(); };
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* step = std::get_if<StepDone>(&event);
        if (step == nullptr) return;
        if (step->step == 5) stored = 2'000'000;
        if (step->step == 8) trainer.commands.push(Capture{});
    };
    trainer.commands.push(Capture{.steps = 8, .firstStep = 3});
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    const auto captures = trainer.sink.all<CaptureDone>();
    ASSERT_EQ(captures.size(), 1u);
    EXPECT_EQ(captures[0].firstStep, 3);
    EXPECT_EQ(captures[0].steps, 3) << "what was captured is kept";
    const auto said = captureWarnings(trainer);
    ASSERT_EQ(said.size(), 2u);
    EXPECT_EQ(said[0],
              "The capture ends after 3 of 8 steps: its captures take 2.00\u202FMB on the disk, and 2.00\u202FMB is the most for a session "
              "(--capture-cap). What was "
              "captured is kept.");
    EXPECT_EQ(said[1],
              "Nothing more is captured in this session: its captures take 2.00\u202FMB on the disk, and 2.00\u202FMB is the most for a session "
              "(--capture-cap).");
    EXPECT_EQ(trainer.sink.all<StepDone>().size(), 12u) << "the run goes on";
}

TEST(Capture, RoundsForWhichThereIsNoRoomAreNotMadeAndThatIsSaidOnce) {
    TinyTrainer trainer(captureConfig(30));
    std::atomic<std::int64_t> stored = 0;
    trainer.setup.captureCap = 2'000'000;
    trainer.setup.captureBytes = [&] { return stored.load(); };
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* step = std::get_if<StepDone>(&event);
        if (step != nullptr && step->step == 6) stored = 2'000'000;
    };
    for (const Capture& round : capturesOf({.wait = 2, .active = 2, .repeat = 6}, 0)) trainer.commands.push(round);
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    EXPECT_EQ(trainer.sink.all<CaptureDone>().size(), 2u) << "steps 3 and 4, and 7";
    const auto warnings = captureWarnings(trainer);
    ASSERT_EQ(warnings.size(), 2u);
    EXPECT_TRUE(warnings[0].starts_with("The capture ends after 1 of 2 steps: ")) << warnings[0];
    EXPECT_TRUE(warnings[1].starts_with("4 more captures that were asked for are not made: its captures take ")) << warnings[1];
}

TEST(Capture, IsEndedByAPersonAndKeepsWhatItHasWhileTheRunGoesOn) {
    TinyTrainer trainer(captureConfig(12));
    trainer.commands.push(Capture{.steps = 8, .firstStep = 3});
    trainer.sink.onEvent = [&](const Event& event) {
        if (const auto* step = std::get_if<StepDone>(&event); step != nullptr && step->step == 5) trainer.commands.push(StopCapture{});
    };
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    const auto captures = trainer.sink.all<CaptureDone>();
    ASSERT_EQ(captures.size(), 1u);
    EXPECT_EQ(captures[0].firstStep, 3);
    EXPECT_EQ(captures[0].steps, 3);
    EXPECT_FALSE(captures[0].rows->empty());
    EXPECT_EQ(captureWarnings(trainer), std::vector<std::string>{"The capture has 3 of 8 steps: it was ended."});
    std::set<std::int64_t> disturbed;
    for (const auto& step : trainer.sink.all<StepDone>())
        if (step.disturbed) disturbed.insert(step.step);
    EXPECT_EQ(disturbed, (std::set<std::int64_t>{3, 4, 5})) << "nobody observes the others";
    EXPECT_EQ(trainer.sink.all<StepDone>().size(), 12u);
}

TEST(Capture, AScheduleThatWaitsForLongIsEndedAndAnotherMayBeAskedForAtOnce) {
    TinyTrainer trainer(captureConfig(10));
    for (const Capture& round : capturesOf({.wait = 100'000, .warmup = 2, .active = 2, .repeat = 3}, 0)) trainer.commands.push(round);
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* step = std::get_if<StepDone>(&event);
        if (step == nullptr || step->step != 4) return;
        trainer.commands.push(StopCapture{});
        trainer.commands.push(Capture{.steps = 2});
        trainer.commands.push(StopCapture{});  // before its first step
        trainer.commands.push(Capture{.steps = 1, .firstStep = 8, .warmUp = 2});
        trainer.commands.push(StopCapture{});
        trainer.commands.push(StopCapture{});
        trainer.commands.push(Capture{.steps = 1, .firstStep = 6});
    };
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    const auto captures = trainer.sink.all<CaptureDone>();
    ASSERT_EQ(captures.size(), 1u);
    EXPECT_EQ(captures[0].firstStep, 6);
    EXPECT_EQ(captureWarnings(trainer),
              (std::vector<std::string>{"Nothing was captured: it was ended before step 100003, and so before 2 more rounds.",
                                        "Nothing was captured: it was ended before another step.",
                                        "Nothing was captured: it was ended before step 8.", "No capture is asked for that could be ended."}));
}

TEST(Capture, ThatWarmsUpIsEndedWithNothingAndNobodyIsLeftListening) {
    TinyTrainer trainer(captureConfig(10));
    trainer.commands.push(Capture{.steps = 2, .firstStep = 7, .warmUp = 3});
    bool listening = false;
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* step = std::get_if<StepDone>(&event);
        if (step == nullptr) return;
        if (step->step == 5) trainer.commands.push(StopCapture{});
        listening = listening || (step->step > 5 && !stepObservers.empty());
    };
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    EXPECT_TRUE(trainer.sink.all<CaptureDone>().empty());
    EXPECT_EQ(captureWarnings(trainer), std::vector<std::string>{"Nothing was captured: it was ended before step 7."});
    EXPECT_FALSE(listening);
}

TEST(Capture, SaysWhatRecordingEveryStepTakesOnceEnoughWereNotCaptured) {
    TinyTrainer trainer(captureConfig(14));
    trainer.commands.push(Capture{.steps = 1, .firstStep = 2});
    trainer.commands.push(Capture{.steps = 1, .firstStep = 12});
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    const auto captures = trainer.sink.all<CaptureDone>();
    ASSERT_EQ(captures.size(), 2u);
    EXPECT_TRUE(std::isnan(captures[0].always.recordNs)) << "one step is too few";
    EXPECT_TRUE(std::isnan(captures[0].always.phasesNs));
    EXPECT_GT(captures[1].always.recordNs, 0);
    EXPECT_GT(captures[1].always.phasesNs, 0);
    const auto steps = trainer.sink.all<StepDone>();
    EXPECT_EQ(steps.size(), 14u);
    EXPECT_LT(captures[1].always.phasesNs, 1e9) << "of the phases of one step";
}

TEST(Capture, MayBeAskedForAgainAHundredTimes) {
    TinyTrainer trainer(captureConfig(120));
    trainer.sink.onEvent = [&](const Event& event) {
        if (const auto* step = std::get_if<StepDone>(&event); step != nullptr && step->step % 10 == 0)
            trainer.commands.push(Flip{"fusion", std::string(step->step % 20 == 0 ? "step" : "kernels")});
        if (const auto* step = std::get_if<StepDone>(&event); step != nullptr) trainer.commands.push(Capture{});
    };
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    const auto captures = trainer.sink.all<CaptureDone>();
    ASSERT_GE(captures.size(), 100u);
    for (const auto& capture : captures) EXPECT_GT(capture.operations, 0) << "step " << capture.step << ": never deaf";
    EXPECT_TRUE(stepObservers.empty()) << "and nobody is left listening";
}

TEST(Capture, LosesNothingOfTheRun) {
    TinyTrainer plain(captureConfig(8)), captured(captureConfig(8));
    captured.commands.push(Capture{.steps = 5, .firstStep = 2});
    plain.run();
    captured.run();
    EXPECT_EQ(plain.sink.losses(), captured.sink.losses());
}

}  // namespace
}  // namespace stepscope
