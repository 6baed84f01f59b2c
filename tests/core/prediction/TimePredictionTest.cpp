// Predicted times, against sums by hand; and silence on whatever peaks do not tell.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/prediction/TimePrediction.h"

namespace stepscope {
namespace {

constexpr ModelSizes kSizes{.parameters = 1000, .vocabulary = 64, .hidden = 64, .hiddenRows = 64};

RunPlan plan() {
    RunPlan plan;
    plan.config.layers = 2;
    plan.config.width = 16;
    plan.batchSize = 4;
    plan.context = 32;
    plan.accumulation = 1;
    return plan;
}

// Products take 40 ms in float32 and 10 in bf16.
MachinePeaks peaks() {
    MachinePeaks peaks;
    peaks.float32 = stepWork(plan(), kSizes).products / 0.040;
    peaks.bf16 = 4 * peaks.float32;
    return peaks;
}
constexpr StepTimes kTimes{.ms = 100, .updateMs = 10, .manualAttentionMs = 5, .sdpaAttentionMs = 2};

TEST(TimePrediction, OfAnotherFormatChangesTheProductsAlone) {
    RunPlan low = plan();
    low.precision = Precision::Bf16;
    const auto told = predictTime(plan(), low, kSizes, kTimes, peaks());
    ASSERT_TRUE(told.known);
    EXPECT_NEAR(told.ms, 70, 1e-9);
    EXPECT_NEAR(told.ratio, 100.0 / 70, 1e-9);
    const auto back = predictTime(low, plan(), kSizes, {.ms = 70, .updateMs = 10}, peaks());
    EXPECT_NEAR(back.ms, 100, 1e-9);
}

TEST(TimePrediction, OfALargerBatchPaysTheUpdateOnce) {
    RunPlan twice = plan();
    twice.batchSize = 8;
    const auto told = predictTime(plan(), twice, kSizes, kTimes, peaks());
    ASSERT_TRUE(told.known);
    EXPECT_NEAR(told.ms, 190, 1e-9);
    EXPECT_NEAR(told.ratio, 200.0 / 190, 1e-9);
    EXPECT_TRUE(predictTime(plan(), twice, kSizes, kTimes, MachinePeaks{}).known) << "no peak is needed for it";
}

TEST(TimePrediction, OfTheOtherAttentionTakesWhatWasMeasured) {
    RunPlan manual = plan();
    manual.attention = AttentionKind::Manual;
    const auto told = predictTime(plan(), manual, kSizes, kTimes, peaks());
    ASSERT_TRUE(told.known);
    EXPECT_NEAR(told.ms, 100 + 2 * (5 - 2), 1e-9);
    EXPECT_FALSE(predictTime(plan(), manual, kSizes, {.ms = 100}, peaks()).known);
}

TEST(TimePrediction, OfBlocksRunAgainAddsTheirForwardPass) {
    RunPlan again = plan();
    again.recompute.everyKthBlock = 1;
    const auto told = predictTime(plan(), again, kSizes, kTimes, peaks());
    ASSERT_TRUE(told.known);
    const StepWork more = stepWork(again, kSizes), before = stepWork(plan(), kSizes);
    const double attention = (more.attention - before.attention) / peaks().of(plan().precision) * 1e3;
    EXPECT_GT(attention, 0) << "it is computed again too";
    EXPECT_NEAR(told.ms, 100 + 40 * (more.products / before.products - 1) + attention, 1e-9);
}

// Of an update that moves 7 floats a weight and one for the norm in 8 of its 10 ms.
MachinePeaks peaksWithMemory() {
    MachinePeaks all = peaks();
    all.bytesPerSecond = 1000 * (28 + 4) / 0.008;
    return all;
}

TEST(TimePrediction, OfAnotherUpdateGoesByTheBytesThatItMoves) {
    RunPlan loop = plan();
    loop.optimizer = OptimizerKind::Loop;
    const auto told = predictTime(plan(), loop, kSizes, kTimes, peaksWithMemory());
    ASSERT_TRUE(told.known);
    EXPECT_NEAR(told.ms, 100 + 8 * (84.0 / 32 - 1), 1e-9);
    EXPECT_EQ(told.basis, "the update by the bytes it moves");
    RunPlan clips = plan(), fused = plan();
    clips.maxNorm = fused.maxNorm = 1;
    fused.optimizer = OptimizerKind::FusedWithClipping;
    MachinePeaks memory = peaks();
    memory.bytesPerSecond = 1000 * (28 + 12) / 0.008;
    EXPECT_NEAR(predictTime(clips, fused, kSizes, kTimes, memory).ms, 100 + 8 * (32.0 / 40 - 1), 1e-9) << "no pass to scale the gradients";
}

TEST(TimePrediction, OfGradientsThatAreKeptAddsTheirPasses) {
    RunPlan keeps = plan();
    keeps.keepsGradients = true;
    const auto told = predictTime(plan(), keeps, kSizes, kTimes, peaksWithMemory());
    ASSERT_TRUE(told.known);
    EXPECT_NEAR(told.ms, 100 + 8 * 16.0 / 32, 1e-9);
    EXPECT_NEAR(predictTime(keeps, plan(), kSizes, kTimes, peaksWithMemory()).ms, 100 - 8 * 16.0 / 32, 1e-9);
}

TEST(TimePrediction, OfAnUpdateThatMemoryDoesNotBindIsSilent) {
    RunPlan loop = plan(), low = plan(), eight = plan();
    loop.optimizer = OptimizerKind::Loop;
    EXPECT_FALSE(predictTime(plan(), loop, kSizes, kTimes, peaks()).known) << "its bandwidth was not measured";
    MachinePeaks fast = peaksWithMemory(), slow = peaksWithMemory();
    fast.bytesPerSecond *= 10;
    slow.bytesPerSecond /= 10;
    EXPECT_FALSE(predictTime(plan(), loop, kSizes, kTimes, fast).known) << "something else takes most of it";
    EXPECT_FALSE(predictTime(plan(), loop, kSizes, kTimes, slow).known) << "a cache holds it";
    eight.optimizer = OptimizerKind::EightBit;
    EXPECT_FALSE(predictTime(plan(), eight, kSizes, kTimes, peaksWithMemory()).known);
    low.precision = Precision::Bf16;
    RunPlan copies = low;
    copies.optimizer = OptimizerKind::FusedWithClipping;
    EXPECT_FALSE(predictTime(low, copies, kSizes, kTimes, peaksWithMemory()).known) << "its narrow copy spares casts elsewhere";
    RunPlan both = loop;
    both.fused.norm = true;
    EXPECT_FALSE(predictTime(plan(), both, kSizes, kTimes, peaksWithMemory()).known) << "one of two changes is not told";
}

TEST(TimePrediction, OfAnythingElseIsSilent) {
    const auto silent = [](const std::function<void(RunPlan&)>& change) {
        RunPlan other = plan();
        change(other);
        return !predictTime(plan(), other, kSizes, kTimes, peaks()).known;
    };
    EXPECT_TRUE(silent([](RunPlan&) {})) << "nothing differs";
    EXPECT_TRUE(silent([](RunPlan& p) { p.execution = Execution::Planned; }));
    EXPECT_TRUE(silent([](RunPlan& p) { p.recompute.attentionOnly = true; })) << "what attention costs a second time no product tells";
    EXPECT_TRUE(silent([](RunPlan& p) { p.hostMemory = HostMemory::System; }));
    EXPECT_TRUE(silent([](RunPlan& p) { p.optimizer = OptimizerKind::Loop; }));
    EXPECT_TRUE(silent([](RunPlan& p) { p.padding.multiple = 64; }));
    EXPECT_TRUE(silent([](RunPlan& p) { p.attention = AttentionKind::Flash; }));
    EXPECT_TRUE(silent([](RunPlan& p) { p.precision = Precision::Fp16; })) << "its peak was not measured";
    EXPECT_TRUE(silent([](RunPlan& p) {
        p.precision = Precision::Bf16;
        p.fused.norm = true;
    })) << "one of two changes is not told";
}

TEST(TimePrediction, NeverTakesMoreOffThanThereWas) {
    RunPlan low = plan();
    low.precision = Precision::Bf16;
    MachinePeaks slow = peaks();
    slow.float32 /= 100;  // a peak that the step itself beats
    slow.bf16 /= 100;
    const auto told = predictTime(plan(), low, kSizes, kTimes, slow);
    ASSERT_TRUE(told.known);
    EXPECT_GE(told.ms, 10);
    EXPECT_LE(told.ms, 100);
}

}  // namespace
}  // namespace stepscope
