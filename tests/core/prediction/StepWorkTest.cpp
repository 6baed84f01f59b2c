// The work of a step, against sums written out by hand.
#include <gtest/gtest.h>

#include "core/prediction/StepWork.h"

namespace stepscope {
namespace {

RunPlan plan() {
    RunPlan plan;
    plan.config.layers = 3;
    plan.config.width = 8;
    plan.batchSize = 2;
    plan.context = 10;
    plan.accumulation = 4;
    return plan;
}
constexpr ModelSizes kSizes{.parameters = 1000, .vocabulary = 50, .hidden = 32, .hiddenRows = 32};

TEST(StepWork, CountsEachWeightOfALinearSixTimesAToken) {
    const StepWork work = stepWork(plan(), kSizes);
    EXPECT_EQ(work.tokens, 80);
    EXPECT_EQ(work.head, 6.0 * 80 * 8 * 50);
    EXPECT_EQ(work.products, 6.0 * 80 * 3 * (4 * 64 + 2 * 8 * 32) + work.head);
    EXPECT_EQ(work.attention, 3.0 * 3 * 2 * 11 * 8 * 80) << "of a row of scores (10 + 1) / 2 on average";
    EXPECT_EQ(work.updateBytes, 1000.0 * 28);
}

TEST(StepWork, CountsWhatIsRunAgain) {
    RunPlan again = plan();
    again.recompute.everyKthBlock = 2;  // blocks 0 and 2
    const StepWork plain = stepWork(plan(), kSizes), work = stepWork(again, kSizes);
    EXPECT_EQ(work.products - plain.products, 2.0 * 80 * 2 * (4 * 64 + 2 * 8 * 32));
    again.recompute = {.everyKthBlock = 0, .attentionOnly = true};
    EXPECT_EQ(stepWork(again, kSizes).products, plain.products);
    EXPECT_GT(stepWork(again, kSizes).attention, plain.attention);
}

TEST(StepWork, CountsThePassesOfAnUpdateOverMemory) {
    RunPlan loop = plan();
    loop.optimizer = OptimizerKind::Loop;
    EXPECT_EQ(stepWork(loop, kSizes).updateBytes, 1000.0 * 4 * (2 + 3 + 2 + 3 + 2 + 2 + 2 + 4));
    EXPECT_EQ(stepWork(loop, kSizes).clipBytes, 1000.0 * 4) << "the norm alone";
    loop.maxNorm = 1;
    EXPECT_EQ(stepWork(loop, kSizes).clipBytes, 1000.0 * 4 * 3);
    loop.optimizer = OptimizerKind::FusedWithClipping;
    EXPECT_EQ(stepWork(loop, kSizes).clipBytes, 1000.0 * 4) << "it scales them as it reads them";
    EXPECT_EQ(stepWork(loop, kSizes).updateBytes, 1000.0 * 28);
    EXPECT_EQ(stepWork(loop, kSizes).clearingBytes, 0);
    loop.keepsGradients = true;
    EXPECT_EQ(stepWork(loop, kSizes).clearingBytes, 1000.0 * 4 * (1 + 3));
}

TEST(StepWork, OfEightBitMomentsMovesFewerBytes) {
    RunPlan eight = plan();
    eight.optimizer = OptimizerKind::EightBit;
    EXPECT_EQ(stepWork(eight, kSizes).updateBytes, 1000.0 * 16);
}

}  // namespace
}  // namespace stepscope
