#include "app/cli/study/TellStudy.h"

#include <csignal>

#include "app/cli/StopSignals.h"
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

Result<ExitCode> runStudy(const Workbench& workbench, const std::function<Result<std::unique_ptr<Run>>(EventSink& sink)>& start, bool json,
                          const std::vector<std::string>& reports) {
    std::signal(SIGPIPE, SIG_IGN);
    StudySink sink(stderrIsTerminal());
    const auto ended = waitOrStop([&] { return start(sink); });
    if (!ended) return ended.error();
    const RunSummary& summary = *ended;
    const bool shown = sink.finish(summary.why);
    if (sink.history().began())
        if (auto told = tellStudy(workbench, sink, json, reports); !told) return told.error();
    if (summary.state == RunState::Failed || summary.state == RunState::Interrupted) {
        if (!shown) printError(summary.why);
        return exitCode(summary.code);
    }
    return summary.state == RunState::Stopped ? ExitCode::Stopped : ExitCode::Ok;
}

}  // namespace stepscope::cli
