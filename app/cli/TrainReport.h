// What `train` prints at its end: a sentence for a person, or the one line of JSON that scripts read.
#pragma once
#include <optional>
#include <string>

#include "app/cli/output/Json.h"
#include "app/workbench/Workbench.h"
#include "app/workbench/diagnose/RunForecast.h"

namespace stepscope::cli {

std::string summaryText(const RunSummary& summary, const std::optional<StoredForecast>& forecast);
std::string summaryLine(const RunSummary& summary, const std::optional<StoredForecast>& forecast);

// A forecast and what the run took; null where there was none.
Json forecastJson(const std::optional<StoredForecast>& forecast);

}  // namespace stepscope::cli
