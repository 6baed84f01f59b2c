#include "app/workbench/PresetChoice.h"

#include <fmt/format.h>

#include "core/base/Format.h"

namespace stepscope {
namespace {

// Of a GPU's memory. The rest is the driver's context, what LibTorch's allocator loses to its block sizes (up to 13 % in a simulation of these
// presets), and room for an error of the prediction.
constexpr double kUsed = 0.8;

}  // namespace

PresetChoice choosePreset(const Workbench& workbench) {
    const Machine& machine = workbench.machine();
    if (machine.gpus.empty())
        return {"tiny-cpu", fmt::format("No usable GPU here, so the smallest model: it trains in seconds per 100 steps on {} CPU core{}.",
                                        machine.cores, machine.cores == 1 ? "" : "s")};
    const std::string device = "cuda:0";
    const Gpu& gpu = machine.gpus.front();
    for (const char* id : {"gpu-24gb", "gpu-16gb", "gpu-12gb", "gpu-8gb", "shakespeare-char"}) {
        RunConfig config = presetConfig(id).value();
        placeOn(config, device);
        if (!workbench.complete(config)) continue;  // bf16 on too old a GPU
        const Workbench::Estimate needed = workbench.estimate(config);
        if (static_cast<double>(needed.total.count) > kUsed * static_cast<double>(gpu.memory.count)) continue;
        return {
            id,
            fmt::format("{} has {}: of the presets for GPUs, {} is the largest that runs on it with a fifth of its memory to spare ({} predicted).",
                        gpu.name, format::bytes(gpu.memory), id, format::bytes(needed.total)),
            device};
    }
    return {"tiny-cpu",
            fmt::format("{} has {}: only the smallest model fits with a fifth of its memory to spare.", gpu.name, format::bytes(gpu.memory)), device};
}

Result<RunConfig> presetHere(const Workbench& workbench, const std::string& id) {
    auto config = presetConfig(id);
    if (config && id != "tiny-cpu" && !workbench.machine().gpus.empty()) placeOn(*config, "cuda:0");
    return config;
}

}  // namespace stepscope
