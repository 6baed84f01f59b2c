// TrainState: initialisation and conversions that lose nothing.
#include <ATen/ops/equal.h>
#include <ATen/ops/rand_like.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/train/TrainState.h"

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
    const auto original = state;
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

TEST(TrainState, TheSameSeedDrawsTheSameBits) {
    EXPECT_TRUE(at::equal(TrainState::initialise(kShape, 5).weights, TrainState::initialise(kShape, 5).weights));
    EXPECT_FALSE(at::equal(TrainState::initialise(kShape, 5).weights, TrainState::initialise(kShape, 6).weights));
}

}  // namespace
}  // namespace stepscope
