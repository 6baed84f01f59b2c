#include "core/optimizations/FusedSwitch.h"

namespace stepscope {
namespace {

constexpr const char* kUntriedOnGpus =
    " Its CUDA form has not yet run on a real GPU: there it is off unless you ask for it, with on or fusion=kernels.";

}  // namespace

Verdict fusedKernelsUsable(const RunConfig& config) {
    if (onCpu(config) && config.word("amp") == "fp16")
        return Verdict::no("the fused kernels take float32 and bf16 on a CPU; choose amp=bf16 or off.");
    return Verdict::yes();
}

bool onCpu(const RunConfig& config) {
    return config.word("device") == "cpu";
}

bool fusedOn(const RunConfig& config, const std::string& id) {
    const std::string& value = config.word(id);
    return value == "on" || (value == "auto" && config.word("fusion") == "kernels" && fusedKernelsUsable(config).usable);
}

Optimization fusedSwitch(std::string id, std::string title, std::string why, std::string cost, std::string reported, std::string slot,
                         std::function<void(ProgramBuilder&)> install, std::string onGpuInstead) {
    return {
        .id = id,
        .title = std::move(title),
        .group = SwitchGroup::Kernels,
        .why = std::move(why),
        .cost = onGpuInstead.empty() ? cost + kUntriedOnGpus : cost,
        .reported = std::move(reported),
        .values = Choices{{"auto", "off", "on"}},
        .byDefault = "auto",
        .applicable =
            [onGpuInstead](const Machine&, const RunConfig& config, const Value& value) {
                if (word(value) != "on") return Verdict::yes();
                if (!onCpu(config) && !onGpuInstead.empty()) return Verdict::no(onGpuInstead);
                if (config.word("fusion") == "step") return Verdict::no("fusion=step has kernels of its own; choose auto, or fusion=kernels.");
                return fusedKernelsUsable(config);
            },
        .note = [id](const Machine&, const RunConfig& config, const Value& value) -> std::string {
            if (word(value) != "off" || config.word("fusion") != "step") return {};
            return id + "=off does nothing beside fusion=step, which has kernels of its own.";
        },
        .install =
            [id, slot = std::move(slot), fill = std::move(install), cpuOnly = !onGpuInstead.empty()](ProgramBuilder& builder, const Value& value) {
                if (cpuOnly && !builder.device().is_cpu()) return;
                if (!fusedOn(builder.config(), id) || (word(value) == "auto" && builder.isClaimed(slot))) return;
                fill(builder);
            }};
}

}  // namespace stepscope
