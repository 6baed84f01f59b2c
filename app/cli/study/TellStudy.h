// What `ladder` and `tune` do when the measuring is over: print the table or the line of JSON, and write the reports that were asked for. Main
// thread.
#pragma once
#include <string>
#include <vector>

#include "app/cli/study/StudySink.h"
#include "app/workbench/Workbench.h"

namespace stepscope::cli {

// Of a study that has begun. reports: files, checked before (checkReports).
Status tellStudy(const Workbench& workbench, const StudySink& sink, bool json, const std::vector<std::string>& reports);

}  // namespace stepscope::cli
