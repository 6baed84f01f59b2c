// How many steps a new instance of a Program needs before its times mean anything. Used by whoever times them.
#pragma once
#include "core/events/RunPlan.h"

namespace stepscope {

// The first step asks for back-ends and packs weights; one that captures its step has done so by the fifth.
inline int settlingSteps(const RunPlan& plan) {
    return plan.execution == Execution::Captured ? 6 : 2;
}

}  // namespace stepscope
