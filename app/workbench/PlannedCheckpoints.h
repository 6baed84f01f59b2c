// What a run's checkpoints will take on the disk, to be said when it begins: a run of days should not find out. Trainer thread.
#pragma once
#include <string>

#include "core/events/RunConfig.h"
#include "core/state/TrainState.h"

namespace stepscope {

struct PlannedCheckpoints {
    std::string sentence;  // empty = none are planned
    bool fits = true;      // on the folder's disk, as it is now
};
PlannedCheckpoints plannedCheckpoints(const RunConfig& config, const TrainState& state, const std::string& folder);

}  // namespace stepscope
