// fusion=step against autograd, tensor by tensor, and against the eager Program over several updates.
#include "TinyTraining.h"
#include "core/model/Gpt.h"
#include "core/train/EagerProgram.h"
#include "core/train/PlannedProgram.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

namespace stepscope {
namespace {

using testing::tinyBatches;

struct Shape {
    const char* name;
    std::int64_t layers, heads, width, vocabulary, padded, batch, context;
    int threads;
};

ProgramParts partsFor(const Shape& shape, bool bf16) {
    ProgramParts parts;
    parts.batchSize = shape.batch;
    parts.context = shape.context;
    parts.optimizerName = "fused";
    parts.optimizer = adamWFused;
    parts.maxNorm = 1.0;
    if (bf16) parts.autocast = parts.validationAutocast = at::kBFloat16;
    return parts;
}

TrainState stateFor(const Shape& shape) {
    return TrainState::initialise({.layers = shape.layers, .heads = shape.heads, .width = shape.width, .vocabulary = shape.vocabulary,
                                   .paddedVocabulary = shape.padded, .positions = shape.context + 3}, 7);
}

// Gradients by autograd of the plain model on the first batch, as a flat tensor like state.weights.
at::Tensor autogradOf(const Shape& shape, const TrainState& state, const BatchSource& batches, bool bf16) {
    at::Tensor inputs = at::empty({shape.batch, shape.context}, at::kLong), targets = at::empty_like(inputs);
    batches.fill(Split::Train, state.seed, 0, shape.batch, shape.context, inputs.data_ptr<std::int64_t>(), targets.data_ptr<std::int64_t>());
    const auto leaves = WeightsView::over(state.weights, state.layout, state.config, true);
    ModelOps ops;
    ops.attention = manualAttention;
    at::Tensor loss;
    {
        const AutocastScope autocast(at::kCPU, bf16 ? std::optional(at::kBFloat16) : std::nullopt);
        loss = gptLoss(state.config, leaves, ops, inputs, targets);
    }
    loss.backward();
    at::Tensor flat = at::zeros_like(state.weights);
    for (std::size_t i = 0; i < leaves.all.size(); ++i) ParameterLayout::view(flat, state.layout.slots()[i]).copy_(leaves.all[i].grad());
    return flat;
}

at::Tensor plannedGradients(const Shape& shape, TrainState& state, const BatchSource& batches, bool bf16) {
    at::set_num_threads(shape.threads);
    PlannedProgram program(partsFor(shape, bf16));
    TrainState copy = state;  // the update must not move the weights that autograd sees
    copy.weights = state.weights.clone();
    copy.firstMoment = state.firstMoment.clone();
    copy.secondMoment = state.secondMoment.clone();
    EXPECT_TRUE(std::isfinite(program.step(copy, batches, 1e-3).loss));
    at::Tensor gradients = program.gradients().clone();
    at::set_num_threads(2);
    return gradients;
}

class PlannedGradients : public ::testing::TestWithParam<Shape> {};

TEST_P(PlannedGradients, AgreeWithAutogradInEveryTensor) {
    const Shape shape = GetParam();
    const auto batches = tinyBatches(shape.vocabulary);
    TrainState state = stateFor(shape);
    const at::Tensor expected = autogradOf(shape, state, *batches, false), actual = plannedGradients(shape, state, *batches, false);
    for (const auto& slot : state.layout.slots()) {
        const at::Tensor want = ParameterLayout::view(expected, slot), got = ParameterLayout::view(actual, slot);
        const double scale = std::max(want.abs().max().item<double>(), 1e-6);
        EXPECT_LT((want - got).abs().max().item<double>() / scale, 1e-5) << slot.name;
    }
}

TEST_P(PlannedGradients, InBf16AreNoFartherFromFloat32ThanEagersAreTimesOneAndAHalf) {
    const Shape shape = GetParam();
    const auto batches = tinyBatches(shape.vocabulary);
    TrainState state = stateFor(shape);
    const at::Tensor exact = autogradOf(shape, state, *batches, false), eager = autogradOf(shape, state, *batches, true);
    const at::Tensor planned = plannedGradients(shape, state, *batches, true);
    for (const auto& slot : state.layout.slots()) {
        const auto distance = [&](const at::Tensor& flat) { return (ParameterLayout::view(flat, slot) - ParameterLayout::view(exact, slot)).norm().item<double>(); };
        // The floor is for tensors of a few numbers, where eager may come close by chance: 2^-9 of the gradient itself.
        const double floor = ParameterLayout::view(exact, slot).norm().item<double>() / 512;
        EXPECT_LE(distance(planned), 1.5 * std::max(distance(eager), floor)) << slot.name;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, PlannedGradients,
    ::testing::Values(Shape{"plain", 2, 2, 32, 61, 61, 4, 16, 2}, Shape{"oneToken", 2, 2, 32, 61, 61, 1, 1, 2}, Shape{"oneThread", 2, 4, 64, 61, 61, 3, 20, 1},
                      Shape{"oddHeads", 2, 3, 48, 61, 61, 4, 16, 2}, Shape{"oddHeadWidth", 2, 3, 45, 61, 61, 4, 15, 2},
                      Shape{"sequencesDoNotDivide", 2, 2, 32, 61, 61, 3, 37, 2}, Shape{"moreThreadsThanRows", 1, 2, 16, 61, 61, 1, 5, 4},
                      Shape{"severalQueryBlocks", 1, 2, 64, 61, 61, 2, 150, 2}, Shape{"severalVocabularyTiles", 1, 2, 32, 1000, 1000, 4, 40, 2},
                      Shape{"raggedVocabulary", 1, 2, 32, 419, 448, 4, 33, 2}, Shape{"manyRowBlocks", 1, 2, 32, 61, 61, 12, 128, 2},
                      Shape{"threeThreads", 2, 4, 64, 61, 61, 5, 50, 3}),
    [](const auto& info) { return info.param.name; });

constexpr Shape kPlain{"plain", 2, 2, 32, 61, 61, 4, 16, 2};

std::vector<double> lossesOf(StepProgram& program, TrainState& state, const BatchSource& batches, int steps) {
    std::vector<double> losses;
    for (int i = 0; i < steps; ++i) losses.push_back(program.step(state, batches, 1e-2).loss);
    return losses;
}

TEST(PlannedProgram, TrainsAsTheEagerProgramDoes) {
    const auto batches = tinyBatches();
    TrainState one = stateFor(kPlain), other = stateFor(kPlain);
    EagerProgram eager(partsFor(kPlain, false));
    PlannedProgram planned(partsFor(kPlain, false));
    const auto expected = lossesOf(eager, one, *batches, 40), actual = lossesOf(planned, other, *batches, 40);
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 2e-5) << i;
    EXPECT_LT(actual.back(), actual.front() - 0.3);
    EXPECT_EQ(one.cursor, other.cursor);
    EXPECT_EQ(one.updates, other.updates);
}

TEST(PlannedProgram, EveryOptimizerContinuesTheSameLosses) {
    const auto batches = tinyBatches();
    TrainState reference = stateFor(kPlain);
    PlannedProgram fused(partsFor(kPlain, false));
    const auto expected = lossesOf(fused, reference, *batches, 10);
    for (const auto& [name, function] : {std::pair<const char*, OptimizerFunction>{"loop", adamWLoop}, {"foreach", adamWForeach}}) {
        ProgramParts parts = partsFor(kPlain, false);
        parts.optimizerName = name;
        parts.optimizer = function;
        TrainState state = stateFor(kPlain);
        PlannedProgram program(std::move(parts));
        const auto actual = lossesOf(program, state, *batches, 10);
        for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 2e-5) << name << " " << i;
    }
}

TEST(PlannedProgram, AccumulatedMicroBatchesGiveTheGradientsOfOneLargeBatch) {
    const auto batches = tinyBatches();
    Shape large = kPlain;
    large.batch = 8;
    TrainState state = stateFor(kPlain), other = stateFor(kPlain);
    PlannedProgram whole(partsFor(large, false));
    ProgramParts parts = partsFor(kPlain, false);
    parts.accumulation = 2;
    PlannedProgram pieces(std::move(parts));
    const double expected = whole.step(state, *batches, 1e-3).loss, actual = pieces.step(other, *batches, 1e-3).loss;
    EXPECT_NEAR(actual, expected, 1e-6);
    EXPECT_LT((whole.gradients() - pieces.gradients()).abs().max().item<double>(), 1e-6 * whole.gradients().abs().max().item<double>() + 1e-8);
}

TEST(PlannedProgram, TheSameSeedGivesTheSameBits) {
    const auto batches = tinyBatches();
    TrainState one = stateFor(kPlain), other = stateFor(kPlain);
    PlannedProgram first(partsFor(kPlain, true)), second(partsFor(kPlain, true));
    EXPECT_EQ(lossesOf(first, one, *batches, 10), lossesOf(second, other, *batches, 10));
    EXPECT_TRUE(one.weights.equal(other.weights));
}

TEST(PlannedProgram, LargeLogitsLiftTheReferenceAndChangeNothingElse) {
    // Logits of hundreds: a reference taken from the first columns would overflow without being lifted.
    const Shape shape{"large", 1, 2, 32, 900, 900, 4, 24, 2};
    const auto batches = tinyBatches(shape.vocabulary);
    TrainState state = stateFor(shape);
    const at::Tensor table = ParameterLayout::view(state.weights, state.layout.slot("wte.weight"));
    for (std::int64_t id = 0; id < shape.vocabulary; ++id) table.select(0, id).mul_(static_cast<double>(id) * 2);
    const at::Tensor expected = autogradOf(shape, state, *batches, false), actual = plannedGradients(shape, state, *batches, false);
    for (const auto& slot : state.layout.slots()) {
        const at::Tensor want = ParameterLayout::view(expected, slot), got = ParameterLayout::view(actual, slot);
        const double scale = std::max(want.abs().max().item<double>(), 1e-6);
        EXPECT_LT((want - got).abs().max().item<double>() / scale, 1e-4) << slot.name;
    }
}

TEST(PlannedProgram, NotANumberLeavesTheStateAsItWas) {
    const auto batches = tinyBatches();
    TrainState state = stateFor(kPlain);
    ParameterLayout::view(state.weights, state.layout.slot("ln_f.weight")).fill_(std::numeric_limits<float>::quiet_NaN());
    const at::Tensor before = state.weights.clone();
    PlannedProgram program(partsFor(kPlain, true));
    const StepResult result = program.step(state, *batches, 1e-3);
    EXPECT_FALSE(std::isfinite(result.loss));
    EXPECT_EQ(result.breakdown, Breakdown::Loss);
    EXPECT_EQ(state.updates, 0);
    EXPECT_TRUE(at::equal(state.weights.nan_to_num(), before.nan_to_num()));
}

TEST(PlannedProgram, ValidatesAsTheEagerProgramDoes) {
    const auto batches = tinyBatches();
    for (const bool bf16 : {false, true}) {
        TrainState state = stateFor(kPlain);
        EagerProgram eager(partsFor(kPlain, bf16));
        PlannedProgram planned(partsFor(kPlain, bf16));
        EXPECT_NEAR(planned.evaluate(state, *batches, 3), eager.evaluate(state, *batches, 3), bf16 ? 2e-3 : 1e-6);
    }
}

}  // namespace
}  // namespace stepscope
