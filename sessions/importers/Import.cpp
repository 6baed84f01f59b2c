#include "sessions/importers/Import.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

#include "core/events/Event.h"
#include "sessions/EventTime.h"
#include "sessions/SessionStore.h"
#include "sessions/file/PrivateFile.h"
#include "sessions/importers/ChromeTrace.h"
#include "sessions/importers/CsvLog.h"
#include "sessions/importers/ImportStore.h"
#include "sessions/importers/NsightDatabase.h"
#include "sessions/importers/PerfettoFile.h"
#include "sessions/importers/ScalarLogs.h"
#include "sessions/importers/TraceBuilder.h"
#include "sessions/record/EventMerge.h"
#include "sessions/record/SessionsFile.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using importing::ImportStore;
using importing::TraceBuilder;

constexpr std::int64_t kLastNs = 4'000'000'000'000'000'000;  // where a session ends at the latest, 126 years: what its reader lets pass
constexpr std::size_t kEventsHandedOn = 4096;

enum class FileKind { Sessions, Chrome, Perfetto, NsightSqlite, EventFile, LlmcLog, Csv, Unknown };

Error refused(const std::string& path, const std::string& sentence, ErrorCode code = ErrorCode::BadInput) {
    return makeError(code, sentence).about(Subject::Kind::File, path);
}

Result<std::string> headOf(const std::string& path) {
    std::string head(4096, '\0');
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const ssize_t got = file < 0 ? -1 : ::pread(file, head.data(), head.size(), 0);
    const int problem = errno;
    if (file >= 0) ::close(file);
    if (got < 0)
        return refused(path, fmt::format("\"{}\" cannot be read: {}; choose a file that can be.", path, std::generic_category().message(problem)),
                       ErrorCode::Io);
    head.resize(static_cast<std::size_t>(got));
    return head;
}

// The session database itself, or what SQLite keeps beside it. To open and close one of them in this process would let go of the locks that its
// recorder and readers hold: they belong to the process, whichever descriptor is closed. Where the database is named by a symbolic link they lie
// beside what it leads to.
bool isOfDatabase(const std::string& database, const std::string& path) {
    std::error_code ignored;
    const std::string real = fs::weakly_canonical(database, ignored).string();
    for (const std::string& place : {database, real})
        for (const char* end : {"", "-wal", "-shm", "-journal", ".lock"})
            if (!place.empty() && fs::equivalent(place + end, path, ignored)) return true;
    return false;
}

// What may well be a trace or a log, in a form that is not read here; empty: nothing that is known.
std::string otherForm(std::string_view head) {
    if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) return "is UTF-16; save it as UTF-8 and import that.";
    for (const auto& [begin, program] : {std::pair<std::string_view, std::string_view>{"\x28\xb5\x2f\xfd", "zstd"},
                                         {"\xfd"
                                          "7zXZ",
                                          "xz"},
                                         {"BZh", "bzip2"},
                                         {"PK\x03\x04", "zip"}})
        if (head.starts_with(begin)) return fmt::format("is packed with {}; unpack it and import what was in it (.gz is read as it is).", program);
    return {};
}

Result<FileKind> kindOf(const std::string& path, const std::string& database) {
    std::error_code problem;
    const auto status = fs::status(path, problem);
    if (!fs::exists(status)) return refused(path, fmt::format("There is no file \"{}\"; check its name.", path), ErrorCode::NotFound);
    if (!fs::is_regular_file(status)) return refused(path, fmt::format("\"{}\" is no file; name a trace or a log.", path));
    if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep"))
        return refused(
            path, fmt::format("\"{0}\" is a report that only Nsight Systems reads; run: nsys export --type sqlite \"{0}\" and import the .sqlite "
                              "file that it makes.",
                              path));
    if (isOfDatabase(database, path))
        return refused(path, fmt::format("\"{}\" is the file that sessions are stored in here; its sessions are in the list already.", path));
    const auto read = headOf(path);
    if (!read) return read.error();
    const std::string& head = *read;
    if (head.empty()) return refused(path, fmt::format("\"{}\" is empty; choose another file.", path));
    const auto first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (importing::looksLikeSessionsFile(head)) return FileKind::Sessions;
    if (head.starts_with("SQLite format 3")) return FileKind::NsightSqlite;
    if (importing::looksLikePerfetto(head)) return FileKind::Perfetto;
    if (head.starts_with("\x1f\x8b") || (first != std::string::npos && (head[first] == '{' || head[first] == '['))) return FileKind::Chrome;
    if (importing::looksLikeEventFile(head)) return FileKind::EventFile;
    if (importing::looksLikeLlmcLog(head)) return FileKind::LlmcLog;
    if (importing::looksLikeCsv(path, head)) return FileKind::Csv;
    if (const std::string how = otherForm(head); !how.empty()) return refused(path, fmt::format("\"{}\" {}", path, how));
    return FileKind::Unknown;
}

std::string stem(const std::string& path) {
    std::string name = fs::path(path).filename().string();
    for (const char* ending : {".gz", ".json", ".perfetto-trace", ".trace", ".pt", ".sqlite", ".log", ".txt", ".csv", ".wide"})
        if (const std::string_view last = ending; name.ends_with(last) && name.size() > last.size()) name.erase(name.size() - last.size());
    std::ranges::replace_if(
        name, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    return name.empty() ? std::string("imported") : name.substr(0, 200);
}

// When the first of all is: logs hold steps without samples, which are no records of the trace.
std::int64_t firstNs(const TraceBuilder& trace, const importing::ScalarSteps& scalars) {
    if (trace.empty() || (scalars.empty() && !scalars.begin())) return trace.empty() ? scalars.firstNs() : trace.originNs();
    return std::min(trace.originNs(), scalars.firstNs());
}

double secondsSince(std::chrono::steady_clock::time_point begun) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

// Files of several workers: a rank of its own for each, told where two say the same.
void tellRanks(TraceBuilder& trace, const std::vector<std::string>& files, std::vector<std::string>& notes) {
    std::set<std::int64_t> taken;
    for (std::size_t i = 0; i < trace.files().size(); ++i) {
        auto& file = trace.files()[i];
        std::vector<std::int64_t> others;  // than they would have, of a file that says none
        const auto give = [&](std::int64_t& rank) {
            if (taken.insert(rank).second) return;
            const std::int64_t said = rank;
            for (rank = 0; !taken.insert(rank).second;) ++rank;
            if (!file.saysRank) return others.push_back(rank);
            notes.push_back(
                fmt::format("\"{}\" says that it is of rank {}, which another of the files has: it is shown as rank {}.", files[i], said, rank));
        };
        if (file.ranks.empty()) give(file.rank);
        for (auto& [said, shown] : file.ranks) give(shown);
        if (others.size() == 1)
            notes.push_back(fmt::format("\"{}\" does not say of which rank {} is: it is shown as rank {}, which no other file has.", files[i],
                                        file.ranks.empty() ? "it" : "one of its processes", others[0]));
        else if (!others.empty())
            notes.push_back(fmt::format("\"{}\" does not say of which ranks its processes are: they are shown as ranks {}, which no other file has.",
                                        files[i], fmt::join(others, ", ")));
    }
}

}  // namespace

Result<ImportSummary> importFiles(const ImportRequest& request) {
    const auto begun = std::chrono::steady_clock::now();
    if (request.files.empty()) return makeError(ErrorCode::BadInput, "No file is named; name the traces or logs to import.");
    if (!request.name.empty())
        if (auto good = checkSessionName(request.name); !good) return good.error();
    std::vector<FileKind> kinds;
    for (const auto& file : request.files) {
        const auto kind = kindOf(file, request.database);
        if (!kind) return kind.error();
        kinds.push_back(*kind);
    }
    if (const auto found = std::ranges::find(kinds, FileKind::Sessions); found != kinds.end()) {
        const std::string& file = request.files[static_cast<std::size_t>(found - kinds.begin())];
        if (kinds.size() > 1)
            return refused(file, fmt::format("\"{}\" is a file of Stepscope's sessions, which stay what they are; import it by itself.", file));
        auto copied = importing::importSessions(request.database, file, request.name,
                                                [&](double share) { return !request.progress || request.progress(share, file); });
        if (copied) copied->seconds = secondsSince(begun);
        return copied;
    }
    std::error_code ignored;
    const auto folder = fs::absolute(fs::path(request.database), ignored).parent_path();
    (void)makePrivateFolders(folder.string());  // what cannot be made is said when the database is opened
    TraceBuilder trace(folder.string());
    importing::ScalarSteps scalars;
    ImportSummary summary;
    for (std::size_t i = 0; i < request.files.size(); ++i) {
        const std::string& path = request.files[i];
        const auto go = [&](double share) {
            // Reading is most of the work; what is left is to put in order and to store.
            return !request.progress || request.progress(0.7 * (static_cast<double>(i) + share) / static_cast<double>(request.files.size()), path);
        };
        trace.beginFile(static_cast<std::int64_t>(i));
        Status read;
        switch (kinds[i]) {
            case FileKind::Chrome:
                trace.file().rank = 0;
                read = importing::readChromeTrace(path, trace, go);
                if (const auto& where = trace.file().endsEarly; !where.empty())
                    summary.notes.push_back(fmt::format("\"{}\" ends early, {}: what is whole was imported.", path, where));
                break;
            case FileKind::Perfetto:
                trace.file().rank = 0;
                read = importing::readPerfettoFile(path, trace, go);
                break;
            case FileKind::NsightSqlite:
                read = importing::readNsightDatabase(path, trace, go);
                for (const std::string& warning : trace.file().warnings)
                    summary.notes.push_back(fmt::format("\"{}\": Nsight Systems says of its recording: {}", path, warning));
                if (const auto workers = trace.file().ranks.size(); workers > 1)
                    summary.notes.push_back(
                        fmt::format("\"{}\" is of {} processes that used GPUs: each is shown as a rank of its own, in the order of their numbers.",
                                    path, workers));
                break;
            case FileKind::EventFile:
                read = importing::readEventFile(path, trace, scalars, go);
                break;
            case FileKind::LlmcLog:
                read = importing::readLlmcLog(path, trace, scalars, go);
                if (i == 0 || kinds[i - 1] != FileKind::LlmcLog)
                    summary.notes.emplace_back(
                        "A log of llm.c holds no times: how long a step took is not known, and its steps are put one millisecond apart.");
                break;
            case FileKind::Csv:
                read = importing::readCsvLog(path, trace, scalars, summary.notes, go);
                break;
            case FileKind::Sessions:  // has been imported
            case FileKind::Unknown:
                read = refused(
                    path,
                    fmt::format("\"{}\" is no trace or log that Stepscope knows: those are traces of PyTorch's profiler (.json, .json.gz), its own "
                                "sessions (.db), its own in Perfetto's format (.perfetto-trace), Nsight Systems' exports (.sqlite), TensorBoard's "
                                "event files, logs of llm.c "
                                "and tables of "
                                "numbers with a column of steps (.csv).",
                                path));
                break;
        }
        if (!read) return read.error();
        if (!trace.status()) return trace.status().error();
    }
    if (trace.empty() && scalars.empty()) {
        std::string why;
        for (const auto& [reason, count] : trace.counts().reasons) why += fmt::format("{}{} ({})", why.empty() ? " Skipped: " : ", ", reason, count);
        return refused(request.files[0], fmt::format("\"{}\" holds no event that could be kept.{}", request.files[0], why.empty() ? "" : why + "."));
    }
    tellRanks(trace, request.files, summary.notes);
    if (std::string fewer = scalars.leftOut(); !fewer.empty()) summary.notes.push_back(std::move(fewer));
    const bool timesUnknown = !scalars.knowsTimes();
    if (timesUnknown && scalars.knowsSomeTimes())
        summary.notes.emplace_back("Some steps have no time: charts by time leave this session out, and exports hold no times of it.");
    else if (timesUnknown && std::ranges::find(kinds, FileKind::EventFile) != kinds.end())
        summary.notes.emplace_back(
            "TensorBoard's events hold no times that differ: how long a step took is not known, and its steps are put one "
            "millisecond apart.");

    SessionInfo info;
    info.kind = SessionKind::Trace;
    info.name = request.name.empty() ? stem(request.files[0]) : request.name;
    info.timesUnknown = timesUnknown;
    info.config.reset();
    info.machine.reset();
    for (const auto& file : request.files) info.notes += fmt::format("Imported from {}\n", fs::path(file).filename().string());
    const std::int64_t origin = firstNs(trace, scalars);
    constexpr std::int64_t kEarliest = 946'684'800'000'000'000, kLatest = 4'102'444'800'000'000'000;  // of this century
    if (origin > kEarliest && origin < kLatest) info.startedUnixMs = origin / 1'000'000;
    auto store = ImportStore::open(request.database, info);
    if (!store) return store.error();
    const std::int64_t records = std::max<std::int64_t>(1, trace.recorded());
    std::int64_t handed = 0;
    const auto share = [&] { return 0.7 + 0.3 * std::min(1.0, static_cast<double>(handed) * 16384 / static_cast<double>(records)); };
    bool stopped = false;
    const auto goOn = [&] {
        // Where slices overlap it may be long until the next block.
        stopped = stopped || (request.progress && !request.progress(share(), request.files.back()));
        return !stopped;
    };
    const Status ordered = trace.finish(
        [&](const TraceBuilder::Encode& encode) {
            ++handed;
            return goOn() && (*store)->add(encode);
        },
        goOn, origin);
    if (stopped) return makeError(ErrorCode::Cancelled, "The import was stopped; nothing of it is stored.");
    if (!ordered) return ordered.error();
    for (std::size_t i = 0; i < trace.files().size(); ++i) {
        const auto& file = trace.files()[i];
        if (file.facts.empty()) continue;
        std::string ranks;  // of a file of several workers, as they are shown
        for (const auto& [said, shown] : file.ranks) ranks += fmt::format("{}{}", ranks.empty() ? R"("ranks":[)" : ",", shown);
        if (!ranks.empty()) ranks += "],";
        const std::string facts =
            fmt::format(R"({{"source":"{}","rank":{},{}"origin_ns":{},"facts":{}}})", file.source, file.rank, ranks, origin, file.facts);
        const auto* data = reinterpret_cast<const std::byte*>(facts.data());
        if (!(*store)->add(
                [chunk = Chunk{"trace-facts/1", static_cast<std::int64_t>(i), {0}, {0}, 1, {data, data + facts.size()}}] { return chunk; }))
            break;
    }
    std::vector<Event> events;  // handed on part by part: those of a long log are gigabytes
    std::int64_t last = trace.lastEndNs(), scalarSteps = 0, unreadable = 0;
    const auto give = [&](Event&& event) {
        // A session that its own reader refuses would be worth nothing.
        if (!isReadable(event)) {
            ++unreadable;
            return true;
        }
        last = std::max(last, timeOf(event).ns);
        events.push_back(std::move(event));
        return events.size() < kEventsHandedOn || (goOn() && (*store)->add(std::exchange(events, {})));  // finish() says what is wrong
    };
    scalars.forEachEvent(origin, [&](Event&& event) {
        scalarSteps += std::holds_alternative<StepDone>(event) ? 1 : 0;
        return give(std::move(event));
    });
    // Steps of a trace as a list of sessions shows them: how many and how long, and nothing of what was learned.
    if (scalarSteps == 0)
        for (const auto& step : trace.capturedSteps())
            if (!give(StepDone{.step = step.number, .at = {step.end - origin}, .duration = {step.end - step.start}})) break;
    if (stopped) return makeError(ErrorCode::Cancelled, "The import was stopped; nothing of it is stored.");
    if (unreadable > 0) trace.skip("steps whose time or number is beyond what is kept", unreadable);
    last = std::clamp<std::int64_t>(last, 0, kLastNs);
    events.emplace_back(StateChanged{.at = {last}, .step = 0, .state = RunState::Finished, .why = {}});
    (void)(*store)->add(std::move(events));
    if (auto stored = (*store)->finish(); !stored) return stored.error();

    const auto& counts = trace.counts();
    summary.session = (*store)->session();
    summary.steps = counts.steps + scalarSteps;
    summary.operations = counts.operations;
    summary.kernels = counts.kernels;
    summary.copies = counts.copies;
    summary.memsets = counts.memsets;
    summary.runtimeCalls = counts.runtimeCalls;
    summary.driverCalls = counts.driverCalls;
    summary.synchronisations = counts.synchronisations;
    summary.annotations = counts.annotations;
    summary.python = counts.python;
    summary.others = counts.others;
    summary.samples = counts.samples;
    summary.allocations = counts.allocations;
    summary.flows = counts.flows;
    summary.skipped = counts.skipped;
    summary.reasons = counts.reasons;
    summary.seconds = secondsSince(begun);
    return summary;
}

}  // namespace stepscope
