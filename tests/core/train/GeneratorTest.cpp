// Sampling and generation.
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "TinyTraining.h"
#include "core/train/Generator.h"

namespace stepscope {
namespace {

at::Tensor logits() {
    return at::tensor({1.0f, 3.0f, 2.0f, 0.0f});
}

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

TEST(SampleToken, TemperatureZeroTakesTheLikeliest) {
    EXPECT_EQ(shares({.temperature = 0}).size(), 1u);
}

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
    const auto first = generateText(
        tinyWeights(), *byteTokenizer(), request, [&](const std::string&) { ++pieces; }, never);
    ASSERT_TRUE(first.ok());
    EXPECT_GT(pieces, 2);
    EXPECT_EQ(*first, *generateText(
                          tinyWeights(), *byteTokenizer(), request, [](const std::string&) {}, never));
}

// Weights eight times as large as they are drawn: without them every id is about as likely as the next, and greedy text one byte over and over.
TrainState opinionated(bool tiedHead) {
    GptConfig shape{.layers = 2, .heads = 2, .width = 16, .vocabulary = 250, .paddedVocabulary = 250, .positions = 16};
    shape.tiedHead = tiedHead;
    auto state = TrainState::initialise(shape, 3);
    state.weights.mul_(8);
    return state;
}

TEST(Generator, WritesTheSameTextWhenTheVocabularyIsPadded) {
    const std::atomic<bool> never{false};
    const GenerateText greedy{.prompt = "In the", .tokens = 60, .temperature = 0},
        sampled{.prompt = "In the", .tokens = 60, .temperature = 2, .seed = 4},
        fromTheLikeliest{.prompt = "In the", .tokens = 60, .temperature = 3, .topK = 20, .topP = 0.9, .seed = 5};
    for (const bool tiedHead : {true, false}) {
        const auto write = [&](const TrainState& state, const GenerateText& request) {
            return generateText(
                       {state.config, state.layout, state.weights}, *byteTokenizer(), request, [](const std::string&) {}, never)
                .value();
        };
        const TrainState plain = opinionated(tiedHead);
        EXPECT_NE(write(plain, sampled), write(plain, greedy));
        for (const std::int64_t rows : {256, 320, 512}) {  // 256 is what every value of vocab-padding makes of 250
            TrainState padded = opinionated(tiedHead);
            GptConfig wider = padded.config;
            wider.paddedVocabulary = rows;
            padded.relayout(wider);
            for (const GenerateText& request : {greedy, sampled, fromTheLikeliest})
                EXPECT_EQ(write(padded, request), write(plain, request))
                    << rows << " rows, temperature " << request.temperature << ", tied " << tiedHead;
        }
    }
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
