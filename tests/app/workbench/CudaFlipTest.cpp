// Flips in the middle of a run on a real GPU: to it and back, and those of its own switches. A program of its own, because LibTorch's CUDA half must
// be loaded before anything asks for it. Where there is no GPU, a test holds the sentence that says so and notes it as "not_run", which
// packaging/gpu-check counts.
#include <gmock/gmock.h>

#include <cstdlib>

#include "TinyTraining.h"
#include "app/workbench/Gpus.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

// From `from` to `to` after 8 of 24 steps, back after 16; `base` is set from the start.
struct FlipCase {
    std::string id, from, to;
    std::map<std::string, std::string> base;
    double tolerance;  // of the losses against a run on the CPU in which nothing was flipped
};
void PrintTo(const FlipCase& flip, std::ostream* out) {
    *out << flip.id << '=' << flip.to;
}

Machine machineHere() {
    // The plug-in of this build, unless another one is named.
    setenv("STEPSCOPE_CUDA_PLUGIN", PLUGIN, /*overwrite=*/0);
    Machine machine = testing::plainCpu();
    describeGpus(machine, cudaPlugin());
    return machine;
}

class CudaFlips : public ::testing::TestWithParam<FlipCase> {
protected:
    // Null where there is no GPU, and the test says so.
    std::shared_ptr<const Registry> registryOfTheGpu() {
        const Machine machine = machineHere();
        if (!machine.gpus.empty()) return std::make_shared<const Registry>(machine);
        RecordProperty("not_run", machine.whyNoCuda);
        EXPECT_THAT(machine.whyNoCuda, ::testing::AnyOf(::testing::Eq("No NVIDIA driver is installed."), ::testing::StartsWith("The NVIDIA driver "),
                                                        ::testing::StartsWith("The CUDA libraries of LibTorch are not installed")));
        return nullptr;
    }
};

std::vector<double> lossesOf(const std::shared_ptr<const Registry>& registry, const RunConfig& config, const FlipCase* flip = nullptr) {
    testing::TinyTrainer trainer(config);
    trainer.registry = registry;
    trainer.setup.factory = registry.get();
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (flip == nullptr || done == nullptr) return;
        if (done->step == 8) trainer.commands.push(Flip{flip->id, flip->to});
        if (done->step == 16) trainer.commands.push(Flip{flip->id, flip->from});
    };
    EXPECT_EQ(trainer.run().state, RunState::Finished);
    if (flip != nullptr) {
        const auto refused = trainer.sink.all<SwitchRefused>();
        EXPECT_EQ(trainer.sink.all<SwitchApplied>().size(), 2u) << (refused.empty() ? "" : refused[0].why);
    }
    return trainer.sink.losses();
}

TEST_P(CudaFlips, TakeEffectAtTheNextStepAndTheLossGoesOnAsItDoesOnTheCpu) {
    const auto registry = registryOfTheGpu();
    if (!registry) return;
    const FlipCase& flip = GetParam();
    const RunConfig onCpu = testing::tinyConfig(*registry, 24);
    RunConfig flipped = onCpu;
    for (const auto& [id, value] : flip.base) flipped.switches[id] = value;
    const auto expected = lossesOf(registry, onCpu), losses = lossesOf(registry, flipped, &flip);
    ASSERT_EQ(losses.size(), expected.size());
    for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], expected[i], flip.tolerance) << "step " << i + 1;
}

const std::map<std::string, std::string> kOnGpu{{"device", "cuda:0"}};

INSTANTIATE_TEST_SUITE_P(
    Switch, CudaFlips,
    ::testing::Values(FlipCase{"device", "cpu", "cuda:0", {}, 2e-4}, FlipCase{"device", "cuda:0", "cpu", kOnGpu, 2e-4},
                      FlipCase{"vocab-padding", "none", "64", kOnGpu, 2e-4}, FlipCase{"fusion", "off", "kernels", kOnGpu, 2e-4},
                      FlipCase{"fusion", "off", "step", kOnGpu, 2e-4},
                      FlipCase{"cuda-graph", "off", "on", {{"device", "cuda:0"}, {"fusion", "kernels"}}, 2e-4},
                      FlipCase{"vocab-padding", "none", "64", {{"device", "cuda:0"}, {"fusion", "kernels"}, {"cuda-graph", "on"}}, 2e-4},
                      FlipCase{"amp", "off", "bf16", kOnGpu, 5e-2}, FlipCase{"amp", "off", "fp16", kOnGpu, 5e-2},
                      FlipCase{"optimizer", "fused", "8-bit", kOnGpu, 5e-2}, FlipCase{"data-source", "mmap", "device", kOnGpu, 2e-4}));

}  // namespace
}  // namespace stepscope
