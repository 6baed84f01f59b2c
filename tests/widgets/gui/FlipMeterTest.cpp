// The before/after reading of a live flip: the steps it takes, the spread, when it stays silent, and its words.
#include <gtest/gtest.h>

#include "app/gui/wiring/FlipWords.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

class FlipMeterTest : public testing::Test {
protected:
    FlipMeterTest() { history.append(SessionStarted{1, std::make_shared<SessionInfo>(), false}); }
    // Times alternate by `spread` about `ms`.
    void steps(int count, double ms, double spread = 0.1, double operations = kUnknown, bool disturbed = false, bool skipped = false) {
        for (int i = 0; i < count; ++i) {
            StepDone done;
            done.step = ++step;
            const double taken = ms + (i % 2 == 0 ? spread : -spread);
            at += taken;
            done.at = TimeNs::fromSeconds(at / 1000);
            done.duration = TimeNs::fromSeconds(taken / 1000);
            done.tokens = tokens;
            done.residentBytes = 300'000'000;
            done.peakBytes = peak;
            done.pageFaults = ms > 15 ? 900 : 12;
            done.operations = operations;
            done.disturbed = disturbed;
            done.skipped = skipped;
            history.append(done);
        }
    }
    void flipped(const SwitchApplied& applied) {  // as the window does it
        history.append(applied);
        meter.flipped(history, applied);
    }
    static constexpr int kEnough = 5 + 39 * 45 + 20;  // steps before a flip: warm-up, places to compare it with, its own
    double peak = kUnknown;
    std::int64_t tokens = 1000;
    SwitchApplied flip(const std::string& from, const std::string& to) { return {step, {}, "amp", from, to, ""}; }
    QString chip(const SwitchApplied& applied) { return chipOf(applied, meter.read(history)->effect, off); }
    const Value off = std::string("off");
    RunHistory history;
    FlipMeter meter;
    std::int64_t step = 0;
    double at = 0;
};

TEST_F(FlipMeterTest, MeasuresTwentyStepsOnEitherSideWithTheirQuartiles) {
    steps(kEnough, 20, 1);
    const auto applied = flip("off", "bf16");
    flipped(applied);
    steps(24, 10, 1);
    ASSERT_TRUE(meter.read(history));
    EXPECT_FALSE(meter.read(history)->complete) << "19 steps after the warm-up";
    steps(1, 10, 1);
    const auto reading = meter.read(history);
    EXPECT_TRUE(reading->complete);
    EXPECT_EQ(reading->effect.stepsBefore, 20u);
    EXPECT_EQ(reading->effect.stepsAfter, 20u);
    EXPECT_NEAR(reading->effect.ms.before.median, 20, 0.01);
    EXPECT_NEAR(reading->effect.ms.before.low, 19, 0.01);
    EXPECT_NEAR(reading->effect.ms.before.high, 21, 0.01);
    EXPECT_NEAR(reading->effect.ms.after.median, 10, 0.01);
    EXPECT_TRUE(reading->effect.ms.conclusive());
    EXPECT_EQ(chip(applied), "bf16 ×2.02");
}

TEST_F(FlipMeterTest, TheChipSaysTheSameWhenTheSwitchIsTurnedOff) {
    steps(kEnough, 10);
    const auto applied = flip("bf16", "off");
    flipped(applied);
    steps(60, 20);
    EXPECT_EQ(chip(applied), "bf16 ×2.00");
}

TEST_F(FlipMeterTest, LeavesTheFirstStepsAfterAFlipOut) {
    steps(kEnough, 10);
    const auto applied = flip("off", "bf16");
    flipped(applied);
    steps(5, 500);
    steps(60, 10);
    EXPECT_NEAR(meter.read(history)->effect.ms.after.median, 10, 0.01);
    EXPECT_EQ(chip(applied), "") << "it did nothing, and that is not claimed either";
}

TEST_F(FlipMeterTest, LeavesDisturbedAndSkippedStepsOutOnBothSides) {
    steps(60, 20);
    steps(15, 900, 0.1, kUnknown, true);
    flipped(flip("off", "bf16"));
    steps(10, 10);
    steps(15, 900, 0.1, kUnknown, true);
    steps(5, 900, 0.1, kUnknown, false, true);
    steps(14, 10);
    EXPECT_FALSE(meter.read(history)->complete) << "19 steps that tell something";
    steps(1, 10);
    const auto reading = meter.read(history);
    EXPECT_TRUE(reading->complete);
    EXPECT_EQ(reading->effect.stepsBefore, 20u);
    EXPECT_NEAR(reading->effect.ms.before.high, 20, 0.2);
    EXPECT_NEAR(reading->effect.ms.after.high, 10, 0.2);
}

TEST_F(FlipMeterTest, ClaimsNothingBeforeThereAreEnoughPlacesWithoutAFlipAndSaysHowManyThereAre) {
    steps(5 + 12 * 45 + 20, 20, 6);
    const auto applied = flip("off", "bf16");
    flipped(applied);
    steps(25, 10, 3);
    EXPECT_TRUE(meter.read(history)->complete);
    EXPECT_FALSE(meter.read(history)->effect.decided());
    EXPECT_EQ(chip(applied), "") << "a badge is for what is known";
    auto strip = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_EQ(strip.figures.at(0).change, "inconclusive");
    EXPECT_EQ(strip.figures.at(1).name, "throughput");
    EXPECT_EQ(strip.figures.at(1).change, "") << "it is the step time in other words";
    EXPECT_EQ(strip.figures.at(0).verdict, FlipStripReading::Verdict::Inconclusive);
    EXPECT_EQ(strip.note, "from step 566 on; step time inconclusive: 12 of 39 comparisons without a flip so far");
    EXPECT_EQ(verdictOf(*meter.read(history), {"Mixed precision"}),
              "Mixed precision off → bf16 at step 566: inconclusive (12 of 39 comparisons without a flip so far)");
    EXPECT_TRUE(sentenceOf(applied, meter.read(history)->effect, "").contains("(inconclusive: 12 of 39 comparisons without a flip so far)"));
    steps(27 * 45, 10, 3);
    EXPECT_TRUE(meter.read(history)->effect.decided()) << "the steps behind it count too";
    EXPECT_EQ(stripOf(*meter.read(history), {"Mixed precision"}).figures.at(0).change, "−50 %");
}

TEST_F(FlipMeterTest, ADifferenceThatTheRunMakesByItselfIsNoVerdict) {
    for (int i = 0; i < 50; ++i) {
        steps(33, 20);
        steps(33, 23);
    }
    const auto applied = flip("off", "bf16");
    flipped(applied);
    steps(25, 20);
    const auto strip = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_EQ(strip.figures.at(0).change, "inconclusive");
    EXPECT_TRUE(strip.note.contains(" of 59 comparisons without a flip differ as much that way")) << strip.note.toStdString();
    EXPECT_EQ(chip(applied), "");
}

TEST_F(FlipMeterTest, ASecondFlipIsMeasuredFromTheStepsBetweenThem) {
    steps(kEnough, 20);
    flipped(flip("off", "bf16"));
    steps(18, 10);
    const SwitchApplied second{step, {}, "attention", std::string("auto"), std::string("manual"), ""};
    flipped(second);
    EXPECT_EQ(meter.read(history)->flips.front().id, "attention");
    EXPECT_EQ(meter.read(history)->effect.stepsBefore, 13u) << "the warm-up of the first flip is left out";
    steps(30, 10);
    EXPECT_EQ(stripOf(*meter.read(history), {"Attention"}).note, sinceOf(second) + "; step time inconclusive: only 13 of 20 steps before it");
}

TEST_F(FlipMeterTest, FlipsWithTooFewStepsBetweenThemAreMeasuredTogetherAgainstTheStepsBeforeTheFirst) {
    for (const int between : {0, 14}) {  // at one boundary; the fewest that are compared, with the warm-up, are 15
        steps(kEnough, 20);
        flipped(flip("off", "bf16"));
        steps(between, 500);
        const SwitchApplied second{step, {}, "fusion", std::string("off"), std::string("kernels"), ""};
        flipped(second);
        EXPECT_FALSE(meter.read(history)->complete);
        steps(60, 5);
        const auto reading = meter.read(history);
        ASSERT_EQ(reading->flips.size(), 2u) << between;
        EXPECT_FALSE(reading->alone) << "the effect is neither switch's";
        EXPECT_TRUE(reading->complete);
        EXPECT_EQ(reading->effect.stepsBefore, 20u);
        EXPECT_NEAR(reading->effect.ms.before.median, 20, 0.2);
        EXPECT_NEAR(reading->effect.ms.after.median, 5, 0.2);
        const auto strip = stripOf(*reading, {"Mixed precision", "Fusion"});
        EXPECT_EQ(strip.heading, "Mixed precision + Fusion");
        EXPECT_TRUE(strip.note.startsWith(sinceOf(second) + ", flipped too near each other to be told apart; medians of 20"))
            << strip.note.toStdString();
        EXPECT_EQ(strip.figures.at(0).verdict, FlipStripReading::Verdict::Better);
    }
    flipped(flip("bf16", "off"));
    EXPECT_TRUE(meter.read(history)->alone) << "and one that follows later is measured by itself again";
}

TEST_F(FlipMeterTest, OneSwitchFlippedTwiceInAFewStepsIsOneFlipAndThereAndBackNone) {
    steps(kEnough, 20);
    flipped(flip("off", "fp16"));
    steps(3, 500);
    flipped(flip("fp16", "bf16"));
    steps(60, 10);
    const auto reading = meter.read(history);
    ASSERT_EQ(reading->flips.size(), 1u);
    EXPECT_FALSE(reading->alone) << "the sessions that are stored do not know it as one";
    EXPECT_EQ(stripOf(*reading, {"Mixed precision"}).heading, "Mixed precision: off → bf16");
    EXPECT_TRUE(stripOf(*reading, {"Mixed precision"}).note.startsWith(sinceOf(reading->flips.back()) + "; medians of 20"));
    flipped(flip("bf16", "off"));
    steps(3, 500);
    flipped(flip("off", "bf16"));
    EXPECT_FALSE(meter.read(history)) << "nothing is different";
    steps(2, 500);
    flipped(flip("bf16", "fp16"));
    steps(60, 5);
    EXPECT_EQ(stripOf(*meter.read(history), {"Mixed precision"}).figures.at(0).change, "−50 %") << "against the last steps of bf16";
}

TEST_F(FlipMeterTest, SaysWhenTooFewStepsWereBeforeIt) {
    steps(9, 20);
    const auto applied = flip("off", "bf16");
    flipped(applied);
    steps(60, 10);
    EXPECT_TRUE(chip(applied).isEmpty());
    const auto strip = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_TRUE(strip.figures.empty());
    EXPECT_TRUE(strip.note.contains("only 4 steady steps")) << strip.note.toStdString();
}

TEST_F(FlipMeterTest, TheChipNamesTheValueBeforeWhereNeitherSideIsTheDefault) {
    steps(kEnough, 10);
    const auto applied = flip("bf16", "fp16");
    flipped(applied);
    steps(100, 5);
    EXPECT_EQ(chip(applied), "fp16 ×2.00 vs bf16");
    EXPECT_EQ(stripOf(*meter.read(history), {"Mixed precision"}).figures.size(), 4u) << "the strip compares any two";
    flipped(flip("fp16", "tf32"));
    steps(100, 10);
    EXPECT_EQ(chipOf(meter.read(history)->flips.front(), meter.read(history)->effect, off), "tf32 −50 % vs fp16");
}

TEST_F(FlipMeterTest, ShowsHowManyOperationsAStepRunsWhereTheyWereCounted) {
    steps(60, 20, 0.1, 1100);
    flipped(flip("off", "kernels"));
    steps(1, 10);
    steps(60, 10, 0.1, 300);
    const auto strip = stripOf(*meter.read(history), {"Fusion"});
    ASSERT_EQ(strip.figures.size(), 5u);
    EXPECT_EQ(strip.figures[4].name, "operations");
    EXPECT_EQ(strip.figures[4].medians, "1\u202F100 → 300");
    EXPECT_EQ(strip.figures[4].change, "−73 %");
}

TEST_F(FlipMeterTest, MemoryIsTheMostThatTensorsHeldDuringTheStepsEvenWhereTheProcessKeepsIt) {
    peak = 250e6;
    steps(kEnough, 20);
    const auto applied = flip("off", "every-block");
    flipped(applied);
    peak = 90e6;
    steps(60, 26);
    const auto strip = stripOf(*meter.read(history), {"Checkpointing"});
    EXPECT_EQ(strip.figures[2].name, "tensor memory");
    EXPECT_TRUE(strip.figures[2].hint.contains("The process holds more")) << strip.figures[2].hint.toStdString();
    EXPECT_EQ(strip.figures[2].medians, "250 → 90.0\u202FMB");
    EXPECT_EQ(strip.figures[2].verdict, FlipStripReading::Verdict::Better);
    EXPECT_EQ(strip.figures[0].verdict, FlipStripReading::Verdict::Worse) << "and time rises: both are shown";
    EXPECT_TRUE(sentenceOf(applied, meter.read(history)->effect, "").contains("250 → 90.0\u202FMB of memory"));
}

TEST_F(FlipMeterTest, EveryPlaceOfAFlipIsTheFirstStepThatHasTheNewValue) {
    steps(60, 20);
    const auto applied = flip("off", "bf16");
    EXPECT_EQ(sinceOf(applied), "from step 61 on");
    flipped(applied);
    steps(60, 10);
    EXPECT_TRUE(stripOf(*meter.read(history), {"Mixed precision"}).note.startsWith("from step 61 on; "));
    MeasuredFlip stored;
    stored.flip = applied;
    stored.sessionName = "tiny-cpu";
    stored.startedUnixMs = 1'795'262'400'000;
    EXPECT_TRUE(placeOf(stored).startsWith("Session “tiny-cpu”, from step 61 on, ")) << placeOf(stored).toStdString();
    history.append(applied);
    EXPECT_EQ(history.detailOf(history.markers()[history.markers().size() - 1]), "amp: off → bf16 from step 61 on.");
}

TEST_F(FlipMeterTest, SaysHowFarItCameWhereTheRunEndsBeforeItIsMeasured) {
    steps(60, 20);
    flipped(flip("off", "bf16"));
    steps(7, 10);
    history.append(StateChanged{TimeNs::fromSeconds(at / 1000), step, RunState::Stopped, ""});
    const auto reading = meter.read(history);
    EXPECT_TRUE(reading->over);
    const auto strip = stripOf(*reading, {"Mixed precision"});
    EXPECT_EQ(strip.note, "from step 61 on; not measured: the run ended 2 steady steps after it, 10 are needed");
    EXPECT_TRUE(strip.figures.empty());
}

TEST_F(FlipMeterTest, ARunThatEndsSoonerShowsItsMediansAndNoVerdict) {
    steps(kEnough, 20);
    flipped(flip("off", "bf16"));
    steps(17, 10);
    EXPECT_TRUE(stripOf(*meter.read(history), {"Mixed precision"}).note.endsWith("measuring: 12 of 20 steps after it"));
    history.append(StateChanged{TimeNs::fromSeconds(at / 1000), step, RunState::Finished, ""});
    const auto strip = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_EQ(strip.figures.at(0).medians, "20.0 → 10.0\u202Fms");
    EXPECT_EQ(strip.figures.at(0).change, "inconclusive");
    EXPECT_TRUE(strip.note.endsWith("step time inconclusive: only 12 of 20 steps after it")) << strip.note.toStdString();
}

TEST_F(FlipMeterTest, TimesOfAnotherMachineAreNotCompared) {
    const auto sample = [&](double others, double steal) {
        DeviceSample taken;
        taken.at = TimeNs::fromSeconds(at / 1000);
        taken.cpuPct = 50;
        taken.othersPct = others;
        taken.stealPct = steal;
        history.append(taken);
    };
    const auto run = [&](double ms, double others, double steal) {
        for (int i = 0; i < 3; ++i) {  // a sample is of the half second before it
            steps(25, ms);
            sample(others, steal);
        }
    };
    steps(kEnough, 20);
    run(20, 1, 0);
    const auto applied = flip("off", "bf16");
    flipped(applied);
    run(30, 46, 0);
    auto strip = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_EQ(strip.figures[0].change, "the machine changed");
    EXPECT_EQ(strip.figures[0].verdict, FlipStripReading::Verdict::Inconclusive);
    EXPECT_EQ(strip.figures[1].change, "the machine changed");
    EXPECT_EQ(strip.note, sinceOf(applied) + "; times are not compared: other processes took 1 % of the processors before and 46 % after");
    EXPECT_EQ(strip.figures[3].change, "the same") << "page faults are this process's own";
    EXPECT_EQ(chip(applied), "");
    EXPECT_TRUE(sentenceOf(applied, meter.read(history)->effect, "").contains("the machine changed")) << "on the card too";
    flipped(flip("bf16", "off"));
    run(20, 47, 20);
    strip = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_TRUE(strip.note.contains("the host of this virtual machine took 0 % of the processors before and 20 % after")) << strip.note.toStdString();
    flipped(flip("off", "bf16"));
    run(10, 44, 18);
    EXPECT_EQ(stripOf(*meter.read(history), {"Mixed precision"}).figures[0].change, "−50 %") << "as busy on both sides: compared";
}

TEST_F(FlipMeterTest, WaitsForTheSampleOfTheLastSteps) {
    DeviceSample taken;
    taken.othersPct = 1;
    steps(60, 20);
    taken.at = TimeNs::fromSeconds(at / 1000);
    history.append(taken);
    flipped(flip("off", "bf16"));
    steps(30, 10);
    EXPECT_FALSE(meter.read(history)->complete) << "what the machine did meanwhile is not known yet";
    taken.at = TimeNs::fromSeconds(at / 1000);
    history.append(taken);
    EXPECT_TRUE(meter.read(history)->complete);
}

TEST_F(FlipMeterTest, ForgetsWithTheRun) {
    steps(60, 10);
    flipped(flip("off", "bf16"));
    meter.forget();
    EXPECT_FALSE(meter.read(history));
}

TEST_F(FlipMeterTest, WhereAStepTrainsAnotherNumberOfTokensTheThroughputHasTheVerdict) {
    steps(kEnough, 20);
    const auto applied = flip("off", "bf16");
    flipped(applied);
    tokens = 4000;
    steps(60, 40);
    const auto strip = stripOf(*meter.read(history), {"Batch size"});
    EXPECT_EQ(strip.figures[0].verdict, FlipStripReading::Verdict::Neutral) << "a step that trains four times as much takes longer";
    EXPECT_EQ(strip.figures[0].change, "×2.0");
    EXPECT_EQ(strip.figures[1].verdict, FlipStripReading::Verdict::Better);
    EXPECT_TRUE(strip.figures[1].change.startsWith("+100")) << strip.figures[1].change.toStdString();
    EXPECT_EQ(chip(applied), "bf16 ×2.00");
    const QString card = sentenceOf(applied, meter.read(history)->effect, "");
    EXPECT_TRUE(card.contains("40.0\u202Fms a step, 50.0 → 100\u202FK tok/s (+100 %)")) << card.toStdString();
    const QString end = verdictOf(*meter.read(history), {"Batch size"});
    EXPECT_TRUE(end.endsWith(": throughput +100 %")) << end.toStdString();
}

TEST_F(FlipMeterTest, WordsNameUnitsOnceAndSayWhatIsBetter) {
    steps(kEnough, 20);
    const auto applied = flip("off", "bf16");
    flipped(applied);
    steps(7, 10);
    const auto waiting = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_EQ(waiting.note, sinceOf(applied) + "; measuring: 2 of 20 steps after it");
    EXPECT_EQ(waiting.figures.at(0).medians, "20.0\u202Fms → …");
    EXPECT_TRUE(waiting.figures.at(0).change.isEmpty());
    steps(60, 10);
    const auto strip = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_EQ(strip.heading, "Mixed precision: off → bf16");
    EXPECT_EQ(strip.figures[0].medians, "20.0 → 10.0\u202Fms");
    EXPECT_EQ(strip.figures[0].spread, "19.9–20.1 → 9.90–10.1\u202Fms");
    EXPECT_EQ(strip.figures[0].change, "−50 %");
    EXPECT_EQ(strip.figures[0].verdict, FlipStripReading::Verdict::Better);
    EXPECT_EQ(strip.figures[1].change, "×2.0");
    EXPECT_EQ(strip.figures[2].change, "the same");
    EXPECT_EQ(strip.figures[3].medians, "900 → 12");
    EXPECT_EQ(strip.figures[3].change, "−99 %");
    for (const std::size_t figure : {1, 2, 3})
        EXPECT_EQ(strip.figures[figure].verdict, FlipStripReading::Verdict::Neutral)
            << "the strip has one verdict, and a test of each would make four";
    EXPECT_EQ(sentenceOf(applied, meter.read(history)->effect, "Here."),
              "Measured here, off → bf16: 20.0 → 10.0\u202Fms a step (−50 %), 300 → 300\u202FMB of memory. Here.");
}

TEST_F(FlipMeterTest, ANumberWhoseNeighbourHasAnotherUnitKeepsItsOwn) {
    steps(kEnough, 800, 400);
    const auto applied = flip("off", "bf16");
    flipped(applied);
    steps(60, 500, 100);
    const auto strip = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_EQ(strip.figures[0].spread, "400\u202Fms–1.20\u202Fs → 400–600\u202Fms");
}

}  // namespace
}  // namespace stepscope
