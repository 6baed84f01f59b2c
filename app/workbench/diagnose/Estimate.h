// How long a run will take, from timed steps: so many steps of so long, so many validations and checkpoints of so long. Texts are not in it. Pure
// arithmetic; any thread.
#pragma once
#include <string>

#include "app/workbench/diagnose/TimedSteps.h"

namespace stepscope {

struct TimeEstimate {
    std::int64_t steps = 0, validations = 0, checkpoints = 0;
    double msPerStep = kUnknown, validationMs = kUnknown;
    double checkpointMs = kUnknown;          // unknown, where checkpoints are planned: they come on top
    double seconds = kUnknown;               // of the whole run
    double low = kUnknown, high = kUnknown;  // were every step as long as the fastest, the slowest of those timed
    std::int64_t timed = 0;                  // steps that it rests on
    std::string disturbed;                   // who took the processors meanwhile (StepsTiming::disturbedBy); empty = nobody
};

// Validations that a run of config.steps makes from step done + 1 on, the one at its end included. trainTokens: of the data.
std::int64_t validationsOf(const RunPlan& plan, std::int64_t trainTokens, std::int64_t done = 0);
// Checkpoints that a run writes from step done + 1 on, the one at its end included.
std::int64_t checkpointsOf(const RunConfig& config, std::int64_t done = 0);
TimeEstimate estimateTime(const StepsTiming& timing);

}  // namespace stepscope
