// PlannedMemory: what fusion=step holds. Its buffers are laid out once and live as long as the Program (core/step/StepEngine.cpp, whose sums these
// are), so the worst moment comes only from what is not planned: an optimizer in several passes, and validation in another precision. Used by the
// prediction of memory.
#pragma once
#include "core/prediction/EagerMemory.h"

namespace stepscope {

void playPlannedStep(const RunPlan& plan, const ModelSizes& sizes, AllocationTrace& trace);

}  // namespace stepscope
