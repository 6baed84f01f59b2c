// Activation checkpointing through the loop: the same losses bit for bit, whatever else is on, and less memory.
#include <gtest/gtest.h>

#include "TinyTraining.h"
#include "core/events/Event.h"
#include "core/memory/DeviceMemory.h"
#include "core/memory/HostAllocator.h"

namespace stepscope {
namespace {

using testing::TinyTrainer;
using Switches = std::vector<std::pair<std::string, Value>>;

RunConfig config(std::int64_t steps, const Switches& switches) {
    RunConfig made = testing::tinyConfig(Registry(testing::plainCpu()), steps);
    for (const auto& [id, value] : switches) made.switches[id] = value;
    return made;
}

using testing::lossesOf;

class EveryPlan : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryPlan, GivesTheSameLossesBitForBit) {
    for (const Switches& others : {Switches{}, Switches{{"amp", std::string("bf16")}}, Switches{{"attention", std::string("manual")}},
                                   Switches{{"zero-grad", std::string("zero")}, {"grad-accumulation", std::int64_t{2}}}}) {
        RunConfig kept = config(15, others), again = kept;
        again.switches["checkpointing"] = GetParam();
        EXPECT_EQ(lossesOf(again), lossesOf(kept)) << (others.empty() ? "plain" : others.front().first);
    }
}

TEST_P(EveryPlan, DropsTheSameElementsWhenItRunsAgain) {
    for (const char* placement : {"pre", "post"}) {
        RunConfig kept = config(10, {}), again = kept;
        kept.dropout = again.dropout = 0.3;
        kept.normPlacement = again.normPlacement = placement;
        again.switches["checkpointing"] = GetParam();
        EXPECT_EQ(lossesOf(again), lossesOf(kept)) << placement;
    }
}

INSTANTIATE_TEST_SUITE_P(Each, EveryPlan, ::testing::Values("every-block", "every-2nd", "every-3rd", "selective"), [](const auto& info) {
    std::string name = info.param;
    for (char& c : name)
        if (c == '-') c = '_';
    return name;
});

TEST(Recompute, RunsFusedKernelsAgainToo) {
    const Switches fused{{"fusion", std::string("kernels")}, {"amp", std::string("bf16")}};
    RunConfig kept = config(15, fused), again = kept;
    again.switches["checkpointing"] = std::string("every-block");
    const auto expected = lossesOf(kept), losses = lossesOf(again);
    ASSERT_EQ(losses.size(), expected.size());
    for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], expected[i], 5e-3) << "step " << i + 1;
}

std::int64_t peakOf(const Switches& switches, std::int64_t vocabulary = 61, std::int64_t context = 64) {
    host_memory::install();
    host_memory::refreshBudget();
    RunConfig deep = config(2, switches);
    deep.layers = 8;
    deep.width = 32;
    deep.switches["batch-size"] = std::int64_t{8};
    deep.switches["context"] = context;
    TinyTrainer trainer(deep, testing::tinyBatches(vocabulary));
    device_memory::resetPeak(at::kCPU);
    const std::int64_t before = host_memory::usage().live.count;
    EXPECT_EQ(trainer.run().state, RunState::Finished);
    return device_memory::peak(at::kCPU).count - before;
}

TEST(Recompute, KeepsLessMemoryTheMoreItRecomputes) {
    const auto off = peakOf({}), sixth = peakOf({{"checkpointing", std::string("every-6th")}}),
               second = peakOf({{"checkpointing", std::string("every-2nd")}}), all = peakOf({{"checkpointing", std::string("every-block")}});
    EXPECT_LT(sixth, 0.9 * static_cast<double>(off));
    EXPECT_LT(second, 0.9 * static_cast<double>(sixth));
    EXPECT_LT(second, 0.75 * static_cast<double>(off));
    EXPECT_LT(all, 0.8 * static_cast<double>(second));
}

TEST(Recompute, AFlipShowsInThePeakOfTheStepsAndTheRunsPeakIsTheHighestOfThem) {
    host_memory::install();
    host_memory::refreshBudget();
    RunConfig deep = config(8, {});
    deep.layers = 8;
    deep.width = 32;
    TinyTrainer trainer(deep);
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* step = std::get_if<StepDone>(&event);
        if (step != nullptr && step->step == 4) trainer.commands.push(Flip{"checkpointing", std::string("every-block")});
    };
    device_memory::resetPeak(at::kCPU);
    EXPECT_EQ(trainer.run().state, RunState::Finished);
    const auto steps = trainer.sink.all<StepDone>();
    ASSERT_EQ(steps.size(), 8u);
    EXPECT_LT(steps[7].peakBytes, 0.9 * steps[2].peakBytes);
    EXPECT_GE(steps[7].peakBytes, static_cast<double>(steps[7].allocatedBytes));
    for (const auto& step : steps) EXPECT_LE(step.peakBytes, static_cast<double>(device_memory::peak(at::kCPU).count));
}

TEST(Recompute, SelectiveDropsTheTablesOfScores) {
    const Value manual = std::string("manual");
    const auto kept = peakOf({{"attention", manual}}, 61, 160),
               dropped = peakOf({{"attention", manual}, {"checkpointing", std::string("selective")}}, 61, 160);
    EXPECT_LT(dropped, 0.75 * static_cast<double>(kept));
}

TEST(ChunkedLossMemory, NeverHoldsAllLogits) {
    EXPECT_LT(peakOf({{"chunked-loss", std::int64_t{64}}}, 4096), 0.6 * static_cast<double>(peakOf({}, 4096)));
}

}  // namespace
}  // namespace stepscope
