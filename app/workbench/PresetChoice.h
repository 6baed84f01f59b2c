// Which preset this machine starts with: the largest whose predicted memory its GPU holds, on that GPU; without one the smallest.
#pragma once
#include "app/workbench/Workbench.h"

namespace stepscope {

PresetChoice choosePreset(const Workbench& workbench);

// A preset that somebody names, on this machine's first GPU where it has one; tiny-cpu stays on the CPU that it is made for.
// Errors: presetConfig's.
Result<RunConfig> presetHere(const Workbench& workbench, const std::string& id);

}  // namespace stepscope
