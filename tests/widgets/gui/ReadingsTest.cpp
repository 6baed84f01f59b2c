// What the top bar is told about a run and about a stored session.
#include <gtest/gtest.h>

#include <cmath>

#include "app/gui/wiring/Readings.h"

namespace stepscope {
namespace {

RunHistory historyOf(bool replay) {
    auto info = std::make_shared<SessionInfo>();
    info->config->steps = 500;
    RunHistory history;
    history.append(SessionStarted{3, info, replay});
    history.append(StateChanged{TimeNs{}, 0, RunState::Running, ""});
    for (std::int64_t step = 1; step <= 20; ++step) {
        StepDone done;
        done.step = step;
        done.duration = TimeNs{20'000'000};
        done.at = TimeNs{step * 20'000'000};
        done.tokens = 1536;
        history.append(done);
    }
    return history;
}

TEST(Readings, TellTokensAndTheTimeLeftOfALiveRun) {
    const RunReading reading = readingOf(historyOf(false), RunController::Phase::Live, RunState::Running);
    EXPECT_EQ(reading.tokens, 20 * 1536);
    EXPECT_NEAR(reading.secondsLeft, 480 * 0.02, 0.1);
}

TEST(Readings, HaveTheLossOfTheLastStepAndBesideItTheSmoothedOne) {
    RunHistory history = historyOf(false);
    for (const double loss : {3.0, 7.0}) {
        StepDone done;
        done.step = history.steps().step.back() + 1;
        done.duration = TimeNs{20'000'000};
        done.loss = loss;
        history.append(done);
    }
    const RunReading reading = readingOf(history, RunController::Phase::Live, RunState::Running);
    EXPECT_DOUBLE_EQ(reading.loss, 7) << "of the last step, not of those before it";
    EXPECT_DOUBLE_EQ(reading.smoothedLoss, history.steps().smoothedLoss.at(history.rows() - 1, CentredSmoothing::kHalf)) << "the chart's bold line";
    EXPECT_LT(reading.smoothedLoss, 6);
}

TEST(Readings, OfAReplayHaveTheStoredStateAndNoTimeLeft) {
    const RunHistory killed = historyOf(true);
    const RunReading reading = readingOf(killed, RunController::Phase::None, RunState::Preparing, RunState::Interrupted);
    EXPECT_EQ(reading.state, RunState::Interrupted) << "its last event says running";
    EXPECT_TRUE(std::isnan(reading.secondsLeft));
    EXPECT_EQ(readingOf(killed, RunController::Phase::None, RunState::Preparing).state, RunState::Running) << "not listed yet";
}

TEST(Readings, TheScrubBarHasNoMoreMarksThanPlacesHoweverManyFlipsThereAre) {
    RunHistory history = historyOf(true);
    constexpr std::int64_t kFlips = 50'000;
    const TimeNs first = TimeNs::fromSeconds(history.last().seconds), end = first + TimeNs{kFlips * 1'000'000};
    for (std::int64_t i = 0; i < kFlips; ++i)
        history.append(SwitchApplied{20, first + TimeNs{i * 1'000'000}, "amp", std::string("off"), std::string("bf16"), ""});
    history.append(CheckpointSaved{20, end, {}, "here"});
    const std::vector<ScrubMark> marks = scrubMarks(history, end);
    ASSERT_GE(marks.size(), 2u);
    EXPECT_LE(marks.size(), 2 * 2001u);
    EXPECT_TRUE(marks.front().label.startsWith("amp: off → bf16 from step 21 on.")) << marks.front().label.toStdString();
    EXPECT_EQ(marks.back().shape, ScrubMark::Shape::Square);
    EXPECT_EQ(marks.back().fraction, 1.0);
    std::int64_t flips = 0;
    for (const ScrubMark& mark : marks) {
        if (mark.shape != ScrubMark::Shape::Tick) continue;
        const QStringList more = mark.label.split(" … and ");
        flips += 1 + (more.size() > 1 ? more[1].split(' ')[0].toLongLong() : 0);
    }
    EXPECT_EQ(flips, kFlips) << "each is in one of them";
}

}  // namespace
}  // namespace stepscope
