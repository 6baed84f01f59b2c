// What `bench` prints: a table of phases and what was measured beside them, or one line of JSON. Main thread.
#pragma once
#include <string>

#include "app/cli/output/Json.h"
#include "app/workbench/diagnose/TimedSteps.h"

namespace stepscope::cli {

// The keys are promised; what is not known is null.
Json benchJson(const StepsTiming& timing, const MachinePeaks& peaks);
std::string benchText(const StepsTiming& timing, const MachinePeaks& peaks);

const char* wordOf(Precision precision);      // "float32", "bf16", "fp16"
double otherMs(const StepsTiming& timing);    // of a step, of no phase; never negative
std::string flopRate(double flopsPerSecond);  // "410 GFLOP/s"

}  // namespace stepscope::cli
