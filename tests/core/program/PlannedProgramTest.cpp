// fusion=step against autograd, tensor by tensor, and against the eager Program over several updates.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "TinyTraining.h"
#include "core/base/CounterRandom.h"
#include "core/model/Gpt.h"
#include "core/program/EagerProgram.h"
#include "core/program/PlannedProgram.h"
#include "core/state/EightBitMoments.h"

namespace stepscope {
namespace {

using testing::tinyBatches;

struct Shape {
    std::string name;
    std::int64_t layers, heads, width, vocabulary, padded, batch, context;
    int threads;
    std::function<void(GptConfig&)> options = [](GptConfig&) {};
    double dropout = 0, smoothing = 0;
};
void PrintTo(const Shape& shape, std::ostream* out) {
    *out << shape.name;
}

ProgramParts partsFor(const Shape& shape, bool bf16) {
    ProgramParts parts;
    parts.batchSize = shape.batch;
    parts.context = shape.context;
    parts.optimizerName = "fused";
    parts.optimizer = adamWFused;
    parts.maxNorm = 1.0;
    parts.dropout = shape.dropout;
    parts.labelSmoothing = shape.smoothing;
    if (bf16) parts.autocast = parts.validationAutocast = at::kBFloat16;
    return parts;
}

TrainState stateFor(const Shape& shape) {
    GptConfig config{.layers = shape.layers,
                     .heads = shape.heads,
                     .width = shape.width,
                     .vocabulary = shape.vocabulary,
                     .paddedVocabulary = shape.padded,
                     .positions = shape.context + 3};
    shape.options(config);
    return TrainState::initialise(config, 7);
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
        loss = gptLoss(state.config, leaves, ops, inputs, targets,
                       {.dropout = shape.dropout, .smoothing = shape.smoothing, .seed = state.seed, .step = state.updates + 1});
    }
    loss.backward();
    at::Tensor flat = at::zeros_like(state.weights);
    for (std::size_t i = 0; i < leaves.all.size(); ++i) ParameterLayout::view(flat, state.layout.slots()[i]).copy_(leaves.all[i].grad());
    return flat;
}

at::Tensor plannedGradients(const Shape& shape, TrainState& state, const BatchSource& batches, bool bf16) {
    at::set_num_threads(shape.threads);
    PlannedProgram program(partsFor(shape, bf16));
    TrainState copy = state.clone();  // the update must not move the weights that autograd sees
    EXPECT_TRUE(std::isfinite(program.step(copy, batches, 1e-3).loss));
    at::Tensor gradients = program.gradients().clone();
    at::set_num_threads(2);
    return gradients;
}

// A key's bias moves all scores of a query alike, so that its gradient is rounding alone: measured against that of the values.
ParameterSlot measureOf(const ParameterLayout& layout, const ParameterSlot& slot) {
    std::string name = slot.name;
    if (const auto key = name.find("k_proj.bias"); key != std::string::npos) name[key] = 'v';
    return layout.slot(name);
}

class PlannedGradients : public ::testing::TestWithParam<Shape> {};

TEST_P(PlannedGradients, AgreeWithAutogradInEveryTensor) {
    const Shape shape = GetParam();
    const auto batches = tinyBatches(shape.vocabulary);
    TrainState state = stateFor(shape);
    const at::Tensor expected = autogradOf(shape, state, *batches, false), actual = plannedGradients(shape, state, *batches, false);
    for (const auto& slot : state.layout.slots()) {
        const at::Tensor want = ParameterLayout::view(expected, slot), got = ParameterLayout::view(actual, slot);
        const double scale = std::max(ParameterLayout::view(expected, measureOf(state.layout, slot)).abs().max().item<double>(), 1e-6);
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
        const auto distance = [&](const at::Tensor& flat) {
            return (ParameterLayout::view(flat, slot) - ParameterLayout::view(exact, slot)).norm().item<double>();
        };
        // The floor is for tensors of a few numbers, where eager may come close by chance: 2^-9 of the gradient itself.
        const double floor = ParameterLayout::view(exact, measureOf(state.layout, slot)).norm().item<double>() / 512;
        EXPECT_LE(distance(planned), 1.5 * std::max(distance(eager), floor)) << slot.name;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, PlannedGradients,
    ::testing::Values(Shape{"plain", 2, 2, 32, 61, 61, 4, 16, 2}, Shape{"oneToken", 2, 2, 32, 61, 61, 1, 1, 2},
                      Shape{"oneThread", 2, 4, 64, 61, 61, 3, 20, 1}, Shape{"oddHeads", 2, 3, 48, 61, 61, 4, 16, 2},
                      Shape{"oddHeadWidth", 2, 3, 45, 61, 61, 4, 15, 2}, Shape{"sequencesDoNotDivide", 2, 2, 32, 61, 61, 3, 37, 2},
                      Shape{"moreThreadsThanRows", 1, 2, 16, 61, 61, 1, 5, 4}, Shape{"severalQueryBlocks", 1, 2, 64, 61, 61, 2, 150, 2},
                      Shape{"severalVocabularyTiles", 1, 2, 32, 1000, 1000, 4, 40, 2}, Shape{"raggedVocabulary", 1, 2, 32, 419, 448, 4, 33, 2},
                      Shape{"manyRowBlocks", 1, 2, 32, 61, 61, 12, 128, 2}, Shape{"threeThreads", 2, 4, 64, 61, 61, 5, 50, 3}),
    [](const auto& info) { return info.param.name; });

// Each option of the model alone, on a shape that divides nowhere, and drawn together with a fixed seed.
void split(GptConfig& c) {
    c.splitQkv = true;
}
void swiglu(GptConfig& c) {
    c.activation = Activation::Swiglu;
}
void untied(GptConfig& c) {
    c.tiedHead = false;
}
void postNorm(GptConfig& c) {
    c.placement = NormPlacement::Post;
}
void rms(GptConfig& c) {
    c.norm = NormKind::RmsNorm;
}
void rope(GptConfig& c) {
    c.positionKind = PositionKind::Rope;
}
void withoutBias(GptConfig& c) {
    c.bias = false;
}

INSTANTIATE_TEST_SUITE_P(Options, PlannedGradients,
                         ::testing::Values(Shape{"split", 2, 3, 45, 61, 64, 3, 15, 2, split}, Shape{"swiglu", 2, 3, 45, 61, 64, 3, 15, 2, swiglu},
                                           Shape{"untied", 2, 3, 45, 61, 64, 3, 15, 2, untied},
                                           Shape{"postNorm", 2, 3, 45, 61, 64, 3, 15, 2, postNorm}, Shape{"rms", 2, 3, 45, 61, 64, 3, 15, 2, rms},
                                           Shape{"rope", 2, 3, 42, 61, 64, 3, 15, 2, rope},
                                           Shape{"withoutBias", 2, 3, 45, 61, 64, 3, 15, 2, withoutBias},
                                           Shape{"dropout", 2, 3, 45, 61, 64, 3, 15, 2, [](GptConfig&) {}, 0.3},
                                           Shape{"smoothing", 2, 3, 45, 61, 64, 3, 15, 2, [](GptConfig&) {}, 0, 0.1}),
                         [](const auto& info) { return info.param.name; });

std::vector<Shape> drawnShapes() {
    std::vector<Shape> all;
    for (std::uint64_t i = 0; i < 16; ++i) {
        auto below = [&, draw = std::uint64_t{0}](std::uint64_t bound) mutable {
            return static_cast<std::int64_t>(counterRandomBelow(3, i, draw++, bound));
        };
        Shape shape{"drawn" + std::to_string(i),   1 + below(3), 1 + below(4), 0, 61, 61 + 3 * below(2), 1 + below(5), 1 + below(70),
                    static_cast<int>(1 + below(3))};
        shape.width = shape.heads * 2 * (8 + below(8));
        std::vector<void (*)(GptConfig&)> chosen;
        for (const auto option : {split, swiglu, untied, postNorm, rms, rope, withoutBias})
            if (below(2) == 1) chosen.push_back(option);
        shape.options = [chosen](GptConfig& config) {
            for (const auto option : chosen) option(config);
        };
        shape.dropout = 0.2 * static_cast<double>(below(2));
        shape.smoothing = 0.1 * static_cast<double>(below(2));
        all.push_back(std::move(shape));
    }
    return all;
}
INSTANTIATE_TEST_SUITE_P(Drawn, PlannedGradients, ::testing::ValuesIn(drawnShapes()), [](const auto& info) { return info.param.name; });

const Shape kPlain{"plain", 2, 2, 32, 61, 61, 4, 16, 2};

std::vector<double> lossesOf(StepProgram& program, TrainState& state, const BatchSource& batches, int steps) {
    std::vector<double> losses;
    for (int i = 0; i < steps; ++i) losses.push_back(program.step(state, batches, 1e-2).loss);
    return losses;
}

const Shape kEverything{"everything",
                        2,
                        2,
                        32,
                        61,
                        61,
                        4,
                        16,
                        2,
                        [](GptConfig& c) {
                            for (const auto option : {split, swiglu, untied, rms, rope, withoutBias}) option(c);
                        },
                        0.1,
                        0.1};

TEST(PlannedProgram, TrainsAsTheEagerProgramDoes) {
    const auto batches = tinyBatches();
    for (const Shape& shape : {kPlain, kEverything}) {
        TrainState one = stateFor(shape), other = stateFor(shape);
        EagerProgram eager(partsFor(shape, false));
        PlannedProgram planned(partsFor(shape, false));
        const auto expected = lossesOf(eager, one, *batches, 40), actual = lossesOf(planned, other, *batches, 40);
        for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 2e-5) << shape.name << " " << i;
        EXPECT_LT(actual.back(), actual.front() - 0.3) << shape.name;
        EXPECT_EQ(one.cursor, other.cursor);
        EXPECT_EQ(one.updates, other.updates);
    }
}

TEST(PlannedProgram, SaysWhatPlanningTookApartFromTheSteps) {
    const auto batches = tinyBatches();
    TrainState state = stateFor(kPlain);
    PlannedProgram program(partsFor(kPlain, true));
    EXPECT_EQ(program.report().preparation, "") << "nothing is planned before the first step";
    program.step(state, *batches, 1e-3);
    const std::string said = program.report().preparation;
    EXPECT_THAT(said, ::testing::MatchesRegex("The whole step is planned: [0-9.]+.+B of buffers placed and the weights packed in [0-9.]+ s\\."));
    program.step(state, *batches, 1e-3);
    EXPECT_EQ(program.report().preparation, said) << "planned once";
}

TEST(PlannedProgram, EightBitMomentsFollowTheEagerProgramsLosses) {
    at::set_num_threads(1);
    const auto batches = tinyBatches();
    ProgramParts parts = partsFor(kPlain, false);
    parts.optimizerName = "8-bit";
    parts.optimizer = adamWEightBit;
    parts.eightBitMoments = true;
    TrainState one = stateFor(kPlain), other = stateFor(kPlain);
    toEightBit(one);
    toEightBit(other);
    EagerProgram eager(parts);
    PlannedProgram planned(parts);
    const auto expected = lossesOf(eager, one, *batches, 20), actual = lossesOf(planned, other, *batches, 20);
    // A gradient's last bit may round a moment to another of the 256 values.
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-3) << i;
    EXPECT_LT(actual.back(), actual.front() - 0.2);
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
    for (const Shape& shape : {kPlain, kEverything}) {
        Shape large = shape;
        large.batch = 8;
        TrainState state = stateFor(shape), other = stateFor(shape);
        PlannedProgram whole(partsFor(large, false));
        ProgramParts parts = partsFor(shape, false);
        parts.accumulation = 2;
        PlannedProgram pieces(std::move(parts));
        const double expected = whole.step(state, *batches, 1e-3).loss, actual = pieces.step(other, *batches, 1e-3).loss;
        EXPECT_NEAR(actual, expected, 1e-6) << shape.name;
        EXPECT_LT((whole.gradients() - pieces.gradients()).abs().max().item<double>(), 1e-6 * whole.gradients().abs().max().item<double>() + 1e-8)
            << shape.name;
    }
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

constexpr std::int64_t kValidated = 100;  // tokens: whole batches and some sequences more

TEST(PlannedProgram, ValidatesAsTheEagerProgramDoes) {
    const auto batches = tinyBatches();
    for (const Shape& shape : {kPlain, kEverything})
        for (const bool bf16 : {false, true}) {
            TrainState state = stateFor(shape);
            EagerProgram eager(partsFor(shape, bf16));
            PlannedProgram planned(partsFor(shape, bf16));
            EXPECT_NEAR(planned.evaluate(state, *batches, kValidated), eager.evaluate(state, *batches, kValidated), bf16 ? 2e-3 : 1e-6) << shape.name;
        }
}

TEST(PlannedProgram, ValidatesInFloat32WhereTrainingIsInBf16AndValidationIsNot) {
    const auto batches = tinyBatches();
    for (const Shape& shape : {kPlain, kEverything}) {
        TrainState state = stateFor(shape);
        ProgramParts mixed = partsFor(shape, true);
        mixed.validationAutocast.reset();
        EagerProgram inFloat32(partsFor(shape, false)), inBf16(partsFor(shape, true));
        PlannedProgram planned(mixed), plannedInBf16(partsFor(shape, true));
        for (int i = 0; i < 5; ++i) planned.step(state, *batches, 1e-2);  // at the start all probabilities are alike, and so are the precisions
        const double expected = inFloat32.evaluate(state, *batches, kValidated);
        EXPECT_NEAR(planned.evaluate(state, *batches, kValidated), expected, 1e-6) << shape.name;
        EXPECT_NE(plannedInBf16.evaluate(state, *batches, kValidated), expected) << shape.name << ": in bf16 it is another number";
        EXPECT_NE(inBf16.evaluate(state, *batches, kValidated), expected) << shape.name;
        EXPECT_NEAR(inBf16.evaluate(state, *batches, kValidated), expected, 2e-2) << shape.name;
    }
}

}  // namespace
}  // namespace stepscope
