// The prediction for a GPU against sums made by hand from core/fused, core/train and LibTorch's sources, for shapes small enough to write them down.
// Whether a GPU agrees is measured where there is one.
#include <gmock/gmock.h>

#include <functional>
#include <vector>

#include "core/prediction/CudaFormMemory.h"
#include "core/prediction/MemoryPrediction.h"

namespace stepscope {
namespace {

constexpr double n = 8 * 128, C = 64, H = 4, F = 256, V = 50'304;  // tokens, width, heads, width inside the MLP, vocabulary
constexpr double P = 4'000'000;                                    // parameters: more than this shape has, and nothing else depends on them
constexpr double kLasting = 4 * P + 8 * P + 2 * 8 * n;             // weights, moments, the batch

using Edit = std::function<void(RunPlan&)>;

// One layer.
RunPlan onGpu(const Edit& change = [](RunPlan&) {}) {
    RunPlan made{.gpu = 0, .precision = Precision::Bf16, .hostMemory = HostMemory::System, .batchSize = 8, .context = 128};
    made.config.layers = 1;
    made.config.heads = static_cast<std::int64_t>(H);
    made.config.width = static_cast<std::int64_t>(C);
    change(made);
    return made;
}

// What fusion=kernels comes to there.
RunPlan withKernels(const Edit& change = [](RunPlan&) {}) {
    return onGpu([&](RunPlan& p) {
        p.fused = {.embedding = true, .norm = true, .activation = true, .linear = true, .heads = true};
        p.loss = LossKind::Fused;
        p.optimizer = OptimizerKind::FusedWithClipping;
        change(p);
    });
}

MemoryPrediction predicted(const RunPlan& plan, double vocabulary = V, double parameters = P, std::int64_t workspace = 0) {
    const auto whole = [](double number) { return static_cast<std::int64_t>(number); };
    return predictMemory(
        plan,
        {.parameters = whole(parameters), .vocabulary = whole(vocabulary), .hidden = whole(F), .hiddenRows = whole(F), .cublasWorkspace = workspace});
}
double tensors(const RunPlan& plan, double vocabulary = V) {
    return static_cast<double>(predicted(plan, vocabulary).tensors.count);
}

// What one layer keeps between forward and backward in bf16, and its weights as autocast lowered them.
double keptByTheLayer(double tokens) {
    const double norms = 2 * (4 + 2) * tokens * C + 2 * 2 * 4 * tokens;  // sums, normed rows lowered, mean and reciprocal deviation
    const double attention = (6 + 2) * tokens * C + 4 * tokens * H;      // q, k, v; what comes out; the logarithms of softmax's sums
    const double mlp = 2 * 2 * tokens * F;                               // before and after GELU
    return norms + attention + mlp + 2 * (4 * C * C + 2 * C * F);
}

TEST(CudaMemoryPrediction, OfTheFusedLossIsAChunkOfLogitsTheLoweredHeadAndBothGradients) {
    for (const std::int64_t batch : {8, 64}) {
        const double tokens = 128.0 * static_cast<double>(batch), rows = batch == 8 ? tokens : 5248;  // 2^28 / V in whole tiles of 128
        const double lastNorm = (4 + 4 + 2) * tokens * C + 2 * 4 * tokens;                            // sum, normed, lowered
        const double gradients = 2 * tokens * C + 4 * V * C;
        const double logits = 2 * rows * V + 4 * tokens;  // and a loss a token
        const auto all = predicted(onGpu([=](RunPlan& p) { p.loss = LossKind::Fused, p.batchSize = batch; }));
        EXPECT_EQ(static_cast<double>(all.tensors.count), 12 * P + 16 * tokens + keptByTheLayer(tokens) + lastNorm + gradients + 2 * V * C + logits)
            << batch;
        EXPECT_EQ(static_cast<double>(all.of(MemoryKind::Logits).count), logits) << batch;
    }
}

TEST(CudaMemoryPrediction, OfALogitIsTenBytesInBf16AndTwelveInFloat32) {
    // Its logarithm in bf16 and, for nll_loss, in float32, with the gradient of that; without autocast the logarithm and both gradients. And the
    // head's row.
    const auto each = [](Precision precision) {
        const RunPlan plan = onGpu([=](RunPlan& p) { p.precision = precision; });
        return (tensors(plan, V) - tensors(plan, V - 10'000)) / 10'000;
    };
    EXPECT_EQ(each(Precision::Bf16), 10 * n + 2 * C);
    EXPECT_EQ(each(Precision::Float32), 12 * n);
}

TEST(CudaMemoryPrediction, OfManualAttentionHasSoftmaxInFloat32) {
    // In backward, of each score: softmax's result and two gradients in float32 and the copy for the product in bf16, where a CPU has three of bf16.
    const auto with = [](std::optional<int> gpu) {
        return tensors(onGpu([=](RunPlan& p) { p.gpu = gpu, p.attention = AttentionKind::Manual, p.context = 1024; }), 256);
    };
    const double scores = 8 * H * 1024 * 1024;
    EXPECT_NEAR((with(0) - with(std::nullopt)) / scores, 14 - 6, 0.05);
}

TEST(CudaMemoryPrediction, HasValidationsLogitsWhereTheyAreTheWorstMoment) {
    // Training in bf16 with fused kernels has fewer bytes of logits than validation in float32.
    const double low = 2 * C * (4 * C + 2 * F), head = 4 * n * C + 4 * n + 4 * n * V;  // the copy that AdamW writes; normed rows, losses, logits
    EXPECT_EQ(tensors(withKernels([](RunPlan& p) { p.validation.everySteps = 100; })), kLasting + low + head);
    EXPECT_LT(tensors(withKernels()), kLasting + low + head);
}

TEST(CudaMemoryPrediction, OfAValidationThatReadsLittleIsOfThat) {
    const auto reading = [](std::int64_t tokens) {
        return tensors(withKernels([=](RunPlan& p) { p.validation.everySteps = 100, p.config.validationTokens = tokens; }));
    };
    EXPECT_EQ(reading(8 * 128), reading(1'000'000));
    EXPECT_LT(reading(2 * 128), reading(8 * 128));
}

TEST(CudaMemoryPrediction, OfACapturedStepLeavesItsMemoryToNobody) {
    const auto captured = [](std::int64_t every) {
        return withKernels([=](RunPlan& p) { p.execution = Execution::Captured, p.validation.everySteps = every; });
    };
    EXPECT_EQ(tensors(captured(100)) - tensors(captured(0)), 4 * n * C + 4 * n + 4 * n * V);
    EXPECT_EQ(tensors(captured(0)), tensors(withKernels()));
    EXPECT_GT(predicted(captured(100)).of(MemoryKind::Graph).count, 0);
    EXPECT_GT(predicted(captured(100)).of(MemoryKind::Gradients).count, 0) << "they stay, in the graph's memory";
}

TEST(CudaMemoryPrediction, CountsAWorkspaceForEveryHandleAndStream) {
    constexpr std::int64_t kWorkspace = 1 << 25;
    const auto handles = [](const RunPlan& plan) {
        return (predicted(plan, V, P, kWorkspace).tensors.count - predicted(plan).tensors.count) / kWorkspace;
    };
    EXPECT_EQ(handles(onGpu()), 2);
    EXPECT_EQ(handles(withKernels([](RunPlan& p) { p.execution = Execution::Captured, p.validation.everySteps = 100; })), 2);
    EXPECT_EQ(handles(onGpu([](RunPlan& p) { p.gpu.reset(); })), 0);
}

TEST(CudaMemoryPrediction, BeginsWithMomentsInFloat32ThatAreThenRoundedToEightBits) {
    constexpr double kMany = 1e9;
    EXPECT_EQ(static_cast<double>(predicted(onGpu([](RunPlan& p) { p.optimizer = OptimizerKind::EightBit; }), V, kMany).tensors.count),
              (4 + 8 + 1 + 4.0 / 256) * kMany);
}

TEST(CudaMemoryPrediction, LeavesTheLoadersBatchesToTheHost) {
    EXPECT_EQ(tensors(onGpu([](RunPlan& p) { p.feed.workers = 2, p.feed.prefetch = 16; })), tensors(onGpu()));
}

TEST(CudaMemoryPrediction, HasAllTokensInFourBytesEachWhereBatchesAreCutThere) {
    const auto with = [](TokenPlace place, const Edit& change) {
        return predictMemory(onGpu([&](RunPlan& p) {
                                 p.feed.place = place;
                                 change(p);
                             }),
                             {.parameters = 4'000'000, .vocabulary = 50'304, .hidden = 256, .hiddenRows = 256, .tokens = 10'000'000});
    };
    for (const Edit& change : std::vector<Edit>{[](RunPlan&) {}, [](RunPlan& p) { p.execution = Execution::Captured; },
                                                [](RunPlan& p) { p.validation.everySteps = 10; }}) {
        const auto there = with(TokenPlace::Device, change), here = with(TokenPlace::Mapped, change);
        EXPECT_EQ(there.tensors.count - here.tensors.count, 40'000'000);
        EXPECT_EQ(there.of(MemoryKind::Batches).count - here.of(MemoryKind::Batches).count, 40'000'000);
        EXPECT_EQ(with(TokenPlace::Ram, change).tensors.count, here.tensors.count) << "that is the host's";
    }
}

TEST(CudaMemoryPrediction, OfRowsOfLogitsIsAsManyAsFillADeviceInWholeTiles) {
    EXPECT_EQ(cuda_form::rowsOfLogits(8192, 50'304), 5248);
    EXPECT_EQ(cuda_form::rowsOfLogits(1000, 50'304), 1000);
    EXPECT_EQ(cuda_form::rowsOfLogits(8192, 10'000'000), 128);
    EXPECT_EQ(cuda_form::rowsOfLogits(100, 10'000'000), 100);
}

}  // namespace
}  // namespace stepscope
