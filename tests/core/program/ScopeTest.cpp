// A Program sets nothing global when it is built: two Programs built together and alternated each report their own settings.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>

#include "TinyTraining.h"
#include "core/program/EagerProgram.h"
#include "core/program/PlannedProgram.h"

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
    auto stateA = TrainState::initialise(registry.modelShape(first, 61), 1), stateB = stateA.clone();
    const auto a = testing::programOver(stateA, registry, first), b = testing::programOver(stateB, registry, second);

    auto& context = at::globalContext();
    EXPECT_EQ(context.float32MatmulPrecision(), at::Float32MatmulPrecision::HIGHEST) << "building sets nothing";
    for (int round = 0; round < 3; ++round) {
        a->step(stateA, *batches, 1e-3);
        b->step(stateB, *batches, 1e-3);
        EXPECT_EQ(a->report().matmulPrecision, "highest");
        EXPECT_EQ(b->report().matmulPrecision, "medium");
        EXPECT_EQ(a->report().attention, "sdpa-math");
        EXPECT_EQ(b->report().attention, "sdpa-flash");
        EXPECT_EQ(a->report().hostMemory, "system");
        EXPECT_EQ(b->report().hostMemory, "caching");
        EXPECT_EQ(a->report().autocast, "off");
        EXPECT_EQ(b->report().autocast, "bf16");
        EXPECT_EQ(context.float32MatmulPrecision(), at::Float32MatmulPrecision::HIGHEST);
        EXPECT_TRUE(context.userEnabledFlashSDP() && context.userEnabledMathSDP());
        EXPECT_EQ(host_memory::mode(), host_memory::Mode::System);
        EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
    }
}

TEST(ProgramScope, TwoProgramsBuiltTogetherEachHaveTheirOwnThreadsAndTheirOwnCuDnnBenchmark) {
    at::set_num_threads(1);
    const auto batches = testing::tinyBatches();
    const Registry registry(testing::plainCpu());
    const GptConfig shape = registry.modelShape(testing::tinyConfig(registry), 61);
    const auto partsOf = [](int threads, bool benchmark, std::set<std::thread::id>& seen) {
        ProgramParts parts;
        parts.batchSize = 4;
        parts.context = 12;
        parts.optimizerName = "fused";
        parts.optimizer = adamWFused;
        parts.scope.threads = threads;
        parts.scope.cudnnBenchmark = benchmark;
        parts.ops.loss = [&seen](const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets, const LossSettings& settings) {
            std::mutex alone;
            at::parallel_for(0, 64, 1, [&](std::int64_t, std::int64_t) {
                const std::lock_guard lock(alone);
                seen.insert(std::this_thread::get_id());
            });
            return plain::loss(hidden, head, targets, settings);
        };
        return parts;
    };
    std::set<std::thread::id> threadsOfA, threadsOfB, none;
    EagerProgram a(partsOf(1, true, threadsOfA)), b(partsOf(3, false, threadsOfB));
    PlannedProgram c(partsOf(2, false, none));
    TrainState state = TrainState::initialise(shape, 1);
    for (int round = 0; round < 3; ++round)
        for (StepProgram* const program : {static_cast<StepProgram*>(&a), static_cast<StepProgram*>(&b), static_cast<StepProgram*>(&c)}) {
            program->step(state, *batches, 1e-3);
            EXPECT_EQ(program->report().threads, program == &a ? 1 : program == &b ? 3 : 2);
            EXPECT_EQ(program->report().cudnnBenchmark, program == &a);
            EXPECT_EQ(at::get_num_threads(), 1) << "the former number is back";
            EXPECT_FALSE(at::globalContext().benchmarkCuDNN());
        }
    EXPECT_EQ(threadsOfA.size(), 1u);
    EXPECT_EQ(threadsOfB.size(), 3u) << "and they really share the work";
}

TEST(ProgramScope, AConfigurationsThreadsAreItsProgramsWhateverTheThreadThatStepsHasSet) {
    const Registry registry(testing::plainCpu());
    const auto batches = testing::tinyBatches();
    at::set_num_threads(1);
    for (const char* fusion : {"off", "step"}) {
        RunConfig config = testing::tinyConfig(registry), own = config;
        config.switches["fusion"] = own.switches["fusion"] = std::string(fusion);
        config.threads = 2;
        TrainState state = TrainState::initialise(registry.modelShape(config, 61), 1);
        const auto two = testing::programOver(state, registry, config), asBuilt = testing::programOver(state, registry, own);
        for (int round = 0; round < 2; ++round) {
            two->step(state, *batches, 1e-3);
            EXPECT_EQ(two->report().threads, 2) << fusion;
            at::set_num_threads(3);
            asBuilt->step(state, *batches, 1e-3);
            EXPECT_EQ(asBuilt->report().threads, 1) << fusion << ": those that the thread had which built it";
            EXPECT_EQ(at::get_num_threads(), 3);
            at::set_num_threads(1);
        }
    }
}

TEST(ProgramScope, AlternatingGivesEachProgramTheLossesThatItHasAlone) {
    const Registry registry(testing::plainCpu());
    RunConfig first = testing::tinyConfig(registry), second = first;
    second.switches["amp"] = std::string("bf16");
    const auto batches = testing::tinyBatches();
    const auto alone = [&](const RunConfig& config) {
        auto state = TrainState::initialise(registry.modelShape(config, 61), 1);
        const auto program = testing::programOver(state, registry, config);
        std::vector<double> losses;
        for (int i = 0; i < 5; ++i) losses.push_back(program->step(state, *batches, 1e-3).loss);
        return losses;
    };
    auto stateA = TrainState::initialise(registry.modelShape(first, 61), 1), stateB = TrainState::initialise(registry.modelShape(second, 61), 1);
    const auto a = testing::programOver(stateA, registry, first), b = testing::programOver(stateB, registry, second);
    std::vector<double> lossesA, lossesB;
    for (int i = 0; i < 5; ++i) {
        lossesA.push_back(a->step(stateA, *batches, 1e-3).loss);
        lossesB.push_back(b->step(stateB, *batches, 1e-3).loss);
    }
    EXPECT_EQ(lossesA, alone(first));
    EXPECT_EQ(lossesB, alone(second));
    EXPECT_NE(lossesA, lossesB);
}

}  // namespace
}  // namespace stepscope
