#include "core/prediction/PlannedMemory.h"

#include <algorithm>
#include <cmath>

#include "core/prediction/HeadMemory.h"

namespace stepscope {
namespace {

constexpr double kFloat = 4, kId = 8;
constexpr double kValidationLogits = 32 << 20;  // core/program/PlannedProgram.cpp

// Validation in another precision than training's runs the plain model without autograd: the widest moment of one block, and some rows of logits.
void playValidation(const RunPlan& plan, const ModelSizes& sizes, AllocationTrace& trace) {
    if (!plan.validation.happens() || plan.validation.precision == plan.precision) return;
    const double n = validationRows(plan);
    const double C = static_cast<double>(plan.config.width), V = static_cast<double>(sizes.vocabulary);
    trace.touch(MemoryKind::Scratch, kFloat * n * (2 * C + static_cast<double>(sizes.hiddenRows + sizes.hidden)));
    const double rows = std::min(n, std::max(32.0, std::floor(kValidationLogits / (kFloat * V))));
    trace.touch(MemoryKind::Logits, 2 * kFloat * rows * V + 2 * kFloat * n * C);  // logits and their logarithms; the stream and its norm
}

// What each worker of the Team has for itself (StepEngine::placeMembers, LinearCrossEntropy::place): a block of rows, attention's tiles, sums for the
// vectors.
double memberBytes(const RunPlan& plan, const ModelSizes& sizes, double e) {
    const RunConfig& config = plan.config;
    constexpr double kBlockBytes = 400 * 1024, kPanel = 32;
    const double C = static_cast<double>(config.width), F = static_cast<double>(sizes.hidden), rows = static_cast<double>(sizes.hiddenRows);
    const double block = std::clamp(std::floor(kBlockBytes / (e * rows) / 32) * 32, 32.0, 256.0);
    const double heads = static_cast<double>(config.heads), context = std::ceil(static_cast<double>(plan.context) / 64) * 64, head = C / heads;
    const double attention = context * head * (5 * e + 2 * e + kFloat);  // staged, across and in pairs; the gradient of the queries
    const double vectors = static_cast<double>(config.layers) * (9 * C + rows);
    return block * (e * (2 * C + F + (rows > F ? rows : 0)) + kFloat * C) + attention + kFloat * vectors + e * kPanel * std::max(C, F);
}

}  // namespace

void playPlannedStep(const RunPlan& plan, const ModelSizes& sizes, AllocationTrace& trace) {
    const RunConfig& config = plan.config;
    const double C = static_cast<double>(config.width), L = static_cast<double>(config.layers), H = static_cast<double>(config.heads);
    const double n = static_cast<double>(plan.batchSize) * static_cast<double>(plan.context);
    const double F = static_cast<double>(sizes.hidden), rows = static_cast<double>(sizes.hiddenRows);  // of the MLP: inside, and of its first matrix
    const double V = static_cast<double>(sizes.vocabulary), P = static_cast<double>(sizes.parameters);
    const double e = plan.precision == Precision::Float32 ? kFloat : 2;
    trace.take(MemoryKind::Weights, kFloat * P);
    const double moment = plan.optimizer == OptimizerKind::EightBit ? 1 + kFloat / 256 : kFloat;  // a byte, and a scale for every 256
    trace.take(MemoryKind::Moments, 2 * moment * P / static_cast<double>(plan.momentShares));
    for (double i = 0; i < batchesInMemory(plan.feed); ++i) trace.take(MemoryKind::Batches, 2 * kId * n);
    trace.takePart(MemoryKind::Gradients, kFloat * P);
    trace.takePart(MemoryKind::LowWeights,
                   packedHead(e, V, C) + 2 * e * L * C * (4 * C + rows + F));  // packed for the forward and for the backward products
    trace.takePart(MemoryKind::Norms, L * (2 * kFloat * n * C + 4 * kFloat * n) + 2 * kFloat * n * C + 5 * kFloat * n);
    trace.takePart(MemoryKind::Norms, 2 * e * L * n * C);  // normed rows, as operands of the weights' gradients
    trace.takePart(MemoryKind::Qkv, 3 * e * (L + 1) * n * C);
    trace.takePart(MemoryKind::Attention, L * (e * n * C + kFloat * n * H) + 4 * e * n * C);
    // Before the activation; what comes after GELU is made anew in backward, for two layers in turn.
    trace.takePart(MemoryKind::Mlp, e * n * (L * rows + (rows > F ? L : 2) * F));
    trace.takePart(MemoryKind::Scratch, static_cast<double>(sizes.threads) * memberBytes(plan, sizes, e));
    trace.takePart(MemoryKind::Scratch, 2 * e * n * (5 * C + rows));  // gradients of two layers' linear outputs, taken in turn
    const HeadMemory head{e, n, V, C, static_cast<double>(sizes.threads)};
    trace.takePart(MemoryKind::Logits, head.keptExponentials());
    trace.takePart(MemoryKind::Scratch, head.blocks());
    playMasks(plan, sizes, trace);
    playOptimizer(plan, sizes, trace);
    playValidation(plan, sizes, trace);
}

}  // namespace stepscope
