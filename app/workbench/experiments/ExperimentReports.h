// Reports of what was measured: an experiment, a ladder or a search, live or stored, with the line that asks the same again. Torch-free but for the
// engine that knows what a preset comes to here; any thread but the one that draws.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/workbench/Workbench.h"
#include "core/report/ExperimentReport.h"
#include "core/report/StudyReport.h"
#include "sessions/findings/Forecasts.h"
#include "sessions/findings/Studies.h"

namespace stepscope {

struct StoredReport {
    ExperimentHistory history;
    report::ExperimentFacts facts;
    std::optional<StudyHistory> study;  // of a ladder or a search; history and facts are empty then
    report::StudyFacts studyFacts;
    std::int64_t session = 0;  // that it was read from; 0: it is not recorded
};

report::Document documentOf(const StoredReport& stored);

// Of a ladder or a search; else of an experiment that stands alone, or of one within a run. experiment: the n-th that the session holds, from 1, one
// of a ladder's own too; 0: the ladder or search itself, else the newest. Errors: those of SessionReader, and that the session holds nothing of the
// kind, or fewer.
Result<StoredReport> storedReport(const Workbench& workbench, const std::string& database, std::int64_t session, std::int64_t experiment = 0);

// What a report says beside the events. started: "2026-11-22 16:30", in local time; empty for 0.
report::ExperimentFacts reportFacts(const Workbench& workbench, const ExperimentBegan& began, const SessionInfo& info);

// What had been predicted of the question before it was asked.
void fillForetold(report::ExperimentFacts& facts, const std::optional<StoredPrediction>& foretold);
// The same for who has no door to sessions/findings: unknown where nothing was, or where it cannot be read, and the answer stands without it.
struct Foretold {
    double ratio = kUnknown;  // B's speed as a multiple of A's
    std::string basis;
};
Foretold foretoldOf(const std::string& database, const std::string& question, std::int64_t before);
// Of each of the newest `most` questions that were predicted on this machine and measured afterwards a line: "amp=bf16: predicted ×1.50, measured
// ×1.24 (faster by 24.0 % [20.0 %, 28.0 %]), session 7".
Result<std::vector<std::string>> foretoldLines(const std::string& database, std::size_t most);

report::StudyFacts studyFacts(const Workbench& workbench, const StudyBegan& began, const SessionInfo& info);
// What the same question came to before, in words; newest first. As earlierStudies() of sessions/findings, for who has no door there; errors too.
struct EarlierResult {
    std::int64_t session = 0;
    std::int64_t startedUnixMs = 0;
    std::string words;
};
Result<std::vector<EarlierResult>> earlierResults(const std::string& database, const std::string& question, std::int64_t besides);
// The same a sentence each, for a report.
void fillEarlier(report::StudyFacts& facts, const std::vector<EarlierStudy>& earlier);

// As a page, or for a script: .html, .md or .json by the name's ending, whole or not at all. A sentence for other endings, and for what the disk
// says.
Status exportReport(const StoredReport& stored, const std::string& path);

// "stepscope-cli ab --preset tiny-cpu --set layers=2 --a amp=off --b amp=bf16 --budget 180 --delta 1 --seed 1": what differs from the preset as this
// machine completes it, quoted for a shell.
std::string repeatLine(const Workbench& workbench, const ExperimentBegan& began, const RunConfig& a, const RunConfig& b, const std::string& from);

// The same of a ladder or a search. A ladder of somebody's own is called ladder.yaml. Empty where its settings cannot be read.
std::string studyRepeatLine(const Workbench& workbench, const StudyBegan& began);

// What every report says of a session: its name, when it began, the machine and the size of the model.
void fillFacts(report::ReportFacts& facts, const SessionInfo& info);

// Key and value of what differs from the configuration's preset as this machine completes it.
std::vector<std::pair<std::string, std::string>> changedSettings(const Workbench& workbench, const RunConfig& config);

// As a POSIX shell reads it back.
std::string shellWord(const std::string& word);

}  // namespace stepscope
