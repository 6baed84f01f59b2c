// A Program sets nothing global when it is built: two Programs built together and alternated each report their own settings.
#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include "TinyTraining.h"

namespace stepscope {
namespace {

TEST(ProgramScope, TwoProgramsBuiltTogetherAndAlternatedEachRunUnderTheirOwnSettings) {
    const Registry registry(testing::plainCpu());
    RunConfig first = testing::tinyConfig(registry), second = first;
    first.switches["matmul-precision"] = std::string("highest");
    first.switches["attention"] = std::string("sdpa-math");
    first.switches["host-memory"] = std::string("system");
    first.switches["amp"] = std::string("off");
    second.switches["matmul-precision"] = std::string("medium");
    second.switches["attention"] = std::string("sdpa-flash");
    second.switches["host-memory"] = std::string("caching");
    second.switches["amp"] = std::string("bf16");

    const auto batches = testing::tinyBatches();
    auto stateA = TrainState::initialise(registry.modelShape(first, 61), 1), stateB = stateA;
    stateB.weights = stateA.weights.clone();
    stateB.firstMoment = stateA.firstMoment.clone();
    stateB.secondMoment = stateA.secondMoment.clone();
    auto a = registry.build(first, stateA), b = registry.build(second, stateB);
    ASSERT_TRUE(a.ok() && b.ok());

    auto& context = at::globalContext();
    EXPECT_EQ(context.float32MatmulPrecision(), at::Float32MatmulPrecision::HIGHEST) << "building sets nothing";
    for (int round = 0; round < 3; ++round) {
        (*a)->step(stateA, *batches, 1e-3);
        (*b)->step(stateB, *batches, 1e-3);
        EXPECT_EQ((*a)->report().matmulPrecision, "highest");
        EXPECT_EQ((*b)->report().matmulPrecision, "medium");
        EXPECT_EQ((*a)->report().attention, "sdpa-math");
        EXPECT_EQ((*b)->report().attention, "sdpa-flash");
        EXPECT_EQ((*a)->report().hostMemory, "system");
        EXPECT_EQ((*b)->report().hostMemory, "caching");
        EXPECT_EQ((*a)->report().autocast, "off");
        EXPECT_EQ((*b)->report().autocast, "bf16");
        EXPECT_EQ(context.float32MatmulPrecision(), at::Float32MatmulPrecision::HIGHEST);
        EXPECT_TRUE(context.userEnabledFlashSDP() && context.userEnabledMathSDP());
        EXPECT_EQ(host_memory::mode(), host_memory::Mode::System);
        EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
    }
}

TEST(ProgramScope, AlternatingGivesEachProgramTheLossesThatItHasAlone) {
    const Registry registry(testing::plainCpu());
    RunConfig first = testing::tinyConfig(registry), second = first;
    second.switches["amp"] = std::string("bf16");
    const auto batches = testing::tinyBatches();
    const auto alone = [&](const RunConfig& config) {
        auto state = TrainState::initialise(registry.modelShape(config, 61), 1);
        auto program = registry.build(config, state);
        std::vector<double> losses;
        for (int i = 0; i < 5; ++i) losses.push_back((*program)->step(state, *batches, 1e-3).loss);
        return losses;
    };
    auto stateA = TrainState::initialise(registry.modelShape(first, 61), 1), stateB = TrainState::initialise(registry.modelShape(second, 61), 1);
    auto a = registry.build(first, stateA), b = registry.build(second, stateB);
    std::vector<double> lossesA, lossesB;
    for (int i = 0; i < 5; ++i) {
        lossesA.push_back((*a)->step(stateA, *batches, 1e-3).loss);
        lossesB.push_back((*b)->step(stateB, *batches, 1e-3).loss);
    }
    EXPECT_EQ(lossesA, alone(first));
    EXPECT_EQ(lossesB, alone(second));
    EXPECT_NE(lossesA, lossesB);
}

}  // namespace
}  // namespace stepscope
