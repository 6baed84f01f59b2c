// The report of a stored experiment: what a database holds of it, with the line that asks the same again. Torch-free but for the engine that knows
// what a preset comes to here; any thread but the one that draws.
#pragma once
#include <string>

#include "app/workbench/Workbench.h"
#include "core/report/ExperimentReport.h"

namespace stepscope {

struct StoredReport {
    ExperimentHistory history;
    report::ExperimentFacts facts;
};

// Of the newest experiment in a session: one that stands alone, or one within a run. Errors: those of SessionReader, and that the session holds no
// experiment.
Result<StoredReport> storedReport(const Workbench& workbench, const std::string& database, std::int64_t session);

// What a report says beside the events. started: "2026-11-22 16:30", in local time; empty for 0.
report::ExperimentFacts reportFacts(const Workbench& workbench, const ExperimentBegan& began, const SessionInfo& info);

// As a page: .html or .md by the name's ending, whole or not at all. A sentence for other endings, and for what the disk says.
Status exportReport(const StoredReport& stored, const std::string& path);

// "stepscope-cli ab --preset tiny-cpu --set layers=2 --a amp=off --b amp=bf16 --budget 180 --delta 1 --seed 1": what differs from the preset as this
// machine completes it, quoted for a shell.
std::string repeatLine(const Workbench& workbench, const ExperimentBegan& began, const RunConfig& a, const RunConfig& b, const std::string& from);

// As a POSIX shell reads it back.
std::string shellWord(const std::string& word);

}  // namespace stepscope
