// A history holds what the events said, forgets at SessionStarted, and takes a million steps in its stride.
#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "core/analysis/RunHistory.h"
#include "core/events/ConfigJson.h"
#include "core/events/Event.h"
#include "tests/support/Sanitized.h"

namespace stepscope {
namespace {

SessionStarted started(std::int64_t steps, std::int64_t firstStep = 0) {
    auto info = std::make_shared<SessionInfo>();
    info->config->steps = steps;
    info->firstStep = firstStep;
    return {7, info, false};
}

StepDone step(std::int64_t number, double ms = 10, double loss = 3) {
    StepDone event;
    event.step = number;
    event.at = TimeNs::fromSeconds(static_cast<double>(number) * ms / 1000);
    event.duration = {static_cast<std::int64_t>(ms * 1e6)};
    event.loss = loss;
    event.learningRate = 1e-3;
    event.tokens = 1000;
    event.phaseNs = {0, 0, 3'000'000, 5'000'000, 0, 1'000'000};
    event.residentBytes = 500'000'000;
    return event;
}

TEST(RunHistory, TurnsStepsIntoColumns) {
    RunHistory history;
    EXPECT_FALSE(history.started());
    history.append(started(100));
    for (int i = 1; i <= 50; ++i) history.append(step(i));
    ASSERT_EQ(history.rows(), 50u);
    EXPECT_EQ(history.session(), 7);
    EXPECT_EQ(history.steps().step.back(), 50);
    EXPECT_EQ(history.steps().tokens.back(), 50'000);
    EXPECT_NEAR(history.steps().seconds.back(), 0.5, 1e-9);
    EXPECT_NEAR(history.steps().smoothedLoss.at(49, 10), 3, 1e-6);
    EXPECT_NEAR(history.steps().tokensPerSecond.back(), 100'000, 1);
    EXPECT_NEAR(history.steps().rateP10.back(), 100'000, 1);
    EXPECT_NEAR(history.steps().phaseMs[static_cast<std::size_t>(Phase::Backward)].mean(0, 50), 5, 1e-9);
    EXPECT_NEAR(history.steps().otherMs.mean(10, 20), 1, 1e-9);
    EXPECT_EQ(history.steps().lossScale.extremes(0, 50).any, false);
}

TEST(RunHistory, AddsUpTheEnergyThatTheSamplesTellAndNeverGoesBack) {
    RunHistory history;
    history.append(started(100));
    std::int64_t done = 0;
    const auto steps = [&](std::int64_t count) {
        for (const std::int64_t end = done + count; done < end;) history.append(step(++done));
    };
    const auto sample = [&](double processors, double gpus) {
        history.append(DeviceSample{.at = TimeNs::fromSeconds(static_cast<double>(done) / 100), .gpuPowerW = gpus, .cpuPowerW = processors});
    };
    steps(10);
    sample(50, kUnknown);  // of a time before it, too
    EXPECT_FALSE(history.knowsEnergy());
    steps(10);
    EXPECT_EQ(history.last().joules, 0);
    sample(50, 150);
    EXPECT_TRUE(history.knowsEnergy());
    EXPECT_NEAR(history.device().place.back().joules, 0.1 * 200, 1e-9);
    steps(10);
    EXPECT_NEAR(history.last().joules, 40, 1e-6) << "as much a second as the newest sample told";
    EXPECT_NEAR(history.x(XAxis::Energy, 24), 30, 1e-6);
    sample(20, kUnknown);
    EXPECT_NEAR(history.device().place.back().joules, 22, 1e-9);
    steps(150);
    EXPECT_NEAR(history.last().joules, 22 + 1.5 * 20, 1e-6) << "what was taken for too much is caught up with";
    for (std::size_t row = 1; row < history.rows(); ++row) ASSERT_GE(history.x(XAxis::Energy, row), history.x(XAxis::Energy, row - 1));
    const double before = history.last().joules;
    for (const double unknown : {kUnknown, -5.0, std::numeric_limits<double>::infinity()}) sample(unknown, kUnknown);
    steps(10);
    EXPECT_GE(history.last().joules, before);
    EXPECT_TRUE(std::isfinite(history.last().joules));
}

TEST(RunHistory, MarksTheSuggestionOfARangeTestWhereTheLossFallsMostSteeplyWhenItEnds) {
    RunHistory history;
    SessionStarted begin = started(200);
    auto info = std::make_shared<SessionInfo>(*begin.info);
    info->config->schedule = "range-test";
    begin.info = info;
    history.append(begin);
    for (int i = 1; i <= 200; ++i) {
        StepDone done = step(i, 10, 5 - 2 / (1 + std::exp(-0.1 * (i - 120))));
        done.learningRate = std::pow(10, -6 + 0.02 * i);
        history.append(done);
    }
    history.append(CheckpointSaved{150, TimeNs::fromSeconds(1.5), {}, "here"});
    EXPECT_EQ(history.markers().size(), 1u) << "not before its end";
    history.append(StateChanged{TimeNs::fromSeconds(2), 200, RunState::Finished, ""});
    ASSERT_EQ(history.markers().size(), 2u);
    const Marker& marker = history.markers()[0];
    EXPECT_EQ(marker.kind, Marker::Kind::Suggestion) << "markers stay in order of place";
    EXPECT_NEAR(marker.place.step, 120, 3);
    EXPECT_NE(marker.label.find("suggested"), std::string::npos) << marker.label;
}

TEST(RunHistory, ForgetsEverythingWhenASessionStartsAgain) {
    RunHistory history;
    history.append(started(100));
    history.append(step(1));
    history.append(ValidationDone{1, {}, {}, 2.5});
    history.append(started(200));
    EXPECT_EQ(history.rows(), 0u);
    EXPECT_TRUE(history.validation().empty());
    EXPECT_TRUE(history.markers().empty());
    EXPECT_EQ(history.numbers().steps, 200);
}

TEST(RunHistory, FindsTheNearestRowUnderEveryAxis) {
    RunHistory history;
    history.append(started(100));
    for (int i = 1; i <= 50; ++i) history.append(step(2 * i));
    EXPECT_EQ(history.rowAt(XAxis::Step, -5), 0u);
    EXPECT_EQ(history.rowAt(XAxis::Step, 4.4), 1u);
    EXPECT_EQ(history.rowAt(XAxis::Step, 5.6), 2u);
    EXPECT_EQ(history.rowAt(XAxis::Step, 1000), 49u);
    EXPECT_EQ(history.rowAt(XAxis::Tokens, 3100), 2u);
    EXPECT_EQ(history.rowAt(XAxis::WallTime, 0.041), 1u);
    EXPECT_EQ(history.firstRowAt(XAxis::Step, 101), 50u);
}

TEST(RunHistory, MarksEveryFlipEvenBeforeTheFirstStep) {
    RunHistory history;
    history.append(started(100));
    history.append(SwitchApplied{0, {10'000'000}, "amp", std::string("off"), std::string("bf16"), ""});
    history.append(SwitchApplied{0, {}, "fusion", std::string("off"), std::string("off"), ""});
    ASSERT_EQ(history.markers().size(), 1u) << "the second moved nothing";
    EXPECT_EQ(history.markers()[0].label, "amp bf16");
    EXPECT_EQ(history.markers()[0].place.step, 0);
    EXPECT_NEAR(history.markers()[0].place.seconds, 0.01, 1e-12);
    history.append(step(1));
    history.append(SwitchApplied{1, {20'000'000}, "amp", std::string("bf16"), std::string("off"), "note."});
    history.append(CheckpointSaved{1, {30'000'000}, {}, "/checkpoints/1"});
    ASSERT_EQ(history.markers().size(), 3u);
    EXPECT_EQ(history.markers()[1].label, "amp off");
    EXPECT_EQ(history.detailOf(history.markers()[1]), "amp: bf16 \u2192 off from step 2 on. note.") << "the first step that has it, as in the log";
    EXPECT_EQ(history.markers()[1].place.step, 1);
    EXPECT_NEAR(history.markers()[1].place.seconds, 0.02, 1e-12);
    EXPECT_EQ(history.config().word("amp"), "off");
}

// No text is kept for each: a stranger's session may hold a million.
TEST(RunHistory, OfManyFlipsKeepsAFewHundredBytesEach) {
    if (underSanitizer()) GTEST_SKIP() << "sanitizers have an allocator of their own";
    constexpr std::int64_t kFlips = 100'000;
    const auto allocated = [] {
        const auto now = ::mallinfo2();
        return static_cast<std::int64_t>(now.uordblks + now.hblkhd);
    };
    const std::int64_t before = allocated();
    RunHistory history;
    history.append(started(100));
    for (std::int64_t i = 0; i < kFlips; ++i) history.append(SwitchApplied{i, {i}, "amp", std::string("off"), std::string("bf16"), ""});
    EXPECT_EQ(history.markers().count(Marker::Kind::Switch), static_cast<std::size_t>(kFlips));
    EXPECT_LT((allocated() - before) / kFlips, 700);
    EXPECT_EQ(history.detailOf(history.markers()[4711]), "amp: off \u2192 bf16 from step 4712 on.");
}

ExperimentBegan turnsBetween(const char* a, const char* b) {
    RunConfig first, second;
    first.switches["amp"] = std::string(a);
    second.switches["amp"] = std::string(b);
    return {.step = 2, .at = {30'000'000}, .configA = configToJson(first), .configB = configToJson(second), .delta = 0.02};
}

ExperimentJudged judgedAs(const char* outcome, double ratio, std::int64_t at = 40'000'000) {
    return {.step = 2, .at = {at}, .over = true, .outcome = outcome, .ratio = ratio, .low = ratio / 1.25, .high = ratio * 1.25, .pairs = 12};
}

TEST(RunHistory, KnowsWhatAFlipDidOnceItsTwoValuesTookTurns) {
    RunHistory history;
    history.append(started(100));
    history.append(step(1));
    history.append(SwitchApplied{1, {10'000'000}, "fusion", std::string("off"), std::string("on"), ""});
    history.append(SwitchApplied{1, {20'000'000}, "amp", std::string("off"), std::string("bf16"), ""});
    history.append(step(2));
    history.append(turnsBetween("bf16", "off"));
    EXPECT_FALSE(history.turnsOfFlip(1)) << "not over yet";
    history.append(judgedAs("faster", 2));
    EXPECT_FALSE(history.isNewestFlipChosenByTurns()) << "that one was asked for";
    history.append(SwitchApplied{2, {50'000'000}, "amp", std::string("bf16"), std::string("off"), "whatever the note says"});
    EXPECT_TRUE(history.isNewestFlipChosenByTurns());
    history.append(SwitchApplied{3, {60'000'000}, "amp", std::string("off"), std::string("bf16"), ""});
    EXPECT_FALSE(history.isNewestFlipChosenByTurns()) << "a person's own, whatever was measured before";
    ASSERT_EQ(history.flips().size(), 4u);
    EXPECT_FALSE(history.turnsOfFlip(0)) << "another switch";
    const auto asked = history.turnsOfFlip(1), made = history.turnsOfFlip(2);
    ASSERT_TRUE(asked && made);
    EXPECT_EQ(asked->judged.outcome, "slower") << "bf16 beside off, as the flip went: the turns were of off beside bf16";
    EXPECT_DOUBLE_EQ(asked->judged.ratio, 0.5);
    EXPECT_DOUBLE_EQ(asked->judged.low, 0.4);
    EXPECT_DOUBLE_EQ(asked->judged.high, 0.625);
    EXPECT_EQ(asked->delta, 0.02);
    EXPECT_EQ(made->judged.outcome, "faster");
    EXPECT_DOUBLE_EQ(made->judged.ratio, 2);
    EXPECT_FALSE(history.turnsOfFlip(3)) << "of a later flip nobody asked";
    EXPECT_FALSE(history.turnsOfFlip(4)) << "there is none";
    EXPECT_EQ(history.markers()[history.markers().size() - 2].flip, 2u);
    history.rewind(TimeNs{35'000'000}, {});
    EXPECT_FALSE(history.turnsOfFlip(1)) << "then nobody knew";
    history.append(judgedAs("inconclusive", 1));
    EXPECT_FALSE(history.turnsOfFlip(1)) << "nothing can be said";
}

TEST(RunHistory, TheMarkOfWhatWasMeasuredNamesTheTwoValuesThatTookTurns) {
    RunHistory history;
    history.append(started(100));
    history.append(step(1));
    const auto newestMark = [&] {
        const Marker& mark = history.markers()[history.markers().size() - 1];
        EXPECT_EQ(mark.kind, Marker::Kind::Measured);
        return history.detailOf(mark);
    };
    history.append(turnsBetween("off", "bf16"));
    history.append(judgedAs("faster", 2));
    EXPECT_TRUE(newestMark().starts_with("amp bf16 beside off: ")) << newestMark();
    EXPECT_EQ(newestMark().find("B beside A"), std::string::npos);
    history.append(turnsBetween("bf16", "fp16"));
    history.append(judgedAs("equivalent", 1, 50'000'000));
    EXPECT_TRUE(newestMark().starts_with("amp fp16 beside bf16: ")) << newestMark();
    EXPECT_NE(newestMark().find("no difference of more than 2 %"), std::string::npos) << "what that measurement counted as equal: " << newestMark();
    history.append(ExperimentBegan{.at = {60'000'000}, .configA = "{", .configB = "not JSON"});
    history.append(judgedAs("faster", 2, 70'000'000));
    EXPECT_TRUE(newestMark().starts_with("B beside A: ")) << "nobody knows what took turns: " << newestMark();
}

TEST(RunHistory, TakesNoOtherTurnsForThoseOfAFlip) {
    RunHistory history;
    history.append(started(100));
    history.append(step(1));
    history.append(SwitchApplied{1, {20'000'000}, "amp", std::string("off"), std::string("bf16"), ""});
    history.append(turnsBetween("bf16", "fp16"));
    history.append(judgedAs("faster", 2));
    EXPECT_FALSE(history.turnsOfFlip(0)) << "of other values";
    history.append(ExperimentBegan{.at = {50'000'000}, .configA = "{", .configB = "not JSON"});
    history.append(judgedAs("faster", 2, 60'000'000));
    EXPECT_FALSE(history.turnsOfFlip(0)) << "of nobody knows what";
    history.append(turnsBetween("off", "bf16"));
    history.append(judgedAs("slower", 0.5, 70'000'000));
    history.append(SwitchApplied{1, {80'000'000}, "amp", std::string("off"), std::string("bf16"), kMeasuredNote});
    EXPECT_FALSE(history.isNewestFlipChosenByTurns()) << "a value that was found slower is never chosen, whatever the note says";
    ASSERT_TRUE(history.turnsOfFlip(0));
    EXPECT_EQ(history.turnsOfFlip(0)->judged.outcome, "slower");
}

TEST(RunHistory, TakesTheSpeedFromTheStepsSinceTheLastFlipOnly) {
    RunHistory history;
    history.append(started(1000));
    for (int i = 1; i <= 100; ++i) history.append(step(i, 40));
    history.append(SwitchApplied{100, {}, "amp", std::string("off"), std::string("bf16"), ""});
    for (int i = 101; i <= 120; ++i) history.append(step(i, 10));
    const RunNumbers numbers = history.numbers();
    EXPECT_EQ(numbers.window, 20);
    EXPECT_NEAR(numbers.stepMsMedian, 10, 1e-6);
    EXPECT_NEAR(numbers.tokensPerSecond, 100'000, 1);
    EXPECT_NEAR(numbers.secondsLeft, 880 * 0.01, 1e-6);
    EXPECT_NEAR(numbers.fraction, 0.12, 1e-12);
}

TEST(RunHistory, TheSpeedAndTheTimeOfAStepAreMediansOfTheSameStepsAndSayTheSame) {
    RunHistory history;
    history.append(started(1000));
    for (int i = 1; i <= 150; ++i) history.append(step(i, i % 10 == 0 ? 90 : 20));
    StepDone untimed = step(151);
    untimed.duration = {};
    history.append(untimed);
    const RunNumbers numbers = history.numbers();
    EXPECT_NEAR(numbers.stepMsMedian, 20, 1e-6);
    EXPECT_NEAR(numbers.tokensPerSecond, 1000 / 0.020, 1) << "a few slow steps, and one without a time, move it no more than the other";
    EXPECT_NEAR(numbers.tokensPerSecond, history.steps().rateP50.back(), 1) << "the chart's line";
}

TEST(RunHistory, OfAnImportItSaysNoTotalAndNoSpeedThatNobodyMeasured) {
    RunHistory history;
    auto info = std::make_shared<SessionInfo>();
    info->kind = SessionKind::Trace;
    info->config.reset();
    history.append(SessionStarted{.session = 1, .info = info, .replay = true});
    for (int i = 101; i <= 105; ++i) history.append(StepDone{.step = i, .at = TimeNs::fromSeconds(i), .duration = {2'000'000}});
    const RunNumbers numbers = history.numbers();
    EXPECT_EQ(numbers.step, 105);
    EXPECT_EQ(numbers.steps, 0);
    EXPECT_NEAR(numbers.stepMsMedian, 2, 1e-9);
    EXPECT_TRUE(std::isnan(numbers.tokensPerSecond));
}

TEST(RunHistory, OfALogWithoutTimesItSaysNoTimeOfAStep) {
    RunHistory history;
    auto info = std::make_shared<SessionInfo>();
    info->kind = SessionKind::Trace;
    info->config.reset();
    history.append(SessionStarted{.session = 1, .info = info, .replay = true});
    for (int i = 1; i <= 5; ++i) history.append(StepDone{.step = i, .loss = 3});
    EXPECT_TRUE(std::isnan(history.steps().stepMs[2]));
    EXPECT_TRUE(std::isnan(history.numbers().stepMsMedian)) << "neither 0 ms nor any other";
    EXPECT_EQ(history.numbers().window, 0);
    // The first of a log that has times has none: it is the time since the one before.
    for (int i = 6; i <= 8; ++i) history.append(StepDone{.step = i, .duration = {2'000'000}, .loss = 3});
    EXPECT_NEAR(history.numbers().stepMsMedian, 2, 1e-9);
    EXPECT_EQ(history.numbers().window, 3) << "steps whose times are known";
}

TEST(RunHistory, KnowsNothingBeforeTheFirstStepAndSaysSo) {
    RunHistory history;
    const RunNumbers nothing = history.numbers();
    EXPECT_TRUE(std::isnan(nothing.stepMsMedian));
    EXPECT_TRUE(std::isnan(nothing.secondsLeft));
    history.append(started(100, 40));
    EXPECT_EQ(history.numbers().step, 40);
    EXPECT_EQ(history.numbers().steps, 100);
}

TEST(RunHistory, PlacesDeviceSamplesAtTheStepThatWasDone) {
    RunHistory history;
    history.append(started(100));
    for (int i = 1; i <= 3; ++i) history.append(step(i));
    DeviceSample sample;
    sample.at = TimeNs::fromSeconds(0.035);
    sample.cpuPct = 97;
    sample.residentBytes = 600'000'000;
    history.append(sample);
    ASSERT_EQ(history.device().place.size(), 1u);
    EXPECT_EQ(history.device().place[0].step, 3);
    EXPECT_NEAR(history.numbers().cpuPct, 97, 1e-4);
    EXPECT_NEAR(static_cast<double>(history.numbers().residentBytes), 6e8, 100);
    EXPECT_EQ(history.numbers().availableBytes, 0);
}

TEST(RunHistory, NeverGoesBackAlongAnAxisEvenWhenAStreamDoes) {
    RunHistory history;
    history.append(started(100));
    history.append(step(5));
    history.append(step(3));
    EXPECT_EQ(history.steps().step.back(), 5);
    EXPECT_GE(history.steps().seconds[1], history.steps().seconds[0]);
}

TEST(RunHistory, TakesAMillionSteps) {
    RunHistory history;
    history.append(started(1'000'000));
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = 1; i <= 1'000'000; ++i) history.append(step(i, 10 + static_cast<double>(i % 7)));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_EQ(history.rows(), 1'000'000u);
    EXPECT_EQ(history.rowAt(XAxis::Step, 123'456), 123'455u);
    // 1 µs a step is what it takes; ten times that would still not be felt at 1000 steps a second.
    EXPECT_LT(seconds, 30) << "append has become slower than O(1) a step";
    RecordProperty("nanosecondsPerStep", static_cast<int>(seconds * 1000));
}

}  // namespace
}  // namespace stepscope
