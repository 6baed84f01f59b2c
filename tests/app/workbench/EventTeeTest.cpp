// What the engine keeps of a run for its summary and its last words: figures of short runs by hand, and of runs of any length in bounded memory.
#include <gtest/gtest.h>
#include <malloc.h>

#include "app/workbench/EventTee.h"
#include "core/events/ConfigJson.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"

namespace stepscope {
namespace {

class Deaf final : public EventSink {
public:
    void publish(Event) override { ++heard; }
    std::int64_t heard = 0;
};

struct EventTeeTest : ::testing::Test {
    Deaf listener;
    EventTee tee{listener};

    EventTeeTest() {
        auto info = std::make_shared<SessionInfo>();
        info->config = presetConfig("tiny-cpu").value();
        tee.publish(SessionStarted{7, info, false});
    }
    void step(std::int64_t number, double ms = 10, double loss = 2) {
        StepDone done;
        done.step = number;
        done.at = TimeNs{number * 10'000'000};
        done.duration = TimeNs{static_cast<std::int64_t>(ms * 1e6)};
        done.loss = loss;
        done.learningRate = 1e-3;
        done.tokens = 500;
        tee.publish(done);
    }
};

TEST_F(EventTeeTest, WhatIsNotStoredIsToldOnceWhetherItCameInTheMiddleOrAtTheEnd) {
    const std::int64_t before = listener.heard;
    const Error gone = makeError(ErrorCode::Damaged, "Recording of session 7 ends here.");
    tee.tellUnstored(gone, {});
    tee.tellUnstored(gone, {});  // what finish() says of it again
    EXPECT_EQ(listener.heard, before + 1);
    tee.tellUnstored(makeError(ErrorCode::Io, "The disk is full."), {});
    EXPECT_EQ(listener.heard, before + 2);
}

TEST_F(EventTeeTest, SpeedIsOfTokensThatEachStepHadWhereTheirNumberChanged) {
    for (int i = 1; i <= 40; ++i) {
        StepDone done;
        done.step = i;
        done.tokens = i <= 30 ? 100 : 800;
        done.duration = TimeNs{i <= 30 ? 10'000'000 : 80'000'000};
        tee.publish(done);
    }
    EXPECT_DOUBLE_EQ(tee.summary().tokensPerSecond, 10'000);
}

TEST_F(EventTeeTest, SumsARunUpByItsMedianStepItsLossesAndWhatItTook) {
    for (int i = 1; i <= 9; ++i) step(i, i <= 3 ? 100 : 10 + i, 4.0 / i);
    tee.publish(ValidationDone{9, {}, TimeNs::fromSeconds(0.25), 0.5});
    tee.publish(StateChanged{{}, 9, RunState::Stopped, "by hand"});
    const RunSummary summary = tee.summary();
    EXPECT_EQ(summary.session, 7);
    EXPECT_EQ(summary.steps, 9);
    EXPECT_DOUBLE_EQ(summary.lossFirst, 4);
    EXPECT_DOUBLE_EQ(summary.lossLast, 4.0 / 9);
    EXPECT_DOUBLE_EQ(summary.validationLoss, 0.5);
    EXPECT_DOUBLE_EQ(summary.msPerStepMedian, 16.5) << "of 14 to 19 ms; the first three are slow";
    EXPECT_DOUBLE_EQ(summary.tokensPerSecond, 500 / 16.5e-3);
    EXPECT_EQ(summary.why, "by hand");
    const RunTook took = tee.took();
    EXPECT_EQ(took.steps, 9);
    EXPECT_EQ(took.validations, 1);
    EXPECT_DOUBLE_EQ(took.validationSeconds, 0.25);
    EXPECT_TRUE(took.asBegun);
    tee.publish(SwitchApplied{.step = 10, .at = {}, .id = "zero-grad", .from = std::string("set-to-none"), .to = std::string("zero")});
    EXPECT_FALSE(tee.took().asBegun) << "its steps are of two settings";
    EXPECT_EQ(listener.heard, 13) << "each event is handed on once";
}

// A run of two days, at twenty steps a second.
TEST_F(EventTeeTest, FourMillionStepsTakeNoMoreMemoryThanAHundredThousand) {
    for (std::int64_t i = 1; i <= 100'000; ++i) step(i);
    const auto before = ::mallinfo2();
    for (std::int64_t i = 100'001; i <= 4'000'000; ++i) step(i);
    const auto after = ::mallinfo2();
    EXPECT_LT(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd + (std::size_t{2} << 20)) << "24 bytes a step would be 94 MB";
    EXPECT_EQ(tee.summary().steps, 4'000'000);
    EXPECT_DOUBLE_EQ(tee.summary().msPerStepMedian, 10);
    EXPECT_EQ(tee.took().steps, 4'000'000);
}

TEST_F(EventTeeTest, AnAnswerThatIsToldAgainWithItsReasonsIsOneAndKnowsWhichValueStayed) {
    RunConfig off, on;
    off.switches["fusion"] = std::string("off");
    on.switches["fusion"] = std::string("on");
    tee.publish(ExperimentBegan{.configA = configToJson(off), .configB = configToJson(on), .question = "q", .delta = 0.02});
    tee.publish(ExperimentJudged{.pair = 0, .sameArm = 0.01});
    tee.publish(ExperimentJudged{.pair = 1, .sameArm = 0.01, .discarded = true});
    tee.publish(ExperimentJudged{.pair = 2});
    tee.publish(ExperimentJudged{.over = true, .outcome = "faster"});
    ASSERT_EQ(tee.summary().answers.size(), 1u);
    EXPECT_FALSE(tee.summary().answers[0].changed);
    tee.publish(
        SwitchApplied{.step = 3, .at = {}, .id = "fusion", .from = std::string("off"), .to = std::string("on"), .note = "whatever words it has"});
    tee.publish(ExperimentJudged{.over = true, .outcome = "faster", .why = "And why."});
    ASSERT_EQ(tee.summary().answers.size(), 1u);
    const ExperimentAnswer answer = tee.summary().answers[0];
    EXPECT_EQ(answer.began.question, "q");
    EXPECT_EQ(answer.judged.why, "And why.");
    EXPECT_EQ(answer.same, 1u);
    EXPECT_TRUE(answer.changed);
    tee.publish(ExperimentBegan{.configA = configToJson(on), .configB = configToJson(off), .question = "another"});
    tee.publish(ExperimentJudged{.over = true, .outcome = "slower"});
    tee.publish(SwitchApplied{.step = 9, .at = {}, .id = "fusion", .from = std::string("on"), .to = std::string("off"), .note = kMeasuredNote});
    ASSERT_EQ(tee.summary().answers.size(), 2u);
    EXPECT_FALSE(tee.summary().answers[1].changed) << "that flip was a person's";
    EXPECT_EQ(tee.summary().answers[1].same, 0u);
}

TEST_F(EventTeeTest, AnAnswerKnowsWhatTheMachineDidWhileItsBlocksRanAndNotBefore) {
    const auto samples = [&](double from, double to, double mhz) {
        for (double at = from; at < to; at += 0.5) {
            DeviceSample sample;
            sample.at = TimeNs::fromSeconds(at);
            sample.cpuClockMhz = mhz;
            tee.publish(sample);
        }
    };
    samples(0, 20, 3500);
    tee.publish(ExperimentBegan{.configA = "{}", .configB = "{}"});
    samples(20, 25, 3000);
    tee.publish(BlockDone{.at = TimeNs::fromSeconds(21), .duration = TimeNs::fromSeconds(1), .pair = 0});
    samples(25, 30, 2000);
    tee.publish(BlockDone{.at = TimeNs::fromSeconds(30), .duration = TimeNs::fromSeconds(1), .pair = 0, .arm = Arm::B});
    tee.publish(ExperimentJudged{.over = true, .pair = 0});
    samples(30, 50, 1000);
    ASSERT_EQ(tee.summary().answers.size(), 1u);
    EXPECT_EQ(tee.summary().answers[0].machine.cpuMhzLow, 2000);
    EXPECT_EQ(tee.summary().answers[0].machine.cpuMhzHigh, 3000);
}

}  // namespace
}  // namespace stepscope
