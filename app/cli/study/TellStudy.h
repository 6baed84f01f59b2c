// What `ladder` and `tune` do alike: measure until it is over or somebody stops it, then print the table or the line of JSON, and write the reports
// that were asked for. Main thread.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/ExitCode.h"
#include "app/cli/study/StudySink.h"
#include "app/workbench/Workbench.h"

namespace stepscope::cli {

// Of a study that has begun. reports: files, checked before (checkReports).
Status tellStudy(const Workbench& workbench, const StudySink& sink, bool json, const std::vector<std::string>& reports);

// What `start` begins; reports as above. Errors are those of `start` and of the reports.
Result<ExitCode> runStudy(const Workbench& workbench, const std::function<Result<std::unique_ptr<Run>>(EventSink& sink)>& start, bool json,
                          const std::vector<std::string>& reports);

}  // namespace stepscope::cli
