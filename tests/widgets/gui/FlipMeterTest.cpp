// The before/after reading of a live flip: the steps it takes, the spread, when it stays silent, and its words.
#include <gtest/gtest.h>

#include "app/gui/wiring/FlipWords.h"

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
            done.tokens = 1000;
            done.residentBytes = 300'000'000;
            done.peakBytes = peak;
            done.pageFaults = ms > 15 ? 900 : 12;
            done.operations = operations;
            done.disturbed = disturbed;
            done.skipped = skipped;
            history.append(done);
        }
    }
    double peak = kUnknown;
    SwitchApplied flip(const std::string& from, const std::string& to) { return {step, {}, "amp", from, to, ""}; }
    QString chip(const SwitchApplied& applied) { return chipOf(applied, meter.read(history)->effect, off); }
    const Value off = std::string("off");
    RunHistory history;
    FlipMeter meter;
    std::int64_t step = 0;
    double at = 0;
};

TEST_F(FlipMeterTest, MeasuresTwentyStepsOnEitherSideWithTheirQuartiles) {
    steps(60, 20, 1);
    const auto applied = flip("off", "bf16");
    meter.flipped(history, applied);
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
    steps(60, 10);
    const auto applied = flip("bf16", "off");
    meter.flipped(history, applied);
    steps(60, 20);
    EXPECT_EQ(chip(applied), "bf16 ×2.00");
}

TEST_F(FlipMeterTest, LeavesTheFirstStepsAfterAFlipOut) {
    steps(60, 10);
    const auto applied = flip("off", "bf16");
    meter.flipped(history, applied);
    steps(5, 500);
    steps(60, 10);
    EXPECT_EQ(chip(applied), "bf16 no gain");
}

TEST_F(FlipMeterTest, LeavesDisturbedAndSkippedStepsOutOnBothSides) {
    steps(60, 20);
    steps(15, 900, 0.1, kUnknown, true);
    meter.flipped(history, flip("off", "bf16"));
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

TEST_F(FlipMeterTest, CallsOverlappingRangesInconclusive) {
    steps(60, 20, 6);
    const auto applied = flip("off", "bf16");
    meter.flipped(history, applied);
    steps(60, 15, 6);
    EXPECT_EQ(chip(applied), "") << "a badge is for what is known";
    const auto strip = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_EQ(strip.figures.at(0).change, "inconclusive");
    EXPECT_EQ(strip.figures.at(0).verdict, FlipStripReading::Verdict::Inconclusive);
}

TEST_F(FlipMeterTest, ASecondFlipIsMeasuredFromTheStepsBetweenThem) {
    steps(60, 20);
    meter.flipped(history, flip("off", "bf16"));
    steps(18, 10);
    const SwitchApplied second{step, {}, "attention", std::string("auto"), std::string("manual"), ""};
    meter.flipped(history, second);
    EXPECT_EQ(meter.read(history)->flips.front().id, "attention");
    EXPECT_EQ(meter.read(history)->effect.stepsBefore, 13u) << "the warm-up of the first flip is left out";
    steps(30, 10);
    EXPECT_EQ(chipOf(second, meter.read(history)->effect, std::string("auto")), "manual no gain");
}

TEST_F(FlipMeterTest, FlipsWithTooFewStepsBetweenThemAreMeasuredTogetherAgainstTheStepsBeforeTheFirst) {
    for (const int between : {0, 14}) {  // at one boundary; the fewest that are compared, with the warm-up, are 15
        steps(60, 20);
        meter.flipped(history, flip("off", "bf16"));
        steps(between, 500);
        const SwitchApplied second{step, {}, "fusion", std::string("off"), std::string("kernels"), ""};
        meter.flipped(history, second);
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
    meter.flipped(history, flip("bf16", "off"));
    EXPECT_TRUE(meter.read(history)->alone) << "and one that follows later is measured by itself again";
}

TEST_F(FlipMeterTest, OneSwitchFlippedTwiceInAFewStepsIsOneFlipAndThereAndBackNone) {
    steps(60, 20);
    meter.flipped(history, flip("off", "fp16"));
    steps(3, 500);
    meter.flipped(history, flip("fp16", "bf16"));
    steps(60, 10);
    const auto reading = meter.read(history);
    ASSERT_EQ(reading->flips.size(), 1u);
    EXPECT_FALSE(reading->alone) << "the sessions that are stored do not know it as one";
    EXPECT_EQ(stripOf(*reading, {"Mixed precision"}).heading, "Mixed precision: off → bf16");
    EXPECT_TRUE(stripOf(*reading, {"Mixed precision"}).note.startsWith("from step 64 on; medians of 20"));
    meter.flipped(history, flip("bf16", "off"));
    steps(3, 500);
    meter.flipped(history, flip("off", "bf16"));
    EXPECT_FALSE(meter.read(history)) << "nothing is different";
    steps(2, 500);
    meter.flipped(history, flip("bf16", "fp16"));
    steps(60, 5);
    EXPECT_EQ(stripOf(*meter.read(history), {"Mixed precision"}).figures.at(0).change, "−50 %") << "against the last steps of bf16";
}

TEST_F(FlipMeterTest, SaysWhenTooFewStepsWereBeforeIt) {
    steps(9, 20);
    const auto applied = flip("off", "bf16");
    meter.flipped(history, applied);
    steps(60, 10);
    EXPECT_TRUE(chip(applied).isEmpty());
    const auto strip = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_TRUE(strip.figures.empty());
    EXPECT_TRUE(strip.note.contains("only 4 steady steps")) << strip.note.toStdString();
}

TEST_F(FlipMeterTest, TheChipNamesTheValueBeforeWhereNeitherSideIsTheDefault) {
    steps(60, 10);
    const auto applied = flip("bf16", "fp16");
    meter.flipped(history, applied);
    steps(100, 5);
    EXPECT_EQ(chip(applied), "fp16 ×2.00 vs bf16");
    EXPECT_EQ(stripOf(*meter.read(history), {"Mixed precision"}).figures.size(), 4u) << "the strip compares any two";
    meter.flipped(history, flip("fp16", "tf32"));
    steps(100, 10);
    EXPECT_EQ(chipOf(meter.read(history)->flips.front(), meter.read(history)->effect, off), "tf32 −50 % vs fp16");
}

TEST_F(FlipMeterTest, ShowsHowManyOperationsAStepRunsWhereTheyWereCounted) {
    steps(60, 20, 0.1, 1100);
    meter.flipped(history, flip("off", "kernels"));
    steps(1, 10);
    steps(60, 10, 0.1, 300);
    const auto strip = stripOf(*meter.read(history), {"Fusion"});
    ASSERT_EQ(strip.figures.size(), 5u);
    EXPECT_EQ(strip.figures[4].name, "operations");
    EXPECT_EQ(strip.figures[4].medians, "1\u2009100 → 300");
    EXPECT_EQ(strip.figures[4].change, "−73 %");
}

TEST_F(FlipMeterTest, MemoryIsTheMostThatTensorsHeldDuringTheStepsEvenWhereTheProcessKeepsIt) {
    peak = 250e6;
    steps(60, 20);
    const auto applied = flip("off", "every-block");
    meter.flipped(history, applied);
    peak = 90e6;
    steps(60, 26);
    const auto strip = stripOf(*meter.read(history), {"Checkpointing"});
    EXPECT_EQ(strip.figures[2].name, "memory");
    EXPECT_EQ(strip.figures[2].medians, "250 → 90.0\u2009MB");
    EXPECT_EQ(strip.figures[2].verdict, FlipStripReading::Verdict::Better);
    EXPECT_EQ(strip.figures[0].verdict, FlipStripReading::Verdict::Worse) << "and time rises: both are shown";
    EXPECT_TRUE(sentenceOf(applied, meter.read(history)->effect, "").contains("250 → 90.0\u2009MB of memory"));
}

TEST_F(FlipMeterTest, EveryPlaceOfAFlipIsTheFirstStepThatHasTheNewValue) {
    steps(60, 20);
    const auto applied = flip("off", "bf16");
    EXPECT_EQ(sinceOf(applied), "from step 61 on");
    meter.flipped(history, applied);
    steps(60, 10);
    EXPECT_TRUE(stripOf(*meter.read(history), {"Mixed precision"}).note.startsWith("from step 61 on; medians of 20"));
    MeasuredFlip stored;
    stored.flip = applied;
    stored.sessionName = "tiny-cpu";
    stored.startedUnixMs = 1'795'262'400'000;
    EXPECT_TRUE(placeOf(stored).startsWith("Session “tiny-cpu”, from step 61 on, ")) << placeOf(stored).toStdString();
    history.append(applied);
    EXPECT_EQ(history.markers().back().detail, "amp: off → bf16 from step 61 on.");
}

TEST_F(FlipMeterTest, SaysHowFarItCameWhereTheRunEndsBeforeItIsMeasured) {
    steps(60, 20);
    meter.flipped(history, flip("off", "bf16"));
    steps(7, 10);
    history.append(StateChanged{TimeNs::fromSeconds(at / 1000), step, RunState::Stopped, ""});
    const auto reading = meter.read(history);
    EXPECT_TRUE(reading->over);
    const auto strip = stripOf(*reading, {"Mixed precision"});
    EXPECT_EQ(strip.note, "from step 61 on; not measured: the run ended 2 steady steps after it, 10 are needed");
    EXPECT_TRUE(strip.figures.empty());
}

TEST_F(FlipMeterTest, ARunThatEndsWithEnoughStepsIsMeasuredAsFarAsItCame) {
    steps(60, 20);
    meter.flipped(history, flip("off", "bf16"));
    steps(17, 10);
    history.append(StateChanged{TimeNs::fromSeconds(at / 1000), step, RunState::Finished, ""});
    EXPECT_EQ(stripOf(*meter.read(history), {"Mixed precision"}).figures.at(0).change, "−50 %");
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
    run(20, 1, 0);
    const auto applied = flip("off", "bf16");
    meter.flipped(history, applied);
    run(30, 46, 0);
    auto strip = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_EQ(strip.figures[0].change, "the machine changed");
    EXPECT_EQ(strip.figures[0].verdict, FlipStripReading::Verdict::Inconclusive);
    EXPECT_EQ(strip.figures[1].change, "the machine changed");
    EXPECT_EQ(strip.note, "from step 76 on; times are not compared: other processes took 1 % of the processors before and 46 % after");
    EXPECT_EQ(strip.figures[3].change, "the same") << "page faults are this process's own";
    EXPECT_EQ(chip(applied), "");
    EXPECT_TRUE(sentenceOf(applied, meter.read(history)->effect, "").contains("the machine changed")) << "on the card too";
    meter.flipped(history, flip("bf16", "off"));
    run(20, 47, 20);
    strip = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_TRUE(strip.note.contains("the host of this virtual machine took 0 % of the processors before and 20 % after")) << strip.note.toStdString();
    meter.flipped(history, flip("off", "bf16"));
    run(10, 44, 18);
    EXPECT_EQ(stripOf(*meter.read(history), {"Mixed precision"}).figures[0].change, "−50 %") << "as busy on both sides: compared";
}

TEST_F(FlipMeterTest, WaitsForTheSampleOfTheLastSteps) {
    DeviceSample taken;
    taken.othersPct = 1;
    steps(60, 20);
    taken.at = TimeNs::fromSeconds(at / 1000);
    history.append(taken);
    meter.flipped(history, flip("off", "bf16"));
    steps(30, 10);
    EXPECT_FALSE(meter.read(history)->complete) << "what the machine did meanwhile is not known yet";
    taken.at = TimeNs::fromSeconds(at / 1000);
    history.append(taken);
    EXPECT_TRUE(meter.read(history)->complete);
}

TEST_F(FlipMeterTest, ForgetsWithTheRun) {
    steps(60, 10);
    meter.flipped(history, flip("off", "bf16"));
    meter.forget();
    EXPECT_FALSE(meter.read(history));
}

TEST_F(FlipMeterTest, WordsNameUnitsOnceAndSayWhatIsBetter) {
    steps(60, 20);
    const auto applied = flip("off", "bf16");
    meter.flipped(history, applied);
    steps(7, 10);
    const auto waiting = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_EQ(waiting.note, "from step 61 on; measuring: 2 of 20 steps after it");
    EXPECT_EQ(waiting.figures.at(0).medians, "20.0\u2009ms → …");
    EXPECT_TRUE(waiting.figures.at(0).change.isEmpty());
    steps(60, 10);
    const auto strip = stripOf(*meter.read(history), {"Mixed precision"});
    EXPECT_EQ(strip.heading, "Mixed precision: off → bf16");
    EXPECT_EQ(strip.figures[0].medians, "20.0 → 10.0\u2009ms");
    EXPECT_EQ(strip.figures[0].spread, "19.9–20.1 → 9.90–10.1\u2009ms");
    EXPECT_EQ(strip.figures[0].change, "−50 %");
    EXPECT_EQ(strip.figures[0].verdict, FlipStripReading::Verdict::Better);
    EXPECT_EQ(strip.figures[1].change, "×2.0");
    EXPECT_EQ(strip.figures[1].verdict, FlipStripReading::Verdict::Better);
    EXPECT_EQ(strip.figures[2].change, "the same");
    EXPECT_EQ(strip.figures[3].medians, "900 → 12");
    EXPECT_EQ(sentenceOf(applied, meter.read(history)->effect, "Here."),
              "Measured here, off → bf16: 20.0 → 10.0\u2009ms a step (−50 %), 300 → 300\u2009MB of memory. Here.");
}

}  // namespace
}  // namespace stepscope
