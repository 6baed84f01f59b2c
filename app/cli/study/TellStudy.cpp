#include "app/cli/study/TellStudy.h"

#include <csignal>

#include "app/cli/StopSignals.h"
#include "app/cli/ab/ReportFile.h"
#include "app/cli/output/Output.h"
#include "app/cli/study/StudyReport.h"

namespace stepscope::cli {

Status tellStudy(const Workbench& workbench, const StudySink& sink, const StudyAnswer& answer) {
    const StudyHistory& history = sink.history();
    std::vector<EarlierStudy> earlier;
    if (answer.database) {
        auto found = earlierStudies(answer.database->empty() ? defaultDatabasePath() : *answer.database, history.began()->question, sink.session());
        if (found)
            earlier = std::move(*found);
        else
            printError("What was asked before cannot be read: " + found.error().sentence);
    }
    if (answer.json) {
        Json all = json::ofStudy(history, sink.session());
        all["earlier"] = json::earlierOf(earlier);
        print(line(all));
    } else {
        print(studyText(history, sink.session(), studyRepeatLine(workbench, *history.began()), earlier));
    }
    if (answer.reports.empty()) return {};
    StoredReport report;
    report.study = history;
    report.studyFacts = studyFacts(workbench, *history.began(), sink.info() ? *sink.info() : SessionInfo{});
    fillEarlier(report.studyFacts, earlier);
    return writeReports(report, sink.session(), answer.reports);
}

Result<ExitCode> runStudy(const Workbench& workbench, const std::function<Result<std::unique_ptr<Run>>(EventSink& sink)>& start,
                          const StudyAnswer& answer) {
    std::signal(SIGPIPE, SIG_IGN);
    StudySink sink(stderrIsTerminal());
    const auto ended = waitOrStop([&] { return start(sink); });
    if (!ended) return ended.error();
    const RunSummary& summary = *ended;
    const bool shown = sink.finish(summary.why);
    if (sink.history().began())
        if (auto told = tellStudy(workbench, sink, answer); !told) return told.error();
    if (summary.state == RunState::Failed || summary.state == RunState::Interrupted) {
        if (!shown) printError(summary.why);
        return exitCode(summary.code);
    }
    return summary.state == RunState::Stopped ? ExitCode::Stopped : ExitCode::Ok;
}

}  // namespace stepscope::cli
