// Which sentence of the log each event becomes.
#include <gtest/gtest.h>

#include "app/gui/wiring/LogSentences.h"
#include "core/analysis/JudgedSentence.h"
#include "core/analysis/RunHistory.h"
#include "core/events/ConfigJson.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

std::string said(const Event& event) {
    const auto entry = logSentence(event, 1'700'000'000'000);
    return entry ? entry->text.toStdString() : std::string();
}

TEST(LogSentences, LeavesToTheTrainerWhatItTellsItself) {
    EXPECT_EQ(said(SwitchApplied{610, {}, "amp", std::string("off"), std::string("bf16"), ""}), "");
    EXPECT_EQ(said(LogLine{{}, 610, LogLevel::Info, "amp off → bf16 from step 611 on."}), "amp off → bf16 from step 611 on.");
    EXPECT_EQ(said(SwitchApplied{610, {}, "optimizer", std::string("fused"), std::string("8-bit"), "The moments were rounded."}), "");
    StepDone overflowed;
    overflowed.skipped = true;
    EXPECT_EQ(said(overflowed), "");
}

TEST(LogSentences, MarksFailuresAsErrorsAndAPauseThatNobodyAskedForAsAWarning) {
    EXPECT_EQ(logSentence(StateChanged{{}, 7, RunState::Failed, "The loss is not a number."}, 0)->level, LogLevel::Error);
    const auto paused = logSentence(StateChanged{{}, 7, RunState::Paused, "The disk is full.", ErrorCode::Io}, 0);
    EXPECT_EQ(paused->level, LogLevel::Warning);
    EXPECT_TRUE(paused->text.contains("The disk is full."));
    EXPECT_EQ(logSentence(StateChanged{{}, 7, RunState::Paused, ""}, 0)->level, LogLevel::Info);
    EXPECT_EQ(logSentence(StateChanged{{}, 7, RunState::Paused, "For lunch."}, 0)->level, LogLevel::Info) << "words alone are no warning";
}

TEST(LogSentences, SaysOfWhatNeverBeganNotThatItEndedAfterAStep) {
    EXPECT_EQ(said(StateChanged{{}, 0, RunState::Failed, "essay.txt is empty."}), "") << "the refusal has its own line";
    EXPECT_EQ(said(StateChanged{{}, 0, RunState::Stopped, ""}), "Stopped before the first step.");
    EXPECT_EQ(said(StateChanged{{}, 7, RunState::Failed, "The loss is not a number."}), "The run ended after step 7.");
    EXPECT_EQ(said(StateChanged{{}, 7, RunState::Finished, ""}), "Finished: 7 steps.");
    EXPECT_EQ(said(StateChanged{{}, 7, RunState::Finished, "Ended early."}), "Finished: 7 steps: Ended early.");
}

TEST(LogSentences, SaysNothingOfOrdinaryStepsAndSamples) {
    EXPECT_EQ(said(StepDone{}), "");
    EXPECT_EQ(said(DeviceSample{}), "");
    EXPECT_EQ(said(RecorderWaited{{}, TimeNs{1'000'000}}), "");
    EXPECT_NE(said(RecorderWaited{{}, TimeNs{900'000'000}}), "");
}

TEST(LogSentences, TellsWhatACaptureSaw) {
    const auto rows = std::make_shared<const std::vector<CapturedOperation>>(
        std::vector<CapturedOperation>{{"aten::addmm", "matrix product", "forward", "mlp/up", false, 8, 8, {6'000}, {6'000}},
                                       {"aten::add", "pointwise", "", "", false, 2, 2, {2'000}, {2'000}}});
    EXPECT_EQ(said(CaptureDone{.step = 12, .firstStep = 10, .steps = 3, .operations = 263, .rows = rows}),
              "Steps 10 to 12 are captured: 263 operations a step, most time in aten::addmm, forward (75 % of what they took).");
    EXPECT_EQ(said(CaptureDone{.step = 10, .firstStep = 10, .steps = 1}), "Step 10 is captured.");
}

TEST(ExperimentSentences, TellsAVerdictOnceAndWhatComesBesideItAlone) {
    ExperimentSentences sentences;
    const auto told = [&](const Event& event) {
        const auto entry = sentences.of(event, 0);
        return entry ? entry->text.toStdString() : std::string();
    };
    ExperimentJudged judged{.over = true, .outcome = "equivalent", .why = "It is quiet.", .ratio = 1, .low = 0.99, .high = 1.01, .pairs = 9};
    // Whatever its sentence is: what came behind is known from its figures.
    ExperimentJudged later = judged;
    later.why = "It is quiet by now.";
    later.equalTime = {.seconds = 2, .seeds = 5, .a = 3.5, .b = 3.25, .difference = -0.25, .low = -0.5, .high = 0.5, .stepsA = 20, .stepsB = 30};
    const auto experiment = [&] {
        told(ExperimentBegan{.configA = "{}", .configB = "{}", .delta = 0.02});
        return told(judged);
    };
    EXPECT_EQ(experiment(), "one configuration beside itself: no difference of more than 2 %, in 9 pairs of blocks. It is quiet.");
    EXPECT_EQ(told(judged), "") << "the same once more, behind captures that say why elsewhere";
    EXPECT_EQ(experiment(), "one configuration beside itself: no difference of more than 2 %, in 9 pairs of blocks. It is quiet.")
        << "of the next experiment";
    EXPECT_EQ(told(later), equalTimeSentence(later));
    EXPECT_TRUE(told(later).starts_with("After 2 s of training each")) << told(later);
    judged.why = "It is quiet. And more of it.";
    EXPECT_EQ(told(judged), "") << "told, and without losses";
    judged.over = false;
    EXPECT_EQ(told(judged), "") << "while pairs come";
}

// The configurations of a run whose bf16 takes turns with its float32.
ExperimentBegan turnsOfAmp() {
    RunConfig a, b;
    a.switches["amp"] = std::string("off");
    b.switches["amp"] = std::string("bf16");
    return {.step = 4, .at = {4}, .configA = configToJson(a), .configB = configToJson(b), .delta = 0.02};
}

TEST(ExperimentSentences, NamesTheTwoValuesOfASwitch) {
    ExperimentSentences sentences;
    const ExperimentJudged judged{.over = true, .outcome = "equivalent", .ratio = 1, .low = 0.99, .high = 1.01, .pairs = 9};
    sentences.of(turnsOfAmp(), 0);
    EXPECT_EQ(sentences.of(judged, 0)->text.toStdString(), "amp bf16 beside off: no difference of more than 2 %, in 9 pairs of blocks.");
    sentences.of(ExperimentBegan{.configA = R"({"layers": 2})", .configB = R"({"layers": 3})", .delta = 0.02}, 0);
    EXPECT_EQ(sentences.of(judged, 0)->text.toStdString(), "layers=3 beside layers=2: no difference of more than 2 %, in 9 pairs of blocks.")
        << "of the next, which is of something else";
    ExperimentJudged later = judged;
    later.equalTime = {.seconds = 2, .seeds = 5, .a = 3.5, .b = 3.25, .difference = -0.25, .low = -0.5, .high = 0.5, .stepsA = 20, .stepsB = 30};
    EXPECT_NE(sentences.of(later, 0)->text.indexOf("the validation loss of layers=2 is 3.5"), -1) << "of the losses too";
}

TEST(LogSentences, SaysOfAMeasurementWithinARunWhatItsMarkOnTheChartsSays) {
    RunHistory history;
    history.append(SessionStarted{1, std::make_shared<const SessionInfo>(), false});
    for (std::int64_t step = 1; step <= 4; ++step) history.append(StepDone{.step = step, .at = {step}, .duration = {1}, .tokens = 1});
    const auto line = [&](const Event& event) {
        history.append(event);
        const auto entry = logSentence(event, 0, &history);
        return entry ? entry->text.toStdString() : std::string();
    };
    EXPECT_EQ(line(turnsOfAmp()), "") << "the trainer has said which values take turns";
    const std::string judged =
        line(ExperimentJudged{.step = 4, .at = {5}, .over = true, .outcome = "equivalent", .ratio = 1, .low = 0.99, .high = 1.01, .pairs = 9});
    EXPECT_EQ(judged, "amp bf16 beside off: no difference of more than 2 %, in 9 pairs of blocks.");
    ASSERT_FALSE(history.markers().empty());
    EXPECT_EQ(history.markers()[history.markers().size() - 1].detail, judged);
}

TEST(LogSentences, SaysWhatTwoSidesAreWhereTheTrainerHasNotToldIt) {
    const std::string sides = "An experiment takes turns: A is amp=off, B is amp=bf16.";
    EXPECT_EQ(said(turnsOfAmp()), sides) << "by itself, on the page Compare";
    RunHistory history;
    auto info = std::make_shared<SessionInfo>();
    info->kind = SessionKind::Experiment;
    history.append(SessionStarted{1, info, true});
    const auto line = [&](const Event& event) {
        const auto entry = logSentence(event, 0, &history);
        return entry ? entry->text.toStdString() : std::string();
    };
    EXPECT_EQ(line(turnsOfAmp()), sides);
    RunConfig a, b;
    a.lr = 0.1;
    history.append(SessionStarted{2, std::make_shared<const SessionInfo>(), false});
    const std::string other = line(ExperimentBegan{.configA = configToJson(a), .configB = configToJson(b)});
    EXPECT_TRUE(other.starts_with("An experiment takes turns: A is lr=")) << other << ": no switch differs";
}

TEST(LogSentences, CarriesTheTimeOfDayAndTheStepToJumpTo) {
    const auto entry = logSentence(ValidationDone{400, TimeNs::fromSeconds(2), {}, 2.5}, 1'700'000'000'000);
    ASSERT_TRUE(entry.has_value());
    EXPECT_EQ(entry->when.toMSecsSinceEpoch(), 1'700'000'002'000);
    EXPECT_EQ(entry->step, 400);
}

}  // namespace
}  // namespace stepscope
