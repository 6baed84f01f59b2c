#include "app/workbench/diagnose/TimeLook.h"

#include <filesystem>

#include "app/workbench/diagnose/RunForecast.h"
#include "app/workbench/diagnose/TimedSteps.h"
#include "core/optimizations/registry/Registry.h"

namespace stepscope {

std::optional<StoredForecast> knownForecast(const Machine& machine, const RunConfig& config, const std::string& database) {
    const auto plan = Registry(machine).plan(config);
    return plan ? forecastFrom(database, *plan, machine, 0) : std::nullopt;
}

Result<StoredForecast> timeForecast(const Machine& machine, const RunConfig& config, const std::string& database, double seconds,
                                    const std::atomic<bool>& cancelled) {
    StepsRequest wanted{.config = config, .warmUp = 3, .steps = 5, .mostSeconds = seconds, .validation = true, .retakes = 2};
    std::error_code ignored;
    wanted.checkpointFolder = std::filesystem::absolute(std::filesystem::path(database), ignored).parent_path().string();
    const auto timing = timeSteps(machine, wanted, {}, cancelled);
    if (!timing) return timing.error();
    keepTimedSteps(database, *timing, machine);
    const TimeEstimate estimate = estimateTime(*timing);
    return StoredForecast{.source = std::to_string(estimate.timed) + " timed steps",
                          .seconds = estimate.seconds,
                          .low = estimate.low,
                          .high = estimate.high,
                          .disturbed = estimate.disturbed};
}

}  // namespace stepscope
