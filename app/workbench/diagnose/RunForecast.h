// What a run is expected to take when it begins, from steps timed earlier on this machine, and what it took: both kept with its session, and said in
// its log. Trainer thread.
#pragma once
#include <optional>
#include <string>

#include "app/workbench/diagnose/Estimate.h"
#include "core/events/Machine.h"
#include "sessions/findings/Forecasts.h"

namespace stepscope {

// Of a run so far, without texts and pauses.
struct RunTook {
    std::int64_t steps = 0, validations = 0, checkpoints = 0;
    double stepSeconds = 0, validationSeconds = 0, checkpointSeconds = 0;
    double lowMs = kUnknown, highMs = kUnknown;  // steps: tenth and ninetieth per cent
    bool asBegun = true;                         // nothing was switched or measured meanwhile
};

// From steps that were timed earlier with settings of which a step takes as long; nothing where there are none, or the database cannot be read.
// done: steps that are made already.
std::optional<StoredForecast> forecastFrom(const std::string& database, const RunPlan& plan, const Machine& machine, std::int64_t trainTokens,
                                           std::int64_t done = 0);
// The same of timed steps.
StoredForecast forecastFrom(const TimedSteps& timed, const RunPlan& plan, std::int64_t trainTokens, std::int64_t done = 0);

// "about 02:11, between 02:05 and 02:20, from 5 timed steps".
std::string forecastWords(const StoredForecast& forecast);
// "about 02:11, between 02:05 and 02:20, from 5 timed steps; steps, validations and checkpoints took 02:16, 4 % more"; the outcome where it is known.
std::string forecastBesideOutcome(const StoredForecast& forecast);
// "Foretold: about 02:11 (...); it took 02:16, 4 % more."
std::string forecastOutcome(const StoredForecast& forecast);
// "480 MB foretold for tensors; the most at a time was 495 MB, 3 % more"; what of it is known. Empty: nothing was foretold.
std::string memoryOutcome(const ForetoldRun& run);
// Of measured ÷ foretold: "3 % more", "as foretold".
std::string offWords(double ratio);

// Keeps what was timed, for forecasts to come; not what others disturbed, which would be taken for this machine's own. Where it cannot be kept the
// next forecast lacks it, and nothing else.
void keepTimedSteps(const std::string& database, const StepsTiming& timing, const Machine& machine);
void keepTimedSteps(const std::string& database, const RunTook& took, std::int64_t session, const RunConfig& config, const Machine& machine);

}  // namespace stepscope
