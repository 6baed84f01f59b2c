// A study summed up from its events.
#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/StudyHistory.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

TEST(StudyHistory, TheNewestOfEveryRowIsTheTable) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "ladder", .title = "mine"});
    history.add(StudyRow{.row = 1, .role = "rung", .state = "waiting"});
    history.add(StudyRow{.row = 0, .role = "bottom"});
    history.add(StudyRow{.row = 1, .role = "rung", .state = "measured", .ratio = 2, .seconds = 20});
    ASSERT_EQ(history.rows().size(), 2u);
    EXPECT_EQ(history.rows()[0].role, "bottom");
    EXPECT_EQ(history.rows()[1].state, "measured");
    EXPECT_EQ(history.find("rung")->ratio, 2);
    EXPECT_EQ(history.find("top"), nullptr);
    EXPECT_EQ(history.measuredSeconds(), 20);
    history.add(StudyBegan{.kind = "tune"});
    EXPECT_TRUE(history.rows().empty()) << "a replay that jumped back begins anew";
}

TEST(StudyHistory, RecommendsOnlyWhatWasMeasuredAnew) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "tune"});
    EXPECT_EQ(history.recommended(), nullptr);
    for (const char* state : {study::kRunning, study::kWaiting, study::kRejected, study::kFailed}) {
        history.add(StudyRow{.row = 5, .role = study::kFinal, .state = state, .settings = "amp=bf16"});
        EXPECT_EQ(history.recommended(), nullptr) << state;
    }
    history.add(StudyRow{.row = 5, .role = study::kFinal, .state = study::kChosen, .settings = "amp=bf16"});
    ASSERT_NE(history.recommended(), nullptr);
    EXPECT_EQ(history.recommended()->settings, "amp=bf16");
    history.add(StudyRow{.row = 5, .role = study::kFinal, .state = study::kChosen});
    EXPECT_EQ(history.recommended(), nullptr) << "the present settings need no recommendation";
}

TEST(StudyHistory, WhatBrokeOffHasNoFigures) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "ladder"});
    history.add(StudyRow{.row = 3, .role = study::kTop, .state = study::kRunning, .ratio = 2.1, .low = 2, .high = 2.2, .floor = 1.01});
    EXPECT_EQ(history.find(study::kTop)->ratio, 2.1);
    history.add(
        StudyRow{.row = 3, .role = study::kTop, .state = study::kFailed, .why = "B diverged.", .ratio = 2.1, .low = 2, .high = 2.2, .floor = 1.01});
    for (const double figure : {history.find(study::kTop)->ratio, history.find(study::kTop)->low, history.find(study::kTop)->floor})
        EXPECT_FALSE(std::isfinite(figure));
    EXPECT_EQ(history.find(study::kTop)->why, "B diverged.");
}

TEST(StudyHistory, KeepsThePairsThatStandBehindEachRow) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "ladder"});
    // The first leg's row is told when its first pair is made.
    history.add(ExperimentBegan{});
    history.add(ExperimentJudged{.pair = 0, .difference = 0.5});
    history.add(StudyRow{.row = 1, .role = study::kRung, .state = study::kRunning});
    history.add(ExperimentJudged{.pair = 1, .difference = 0.6});
    EXPECT_EQ(history.pairsOf(history.rows()[0]).size(), 2u) << "while it goes on";
    history.add(ExperimentJudged{.over = true, .pair = 1});
    history.add(StudyRow{.row = 1, .role = study::kRung, .state = study::kMeasured, .pairs = 2});
    history.add(StudyRow{.row = 2, .role = study::kRung, .state = study::kMeasured, .pairs = 9});  // kept of an earlier session
    history.add(StudyRow{.row = 3, .role = study::kTop, .state = study::kRunning});
    history.add(ExperimentBegan{});
    history.add(ExperimentJudged{.pair = 0, .difference = 0.7});
    history.add(StudyRow{.row = 1, .role = study::kRung, .state = study::kMeasured, .total = 2, .pairs = 2});  // its total is known now
    history.add(StudyRow{.row = 3, .role = study::kTop, .state = study::kFailed, .pairs = 1});
    history.add(StudyRow{.row = 4, .role = study::kWithout, .state = study::kRunning});
    history.add(StudyRow{.row = 4, .role = study::kWithout, .state = study::kFailed});  // before its experiment began
    const auto& rows = history.rows();
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_TRUE(history.pairsOf(rows[3]).empty());
    ASSERT_EQ(history.pairsOf(rows[0]).size(), 2u);
    EXPECT_EQ(history.pairsOf(rows[0])[1].difference, 0.6);
    EXPECT_TRUE(history.pairsOf(rows[1]).empty());
    ASSERT_EQ(history.pairsOf(rows[2]).size(), 1u) << "what was measured before it broke off";
    EXPECT_EQ(history.pairsOf(rows[2])[0].difference, 0.7);
}

TEST(StudyHistory, CountsTheMeasurementsThatAreMadeAndTheBottomIsNoneOfThem) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "ladder", .legs = 2});
    history.add(StudyRow{.row = 0, .role = study::kBottom, .state = study::kWaiting});
    history.add(StudyRow{.row = 1, .role = study::kRung, .state = study::kRunning});
    EXPECT_EQ(history.measuredLegs(), 0);
    history.add(StudyRow{.row = 0, .role = study::kBottom, .state = study::kMeasured});
    EXPECT_EQ(history.measuredLegs(), 0);
    history.add(StudyRow{.row = 1, .role = study::kRung, .state = study::kMeasured});
    EXPECT_EQ(history.measuredLegs(), 1);
}

TEST(StudyHistory, SaysOfEachRowWhatTheMachineDidWhileItsOwnExperimentRan) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "ladder"});
    const auto leg = [&](std::int64_t number, double from, double to) {
        history.add(StudyRow{.row = number, .role = study::kRung, .state = study::kRunning});
        history.add(ExperimentBegan{});
        history.add(BlockDone{.at = TimeNs::fromSeconds(from + 1), .duration = TimeNs::fromSeconds(1), .pair = 0, .arm = Arm::A});
        history.add(BlockDone{.at = TimeNs::fromSeconds(to), .duration = TimeNs::fromSeconds(1), .pair = 0, .arm = Arm::B});
        history.add(ExperimentJudged{.over = true, .pair = 0});
        history.add(StudyRow{.row = number, .role = study::kRung, .state = study::kMeasured, .why = "A sentence.", .pairs = 9});
    };
    leg(1, 0, 10);
    leg(2, 20, 30);
    history.add(StudyRow{.row = 3, .role = study::kRung, .state = study::kMeasured, .pairs = 9, .keptSession = 4});
    // As they are read from a file: behind everything else.
    for (double at = 0; at < 40; at += 0.5) {
        DeviceSample sample;
        sample.at = TimeNs::fromSeconds(at);
        sample.cpuClockMhz = at < 15 ? 3000 : at < 25 ? 2000 : 2800;
        history.add(sample);
    }
    ASSERT_EQ(history.rows().size(), 3u);
    const auto first = history.machineMeanwhile(history.rows()[0]), second = history.machineMeanwhile(history.rows()[1]);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->cpuMhzLow, 3000);
    EXPECT_EQ(first->cpuMhzHigh, 3000);
    EXPECT_EQ(second->cpuMhzLow, 2000);
    EXPECT_EQ(second->cpuMhzHigh, 2800);
    EXPECT_FALSE(history.machineMeanwhile(history.rows()[2])) << "an earlier session measured it";
    EXPECT_EQ(rowWords(history, history.rows()[0]), "A sentence.") << "nothing that is worth one";
    EXPECT_EQ(rowWords(history, history.rows()[1]),
              "A sentence. The processors ran at 2\u202F000 to 2\u202F800 MHz meanwhile (nine of ten samples).");
    EXPECT_EQ(rowWords(history, history.rows()[2]), "Measured in session 4.");
    DeviceSample late;
    late.cpuClockMhz = 100;
    for (int i = 0; i < 40; ++i) {
        late.at = TimeNs::fromSeconds(5);
        history.add(late);
    }
    EXPECT_EQ(history.machineMeanwhile(history.rows()[0])->cpuMhzLow, 100) << "one that comes late counts too";
}

TEST(StudyHistory, ValuesThatWereLeftForTheSameReasonAreToldOnce) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "tune"});
    const auto value = [&](std::int64_t number, const char* key, const char* setting, const char* why) {
        history.add(StudyRow{.row = number, .role = study::kValue, .state = study::kRejected, .name = key, .settings = setting, .why = why});
    };
    value(0, "attention", "attention=flash", "Same as the present settings here.");
    value(1, "attention", "attention=manual", "12 % more a token.");
    value(2, "attention", "attention=efficient", "Same as the present settings here.");
    value(3, "amp", "amp=fp16", "Same as the present settings here.");
    const auto rows = history.rejectedValues();
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].settings, "attention=flash, attention=efficient");
    EXPECT_EQ(rows[1].settings, "attention=manual");
    EXPECT_EQ(rows[2].settings, "amp=fp16") << "another switch";
}

TEST(StudyHistory, NumbersOfRowsThatNobodyMakesAreLeftOut) {
    StudyHistory history;
    for (const std::int64_t row : {std::int64_t{-1}, kMostStudyRows, std::int64_t{1} << 60}) history.add(StudyRow{.row = row});
    EXPECT_TRUE(history.rows().empty());
}

TEST(StudyHistory, ARowThatAnEarlierSessionMeasuredSaysWhichAndByWhichVersions) {
    EXPECT_EQ(whyWords({.keptSession = 3}), "Measured in session 3.");
    EXPECT_EQ(whyWords({.why = "Too few pairs.", .keptSession = 3}), "Measured in session 3. Too few pairs.");
    EXPECT_EQ(whyWords({.keptSession = 3, .keptVersions = "Stepscope 0.9.1"}), "Measured in session 3 by another version (Stepscope 0.9.1).");
    EXPECT_EQ(whyWords({.why = "Too few pairs.", .keptSession = 3, .keptVersions = "Stepscope 0.9.1"}),
              "Measured in session 3 by another version (Stepscope 0.9.1). Too few pairs.");
    EXPECT_EQ(whyWords({.why = "Too few pairs."}), "Too few pairs.") << "it was measured in its own";
    EXPECT_EQ(whyWords({}), "");
}

TEST(StudyHistory, WaitsForALargerBudgetWhereARowSaysSoInItsFieldWhateverItsSentence) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "ladder"});
    history.add(StudyRow{.row = 1,
                         .role = study::kWithout,
                         .state = study::kSkipped,
                         .why = "Not measured: the 290 s of this ladder were spent on its rungs. A larger budget measures it."});
    EXPECT_FALSE(waitsForBudget(history)) << "a sentence is for persons";
    history.add(StudyRow{.row = 2, .role = study::kWithout, .state = study::kSkipped, .why = "In other words.", .waits = true});
    EXPECT_TRUE(waitsForBudget(history));
    history.add(StudyRow{.row = 2, .role = study::kWithout, .state = study::kMeasured});
    EXPECT_FALSE(waitsForBudget(history)) << "it was measured meanwhile";
}

TEST(StudyHistory, ASearchSaysTheLossOfWhatItRecommendsAndHowThatComputes) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "tune"});
    EXPECT_EQ(searchLossSentence(history), "") << "nothing is recommended yet";
    StudyRow last{.row = 5, .role = study::kFinal, .state = study::kChosen, .settings = "amp=bf16", .ratio = 1.3, .low = 1.2, .high = 1.4};
    history.add(last);
    EXPECT_NE(searchLossSentence(history).find("unknown"), std::string::npos);
    EXPECT_EQ(arithmeticOf(*history.recommended()), Arithmetic::Unknown);
    last.loss = 0.00123;
    last.arithmetic = study::kOther;
    history.add(last);
    EXPECT_NE(searchLossSentence(history).find("0.0012 higher than with the present settings"), std::string::npos) << searchLossSentence(history);
    EXPECT_EQ(arithmeticOf(*history.recommended()), Arithmetic::Other);
    last.loss = -0.00123;
    last.arithmetic = study::kSame;
    last.why = kOtherArithmetic;  // words are for people alone
    history.add(last);
    EXPECT_NE(searchLossSentence(history).find("0.0012 lower"), std::string::npos);
    EXPECT_EQ(arithmeticOf(*history.recommended()), Arithmetic::Same);
}

TEST(StudyHistory, ItsHeadlineIsWhatItCameToWithTheInterval) {
    StudyHistory ladder;
    ladder.add(StudyBegan{.kind = "ladder"});
    EXPECT_EQ(studyHeadline(ladder), "");
    ladder.add(StudyRow{.row = 1, .role = study::kRung, .state = study::kMeasured, .name = "bf16", .total = 1.5, .totalLow = 1.4, .totalHigh = 1.6});
    EXPECT_EQ(studyHeadline(ladder), "up to bf16: ×1.50 [1.40, 1.60] as fast as the bottom");
    ladder.add(StudyRow{.row = 2, .role = study::kTop, .state = study::kMeasured, .ratio = 2, .low = 1.9, .high = 2.1});
    EXPECT_EQ(studyHeadline(ladder), "the top is ×2.00 [1.90, 2.10] as fast as the bottom");
    StudyHistory search;
    search.add(StudyBegan{.kind = "tune"});
    StudyRow last{.row = 5, .role = study::kFinal, .state = study::kRunning, .settings = "amp=bf16", .ratio = 1.3, .low = 1.2, .high = 1.4};
    search.add(last);
    EXPECT_EQ(studyHeadline(search), "") << "it is not over";
    last.state = study::kChosen;
    search.add(last);
    EXPECT_EQ(studyHeadline(search), "recommended: amp=bf16, ×1.30 [1.20, 1.40]");
    last.state = study::kRejected;
    search.add(last);
    EXPECT_EQ(studyHeadline(search), "recommended: the present settings");
}

// A stranger's file may hold a name that no window could lay out.
TEST(StudyHistory, ARowWithTextsWithoutEndKeepsTheirBeginning) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "tune"});
    const std::string endless(200'000, 'n');
    history.add(StudyRow{.row = 0, .role = study::kCandidate, .state = study::kRunning, .name = endless, .settings = endless, .why = endless});
    history.add(StudyRow{.row = 1, .role = study::kCandidate, .state = study::kRunning, .name = "amp=bf16"});
    ASSERT_EQ(history.rows().size(), 2u);
    EXPECT_EQ(history.rows()[0].name, std::string(1000, 'n') + "...");
    EXPECT_LT(history.rows()[0].settings.size(), 21'000u);
    EXPECT_LT(history.rows()[0].why.size(), 21'000u);
    EXPECT_EQ(history.rows()[1].name, "amp=bf16");
    history.add(StudyRow{.row = 1, .role = study::kCandidate, .state = study::kChosen, .name = endless});
    EXPECT_EQ(history.rows()[1].name.size(), 1003u) << "a row that is told again, too";
}

}  // namespace
}  // namespace stepscope
