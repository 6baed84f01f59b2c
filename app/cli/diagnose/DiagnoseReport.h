// What `diagnose` prints. Main thread.
#pragma once
#include <string>

#include "app/cli/output/Json.h"
#include "app/workbench/diagnose/Diagnose.h"

namespace stepscope::cli {

// testLine: the words of an `ab` of these settings, to which what is to be tested is added.
Json diagnoseJson(const Diagnosis& found, const std::string& testLine);
std::string diagnoseText(const Diagnosis& found, const std::string& testLine);

Json estimateJson(const std::optional<TimeEstimate>& estimate);

}  // namespace stepscope::cli
