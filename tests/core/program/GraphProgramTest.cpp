// A step captured and replayed, without a GPU: graphs are played by running their work again. Losses and weights are those of eager steps to the
// bit; what is captured was rehearsed and changed nothing; a capture that fails leaves the run as it was; a step that breaks down changes nothing;
// another shape is captured anew.
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/norm.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "PhaseDiary.h"
#include "PlayedCapture.h"
#include "TinyTraining.h"
#include "core/cuda/loader/CudaPlugin.h"
#include "core/memory/HostAllocator.h"
#include "core/profile/OperationSource.h"
#include "core/program/GraphProgram.h"
#include "core/trace/SliceCodec.h"

namespace stepscope {
namespace {

constexpr std::int64_t kEagerSteps = 3, kKernels = testing::kPlayedKernels;
constexpr double kRate = 1e-2;

using testing::freshState;
using testing::leaveInTheCache;
using testing::Played;
using testing::PlayedCapture;
using testing::registry;

// To the bit; but the GPU's form of the update clips in float32 where the eager step clips in double, and then a weight between two bf16 numbers may
// be copied as either: a 256th of it more or less, once in a while, and which depends on the processor's products.
double rounding(bool lowPrecision = false) {
    if (!cudaPlugin().interface) return 0.0;
    return lowPrecision ? 1e-3 : 3e-6;
}

// The same steps by both Programs, each over a State of its own.
struct SideBySide {
    explicit SideBySide(
        std::int64_t accumulation = 1, bool lowPrecision = false, const std::function<void(ProgramParts&)>& change = [](ProgramParts&) {}) {
        ProgramParts parts = testing::playedParts(accumulation, lowPrecision, played);
        change(parts);
        tolerance = rounding(lowPrecision);
        eager = std::make_unique<EagerProgram>(parts);
        graphs = std::make_unique<GraphProgram>(parts, std::make_unique<const PlayedCapture>(played));
    }
    // A captured step adds its micro-batches' losses in float32.
    void step() {
        wanted = eager->step(plain, *batches, kRate);
        got = graphs->step(captured, *batches, kRate);
        EXPECT_NEAR(static_cast<float>(got.loss), static_cast<float>(wanted.loss), tolerance) << "update " << plain.updates;
        EXPECT_NEAR(got.gradientNorm, wanted.gradientNorm, tolerance) << "update " << plain.updates;
    }
    void expectOneState() const {
        // Where a parameter has no gradient but rounding, rounding decides where it goes.
        for (const auto part : {&TrainState::weights, &TrainState::firstMoment, &TrainState::secondMoment})
            EXPECT_LE((captured.*part - plain.*part).norm().item<double>(),
                      (tolerance > 1e-5 ? 3 : 100) * tolerance * (plain.*part).norm().item<double>());
        EXPECT_EQ(captured.updates, plain.updates);
        EXPECT_EQ(captured.cursor, plain.cursor);
    }

    double tolerance = 0;
    std::shared_ptr<Played> played = std::make_shared<Played>();
    std::shared_ptr<const BatchSource> batches = testing::tinyBatches();
    TrainState plain = freshState(), captured = freshState();
    std::unique_ptr<EagerProgram> eager;
    std::unique_ptr<GraphProgram> graphs;
    StepResult wanted, got;
};

struct Kind {
    const char* name;
    std::int64_t accumulation;
    bool lowPrecision;
    TokenPlace place = TokenPlace::Mapped;
};
class CapturedSteps : public ::testing::TestWithParam<Kind> {};

TEST_P(CapturedSteps, GiveTheLossesAndWeightsOfEagerOnesToTheBit) {
    const auto [name, accumulation, lowPrecision, place] = GetParam();
    SideBySide both(accumulation, lowPrecision, [place = place](ProgramParts& parts) { parts.feed.place = place; });
    for (int i = 0; i < 8; ++i) {
        both.step();
        EXPECT_NEAR(both.graphs->evaluate(both.captured, *both.batches, 64), both.eager->evaluate(both.plain, *both.batches, 64), both.tolerance)
            << i;
    }
    both.expectOneState();
    EXPECT_EQ(both.captured.updates, 8);
    const auto launches = accumulation + 1;
    EXPECT_EQ(both.played->captures, launches) << "no micro-batch after the first: no graph for one";
    EXPECT_EQ(both.played->replays, (8 - kEagerSteps) * launches);
    const std::string says = both.graphs->report().preparation;
    EXPECT_TRUE(
        says.starts_with("CUDA graphs: " + std::to_string(kKernels * launches) + " kernels a step in " + std::to_string(launches) + " launches"))
        << says;
}

TEST(CapturedStep, KeepsTheZerosThatAnEagerOneKeeps) {
    SideBySide both(2, false, [](ProgramParts& parts) { parts.keepZeros = true; });
    std::int64_t zeros = 0;
    for (TrainState* state : {&both.plain, &both.captured}) {
        state->bumpRevision();
        for (const auto& slot : state->layout.slots())
            for (std::int64_t i = 0; slot.linear && i < slot.count; i += 3, ++zeros) state->weights.data_ptr<float>()[slot.offset + i] = 0;
    }
    for (int i = 0; i < 8; ++i) both.step();
    EXPECT_GT(both.played->replays, 0);
    both.expectOneState();
    std::int64_t left = 0;
    for (const auto& slot : both.captured.layout.slots())
        if (slot.linear) left += (ParameterLayout::view(both.captured.weights, slot) == 0).sum().item<std::int64_t>();
    EXPECT_EQ(2 * left, zeros);
}

INSTANTIATE_TEST_SUITE_P(Of, CapturedSteps,
                         ::testing::Values(Kind{"OneMicroBatch", 1, false}, Kind{"TwoMicroBatches", 2, false}, Kind{"Bf16WithACopy", 2, true},
                                           Kind{"CutOnTheDevice", 2, false, TokenPlace::Device},
                                           Kind{"CutOnTheDeviceInOneCopy", 1, false, TokenPlace::Device}),
                         [](const auto& info) { return info.param.name; });

TEST(GraphProgram, ACapturedStepTellsItsPhasesEachWithBeginAndEnd) {
    SideBySide both(2);
    for (int i = 0; i < kEagerSteps + 1; ++i) both.step();
    const auto diary = std::make_shared<testing::PhaseDiary>();
    const Listening<StepObserver> listening(stepObservers, diary);
    const StepResult result = both.graphs->step(both.captured, *both.batches, kRate);
    EXPECT_EQ(diary->problems, std::vector<std::string>{});
    EXPECT_EQ(diary->phases, (std::vector<std::string>{"optimizer", "batch", "backward", "batch", "backward", "optimizer"}))
        << "the forward pass is in backward: one launch";
    diary->expectTimesOf(result.phaseNs);
}

// By operations and not by their time, as CaptureSlicesTest asks of the other Programs. A graph is played by running its work again, so that what a
// GPU's graph would name by the operations of its capture (CuptiCaptureTest) are these operations here.
TEST(GraphProgram, EverythingOfACapturedStepsBackwardPassButTheGradientOfTheLossItselfHasAPlaceInTheModel) {
    struct Slices final : EventSink {
        void publish(Event) override {}
        void publishChunk(ChunkPtr chunk) override {
            if (!isSlices(chunk->kind)) return;
            auto block = decodeSlices(*chunk);
            ASSERT_TRUE(block) << block.error().sentence;
            blocks.push_back(std::move(*block));
        }
        std::vector<SliceBlock> blocks;
    } kept;
    constexpr int kSteps = 4;
    SideBySide both;
    for (int i = 0; i < kEagerSteps + 1; ++i) both.step();
    const SessionClock clock;
    {
        OperationSource source({.sink = &kept, .clock = &clock});
        for (int i = 0; i < kSteps; ++i) {
            both.graphs->step(both.captured, *both.batches, kRate);
            source.stepDone();
        }
        CaptureDone done{.steps = kSteps};
        EXPECT_EQ(source.finish(done), "");
    }
    const std::set<std::string> ones{"aten::ones_like", "aten::empty_like", "aten::empty", "aten::empty_strided", "aten::fill_"};
    const std::string played = "aten::zero_";  // by which PlayedGraph makes gradients anew
    std::map<std::string, int> without;
    std::set<std::int32_t> layers;
    std::int64_t operations = 0, backward = 0;
    for (const auto& block : kept.blocks)
        for (const auto& slice : block.slices) {
            if (!isOperation(slice.kind) || block.strings[slice.phase] != "backward" || block.strings[slice.name] == played) continue;
            ++operations;
            layers.insert(slice.layer);
            backward += slice.kind == SliceKind::Backward ? 1 : 0;
            if (slice.layer < 0 && block.strings[slice.role].empty()) ++without[block.strings[slice.name]];
        }
    EXPECT_GT(backward, 20 * kSteps);
    EXPECT_TRUE(layers.contains(0) && layers.contains(1)) << "of both blocks";
    for (const auto& [name, count] : without) {
        EXPECT_TRUE(ones.contains(name)) << name << " has no place, " << count << " of " << operations;
        EXPECT_LE(count, kSteps) << name << ", once a step";
    }
}

TEST(GraphProgram, WhatIsCapturedHasRunOnceBeforeAndChangedNothing) {
    SideBySide both(2);
    for (int i = 0; i < kEagerSteps; ++i) both.step();
    EXPECT_EQ(both.played->rehearsals, 0);
    for (int i = 0; i < 2; ++i) both.step();
    EXPECT_EQ(both.played->rehearsals, 1);
    both.expectOneState();
    GptConfig padded = both.plain.config;
    padded.paddedVocabulary = 128;
    both.plain.relayout(padded);
    both.captured.relayout(padded);
    for (int i = 0; i < kEagerSteps + 2; ++i) both.step();
    EXPECT_EQ(both.played->rehearsals, 2) << "other shapes, other kernels";
    both.expectOneState();
}

TEST(GraphProgram, WhatLiesInTheAllocatorsCacheIsGivenBackBeforeACaptureAndAfterOneThatFailed) {
    host_memory::install();
    host_memory::refreshBudget();
    for (const int fails : {0, 1, 2}) {
        SideBySide both;
        both.played->failsAt = fails;
        for (int i = 0; i < kEagerSteps; ++i) both.step();
        leaveInTheCache();
        ASSERT_GT(host_memory::usage().cached.count, 1'000'000);
        both.step();
        EXPECT_EQ(both.played->captures, fails == 1 ? 1 : 2);
        EXPECT_EQ(both.played->cached, 0);
        EXPECT_EQ(host_memory::usage().cached.count, 0);
    }
}

TEST(GraphProgram, WhereACaptureFailsTheRunGoesOnEagerlySaysWhyAndTriesNoMore) {
    for (const int fails : {1, 2, 3}) {
        SideBySide both(2);
        both.played->failsAt = fails;
        for (int i = 0; i < 8; ++i) both.step();
        both.expectOneState();
        EXPECT_EQ(both.played->captures, fails);
        EXPECT_EQ(both.played->replays, 0);
        EXPECT_EQ(both.played->alive, 0) << "what was captured before is given back";
        EXPECT_EQ(both.graphs->report().preparation, "The step could not be captured into a CUDA graph, so it runs eagerly: the device is busy.");
    }
}

TEST(GraphProgram, AStepThatBreaksDownLeavesTheStateAsItWasAndTheNextOneIsAsIfItHadNotBeen) {
    for (const Breakdown kind : {Breakdown::Loss, Breakdown::Gradients}) {
        bool broken = false;
        SideBySide both(1, false, [&](ProgramParts& parts) {
            parts.ops.loss = [&broken, kind](const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                                             const LossSettings& settings) {
                const at::Tensor loss = plain::loss(hidden, head, targets, settings);
                if (!broken) return loss;
                // A loss that is no number over gradients that are, and the other way round.
                return kind == Breakdown::Loss ? loss + std::nan("") : loss + (hidden * 0).sum().sqrt();
            };
        });
        for (int i = 0; i < 5; ++i) both.step();
        const at::Tensor weights = both.captured.weights.clone(), first = both.captured.firstMoment.clone(),
                         second = both.captured.secondMoment.clone();
        const auto updates = both.captured.updates, skipped = both.captured.skipped, cursor = both.captured.cursor;
        broken = true;
        const StepResult result = both.graphs->step(both.captured, *both.batches, kRate);
        EXPECT_EQ(result.breakdown, kind);
        EXPECT_EQ(both.played->replays, 3 * 2) << "it was a captured step";
        EXPECT_TRUE(at::equal(both.captured.weights, weights) && at::equal(both.captured.firstMoment, first) &&
                    at::equal(both.captured.secondMoment, second));
        EXPECT_EQ(both.captured.updates, updates);
        EXPECT_EQ(both.captured.skipped, skipped);
        EXPECT_EQ(both.captured.cursor, cursor);
        broken = false;
        both.step();
        both.expectOneState();
    }
}

TEST(GraphProgram, WhatACapturedStepWorksInCountsThoughNoReplayAsksForIt) {
    host_memory::install();
    host_memory::refreshBudget();
    SideBySide both;
    for (int i = 0; i < kEagerSteps; ++i) both.step();
    EXPECT_EQ(both.graphs->report().graphBytes, 0);
    both.step();
    const std::int64_t activations = both.graphs->report().graphBytes;
    EXPECT_GT(activations, 4 * 12 * 16 * 4) << "more than one activation of the model";
    both.step();
    EXPECT_EQ(both.graphs->report().graphBytes, activations);
}

TEST(GraphProgram, OtherTokensOnTheDeviceAreCapturedAnew) {
    SideBySide both(1, false, [](ProgramParts& parts) { parts.feed.place = TokenPlace::Device; });
    for (int i = 0; i < 5; ++i) both.step();
    ASSERT_EQ(both.played->captures, 2);
    both.batches = testing::tinyBatches(61, 30'000);
    both.step();
    EXPECT_EQ(both.played->alive, 0) << "graphs that know where the former tokens lay are gone";
    for (int i = 0; i < 5; ++i) both.step();
    both.expectOneState();
    EXPECT_EQ(both.played->captures, 4);
}

TEST(GraphProgram, ACapturedStepAnnouncesEveryGradientAfterItsReplayInTheOrderOfAnEagerOne) {
    struct Counting final : GradientSubscriber {
        void onFinal(const FinalGradients& range) noexcept override {
            order.emplace_back(range.offset, range.count);
            replaysBefore.push_back(played ? played->replays : 0);
            all.insert(all.end(), range.parameters.begin(), range.parameters.end());
        }
        void reduce() override {
            ++reductions;
            for (auto& gradient : all) gradient.mul_(0.5);
        }
        std::shared_ptr<Played> played;
        std::vector<std::pair<std::int64_t, std::int64_t>> order;
        std::vector<int> replaysBefore;
        std::vector<at::Tensor> all;
        int reductions = 0;
    };
    SideBySide both(2);
    for (int i = 0; i < 7; ++i) {
        Counting eager, captured;
        captured.played = both.played;
        both.eager->subscribe(&eager);
        both.graphs->subscribe(&captured);
        const int replays = both.played->replays;
        both.step();
        EXPECT_FALSE(captured.order.empty());
        EXPECT_EQ(captured.order, eager.order) << i;
        EXPECT_EQ(captured.reductions, 1);
        for (const int before : captured.replaysBefore) EXPECT_EQ(before - replays, i < kEagerSteps ? 0 : 2) << "both micro-batches, not the update";
    }
    both.eager->subscribe(nullptr);
    both.graphs->subscribe(nullptr);
    both.step();
    both.expectOneState();
}

TEST(GraphProgram, AfterPreparingForAStateThatAnotherHasWrittenACapturedStepCastsNothing) {
    SideBySide both(1, true);
    for (int i = 0; i < 5; ++i) both.step();
    for (int round = 0; round < 3; ++round) {
        both.eager->step(both.captured, *both.batches, kRate);
        both.eager->step(both.plain, *both.batches, kRate);
        std::int64_t before = both.graphs->report().weightCopies;
        both.graphs->prepare(both.captured);
        EXPECT_EQ(both.graphs->report().weightCopies, before + 1);
        before = both.graphs->report().weightCopies;
        both.step();
        EXPECT_EQ(both.graphs->report().weightCopies, before) << round;
    }
    both.expectOneState();
    EXPECT_EQ(both.played->captures, 2) << "the graphs are still good";
}

TEST(GraphProgram, AStateThatIsLaidOutAnewIsCapturedAnew) {
    SideBySide both;
    for (int i = 0; i < 5; ++i) both.step();
    ASSERT_EQ(both.played->captures, 2);
    GptConfig padded = both.plain.config;
    padded.paddedVocabulary = 128;
    ASSERT_NE(padded, both.plain.config);
    both.plain.relayout(padded);
    both.captured.relayout(padded);
    both.step();
    EXPECT_EQ(both.played->alive, 0) << "graphs that know the former addresses are gone";
    for (int i = 0; i < 5; ++i) both.step();
    both.expectOneState();
    EXPECT_EQ(both.played->captures, 4);
    EXPECT_EQ(both.played->alive, 2);
}

}  // namespace
}  // namespace stepscope
