// What is said of a capture and of a flip: the words at one and at many, and what is left out where nobody knows it.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/captures/CaptureSentence.h"
#include "core/analysis/flips/FlipSentence.h"

namespace stepscope {
namespace {

const std::string kNarrowSpace = "\u202F";

CaptureDone capturedSteps(std::int64_t first, std::int64_t steps, double operations, std::vector<CapturedOperation> rows = {}) {
    CaptureDone capture;
    capture.firstStep = first;
    capture.steps = steps;
    capture.step = first + steps - 1;
    capture.operations = operations;
    if (!rows.empty()) capture.rows = std::make_shared<const std::vector<CapturedOperation>>(std::move(rows));
    return capture;
}
CapturedOperation capturedOperation(const char* name, const char* phase, std::int64_t self) {
    CapturedOperation one;
    one.name = name;
    one.phase = phase;
    one.self.ns = self;
    return one;
}

TEST(CaptureSentence, SaysOneStepAndOneOperationAsOne) {
    EXPECT_EQ(captureSentence(capturedSteps(1234, 1, 1)), "Step 1" + kNarrowSpace + "234 is captured: 1 operation a step.");
    EXPECT_EQ(captureSentence(capturedSteps(4, 2, 12'345)), "Steps 4 to 5 are captured: 12" + kNarrowSpace + "345 operations a step.");
    EXPECT_EQ(captureSentence(capturedSteps(4, 2, 0)), "Steps 4 to 5 are captured: 0 operations a step.");
    EXPECT_EQ(captureSentence(capturedSteps(4, 2, 1.4)), "Steps 4 to 5 are captured: 1 operation a step.") << "rounded as it is shown";
}

TEST(CaptureSentence, SaysWhatIsNotRecordedOfTheSlowestSteps) {
    EXPECT_EQ(slowestSentence(SlowestSteps::None), "");
    EXPECT_TRUE(
        slowestSentence(SlowestSteps::All).starts_with("These steps were kept as the slowest, of which operations alone are recorded: memory"));
    EXPECT_TRUE(slowestSentence(SlowestSteps::Some).starts_with("Some of these steps were kept as the slowest"));
}

TEST(CaptureSentence, SaysWhatIsNotRecordedOfWorkersBesideTheFirst) {
    EXPECT_EQ(otherWorkersSentence(false),
              "Of the workers beside the first operations, phases and steps are recorded: memory and the processor's "
              "counters are of the first alone.");
    EXPECT_NE(otherWorkersSentence(true).find("recorded: kernels, memory"), std::string::npos);
}

TEST(CaptureSentence, SaysHowMuchMemoryManySlicesTakeByKernelAndNothingOfFew) {
    EXPECT_EQ(kernelMemorySentence(100'000), "");
    EXPECT_EQ(kernelMemorySentence(10'000'000), "10" + kNarrowSpace + "000" + kNarrowSpace +
                                                    "000 slices were captured: adding them up by kernel takes up to 420" + kNarrowSpace +
                                                    "MB of memory.");
    const std::string most = kernelMemorySentence(std::numeric_limits<std::int64_t>::max());
    EXPECT_NE(most.find("up to 2.10" + kNarrowSpace + "GB"), std::string::npos) << most << ": a file may say any number, and no more is held";
    EXPECT_EQ(launchersUnknownSentence(50'000'000).find("More than 50" + kNarrowSpace + "000" + kNarrowSpace + "000 operations"), 0U);
}

TEST(CaptureSentence, LeavesOutWhatNobodyKnows) {
    EXPECT_EQ(captureSentence(capturedSteps(7, 1, kUnknown)), "Step 7 is captured.");
    CaptureDone empty = capturedSteps(7, 1, 3);
    empty.rows = std::make_shared<const std::vector<CapturedOperation>>();
    EXPECT_EQ(captureSentence(empty), "Step 7 is captured: 3 operations a step.");
    EXPECT_EQ(captureSentence(capturedSteps(7, 1, 3, {capturedOperation("aten::view", "", 0)})), "Step 7 is captured: 3 operations a step.")
        << "a share of no time is none";
}

TEST(CaptureSentence, NamesTheOperationThatTookMostOfAllItsPlacesTogether) {
    std::vector<CapturedOperation> rows{capturedOperation("attention", "backward", 300), capturedOperation("aten::mm", "backward", 250),
                                        capturedOperation("aten::mm", "backward", 250), capturedOperation("aten::mm", "forward", 200)};
    rows[1].role = "mlp/down";
    rows[2].role = "mlp/up";
    EXPECT_EQ(captureSentence(capturedSteps(7, 1, 3, rows)),
              "Step 7 is captured: 3 operations a step, most time in aten::mm, backward (50 % of what they took).")
        << "no row alone has as much";
}

TEST(CaptureSentence, ThePartOfTheFirstRowIsThatOfAllOperationsTime) {
    EXPECT_EQ(
        captureSentence(capturedSteps(7, 1, 3, {capturedOperation("aten::mm", "backward", 600), capturedOperation("aten::gelu", "forward", 200)})),
        "Step 7 is captured: 3 operations a step, most time in aten::mm, backward (75 % of what they took).");
    EXPECT_EQ(captureSentence(capturedSteps(7, 1, 3, {capturedOperation("aten::mm", "", 600)})),
              "Step 7 is captured: 3 operations a step, most time in aten::mm (100 % of what they took).");
    // Of a stranger's numbers the sum may be more than an integer holds.
    const auto most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(captureSentence(capturedSteps(7, 1, kUnknown, {capturedOperation("a", "", most), capturedOperation("b", "", most)})),
              "Step 7 is captured, most time in a (50 % of what they took).");
}

FlipEffect flipOf(std::size_t before, std::size_t after, double msBefore, double msAfter) {
    FlipEffect effect;
    effect.stepsBefore = before;
    effect.stepsAfter = after;
    effect.shams = ShamTest::kFewest;
    effect.ms.before.median = msBefore;
    effect.ms.after.median = msAfter;
    effect.ms.chance = 0;
    return effect;
}

TEST(FlipSentence, OfTooFewStepsSaysHowManyThereAreAndOneOfThemAsOne) {
    EXPECT_EQ(flipSentence(flipOf(1, 20, 20, 10)), "not measured: 1 step before it and 20 after, 10 are needed");
    EXPECT_EQ(flipSentence(flipOf(20, 1, 20, 10)), "not measured: 20 steps before it and 1 after, 10 are needed");
    EXPECT_EQ(flipSentence(flipOf(0, 0, 20, 10)), "not measured: 0 steps before it and 0 after, 10 are needed");
}

TEST(FlipSentence, WritesSmallChangesWithADigitMoreAndMinusAsMinus) {
    const std::string from = "step time 20.0" + kNarrowSpace + "ms → ", ms = kNarrowSpace + "ms, ";
    EXPECT_EQ(flipSentence(flipOf(20, 20, 20, 10)), from + "10.0" + ms + "−50 %");
    EXPECT_EQ(flipSentence(flipOf(20, 20, 20, 19)), from + "19.0" + ms + "−5.0 %");
    EXPECT_EQ(flipSentence(flipOf(20, 20, 20, 20.5)), from + "20.5" + ms + "+2.5 %");
    EXPECT_EQ(flipSentence(flipOf(20, 20, 20, 50)), from + "50.0" + ms + "+150 %");
}

TEST(FlipSentence, SaysWhyNothingIsClaimed) {
    FlipEffect effect = flipOf(20, 12, 20, 10);
    effect.ms.chance = kUnknown;
    const std::string medians = "step time 20.0" + kNarrowSpace + "ms → 10.0" + kNarrowSpace + "ms, ";
    EXPECT_EQ(flipSentence(effect), medians + "inconclusive: only 12 of 20 steps after it");
    effect.stepsAfter = 20;
    effect.shams = 12;
    EXPECT_EQ(flipSentence(effect), medians + "inconclusive: 12 of 39 comparisons without a flip so far");
    effect.shams = 39;
    effect.ms.chance = 0.5;  // 2 (9 + 1) / (39 + 1)
    EXPECT_EQ(flipSentence(effect), medians + "inconclusive: 9 of 39 comparisons without a flip differ as much that way");
    // A machine that was another one comes before every number.
    effect.ms.chance = 0;
    effect.machineChange = "other processes took 2 % of the processors before and 45 % after";
    EXPECT_EQ(flipSentence(effect), medians + "not compared, for the machine changed: " + effect.machineChange);
}

TEST(FlipSentence, WhereAStepTrainsAnotherNumberOfTokensTheVerdictIsOfTheThroughput) {
    FlipEffect effect = flipOf(20, 20, 20, 40);
    effect.tokensPerSecond.before.median = 50'000;
    effect.tokensPerSecond.after.median = 100'000;
    effect.tokensPerSecond.chance = 0;
    effect.tokensBefore = 1000;
    effect.tokensAfter = 4000;
    const std::string medians = "step time 20.0" + kNarrowSpace + "ms → 40.0" + kNarrowSpace + "ms, throughput 50.0" + kNarrowSpace +
                                "K tok/s → 100" + kNarrowSpace + "K tok/s, ";
    EXPECT_EQ(flipSentence(effect), medians + "+100 %");
    effect.tokensPerSecond.chance = 0.5;
    EXPECT_EQ(flipSentence(effect), medians + "inconclusive: 9 of 39 comparisons without a flip differ as much that way")
        << "however sure it is that a step takes longer";
}

}  // namespace
}  // namespace stepscope
