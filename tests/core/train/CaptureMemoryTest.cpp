// The memory of captured steps: its curve has the peak that the allocator counted, and what was alive then are the weights, moments and gradients of
// the run beside what the step itself made; in each Program.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "TinyTraining.h"
#include "core/analysis/panes/MemoryCurve.h"
#include "core/memory/HostAllocator.h"
#include "core/profile/MemorySource.h"
#include "core/trace/AllocationCodec.h"

namespace stepscope {
namespace {

class MemoryOf : public ::testing::TestWithParam<std::string> {};

TEST_P(MemoryOf, CapturedStepsHasThePeakThatTheAllocatorCounted) {
    host_memory::install();
    host_memory::refreshBudget();
    const Registry registry(testing::plainCpu());
    RunConfig config = testing::tinyConfig(registry, 8);
    config.switches["fusion"] = GetParam();
    testing::TinyTrainer trainer(config);
    trainer.commands.push(Capture{.steps = 2, .firstStep = 4});
    ASSERT_EQ(trainer.run().state, RunState::Finished);

    MemoryCurve curve;
    for (const auto& chunk : trainer.sink.chunks()) {
        if (chunk->kind != kAllocations) continue;
        const auto block = decodeAllocations(*chunk);
        ASSERT_TRUE(block) << block.error().sentence;
        EXPECT_EQ(block->lost + block->invalid, 0);
        curve.add(*block);
    }
    ASSERT_FALSE(curve.empty());
    const auto steps = trainer.sink.all<StepDone>();
    const std::int64_t parameters = ParameterLayout(registry.modelShape(config, 61)).size();
    for (const std::int64_t number : {4, 5}) {
        if (number == 5 && GetParam() == "step") continue;  // a planned step takes nothing
        const auto step = std::ranges::find(steps, number, &StepDone::step);
        ASSERT_NE(step, steps.end());
        // From the begin of the capture: what lasts is told there.
        const auto memory = curve.result(number == 4 ? 0 : (step->at - step->duration).ns, step->at.ns + 1);
        ASSERT_EQ(memory.size(), 1u);
        EXPECT_EQ(memory[0].device, -1);
        EXPECT_TRUE(memory[0].absolute);
        EXPECT_EQ(memory[0].peak, static_cast<std::int64_t>(step->peakBytes)) << "of step " << number;
        std::map<std::string, std::int64_t> kinds;
        for (const auto& owner : memory[0].alive) kinds[owner.kind] += owner.bytes;
        EXPECT_EQ(kinds["weights"], 4 * parameters);
        EXPECT_EQ(kinds["moments"], 8 * parameters);
        EXPECT_LE(memory[0].aliveBytes, memory[0].peak);
        EXPECT_GE(memory[0].aliveBytes, memory[0].peak - 4096) << "who took it is known of all but crumbs";
    }
}

TEST(MemoryOfACapture, HasTheGradientsByName) {
    host_memory::install();
    host_memory::refreshBudget();
    const Registry registry(testing::plainCpu());
    RunConfig config = testing::tinyConfig(registry, 6);
    config.switches["fusion"] = std::string("off");
    testing::TinyTrainer trainer(config);
    trainer.commands.push(Capture{.steps = 1, .firstStep = 4});
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    std::map<std::string, std::int64_t> kinds;
    for (const auto& chunk : trainer.sink.chunks())
        if (chunk->kind == kAllocations) {
            const auto block = decodeAllocations(*chunk);
            for (const auto& one : block.value().allocations)
                if (one.bytes > 0) kinds[block.value().strings[one.kind]] += one.bytes;
        }
    const std::int64_t gradients = kinds["gradients"], parameters = ParameterLayout(registry.modelShape(config, 61)).size();
    EXPECT_GE(gradients, 4 * parameters * 9 / 10);
    EXPECT_LE(gradients, 4 * parameters * 11 / 10);
    for (const char* kind : {"q, k, v", "attention's scores and outputs", "MLP", "logits and loss", "residual sums and norms"})
        EXPECT_GT(kinds[kind], 0) << kind;
}

INSTANTIATE_TEST_SUITE_P(Fusion, MemoryOf, ::testing::Values("off", "kernels", "step"), [](const auto& which) { return which.param; });

}  // namespace
}  // namespace stepscope
