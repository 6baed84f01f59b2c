// The model options through the loop: every one trains, is kept by checkpoints and writes text; dropout and smoothing are in training only.
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "TinyTraining.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"
#include "core/state/Checkpoint.h"
#include "core/train/Generator.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using testing::registry;
using testing::TinyTrainer;

RunConfig with(std::vector<std::pair<std::string, std::string>> keys, std::int64_t steps = 60) {
    RunConfig config = testing::tinyConfig(registry(), steps);
    for (const auto& [key, text] : keys) EXPECT_TRUE(setKey(config, registry().catalogue(config), key, text).ok()) << key;
    return config;
}

using testing::lossesOf;

using Keys = std::vector<std::pair<std::string, std::string>>;
// The options and the form of `fusion` they run in.
class EveryModelOption : public ::testing::TestWithParam<std::tuple<Keys, std::string>> {
protected:
    static RunConfig config(std::int64_t steps) { return in(std::get<1>(GetParam()), std::get<0>(GetParam()), steps); }
    static RunConfig in(const std::string& fusion, Keys keys, std::int64_t steps) {
        keys.emplace_back("fusion", fusion);
        return with(keys, steps);
    }
};

TEST_P(EveryModelOption, Learns) {
    const auto losses = lossesOf(config(200));
    EXPECT_LT(losses.back(), losses.front() - 0.4);
}

TEST_P(EveryModelOption, ChangesTheLoss) {
    EXPECT_NE(lossesOf(config(3)), lossesOf(in(std::get<1>(GetParam()), {}, 3)));
}

TEST_P(EveryModelOption, TrainsAsThePlainFormDoes) {
    const auto losses = lossesOf(config(20)), plain = lossesOf(in("off", std::get<0>(GetParam()), 20));
    ASSERT_EQ(losses.size(), plain.size());
    for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], plain[i], 2e-4) << "step " << i + 1;
}

TEST_P(EveryModelOption, IsKeptByACheckpointAndTheRunGoesOnIdentically) {
    const RunConfig config = EveryModelOption::config(20);
    const auto folder = fs::temp_directory_path() / ("stepscope-options-" + std::to_string(::getpid()));
    fs::remove_all(folder);
    const auto whole = lossesOf(config);

    TinyTrainer first(config);
    first.sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done == nullptr || done->step != 9) return;
        first.commands.push(SaveCheckpoint{folder.string()});
        first.commands.push(Stop{});
    };
    first.run();
    auto state = loadCheckpoint(folder.string(), 64);
    ASSERT_TRUE(state.ok()) << state.error().sentence;
    EXPECT_EQ(differingKey(state->config, registry().modelShape(config, 61)), "");
    TinyTrainer second(config);
    second.setup.state = std::move(*state);
    second.run();
    auto joined = first.sink.losses();
    for (const double loss : second.sink.losses()) joined.push_back(loss);
    EXPECT_EQ(joined, whole);
    fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Each, EveryModelOption,
                         ::testing::Combine(::testing::Values(Keys{{"qkv", "split"}}, Keys{{"activation", "swiglu"}}, Keys{{"tied-head", "off"}},
                                                              Keys{{"norm-placement", "post"}}, Keys{{"norm", "rmsnorm"}},
                                                              Keys{{"positions", "rope"}}, Keys{{"bias", "off"}}, Keys{{"dropout", "0.2"}},
                                                              Keys{{"label-smoothing", "0.1"}},
                                                              Keys{{"qkv", "split"},
                                                                   {"activation", "swiglu"},
                                                                   {"tied-head", "off"},
                                                                   {"norm", "rmsnorm"},
                                                                   {"positions", "rope"},
                                                                   {"bias", "off"},
                                                                   {"dropout", "0.1"},
                                                                   {"vocab-padding", "64"}}),
                                            ::testing::Values("off", "kernels", "step")),
                         [](const auto& info) {
                             std::string name = "fusion_" + std::get<1>(info.param) + "_";
                             for (const auto& [key, text] : std::get<0>(info.param)) name += key + "_" + text + "_";
                             for (char& c : name)
                                 if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                             return name;
                         });

TEST(ModelOptions, DropoutDropsTheSameElementsHoweverTheBatchIsSplit) {
    const auto one = lossesOf(with({{"dropout", "0.3"}, {"batch-size", "8"}}, 20));
    const auto four = lossesOf(with({{"dropout", "0.3"}, {"batch-size", "2"}, {"grad-accumulation", "4"}}, 20));
    ASSERT_EQ(one.size(), four.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], four[i], 2e-5) << "step " << i + 1;
}

TEST(ModelOptions, ValidationNeitherDropsNorSmooths) {
    const auto validated = [](const Keys& keys) {
        RunConfig config = with(keys, 1);
        config.lr = 0;
        config.switches["validation-every"] = std::int64_t{1};
        TinyTrainer trainer(config);
        trainer.run();
        return trainer.sink.all<ValidationDone>().at(0).loss;
    };
    EXPECT_EQ(validated({{"dropout", "0.5"}, {"label-smoothing", "0.2"}}), validated({}));
}

TEST(ModelOptions, ACheckpointFromBeforeTheyExistedStillLoads) {
    const auto folder = (fs::temp_directory_path() / ("stepscope-old-" + std::to_string(::getpid()))).string();
    fs::remove_all(folder);
    const RunConfig config = with({});
    const auto state = TrainState::initialise(registry().modelShape(config, 61), 4);
    ASSERT_TRUE(saveCheckpoint(folder, state, config, "", 1.5).ok());
    nlohmann::json meta = nlohmann::json::parse(std::ifstream(folder + "/state.json"));
    for (const char* key : {"qkv", "activation", "tied-head", "norm-placement", "norm", "positions", "bias", "dropout", "label-smoothing"})
        EXPECT_EQ(meta["config"].erase(key), 1u) << key;
    std::ofstream(folder + "/state.json") << meta.dump();
    const auto read = loadCheckpoint(folder, 61);
    ASSERT_TRUE(read.ok()) << read.error().sentence;
    EXPECT_TRUE(at::equal(read->weights, state.weights));
    fs::remove_all(folder);
}

TEST(ModelOptions, TextIsWrittenBeyondTheContextWithRotaryPositions) {
    const auto state = TrainState::initialise({.layers = 1,
                                               .heads = 1,
                                               .width = 8,
                                               .vocabulary = 256,
                                               .paddedVocabulary = 256,
                                               .positions = 8,
                                               .activation = Activation::Swiglu,
                                               .tiedHead = false,
                                               .positionKind = PositionKind::Rope},
                                              1);
    const std::atomic<bool> never{false};
    EXPECT_TRUE(
        generateText(
            {state.config, state.layout, state.weights}, *byteTokenizer(), {.prompt = "In the", .tokens = 20}, [](const std::string&) {}, never)
            .ok());
}

TEST(ModelOptions, TheFourGpt2PresetsHaveTheParametersTheirAuthorsCount) {
    for (const auto& [id, count] :
         {std::pair{"gpt2-small", 124'439'808L}, {"gpt2-medium", 354'823'168L}, {"gpt2-large", 774'030'080L}, {"gpt2-xl", 1'557'611'200L}}) {
        const auto config = registry().complete(presetConfig(id).value());
        ASSERT_TRUE(config.ok()) << id;
        EXPECT_EQ(parameterCount(registry().modelShape(*config, 50257)), count) << id;
    }
}

TEST(ModelOptions, RotaryPositionsNeedPairs) {
    RunConfig config = testing::tinyConfig(registry());
    config.width = 6;
    config.heads = 2;
    config.positions = "rope";
    const auto complete = registry().complete(config);
    ASSERT_FALSE(complete.ok());
    EXPECT_NE(complete.error().sentence.find("positions=rope"), std::string::npos) << complete.error().sentence;
}

}  // namespace
}  // namespace stepscope
