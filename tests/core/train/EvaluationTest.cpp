// The loss on a whole row: every token once, however it is cut into windows and batches.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "TinyTraining.h"
#include "core/train/Evaluation.h"

namespace stepscope {
namespace {

struct Model {
    explicit Model(int steps = 10) {
        const Registry registry(testing::plainCpu());
        const RunConfig config = testing::tinyConfig(registry);
        TrainState state = TrainState::initialise(registry.modelShape(config, 61), 3);
        const auto program = testing::programOver(state, registry, config);
        for (int i = 0; i < steps; ++i) program->step(state, *batches, 1e-2);
        weights = {state.config, state.layout, state.weights};
    }
    Evaluation over(std::int64_t begin, std::int64_t end, std::int64_t context, std::int64_t batch) const {
        auto result = evaluateRow(
            weights, *batches->corpus().tokens, begin, end, context, batch, [](std::int64_t) {}, never);
        EXPECT_TRUE(result.ok());
        return *result;
    }

    std::shared_ptr<const BatchSource> batches = testing::tinyBatches();
    GeneratorWeights weights;
    std::atomic<bool> never{false};
};

TEST(Evaluation, CountsEveryTokenAfterTheFirstOnce) {
    const Model model;
    for (const std::int64_t tokens : {2, 12, 13, 14, 25, 100, 1003}) EXPECT_EQ(model.over(0, tokens, 12, 4).tokens, tokens - 1);
}

TEST(Evaluation, IsTheSameHoweverManyWindowsAreReadAtATime) {
    const Model model;
    const double one = model.over(50, 1053, 12, 1).loss;
    for (const std::int64_t batch : {2, 7, 64, 1000}) EXPECT_NEAR(model.over(50, 1053, 12, batch).loss, one, 1e-6) << batch;
}

TEST(Evaluation, IsTheMeanOfItsParts) {
    const Model model;
    // 4 windows of 12, and 5 tokens that are left: each part evaluated alone, from where it begins.
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += 12 * model.over(12 * i, 12 * i + 13, 12, 1).loss;
    sum += 5 * model.over(48, 54, 12, 1).loss;
    EXPECT_NEAR(model.over(0, 54, 12, 3).loss, sum / 53, 1e-6);
}

TEST(Evaluation, IsFoundByADecoderTooWhateverItsWindows) {
    const Model model;
    Decoder decoder(model.weights, WeightType::F32, {.rows = 8, .logits = 8}, 2);
    for (const std::int64_t context : {1, 5, 12}) {
        const auto decoded = evaluateDecoded(
            decoder, *model.batches->corpus().tokens, 50, 303, context, [](std::int64_t) {}, model.never);
        ASSERT_TRUE(decoded.ok());
        EXPECT_EQ(decoded->tokens, 252);
        EXPECT_NEAR(decoded->loss, model.over(50, 303, context, 4).loss, 1e-5);
    }
}

TEST(Evaluation, IsTheSumOfItsWindows) {
    const Model model;
    Decoder decoder(model.weights, WeightType::F32, {.rows = 12, .logits = 12}, 2);
    std::vector<std::int64_t> told;
    const auto windows = windowsDecoded(
        decoder, *model.batches->corpus().tokens, 50, 81, 12, [&](std::int64_t done) { told.push_back(done); }, model.never);
    ASSERT_TRUE(windows.ok());
    EXPECT_EQ(told, (std::vector<std::int64_t>{12, 24, 30}));
    ASSERT_EQ(windows->size(), 3u);
    EXPECT_NEAR((*windows)[1], 12 * model.over(62, 75, 12, 1).loss, 1e-4);
    EXPECT_NEAR((*windows)[2], 6 * model.over(74, 81, 12, 1).loss, 1e-4);
}

TEST(Evaluation, TellsWhatOtherTypesOfWeightsCost) {
    const Model model;
    const double exact = model.over(0, 2001, 12, 8).loss;
    for (const auto& [type, name] :
         {std::pair{WeightType::Bf16, "bf16"}, {WeightType::Int8, "int8"}, {WeightType::Int4, "int4"}, {WeightType::Int8Dynamic, "int8-dynamic"}}) {
        Decoder decoder(model.weights, type, {.rows = 12, .logits = 12}, 2);
        const auto decoded = evaluateDecoded(
            decoder, *model.batches->corpus().tokens, 0, 2001, 12, [](std::int64_t) {}, model.never);
        ASSERT_TRUE(decoded.ok());
        std::cout << name << ": perplexity " << std::exp(exact) << " -> " << std::exp(decoded->loss) << ", " << decoder.weightBytes().count
                  << " bytes\n";
        EXPECT_NE(decoded->loss, exact) << "rounded weights cost something";
        EXPECT_LT(decoded->loss, std::log(61)) << "what was learnt is still there";
    }
}

// Of a model that has learnt: its perplexity without being rounded is far from that of guessing.
TEST(Evaluation, StaysWithinHalfAPercentOfThePerplexityWhereActivationsAreRoundedToo) {
    const Model model(150);
    const double exact = std::exp(model.over(0, 2001, 12, 8).loss);
    ASSERT_LT(exact, 30);
    Decoder decoder(model.weights, WeightType::Int8Dynamic, {.rows = 24, .logits = 24}, 2);
    const auto decoded = evaluateDecoded(
        decoder, *model.batches->corpus().tokens, 0, 2001, 12, [](std::int64_t) {}, model.never);
    ASSERT_TRUE(decoded.ok());
    std::cout << "int8-dynamic after 150 steps: perplexity " << exact << " -> " << std::exp(decoded->loss) << "\n";
    EXPECT_NE(std::exp(decoded->loss), exact);
    EXPECT_NEAR(std::exp(decoded->loss) / exact, 1, 0.005);
}

TEST(Evaluation, StopsWhenAskedTo) {
    Model model;
    model.never = true;
    const auto stopped = evaluateRow(
        model.weights, *model.batches->corpus().tokens, 0, 100, 12, 4, [](std::int64_t) {}, model.never);
    ASSERT_FALSE(stopped.ok());
    EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
}

}  // namespace
}  // namespace stepscope
