// fp16's loss scaler: its rule, that overflow recovers by itself, and that its state outlives Programs and checkpoints.
#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "TinyTraining.h"
#include "core/events/RunEvents.h"
#include "core/state/Checkpoint.h"

namespace stepscope {
namespace {

using testing::TinyTrainer;

RunConfig fp16(std::int64_t steps) {
    RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()), steps);
    config.switches["amp"] = std::string("fp16");
    return config;
}

TEST(LossScaler, StartsAt65536HalvesOnOverflowAndDoublesAfterCleanSteps) {
    LossScale state;
    EXPECT_EQ(state.scale, 65536);
    moveScale(state, true, 3);
    moveScale(state, true, 3);
    EXPECT_EQ(state, (LossScale{65536, 2}));
    moveScale(state, false, 3);
    EXPECT_EQ(state, (LossScale{32768, 0}));
    for (int i = 0; i < 3; ++i) moveScale(state, true, 3);
    EXPECT_EQ(state, (LossScale{65536, 0}));
}

TEST(LossScaler, UnscalesExactlyAndSeesWhatIsNoNumber) {
    const at::Tensor good = at::tensor({3.0f, -5.0f}) * 1024, more = at::tensor({0.25f}) * 1024;
    EXPECT_TRUE(unscale({good, more}, 1024));
    EXPECT_EQ(good[1].item<float>(), -5.0f);
    EXPECT_EQ(more[0].item<float>(), 0.25f);
    for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
        EXPECT_FALSE(unscale({at::tensor({1.0f, bad})}, 2));
}

TEST(LossScaler, AnOverflowIsLeftOutAndTheRunRecoversByItself) {
    TinyTrainer trainer(fp16(60));
    trainer.setup.state.lossScale.scale = 0x1p40;
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    const auto steps = trainer.sink.all<StepDone>();
    ASSERT_EQ(steps.size(), 60u);
    std::size_t skipped = 0;
    while (skipped < steps.size() && steps[skipped].skipped) ++skipped;
    EXPECT_GT(skipped, 5u);
    // Near the largest scale that fits, a larger gradient may still overflow now and then.
    skipped = 0;
    double scale = 0x1p40;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        EXPECT_EQ(steps[i].step, static_cast<std::int64_t>(i + 1));
        EXPECT_EQ(steps[i].lossScale, scale) << i;
        EXPECT_EQ(std::isnan(steps[i].gradientNorm), steps[i].skipped) << i;
        if (!steps[i].skipped) continue;
        scale /= 2;
        ++skipped;
    }
    EXPECT_GT(steps.size() - skipped, 20u);
    EXPECT_LT(steps.back().loss, steps.front().loss - 0.1);
    std::size_t told = 0;
    for (const auto& line : trainer.sink.all<LogLine>()) told += line.text.find("fp16 overflowed") != std::string::npos ? 1u : 0u;
    EXPECT_EQ(told, skipped);
}

TEST(LossScaler, TrainsAsFloat32DoesWithinRounding) {
    RunConfig plain = fp16(60);
    plain.switches["amp"] = std::string("off");
    TinyTrainer low(fp16(60)), full(plain);
    low.run(), full.run();
    const auto a = low.sink.losses(), b = full.sink.losses();
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 0.02) << "step " << i + 1;
}

// Clipped by the norm of scaled gradients and unscaled afterwards, they would be smaller than AdamW's epsilon, and the weights would hardly move.
TEST(LossScaler, UnscalesBeforeTheNormIsTakenAndTheGradientsAreClipped) {
    const Registry registry(testing::plainCpu());
    const auto batches = testing::tinyBatches();
    const TrainState fresh = TrainState::initialise(registry.modelShape(fp16(6), 61), 1);
    std::vector<double> norms[2];
    at::Tensor weights[2];
    for (const int low : {0, 1}) {
        RunConfig config = fp16(6);
        config.switches["grad-clip"] = 0.001;
        if (low == 0) config.switches["amp"] = std::string("off");
        TrainState state = TrainState::initialise(fresh.config, 1);
        state.lossScale.scale = 8192;
        const auto program = testing::programOver(state, registry, config);
        for (int i = 0; i < 6; ++i) {
            const auto result = program->step(state, *batches, 3e-3);
            ASSERT_FALSE(result.skipped);
            norms[low].push_back(result.gradientNorm);
        }
        weights[low] = state.weights;
    }
    for (std::size_t i = 0; i < norms[0].size(); ++i) {
        EXPECT_GT(norms[0][i], 0.1) << "clipping bites";
        EXPECT_NEAR(norms[1][i], norms[0][i], 0.01 * norms[0][i]) << "step " << i + 1;
    }
    const double moved = (weights[0] - fresh.weights).norm().item<double>(), apart = (weights[1] - weights[0]).norm().item<double>();
    EXPECT_LT(apart, 0.05 * moved);
}

TEST(LossScaler, DoublesAfterAsManyCleanStepsAsTheConfigurationSays) {
    RunConfig config = fp16(11);
    config.lossScaleGrowth = 5;
    TinyTrainer trainer(config);
    trainer.setup.state.lossScale.scale = 64;
    trainer.run();
    const auto steps = trainer.sink.all<StepDone>();
    EXPECT_EQ(steps[4].lossScale, 64);
    EXPECT_EQ(steps[5].lossScale, 128);
    EXPECT_EQ(steps[10].lossScale, 256);
}

TEST(LossScaler, ASkippedStepLeavesTheWeightsAloneAndDoesNotCountForAdamW) {
    const Registry registry(testing::plainCpu());
    const RunConfig config = fp16(5);
    TrainState state = TrainState::initialise(registry.modelShape(config, 61), 1);
    state.lossScale.scale = 0x1p100;
    const auto program = testing::programOver(state, registry, config);
    const at::Tensor before = state.weights.clone();
    const auto result = program->step(state, *testing::tinyBatches(), 1e-3);
    EXPECT_TRUE(result.skipped);
    EXPECT_TRUE(state.weights.equal(before));
    EXPECT_EQ(state.updates, 1);
    EXPECT_EQ(state.skipped, 1);
    EXPECT_EQ(state.cursor, 4);
}

TEST(LossScaler, ItsStateIsKeptByCheckpoints) {
    const auto folder = (std::filesystem::temp_directory_path() / ("stepscope-scaler-" + std::to_string(::getpid()))).string();
    std::filesystem::remove_all(folder);
    const Registry registry(testing::plainCpu());
    TrainState state = TrainState::initialise(registry.modelShape(fp16(5), 61), 1);
    state.updates = 9;
    state.skipped = 3;
    state.lossScale = {512, 77};
    ASSERT_TRUE(saveCheckpoint(folder, state, fp16(5), "", 1).ok());
    const auto read = loadCheckpoint(folder, 61);
    ASSERT_TRUE(read.ok()) << read.error().sentence;
    EXPECT_EQ(read->skipped, 3);
    EXPECT_EQ(read->lossScale, state.lossScale);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stepscope
