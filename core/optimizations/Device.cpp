// device: where the model and its batches live.
#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "core/optimizations/registry/Switch.h"

namespace stepscope {
namespace {

std::optional<int> indexOf(const std::string& name) {
    constexpr std::string_view prefix = "cuda:";
    int index = 0;
    if (!name.starts_with(prefix)) return std::nullopt;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), index);
    return index;
}

const Gpu* gpuNamed(const Machine& machine, const std::string& name) {
    const auto index = indexOf(name);
    return index && static_cast<std::size_t>(*index) < machine.gpus.size() ? &machine.gpus[static_cast<std::size_t>(*index)] : nullptr;
}

Verdict deviceUsable(const Machine& machine, const RunConfig&, const Value& value) {
    if (word(value) == "cpu") return Verdict::yes();
    if (machine.gpus.empty()) return Verdict::notHere(machine.whyNoCuda.empty() ? "there is no usable NVIDIA GPU here." : machine.whyNoCuda);
    if (gpuNamed(machine, word(value)) == nullptr) return Verdict::notHere(fmt::format("this machine has {} GPU(s).", machine.gpus.size()));
    return Verdict::yes();
}

}  // namespace

const Gpu* gpuOf(const Machine& machine, const RunConfig& config) {
    return gpuNamed(machine, config.word("device"));
}

Verdict needsAmpere(const Machine& machine, const RunConfig& config, const std::string& what) {
    const Gpu* gpu = gpuOf(machine, config);
    if (gpu == nullptr || gpu->computeMajor >= 8) return Verdict::yes();
    return Verdict::notHere(fmt::format("{} needs a GPU of compute capability 8.0 (Ampere) or newer; {} has {}.{}.", what, gpu->name,
                                        gpu->computeMajor, gpu->computeMinor));
}

Verdict onlyOnGpus(const Machine& machine, std::string why) {
    return machine.gpus.empty() ? Verdict::notHere(std::move(why)) : Verdict::no(std::move(why));
}

Switch deviceSwitch() {
    return {.id = "device",
            .title = "Device",
            .group = SwitchGroup::Device,
            .why = "Where the weights and batches live and the operations run. A GPU has some hundred times the arithmetic of a CPU core.",
            .cost =
                "Everything moves: weights, gradients, moments and activations must fit into the device's memory. Of several workers the first of "
                "a machine takes the GPU that is named here, the next ones those behind it; not measured: no machine with two GPUs was at hand.",
            .reported = "a baseline above 1000 ms a step",
            .values = Choices{{"cpu", "cuda:0", "cuda:1", "cuda:2", "cuda:3", "cuda:4", "cuda:5", "cuda:6", "cuda:7"}},
            .byDefault = "cpu",
            .applicable = deviceUsable,
            .resolve =
                [](PlanDraft& draft, const Value& value) {
                    draft.plan.gpu = indexOf(word(value));
                    if (draft.plan.gpu) *draft.plan.gpu += draft.workersBeforeHere();
                },
            .racing = {.role = RaceRole::Never}};
}

}  // namespace stepscope
