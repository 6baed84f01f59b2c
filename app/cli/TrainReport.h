// What `train` prints at its end: a sentence for a person, or the one line of JSON that scripts read.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/cli/output/Json.h"
#include "app/workbench/Workbench.h"
#include "app/workbench/diagnose/RunForecast.h"
#include "sessions/findings/Experiments.h"

namespace stepscope::cli {

// What was found when the same was asked before, of each of the summary's answers, newest first. What cannot be read counts as nothing.
using EarlierOfEach = std::vector<std::vector<EarlierAnswer>>;
EarlierOfEach earlierOfEach(const RunSummary& summary, const std::string& database, const Machine& machine);

std::string summaryText(const RunSummary& summary, const std::optional<StoredForecast>& forecast, const EarlierOfEach& earlier = {});
// Of what was measured in turns: switch, from, to, kept (the value that the run went on with), the answer as `ab --json` has it, and earlier ones.
// Of what was refused: switch, value, why.
std::string summaryLine(const RunSummary& summary, const std::optional<StoredForecast>& forecast, const EarlierOfEach& earlier = {});

// A forecast and what the run took; null where there was none.
Json forecastJson(const std::optional<StoredForecast>& forecast);
// The same of its memory; error: null too where switches were flipped.
Json memoryForecastJson(const ForetoldRun& run);

}  // namespace stepscope::cli
