// What the fused-* switches share: their values, when "auto" means on, and where the kernels run at all. Used by Fused*.cpp, Fusion.cpp and
// the switches that give way to them.
#pragma once
#include "core/optimizations/registry/Switch.h"

namespace stepscope {

bool onCpu(const RunConfig& config);

// Whether our kernels can take this configuration's tensors, or why not.
Verdict fusedKernelsUsable(const RunConfig& config);

// on, or auto where fusion asks for kernels and they can be used.
bool fusedOn(const RunConfig& config, const std::string& id);

// What differs among them.
struct FusedForm {
    std::string id, title, why, cost, reported;
    // In the words of PlanDraft's claims: auto leaves alone what another switch has claimed, on is refused there with both names.
    std::string decides;
    // Puts the operation into the plan; called when it is on.
    std::function<void(RunPlan&)> choose;
    // As Switch::install.
    std::function<void(ProgramBuilder&, const RunPlan&)> install;
    // Where there is no CUDA form, what a person can choose on a GPU; empty = there is one, and the cost says that it is untried.
    std::string onGpuInstead = {};
};

// An entry with the values auto, off and on.
Switch fusedSwitch(FusedForm form);

}  // namespace stepscope
