// What `ladder` and `tune` do alike: measure until it is over or somebody stops it, then print the table or the line of JSON, and write the reports
// that were asked for. Main thread.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/ExitCode.h"
#include "app/cli/study/StudySink.h"
#include "app/workbench/Workbench.h"

namespace stepscope::cli {

struct StudyAnswer {
    bool json = false;
    std::vector<std::string> reports;  // files, checked before (checkReports)
    // Where earlier studies of the same question are looked for, as it was given; none: nowhere, for nothing is stored.
    std::optional<std::string> database;
};

// Of a study that has begun.
Status tellStudy(const Workbench& workbench, const StudySink& sink, const StudyAnswer& answer);

// What `start` begins. Errors are those of `start` and of the reports.
Result<ExitCode> runStudy(const Workbench& workbench, const std::function<Result<std::unique_ptr<Run>>(EventSink& sink)>& start,
                          const StudyAnswer& answer);

}  // namespace stepscope::cli
