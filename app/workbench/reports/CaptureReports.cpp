#include "app/workbench/reports/CaptureReports.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "app/workbench/experiments/ExperimentReports.h"
#include "core/analysis/panes/RangePanes.h"
#include "core/report/CaptureReport.h"
#include "sessions/Captures.h"
#include "sessions/DeviceShapes.h"
#include "sessions/Samples.h"
#include "sessions/SessionStore.h"
#include "sessions/SessionTrace.h"
#include "sessions/Slices.h"
#include "sessions/file/SessionLock.h"

namespace stepscope {
namespace {

Result<RangePanes> allThatWasCaptured(SessionReader& reader, const std::string& database, std::int64_t session, const std::function<bool()>& goesOn) {
    auto shapes = deviceShapes(reader, session);
    if (!shapes) return shapes.error();
    auto trace = SessionTrace::open(database, session);
    if (!trace) return trace.error();
    if (auto whole = (*trace)->complete(goesOn); !whole) return whole.error();
    PanesReader panes(**trace, std::move(*shapes), goesOn);
    if (auto opened = panes.open(); !opened) return opened.error();
    return panes.read(0, 0);
}

// Of a run that captured once the line that trains and captures the same steps again; else the one that writes this report.
std::string captureAgain(const SessionInfo& info, const report::CaptureFacts& facts, const std::string& database, bool recording) {
    std::vector<report::CapturedSteps> told;
    for (const report::CapturedSteps& one : facts.captures)
        if (one.firstStep > 0 && one.steps > 0) told.push_back(one);
    const bool whole = info.kind == SessionKind::Run && info.config && info.firstStep == 0 && info.resumedFrom.empty() && !recording;
    if (!whole || facts.captures.size() != 1 || told.size() != 1 || told.front().steps > kMostCapturedSteps) {
        // The page may be sent: of the file of sessions it tells the name, not where it lies.
        const std::string file = database == defaultDatabasePath() ? "" : " --db " + shellWord(std::filesystem::path(database).filename().string());
        return fmt::format("stepscope-cli profile {}{} --report capture.html", facts.session, file);
    }
    std::string line = "stepscope-cli train";
    if (presetConfig(facts.preset)) line += " --preset " + shellWord(facts.preset);
    for (const auto& [key, value] : facts.settings) line += " --set " + shellWord(key + "=" + value);
    line += " --profile ";
    if (told.front().firstStep > 2) line += fmt::format("wait={},", told.front().firstStep - 2);
    if (told.front().firstStep > 1) line += "warmup=1,";
    return line + fmt::format("active={}", told.front().steps);
}

}  // namespace

Result<report::Document> capturedReport(const Workbench& workbench, const std::string& database, std::int64_t session,
                                        const std::function<bool()>& goesOn) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    const auto info = (*reader)->info(session);
    if (!info) return info.error();
    const auto slices = sliceCount(**reader, session);
    if (!slices) return slices.error();
    if (*slices == 0) return noCapture(session);
    const bool recording = SessionLock::held(database, session);
    const auto panes = allThatWasCaptured(**reader, database, session, goesOn);
    if (!panes) return panes.error();
    const auto stored = storedCaptures(database, session);
    if (!stored) return stored.error();
    auto notes = captureNotes(**reader, session);
    if (!notes) return notes.error();
    report::CaptureFacts facts;
    fillFacts(facts, *info);
    facts.session = session;
    facts.notes = std::move(*notes);
    if (const std::string slowest = slowestSentence(slowestAmong(stored->captures)); !slowest.empty()) facts.notes.push_back(slowest);
    if (info->kind == SessionKind::Run && panes->severalRanks) {
        const auto whole = othersHaveMemory(**reader, session);
        if (!whole) return whole.error();
        if (!*whole) facts.notes.push_back(otherWorkersSentence(panes->devices));
    }
    if (recording)
        facts.notes.insert(facts.notes.begin(), "The session was still being recorded when this was written: its last capture may not be whole.");
    for (const StoredCapture& one : stored->captures) facts.captures.push_back({one.number, one.firstStep, one.steps, one.slices, one.cost});
    if (info->kind == SessionKind::Run && stored->levels.measured()) facts.levels = levelSentence(stored->levels);
    if (info->kind == SessionKind::Trace) facts.about = "An imported trace: names and times are those of the program that recorded it.";
    if (info->kind == SessionKind::Experiment) facts.about = "Captured by an experiment: rank 0 is its side A, rank 1 its side B.";
    if (info->kind == SessionKind::Run && info->config) {
        facts.preset = info->config->preset;
        facts.settings = changedSettings(workbench, *info->config);
    }
    facts.repeat = captureAgain(*info, facts, database, recording);
    return report::captureReport(*panes, facts);
}

}  // namespace stepscope
