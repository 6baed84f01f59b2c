// What the registry makes of a configuration: each switch resolved into types, what gives way to what, and that two switches which decide the same
// thing are refused with both names.
#include <gtest/gtest.h>

#include "TinyTraining.h"
#include "core/events/ConfigKeys.h"
#include "core/prediction/MemoryPrediction.h"

namespace stepscope {
namespace {

Machine withGpu() {
    Machine machine = testing::plainCpu();
    machine.gpus.push_back({.name = "a GPU", .memory = {80'000'000'000}, .computeMajor = 9, .computeMinor = 0});
    return machine;
}

const Registry& registry() {
    static const Registry one(withGpu());
    return one;
}

using Words = std::vector<std::pair<std::string, std::string>>;

RunPlan planOf(const Words& words) {
    RunConfig config = testing::tinyConfig(registry());
    for (const auto& [id, value] : words) EXPECT_TRUE(setKey(config, registry().catalogue(config), id, value).ok()) << id;
    const auto complete = registry().complete(config);
    EXPECT_TRUE(complete.ok()) << complete.error().sentence;
    return registry().plan(*complete, 61).value();
}

TEST(RunPlan, SaysInTypesWhatTheConfigurationSaysInWords) {
    const RunPlan plan = planOf({{"amp", "bf16"},
                                 {"attention", "manual"},
                                 {"batch-size", "3"},
                                 {"context", "7"},
                                 {"grad-clip", "0.25"},
                                 {"checkpointing", "every-3rd"},
                                 {"data-source", "ram"},
                                 {"batch-creation", "strided"},
                                 {"loader-workers", "2"},
                                 {"loader-prefetch", "5"},
                                 {"validation-every", "epoch"},
                                 {"validation-amp", "on"},
                                 {"optimizer", "8-bit"},
                                 {"zero-grad", "zero"},
                                 {"grad-sums", "bf16"},
                                 {"host-memory", "system"},
                                 {"chunked-loss", "9"},
                                 {"vocab-padding", "64"},
                                 {"grad-accumulation", "2"}});
    EXPECT_EQ(plan.precision, Precision::Bf16);
    EXPECT_EQ(plan.attention, AttentionKind::Manual);
    EXPECT_EQ(std::tuple(plan.batchSize, plan.context, plan.accumulation, plan.maxNorm), std::tuple(3, 7, 2, 0.25));
    EXPECT_EQ(plan.recompute, (RecomputePlan{.everyKthBlock = 3}));
    EXPECT_EQ(plan.feed, (FeedSettings{TokenPlace::Ram, BatchCreation::Strided, 2, 5}));
    EXPECT_TRUE(plan.validation.everyEpoch && plan.validation.happens());
    EXPECT_EQ(plan.validation.precision, Precision::Bf16);
    EXPECT_EQ(plan.optimizer, OptimizerKind::EightBit);
    EXPECT_TRUE(plan.keepsGradients);
    EXPECT_EQ(plan.sums, SumPrecision::Bf16);
    EXPECT_EQ(plan.hostMemory, HostMemory::System);
    EXPECT_EQ(std::tuple(plan.loss, plan.lossRows), std::tuple(LossKind::Chunked, 9));
    EXPECT_EQ(plan.padding, (VocabularyPadding{.multiple = 64}));
    EXPECT_EQ(plan.device(), "cpu");
    EXPECT_EQ(planOf({{"device", "cuda:0"}}).gpu, 0);
    EXPECT_EQ(planOf({{"device", "cuda:0"}}).device(), "cuda:0");
    EXPECT_FALSE(planOf({{"validation-every", "0"}}).validation.happens());
}

TEST(RunPlan, EachWorkerOfAMachineTakesAGpuOfItsOwnFromTheOneThatIsNamedOn) {
    Machine machine = withGpu();
    machine.gpus.push_back(machine.gpus.front());
    machine.gpus.push_back(machine.gpus.front());
    const auto planOfWorker = [&](int beforeHere, const std::string& device) {
        const Registry here(machine, 4, beforeHere);
        RunConfig config = testing::tinyConfig(registry());
        config.switches["device"] = device;
        return here.plan(here.complete(config).value(), 61);
    };
    EXPECT_EQ(planOfWorker(0, "cuda:0")->device(), "cuda:0");
    EXPECT_EQ(planOfWorker(2, "cuda:0")->device(), "cuda:2");
    EXPECT_EQ(planOfWorker(1, "cuda:1")->device(), "cuda:2");
    EXPECT_EQ(planOfWorker(3, "cpu")->device(), "cpu");
    const auto fourth = planOfWorker(3, "cuda:0");
    ASSERT_FALSE(fourth);
    EXPECT_EQ(fourth.error().code, ErrorCode::Unsupported);
    EXPECT_EQ(fourth.error().sentence,
              "Each worker trains on a GPU of its own, and there is no cuda:3 for worker number 4 of this machine, which has 3 GPUs; start fewer "
              "workers on "
              "it, or set device=cpu.");
}

TEST(RunPlan, ACapturedStepUpdatesAllWeightsSoMomentsAreNotDealtOutBesideIt) {
    const auto refusal = [](const Words& words) {
        RunConfig config = testing::tinyConfig(registry());
        for (const auto& [id, value] : words) config.switches[id] = value;
        const auto complete = registry().complete(config);
        return complete ? std::string() : complete.error().sentence;
    };
    EXPECT_EQ(refusal({{"device", "cuda:0"}, {"fusion", "kernels"}, {"cuda-graph", "on"}}), "");
    EXPECT_EQ(refusal({{"device", "cuda:0"}, {"fusion", "kernels"}, {"zero", "1"}}), "");
    EXPECT_EQ(refusal({{"device", "cuda:0"}, {"fusion", "kernels"}, {"cuda-graph", "on"}, {"zero", "1"}}),
              "cuda-graph=on cannot be used: the captured update is of all weights, and zero=1 lets each worker update its own part; choose one of "
              "the two.");
}

TEST(RunPlan, ReadsOfHowManyBlocksOneIsRecomputed) {
    for (const auto& [word, every] :
         {std::pair{"off", 0}, {"selective", 0}, {"every-block", 1}, {"every-2nd", 2}, {"every-3rd", 3}, {"every-4th", 4}, {"every-12th", 12}})
        EXPECT_EQ(planOf({{"checkpointing", word}}).recompute.everyKthBlock, every) << word;
    EXPECT_TRUE(planOf({{"checkpointing", "selective"}}).recompute.attentionOnly);
}

TEST(RunPlan, HasTheFusedOperationsThatReallyRun) {
    const auto none = FusedOperations{}, all = FusedOperations{.embedding = true, .norm = true, .activation = true, .linear = true, .heads = true};
    EXPECT_EQ(planOf({}).fused, none);
    EXPECT_EQ(planOf({{"fusion", "kernels"}}).fused, all);
    EXPECT_EQ(planOf({{"fusion", "kernels"}}).attention, AttentionKind::Fused);
    EXPECT_EQ(planOf({{"fusion", "kernels"}}).loss, LossKind::Fused);
    EXPECT_EQ(planOf({{"fusion", "kernels"}}).optimizer, OptimizerKind::FusedWithClipping);
    EXPECT_TRUE(planOf({{"fusion", "kernels"}, {"amp", "bf16"}}).keepsLowWeights());
    EXPECT_FALSE(planOf({{"fusion", "kernels"}}).keepsLowWeights());
    EXPECT_EQ(planOf({{"fused-norm", "on"}}).fused, FusedOperations{.norm = true});
    // auto gives way to who has decided already,
    EXPECT_EQ(planOf({{"fusion", "kernels"}, {"attention", "manual"}}).attention, AttentionKind::Manual);
    EXPECT_EQ(planOf({{"fusion", "kernels"}, {"chunked-loss", "9"}}).loss, LossKind::Chunked);
    EXPECT_EQ(planOf({{"fusion", "kernels"}, {"optimizer", "loop"}}).optimizer, OptimizerKind::Loop);
    EXPECT_FALSE(planOf({{"fusion", "kernels"}, {"optimizer", "loop"}, {"amp", "bf16"}}).keepsLowWeights());
    // an attention of our own there is on a CPU only,
    EXPECT_EQ(planOf({{"fusion", "kernels"}, {"device", "cuda:0"}}).attention, AttentionKind::Auto);
    // and a planned step has none of the single operations.
    EXPECT_EQ(planOf({{"fusion", "step"}}).execution, Execution::Planned);
    EXPECT_EQ(planOf({{"fusion", "step"}}).fused, none);
    EXPECT_EQ(planOf({{"fusion", "step"}}).optimizer, OptimizerKind::Fused);
}

TEST(RunPlan, IsOfWhatRunsWhereTheChoiceCannotAndSaysSo) {
    const RunPlan plan = planOf({{"fusion", "step"}, {"attention", "manual"}});
    EXPECT_EQ(plan.execution, Execution::Eager);
    EXPECT_TRUE(plan.fused.norm);
    EXPECT_EQ(plan.config.word("fusion"), "step") << "the choice stays as it was made";
    EXPECT_EQ(plan.notes, "fusion=step does not carry attention=manual: fusion=kernels is used.");
    EXPECT_EQ(planOf({}).notes, "");
}

// The prediction reads what was resolved: what gives way takes no memory.
TEST(RunPlan, IsWhatMemoryIsPredictedOf) {
    const auto tensors = [](const Words& words) {
        const RunPlan plan = planOf(words);
        return predictMemory(plan, {.parameters = 10'000, .vocabulary = 20'000, .hidden = 64, .hiddenRows = 64}).tensors.count;
    };
    EXPECT_LT(tensors({{"fusion", "kernels"}}), tensors({}));
    EXPECT_EQ(tensors({{"fusion", "kernels"}, {"fused-loss", "off"}, {"chunked-loss", "9"}}),
              tensors({{"fusion", "kernels"}, {"chunked-loss", "9"}}));
    EXPECT_EQ(tensors({{"fusion", "step"}, {"attention", "manual"}}), tensors({{"fusion", "kernels"}, {"attention", "manual"}}));
}

TEST(PlanDraft, RefusesTwoSwitchesThatDecideTheSameWithBothNames) {
    PlanDraft draft{RunConfig{}};
    draft.beginSwitch("one-loss");
    draft.claim("loss");
    draft.claim("loss");  // of the same switch: no conflict
    EXPECT_FALSE(draft.conflict());
    EXPECT_TRUE(draft.isClaimed("loss"));
    draft.beginSwitch("other-loss");
    EXPECT_FALSE(draft.isClaimed("attention"));
    draft.claim("loss");
    ASSERT_TRUE(draft.conflict());
    EXPECT_EQ(draft.conflict()->sentence, "one-loss and other-loss both decide the loss; switch one of them off.");
    EXPECT_EQ(draft.conflict()->code, ErrorCode::BadInput);
}

TEST(RunPlan, OfTwoSwitchesThatDecideTheSameThereIsNone) {
    RunConfig config = testing::tinyConfig(registry());
    config.switches["chunked-loss"] = std::int64_t{9};
    config.switches["fused-loss"] = std::string("on");
    for (const auto& refused : {registry().complete(config).error(), registry().plan(config).error()})
        EXPECT_EQ(refused.sentence, "chunked-loss and fused-loss both decide the loss; switch one of them off.");
}

// 3 = of the configuration, 5 = of the machine (app/cli/ExitCode.h).
TEST(RunPlan, ARefusalSaysWhetherOtherSettingsWouldHelp) {
    const auto codeOf = [](const Registry& here, const Words& words) {
        RunConfig config = testing::tinyConfig(registry());
        for (const auto& [id, value] : words) config.switches[id] = value;
        return here.complete(config).error().code;
    };
    const Registry plain(testing::plainCpu());
    EXPECT_EQ(codeOf(plain, {{"device", "cuda:0"}}), ErrorCode::Unsupported);
    EXPECT_EQ(codeOf(registry(), {{"device", "cuda:3"}}), ErrorCode::Unsupported);
    EXPECT_EQ(codeOf(plain, {{"cuda-graph", "on"}}), ErrorCode::Unsupported);
    EXPECT_EQ(codeOf(registry(), {{"cuda-graph", "on"}}), ErrorCode::BadInput) << "on the CPU of a machine that has a GPU";
    EXPECT_EQ(codeOf(plain, {{"matmul-precision", "high"}}), ErrorCode::Unsupported);
    EXPECT_EQ(codeOf(registry(), {{"matmul-precision", "high"}}), ErrorCode::BadInput);
    EXPECT_EQ(codeOf(plain, {{"amp", "fp16"}, {"fusion", "kernels"}}), ErrorCode::BadInput);
    EXPECT_EQ(codeOf(plain, {{"fused-norm", "on"}, {"fusion", "step"}}), ErrorCode::BadInput);
    EXPECT_EQ(codeOf(plain, {{"attention", "manual"}, {"fused-attention", "on"}}), ErrorCode::BadInput);
}

}  // namespace
}  // namespace stepscope
