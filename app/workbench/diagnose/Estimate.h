// How long a run will take, from timed steps: so many steps of so long, so many validations of so long. Checkpoints and texts are not in it. Pure
// arithmetic; any thread.
#pragma once
#include <string>

#include "app/workbench/diagnose/TimedSteps.h"

namespace stepscope {

struct TimeEstimate {
    std::int64_t steps = 0, validations = 0;
    double msPerStep = kUnknown, validationMs = kUnknown;
    double seconds = kUnknown;               // of the whole run
    double low = kUnknown, high = kUnknown;  // were every step as long as the fastest, the slowest of those timed
    std::int64_t timed = 0;                  // steps that it rests on
};

// Validations that a run of config.steps makes, the one at its end included. trainTokens: of the data.
std::int64_t validationsOf(const RunPlan& plan, std::int64_t trainTokens);
TimeEstimate estimateTime(const StepsTiming& timing);

}  // namespace stepscope
