#include "sessions/exporters/ExportSession.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>

#include "sessions/SessionStore.h"
#include "sessions/exporters/Csv.h"
#include "sessions/exporters/ExportFile.h"
#include "sessions/exporters/KinetoTrace.h"
#include "sessions/exporters/MemorySnapshot.h"
#include "sessions/exporters/PerfettoTrace.h"
#include "sessions/exporters/TensorBoardEvents.h"

namespace stepscope {
namespace {

Status writeAs(ExportFormat format, const std::string& database, std::int64_t session, std::ostream& out, const ExportProgress& progress,
               const OneRank& rank) {
    switch (format) {
        case ExportFormat::Kineto:
            return exportKinetoTrace(database, session, out, "stdout", progress, rank);
        case ExportFormat::Perfetto:
            return exportPerfettoTrace(database, session, out, progress, rank);
        case ExportFormat::MemorySnapshot:
            return exportMemorySnapshot(database, session, out, progress, rank);
        case ExportFormat::CsvLong:
            return exportCsv(database, session, out);
        case ExportFormat::CsvWide:
            return exportCsvWide(database, session, out, progress);
        case ExportFormat::TensorBoard:
            return exportTensorBoard(database, session, out);
    }
    return {};
}

// How many letters of the name one of the patterns says: "*.csv", or "events.out.tfevents*"; 0: none fits.
std::size_t saidBy(const std::string& name, const std::string& patterns) {
    std::size_t most = 0;
    for (std::size_t from = 0; from < patterns.size();) {
        const std::size_t space = std::min(patterns.find(' ', from), patterns.size());
        const std::string pattern = patterns.substr(from, space - from);
        from = space + 1;
        const bool fits = pattern.starts_with('*') ? name.ends_with(pattern.substr(1)) : name.starts_with(pattern.substr(0, pattern.size() - 1));
        if (fits) most = std::max(most, pattern.size() - 1);
    }
    return most;
}

}  // namespace

const std::vector<ExportFormatInfo>& exportFormats() {
    static const std::vector<ExportFormatInfo> all{
        {ExportFormat::Kineto, "kineto", "Trace of PyTorch's profiler", "*.pt.trace.json.gz *.json.gz *.json", "session-%.pt.trace.json.gz", true},
        {ExportFormat::Perfetto, "perfetto", "Perfetto trace", "*.perfetto-trace *.pftrace", "session-%.perfetto-trace", true},
        {ExportFormat::MemorySnapshot, "memory", "Memory snapshot of PyTorch", "*.pickle *.pkl", "session-%.memory.pickle", true},
        {ExportFormat::CsvLong, "csv", "CSV, a line a value", "*.csv", "session-%.csv", false},
        {ExportFormat::CsvWide, "csv-wide", "CSV, a line a step", "*.wide.csv", "session-%.wide.csv", false},
        {ExportFormat::TensorBoard, "tensorboard", "TensorBoard events", "events.out.tfevents* *.tfevents", "events.out.tfevents.session-%", false},
    };
    return all;
}

const ExportFormatInfo& infoOf(ExportFormat format) {
    return *std::ranges::find(exportFormats(), format, &ExportFormatInfo::format);
}

Result<ExportFormat> exportFormatOf(const std::string& word, const std::string& path, ExportFormat otherwise) {
    std::string words, endings;
    for (const auto& one : exportFormats()) {
        if (!word.empty() && one.word == word) return one.format;
        words += (words.empty() ? "" : ", ") + one.word;
        endings += fmt::format("{}{} ({})", endings.empty() ? "" : "; ", one.endings, one.word);
    }
    if (!word.empty()) return makeError(ErrorCode::BadInput, fmt::format("There is no format \"{}\" to export; there are {}.", word, words));
    if (path.empty() || path == "-") return otherwise;
    const std::string name = std::filesystem::path(path).filename().string();
    const auto& all = exportFormats();
    const auto best = std::ranges::max_element(all, {}, [&](const ExportFormatInfo& one) { return saidBy(name, one.endings); });
    if (saidBy(name, best->endings) > 0) return best->format;  // .wide.csv says more than .csv
    return makeError(ErrorCode::BadInput,
                     fmt::format("The name {} does not say in which format to export; give --format, or a name like {}.", path, endings))
        .about(Subject::Kind::File, path);
}

Result<std::string> exportSession(const std::string& database, std::int64_t session, const std::string& path, ExportFormat format, Existing existing,
                                  const ExportProgress& progress, const OneRank& rank) {
    if (rank && !infoOf(format).captures)
        return makeError(
            ErrorCode::BadInput,
            fmt::format("--rank is of what was captured, a trace or a memory snapshot; what is exported as {} is of the whole run, so leave "
                        "it out.",
                        infoOf(format).word));
    if (path == "-") {
        if (auto done = writeAs(format, database, session, std::cout, progress, rank); !done) return done.error();
        return path;
    }
    std::string target = path;
    if (target.empty()) {
        target = infoOf(format).name;
        target.replace(target.find('%'), 1, rank ? fmt::format("{}-rank-{}", session, *rank) : std::to_string(session));
    }
    if (auto may = mayWrite(target, existing); !may) return may.error();
    if (format == ExportFormat::Kineto) return exportKinetoTraceFile(database, session, target, progress, rank);
    auto done = exportToFile(
        target, [&](std::ostream& out) { return writeAs(format, database, session, out, progress, rank); }, progress);
    if (!done) return done.error();
    return target;
}

std::string unknownTimesSentence(const std::string& database, std::int64_t session, ExportFormat format) {
    if (infoOf(format).captures) return {};
    const auto reader = SessionReader::open(database);
    if (!reader) return {};
    const auto info = (*reader)->info(session);
    if (!info || !info->timesUnknown) return {};
    return format == ExportFormat::TensorBoard ? "When its steps were is not known, and each event must say a time: all have that of the import."
                                               : "When its steps were is not known: the column of times is empty.";
}

}  // namespace stepscope
