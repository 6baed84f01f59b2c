// What the fused-* switches share: their values, when "auto" means on, and where the kernels run at all. Used by Fused*.cpp, Fusion.cpp and
// the switches that give way to them.
#pragma once
#include "core/optimizations/Optimization.h"

namespace stepscope {

bool onCpu(const RunConfig& config);

// Whether our kernels can take this configuration's tensors, or why not.
Verdict fusedKernelsUsable(const RunConfig& config);

// on, or auto where fusion asks for kernels and they can be used.
bool fusedOn(const RunConfig& config, const std::string& id);

// An entry with the values auto, off and on; install(builder) is called when it is on. `slot` is what it fills in the words of
// ProgramBuilder's claims: auto leaves a slot alone that another switch has claimed, on is refused there with both names.
// onGpuInstead: where there is no CUDA form, what a person can choose on a GPU; empty = there is one, and the cost says that it is untried.
Optimization fusedSwitch(std::string id, std::string title, std::string why, std::string cost, std::string reported, std::string slot,
                         std::function<void(ProgramBuilder&)> install, std::string onGpuInstead = {});

}  // namespace stepscope
