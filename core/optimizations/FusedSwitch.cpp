#include "core/optimizations/FusedSwitch.h"

namespace stepscope {
namespace {

constexpr const char* kTriedOnGpus = " Its CUDA form was tried on one model of GPU so far, an H200.";

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

Switch fusedSwitch(FusedForm form) {
    return {.id = form.id,
            .title = std::move(form.title),
            .group = SwitchGroup::Kernels,
            .why = std::move(form.why),
            .cost = form.onGpuInstead.empty() ? form.cost + kTriedOnGpus : form.cost,
            .reported = std::move(form.reported),
            .values = Choices{{"auto", "off", "on"}},
            .byDefault = "auto",
            .applicable =
                [onGpuInstead = form.onGpuInstead](const Machine& machine, const RunConfig& config, const Value& value) {
                    if (word(value) != "on") return Verdict::yes();
                    if (auto can = needsAmpere(machine, config, "a kernel of our own"); !can.usable) return can;
                    if (!onCpu(config) && !onGpuInstead.empty()) return Verdict::no(onGpuInstead);
                    if (config.word("fusion") == "step") return Verdict::no("fusion=step has kernels of its own; choose auto, or fusion=kernels.");
                    return fusedKernelsUsable(config);
                },
            .note = [id = form.id, cpuOnly = !form.onGpuInstead.empty()](const Machine&, const PlanDraft& draft, const Value& value) -> SwitchNote {
                const std::string& fusion = draft.running().word("fusion");
                if (word(value) == "on")
                    return fusion == "kernels" ? idleNote(id + "=on is what auto comes to beside fusion=kernels.") : SwitchNote();
                if (fusion == "step") return idleNote(id + "=off does nothing beside fusion=step, which has kernels of its own.");
                if (fusion == "off") return idleNote(id + "=off does nothing while fusion is off: auto is off then.");
                return cpuOnly && draft.plan.onGpu() ? idleNote(id + "=off does nothing on a GPU, where it never runs.") : SwitchNote();
            },
            .resolve =
                [id = form.id, decides = std::move(form.decides), choose = std::move(form.choose), cpuOnly = !form.onGpuInstead.empty()](
                    PlanDraft& draft, const Value& value) {
                    if (cpuOnly && draft.plan.onGpu()) return;
                    if (!fusedOn(draft.running(), id) || (word(value) == "auto" && draft.isClaimed(decides))) return;
                    draft.claim(decides);
                    choose(draft.plan);
                },
            .install = std::move(form.install)};
}

}  // namespace stepscope
