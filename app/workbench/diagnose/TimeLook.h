// How long a run of some settings will take, for the window: what is known from earlier, and a look that finds it out. Torch-free header.
#pragma once
#include <atomic>
#include <optional>
#include <string>

#include "app/workbench/Workbench.h"
#include "sessions/findings/Forecasts.h"

namespace stepscope {

// From steps that were timed earlier on this machine, in a run or a look; nothing where there are none. config: complete.
std::optional<StoredForecast> knownForecast(const Machine& machine, const RunConfig& config, const std::string& database);

// Times five steps, for at most `seconds`, and says what a run would take. Where others took the processors they are timed again, up to twice, and
// when that does not help the answer says so; else they are kept. Errors: as timeSteps (TimedSteps.h).
Result<StoredForecast> timeForecast(const Machine& machine, const RunConfig& config, const std::string& database, double seconds,
                                    const std::atomic<bool>& cancelled);

}  // namespace stepscope
