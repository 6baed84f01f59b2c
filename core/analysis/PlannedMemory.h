// PlannedMemory: what fusion=step holds. Its buffers are laid out once and live as long as the Program (core/step/StepEngine.cpp, whose
// sums these are), so there is no worst moment. Used by the prediction of memory.
#pragma once
#include "core/analysis/EagerMemory.h"

namespace stepscope {

// config: complete.
void playPlannedStep(const RunConfig& config, const ModelSizes& sizes, AllocationTrace& trace);

}  // namespace stepscope
