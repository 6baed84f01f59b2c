// device: where the model and its batches live.
#include <fmt/format.h>

#include "core/optimizations/Optimization.h"

namespace stepscope {
namespace {

at::Device parse(const std::string& name) {
    return at::Device(name);
}

const Gpu* gpuNamed(const Machine& machine, const std::string& name) {
    if (name == "cpu") return nullptr;
    const auto index = static_cast<std::size_t>(parse(name).index());
    return index < machine.gpus.size() ? &machine.gpus[index] : nullptr;
}

Verdict usable(const Machine& machine, const RunConfig&, const Value& value) {
    if (word(value) == "cpu") return Verdict::yes();
    if (machine.gpus.empty()) return Verdict::no(machine.whyNoCuda.empty() ? "there is no usable NVIDIA GPU here." : machine.whyNoCuda);
    if (gpuNamed(machine, word(value)) == nullptr) return Verdict::no(fmt::format("this machine has {} GPU(s).", machine.gpus.size()));
    return Verdict::yes();
}

}  // namespace

const Gpu* gpuOf(const Machine& machine, const RunConfig& config) {
    return gpuNamed(machine, config.word("device"));
}

Verdict needsAmpere(const Machine& machine, const RunConfig& config, const std::string& what) {
    const Gpu* gpu = gpuOf(machine, config);
    if (gpu == nullptr || gpu->computeMajor >= 8) return Verdict::yes();
    return Verdict::no(fmt::format("{} needs a GPU of compute capability 8.0 (Ampere) or newer; {} has {}.{}.", what, gpu->name, gpu->computeMajor,
                                   gpu->computeMinor));
}

Optimization deviceSwitch() {
    return {.id = "device",
            .title = "Device",
            .group = SwitchGroup::Device,
            .why = "Where the weights and batches live and the operations run. A GPU has some hundred times the arithmetic of a CPU core.",
            .cost = "The whole State moves: weights, gradients, moments and activations must fit into the device's memory.",
            .reported = "over 1000 ms on a CPU, about 1000 ms on a first GPU with a larger batch",
            .values = Choices{{"cpu", "cuda:0", "cuda:1", "cuda:2", "cuda:3", "cuda:4", "cuda:5", "cuda:6", "cuda:7"}},
            .byDefault = "cpu",
            .applicable = usable,
            .install = [](ProgramBuilder& builder, const Value& value) { builder.setDevice(parse(word(value))); }};
}

}  // namespace stepscope
