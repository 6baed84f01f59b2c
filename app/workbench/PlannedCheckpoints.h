// What a run's checkpoints will take on the disk, to be said when it begins: a run of days should not find out. Trainer thread.
#pragma once
#include <cstdint>
#include <string>

#include "core/base/Result.h"
#include "core/events/RunConfig.h"
#include "core/state/TrainState.h"

namespace stepscope {

struct PlannedCheckpoints {
    std::string sentence;  // empty = none are planned
    bool fits = true;      // there is a folder, and they fit on its disk as it is now
};
// folder: empty where there is none, for nothing is recorded.
PlannedCheckpoints plannedCheckpoints(const RunConfig& config, const TrainState& state, const std::string& folder);
// Before a run that begins: Io, about the key `keep`, where its checkpoints cannot all lie on that disk as it is now; with how much they need, how
// much is free, how many would fit. Good where nobody can tell. folder need not be there yet.
Status checkPlannedCheckpoints(const RunConfig& config, const TrainState& state, const std::string& folder);
// The same of a State that another process has: so many parameters, and so many updates made before the run.
Status checkPlannedCheckpoints(const RunConfig& config, std::int64_t parameters, std::int64_t updates, const std::string& folder);
// Below which a database's runs keep theirs.
std::string checkpointsBeside(const std::string& database);

}  // namespace stepscope
