// What `ab` prints at its end: a verdict and what it rests on for a person, or the one line of JSON that scripts read. Also of a stored experiment
// (`sessions show`). Main thread.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/output/Json.h"
#include "core/analysis/ExperimentHistory.h"
#include "sessions/findings/Experiments.h"
#include "sessions/findings/Forecasts.h"

namespace stepscope::cli {

// session: 0 = not recorded; foretold: what `predict` had said of it. The keys are promised: verdict, why, ratio, low, high, pairs, discarded, floor
// (a share), floor_ratio (the same as a ratio), delta, seconds, experiment, a, b. same: of one configuration beside itself, whose sides differ in
// nothing that would say what they are, the settings that are not the preset's (changedSettings).
using SameSettings = std::vector<std::pair<std::string, std::string>>;
std::string abLine(const ExperimentHistory& history, std::int64_t session, const std::vector<EarlierAnswer>& earlier,
                   const std::optional<StoredPrediction>& foretold = {}, const SameSettings& same = {});
// The same of what was refused before it began: a verdict "not-comparable". asked: both configurations, seed and delta.
std::string notComparableLine(const std::string& why, const ExperimentBegan& asked);

std::string abText(const ExperimentHistory& history, std::int64_t session, const std::vector<EarlierAnswer>& earlier, const std::string& repeat,
                   const std::optional<StoredPrediction>& foretold = {}, const SameSettings& same = {});

// The experiment's part of a session shown: its answer with both sides; null where there is none.
Json experimentJson(const ExperimentHistory& history, const SameSettings& same = {});

}  // namespace stepscope::cli
