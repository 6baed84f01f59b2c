// What `diagnose` prints. Main thread.
#pragma once
#include <string>
#include <vector>

#include "app/cli/output/Json.h"
#include "app/workbench/diagnose/Diagnose.h"
#include "sessions/findings/Forecasts.h"

namespace stepscope::cli {

// What was foretold on this machine earlier, beside what was measured: of the session that is named or of runs like the one that is asked of, and of
// changes that an experiment tried afterwards.
struct ToldBefore {
    std::vector<ForetoldRun> runs;
    std::vector<MeasuredPrediction> changes;
};

// testLine: the words of an `ab` of these settings, to which what is to be tested is added.
Json diagnoseJson(const Diagnosis& found, const ToldBefore& before, const std::string& testLine);
std::string diagnoseText(const Diagnosis& found, const ToldBefore& before, const std::string& testLine);

Json estimateJson(const std::optional<TimeEstimate>& estimate);

}  // namespace stepscope::cli
