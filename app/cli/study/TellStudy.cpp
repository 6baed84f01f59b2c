#include "app/cli/study/TellStudy.h"

#include "app/cli/ab/ReportFile.h"
#include "app/cli/output/Output.h"
#include "app/cli/study/StudyReport.h"

namespace stepscope::cli {

Status tellStudy(const Workbench& workbench, const StudySink& sink, bool json, const std::vector<std::string>& reports) {
    const StudyHistory& history = sink.history();
    if (json)
        print(line(json::ofStudy(history, sink.session())));
    else
        print(studyText(history, sink.session(), studyRepeatLine(workbench, *history.began())));
    if (reports.empty()) return {};
    StoredReport report;
    report.study = history;
    report.studyFacts = studyFacts(workbench, *history.began(), sink.info() ? *sink.info() : SessionInfo{});
    return writeReports(report, sink.session(), reports);
}

}  // namespace stepscope::cli
