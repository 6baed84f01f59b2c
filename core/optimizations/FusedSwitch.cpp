// See FusedSwitch.h.
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {

Verdict fusedKernelsUsable(const RunConfig& config) {
    if (config.word("device") != "cpu") return Verdict::no("the fused kernels of this version run on the CPU; choose device=cpu.");
    if (config.word("amp") == "fp16") return Verdict::no("the fused kernels take float32 and bf16; choose amp=bf16 or off.");
    return Verdict::yes();
}

bool fusedOn(const RunConfig& config, const std::string& id) {
    const std::string& value = config.word(id);
    return value == "on" || (value == "auto" && config.word("fusion") == "kernels" && fusedKernelsUsable(config).usable);
}

Optimization fusedSwitch(std::string id, std::string title, std::string why, std::string cost, std::string reported, std::string slot,
                         std::function<void(ProgramBuilder&)> install) {
    return {.id = id,
            .title = std::move(title),
            .group = SwitchGroup::Kernels,
            .why = std::move(why),
            .cost = std::move(cost),
            .reported = std::move(reported),
            .values = Choices{{"auto", "off", "on"}},
            .byDefault = "auto",
            .applicable = [](const Machine&, const RunConfig& config, const Value& value) {
                if (word(value) != "on") return Verdict::yes();
                if (config.word("fusion") == "step") return Verdict::no("fusion=step has kernels of its own; choose auto, or fusion=kernels.");
                return fusedKernelsUsable(config);
            },
            .install =
                [id, slot = std::move(slot), fill = std::move(install)](ProgramBuilder& builder, const Value& value) {
                    if (!fusedOn(builder.config(), id) || (word(value) == "auto" && builder.isClaimed(slot))) return;
                    fill(builder);
                }};
}

}  // namespace stepscope
