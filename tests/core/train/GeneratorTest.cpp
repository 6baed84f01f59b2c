// Sampling and generation.
#include "TinyTraining.h"
#include "core/train/Generator.h"

#include <ATen/ops/tensor.h>
#include <cmath>
#include <gtest/gtest.h>
#include <map>

namespace stepscope {
namespace {

at::Tensor logits() { return at::tensor({1.0f, 3.0f, 2.0f, 0.0f}); }

std::map<std::int64_t, double> shares(const GenerateText& request) {
    std::map<std::int64_t, double> counted;
    for (int i = 0; i < 1000; ++i) counted[sampleToken(logits(), request, (i + 0.5) / 1000)] += 0.001;
    return counted;
}

TEST(SampleToken, FollowsTheSoftmaxAtTemperatureOne) {
    const auto counted = shares({.temperature = 1});
    const double sum = std::exp(1) + std::exp(3) + std::exp(2) + 1;
    EXPECT_NEAR(counted.at(1), std::exp(3) / sum, 0.002);
    EXPECT_NEAR(counted.at(3), 1 / sum, 0.002);
}

TEST(SampleToken, TemperatureZeroTakesTheLikeliest) { EXPECT_EQ(shares({.temperature = 0}).size(), 1u); }

TEST(SampleToken, TopKKeepsTheKLikeliest) {
    const auto counted = shares({.temperature = 1, .topK = 2});
    EXPECT_EQ(counted.size(), 2u);
    EXPECT_NEAR(counted.at(1), 1 / (1 + std::exp(-1)), 0.002);
}

TEST(SampleToken, TopPKeepsTheSmallestSetThatReachesP) {
    EXPECT_EQ(shares({.temperature = 1, .topP = 0.5}).size(), 1u);
    EXPECT_EQ(shares({.temperature = 1, .topP = 0.8}).size(), 2u);
}

GeneratorWeights tinyWeights() {
    const auto state = TrainState::initialise({.layers = 1, .heads = 1, .width = 8, .vocabulary = 256, .paddedVocabulary = 256, .positions = 8}, 1);
    return {state.config, state.layout, state.weights};
}

TEST(Generator, WritesAsManyTokensAsAskedBeyondTheContextAndTheSameForTheSameSeed) {
    const std::atomic<bool> never{false};
    const GenerateText request{.prompt = "In the", .tokens = 30, .seed = 4};
    int pieces = 0;
    const auto first = generateText(tinyWeights(), *byteTokenizer(), request, [&](const std::string&) { ++pieces; }, never);
    ASSERT_TRUE(first.ok());
    EXPECT_GT(pieces, 2);
    EXPECT_EQ(*first, *generateText(tinyWeights(), *byteTokenizer(), request, [](const std::string&) {}, never));
}

TEST(Generator, RefusesWhatCannotBeWithASentence) {
    const std::atomic<bool> never{false};
    const auto none = [](const std::string&) {};
    EXPECT_FALSE(generateText(tinyWeights(), *byteTokenizer(), {.tokens = 0}, none, never).ok());
    EXPECT_FALSE(generateText(tinyWeights(), *byteTokenizer(), {.temperature = -1}, none, never).ok());
    EXPECT_FALSE(generateText(tinyWeights(), *byteTokenizer(), {.topP = 0}, none, never).ok());
}

}  // namespace
}  // namespace stepscope
