// TrainState: initialisation and conversions that lose nothing.
#include <ATen/ops/equal.h>
#include <ATen/ops/rand_like.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "core/memory/HostAllocator.h"
#include "core/state/EightBitMoments.h"
#include "core/state/TrainState.h"

namespace stepscope {
namespace {

const GptConfig kShape{.layers = 3, .heads = 2, .width = 32, .vocabulary = 61, .paddedVocabulary = 61, .positions = 16};

at::Tensor parameter(const TrainState& state, const at::Tensor& flat, const std::string& name) {
    return ParameterLayout::view(flat, state.layout.slot(name));
}

TEST(TrainState, DrawsWeightsAsGpt2DoesWithScaledResidualProjections) {
    const auto state =
        TrainState::initialise({.layers = 3, .heads = 2, .width = 128, .vocabulary = 512, .paddedVocabulary = 512, .positions = 64}, 1);
    EXPECT_NEAR(parameter(state, state.weights, "wte.weight").std().item<double>(), 0.02, 0.0005);
    EXPECT_NEAR(parameter(state, state.weights, "h.1.mlp.c_fc.weight").std().item<double>(), 0.02, 0.0005);
    EXPECT_NEAR(parameter(state, state.weights, "h.1.mlp.c_proj.weight").std().item<double>(), 0.02 / std::sqrt(6.0), 0.0005);
    EXPECT_NEAR(parameter(state, state.weights, "h.2.attn.c_proj.weight").std().item<double>(), 0.02 / std::sqrt(6.0), 0.0005);
    EXPECT_EQ(parameter(state, state.weights, "h.0.ln_1.weight").min().item<double>(), 1);
    EXPECT_EQ(parameter(state, state.weights, "h.0.attn.c_attn.bias").abs().max().item<double>(), 0);
    EXPECT_EQ(state.firstMoment.abs().max().item<double>(), 0);
}

TEST(TrainState, PaddingTheVocabularyAndBackKeepsEveryBitOfWeightsAndMoments) {
    auto state = TrainState::initialise(kShape, 3);
    state.firstMoment = at::rand_like(state.weights);
    state.secondMoment = at::rand_like(state.weights);
    const auto original = state.clone();
    GptConfig padded = kShape;
    padded.paddedVocabulary = 128;
    state.relayout(padded);
    EXPECT_EQ(parameter(state, state.weights, "wte.weight").size(0), 128);
    EXPECT_EQ(parameter(state, state.weights, "wte.weight").narrow(0, 61, 67).abs().max().item<double>(), 0);
    EXPECT_EQ(parameter(state, state.firstMoment, "wte.weight").narrow(0, 61, 67).abs().max().item<double>(), 0);
    state.relayout(kShape);
    for (const auto& slot : original.layout.slots()) {
        EXPECT_TRUE(at::equal(ParameterLayout::view(state.weights, slot), ParameterLayout::view(original.weights, slot))) << slot.name;
        EXPECT_TRUE(at::equal(ParameterLayout::view(state.firstMoment, slot), ParameterLayout::view(original.firstMoment, slot))) << slot.name;
        EXPECT_TRUE(at::equal(ParameterLayout::view(state.secondMoment, slot), ParameterLayout::view(original.secondMoment, slot))) << slot.name;
    }
}

TEST(TrainState, MorePositionsKeepTheOldRowsAndDrawNewOnes) {
    auto state = TrainState::initialise(kShape, 3);
    const at::Tensor before = parameter(state, state.weights, "wpe.weight").clone();
    GptConfig longer = kShape;
    longer.positions = 40;
    state.relayout(longer);
    const at::Tensor after = parameter(state, state.weights, "wpe.weight");
    EXPECT_TRUE(at::equal(after.narrow(0, 0, 16), before));
    EXPECT_NEAR(after.narrow(0, 16, 24).std().item<double>(), 0.02, 0.004);
    EXPECT_EQ(parameter(state, state.firstMoment, "wpe.weight").narrow(0, 16, 24).abs().max().item<double>(), 0);
}

TEST(TrainState, AnUntiedHeadIsPaddedAsTheEmbeddingIs) {
    GptConfig untied = kShape;
    untied.tiedHead = false;
    auto state = TrainState::initialise(untied, 3);
    const at::Tensor head = parameter(state, state.weights, "lm_head.weight").clone();
    EXPECT_NEAR(head.std().item<double>(), 0.02, 0.002);
    EXPECT_FALSE(at::equal(head, parameter(state, state.weights, "wte.weight")));
    untied.paddedVocabulary = 64;
    state.relayout(untied);
    EXPECT_TRUE(at::equal(parameter(state, state.weights, "lm_head.weight").narrow(0, 0, 61), head));
    EXPECT_EQ(parameter(state, state.weights, "lm_head.weight").narrow(0, 61, 3).abs().max().item<double>(), 0);
}

// Every buffer, and what is not one.
void expectEqual(const TrainState& a, const TrainState& b) {
    for (const auto part :
         {&TrainState::weights, &TrainState::firstMoment, &TrainState::secondMoment, &TrainState::firstScales, &TrainState::secondScales}) {
        ASSERT_EQ((a.*part).defined(), (b.*part).defined());
        if ((a.*part).defined()) {
            EXPECT_TRUE(at::equal(a.*part, b.*part));
        }
    }
    EXPECT_EQ(a.config, b.config);
    EXPECT_EQ(std::tuple(a.updates, a.skipped, a.cursor, a.seed), std::tuple(b.updates, b.skipped, b.cursor, b.seed));
    EXPECT_EQ(a.lossScale, b.lossScale);
}

TrainState halfTrained() {
    auto state = TrainState::initialise(kShape, 3);
    state.firstMoment = at::rand_like(state.weights);
    state.secondMoment = at::rand_like(state.weights);
    state.updates = 7;
    state.skipped = 2;
    state.cursor = 28;
    state.lossScale = {1024, 5};
    return state;
}

TEST(TrainState, ACloneHoldsTheSameInMemoryOfItsOwn) {
    for (const bool eightBit : {false, true}) {
        auto state = halfTrained();
        if (eightBit) toEightBit(state);
        const auto copy = state.clone();
        expectEqual(copy, state);
        const auto before = copy.clone();
        state.weights.fill_(1);
        state.firstMoment.fill_(1);
        state.secondMoment.fill_(1);
        if (eightBit) state.firstScales.fill_(1);
        expectEqual(copy, before);
    }
}

TEST(TrainState, IsRestoredInPlaceWhereItHasTheSnapshotsFormAndElseTakesThatForm) {
    auto state = halfTrained();
    const auto snapshot = state.clone();
    const void* const where = state.weights.data_ptr();
    state.weights.mul_(2);
    state.firstMoment.zero_();
    state.updates = 8;
    state.lossScale = {};
    state.restore(snapshot);
    expectEqual(state, snapshot);
    EXPECT_EQ(state.weights.data_ptr(), where) << "views of the weights still see them";

    GptConfig padded = kShape;
    padded.paddedVocabulary = 64;
    EXPECT_NE(state.convert({.model = padded, .eightBitMoments = true}), "");
    state.restore(snapshot);
    expectEqual(state, snapshot);
    state.weights.mul_(2);
    EXPECT_FALSE(at::equal(state.weights, snapshot.weights)) << "not the snapshot's own memory";
}

TEST(TrainState, NoTwoContentsEverHaveOneRevision) {
    auto state = halfTrained();
    auto other = TrainState::initialise(kShape, 3);
    const auto snapshot = state.clone();
    GptConfig longer = kShape, padded = kShape;
    longer.positions = padded.positions = 40;
    padded.paddedVocabulary = 64;
    std::vector<Revision> seen{state.revision(), other.revision(), snapshot.revision()};
    const auto expectAnother = [&](const char* what) {
        EXPECT_EQ(std::ranges::count(seen, state.revision()), 0) << what;
        seen.push_back(state.revision());
    };
    EXPECT_EQ(state.revision(), seen[0]) << "asking changes nothing";
    state.bumpRevision();
    expectAnother("bumped");
    state.weights.narrow(0, 16, 16).mul_(2);
    expectAnother("written by an operation of LibTorch's, through a view");
    state.restore(snapshot);
    expectAnother("restored");
    state.relayout(longer);
    expectAnother("laid out anew");
    toEightBit(state);
    expectAnother("moments in 8 bits");
    toFloat(state);
    expectAnother("and back");
    state.convert({.model = padded});
    expectAnother("converted");
    const Revision before = state.revision();
    state.convert({.model = padded});
    EXPECT_EQ(state.revision(), before) << "it had that form";
    const auto moved = std::move(state);
    EXPECT_EQ(moved.revision(), before) << "the same State in another place";
}

TEST(TrainState, AConversionThatRunsOutOfMemoryChangesNothing) {
    host_memory::install();
    host_memory::refreshBudget();
    auto state = halfTrained();
    const auto before = state.clone();
    const Revision revision = state.revision();
    GptConfig padded = kShape;
    padded.paddedVocabulary = 50'000;
    // Enough for the weights in their new shape, not for the moments.
    host_memory::setBudget({host_memory::usage().live.count + 15'000'000});
    EXPECT_ANY_THROW(state.convert({.model = padded, .eightBitMoments = true}));
    host_memory::refreshBudget();
    expectEqual(state, before);
    EXPECT_EQ(state.revision(), revision);
    state.convert({.model = padded, .eightBitMoments = true});
    EXPECT_TRUE(state.has({.model = padded, .eightBitMoments = true}));
    EXPECT_FALSE(state.has({.model = padded}));
}

TEST(TrainState, TheSameSeedDrawsTheSameBits) {
    EXPECT_TRUE(at::equal(TrainState::initialise(kShape, 5).weights, TrainState::initialise(kShape, 5).weights));
    EXPECT_FALSE(at::equal(TrainState::initialise(kShape, 5).weights, TrainState::initialise(kShape, 6).weights));
}

}  // namespace
}  // namespace stepscope
