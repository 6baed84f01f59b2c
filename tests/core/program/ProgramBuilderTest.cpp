// The parts of a Program: what a plan says in numbers, the slots that switches fill, and that a switch may bring a Program of its own.
#include <gtest/gtest.h>

#include "TinyTraining.h"

namespace stepscope {
namespace {

struct CountingProgram final : StepProgram {
    explicit CountingProgram(ProgramParts all) : parts(std::move(all)) {}
    void prepare(const TrainState&) override {}
    void shareWith(DataParallel*) override {}
    void subscribe(GradientSubscriber*) override {}
    StepResult step(TrainState&, const BatchSource&, double) override { return {}; }
    double evaluate(const TrainState&, const BatchSource&, std::int64_t, const Ended&) override { return 0; }
    const ProgramReport& report() const override { return words; }
    ProgramReport words;
    ProgramParts parts;
};

// What a Program is given that is built of this plan.
ProgramParts partsOf(
    const RunPlan& plan, const std::function<void(ProgramBuilder&)>& install = [](ProgramBuilder&) {}) {
    ProgramBuilder builder(plan);
    install(builder);
    builder.setProgram([](ProgramParts parts) -> std::unique_ptr<StepProgram> { return std::make_unique<CountingProgram>(std::move(parts)); });
    const auto built = builder.build();
    return dynamic_cast<const CountingProgram&>(*built).parts;
}

TEST(ProgramBuilder, TakesWhatThePlanSaysInNumbers) {
    RunPlan plan;
    plan.context = 31;
    plan.batchSize = 5;
    plan.accumulation = 3;
    plan.maxNorm = 0.5;
    plan.precision = Precision::Fp16;
    plan.validation.precision = Precision::Bf16;
    plan.matmulPrecision = MatmulPrecision::Medium;
    plan.hostMemory = HostMemory::System;
    plan.optimizer = OptimizerKind::EightBit;
    plan.keepsGradients = true;
    plan.feed = {.place = TokenPlace::Ram, .workers = 4};
    plan.config.dropout = 0.1;
    plan.config.beta2 = 0.97;
    plan.config.lossScaleGrowth = 77;
    const ProgramParts parts = partsOf(plan);
    EXPECT_EQ(std::tuple(parts.context, parts.batchSize, parts.accumulation, parts.maxNorm), std::tuple(31, 5, 3, 0.5));
    EXPECT_EQ(std::tuple(parts.autocast, parts.validationAutocast), std::tuple(std::optional(at::kHalf), std::optional(at::kBFloat16)));
    EXPECT_EQ(parts.scope.matmulPrecision, at::Float32MatmulPrecision::MEDIUM);
    EXPECT_EQ(parts.scope.hostMemory, host_memory::Mode::System);
    EXPECT_TRUE(parts.eightBitMoments && parts.keepGradients);
    EXPECT_EQ(parts.feed, plan.feed);
    EXPECT_EQ(std::tuple(parts.dropout, parts.adamW.beta2, parts.lossScaleGrowth), std::tuple(0.1, 0.97, 77));
    plan.precision = Precision::Float32;
    EXPECT_EQ(partsOf(plan).lossScaleGrowth, 0) << "without fp16 no loss is scaled";
    EXPECT_EQ(partsOf(plan).autocast, std::nullopt);
}

TEST(ProgramBuilder, HasThePartsRunAgainThatThePlanNames) {
    RunPlan plan;
    EXPECT_FALSE(partsOf(plan).ops.block);
    plan.recompute.everyKthBlock = 2;
    EXPECT_TRUE(partsOf(plan).ops.block);
}

TEST(ProgramBuilder, KeepsTheSlotsThatASwitchFills) {
    int called = 0;
    const ProgramParts parts = partsOf({}, [&](ProgramBuilder& builder) {
        builder.setAttention({"counted",
                              [&](const at::Tensor& q, const at::Tensor&, const at::Tensor&) {
                                  called += 1;
                                  return q;
                              },
                              {.math = false}});
    });
    parts.ops.attention({}, {}, {});
    EXPECT_EQ(called, 1);
    EXPECT_EQ(parts.attentionName, "counted");
    EXPECT_FALSE(parts.scope.sdpa.math);
}

}  // namespace
}  // namespace stepscope
