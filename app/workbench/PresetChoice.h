// Which preset this machine starts with: the largest whose predicted memory its GPU holds, on that GPU; without one the smallest.
#pragma once
#include "app/workbench/Workbench.h"

namespace stepscope {

PresetChoice choosePreset(const Workbench& workbench);

}  // namespace stepscope
