#include "sessions/record/SessionsFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "core/events/Event.h"
#include "core/trace/LodCodec.h"
#include "sessions/Schema.h"
#include "sessions/SessionStore.h"
#include "sessions/file/FileHeader.h"
#include "sessions/importers/ImportStore.h"

namespace stepscope::importing {
namespace {

constexpr std::size_t kApplicationIdAt = 68;  // in the header of a SQLite file, most significant byte first
constexpr std::int64_t kEventsBroughtAtOnce = 10'000;
constexpr std::size_t kMostLanesOfAnother = 20'000;
constexpr std::size_t kToldApart = 3;  // sessions that were left out, each with its reason

Error refused(const std::string& file, std::string sentence, ErrorCode code = ErrorCode::BadInput) {
    return makeError(code, std::move(sentence)).about(Subject::Kind::File, file);
}

// A session that was brought here before: its name may be another by now, and it may have more steps there.
bool same(const SessionSummary& a, const SessionSummary& b) {
    return a.kind == b.kind && a.startedUnixMs == b.startedUnixMs && a.config == b.config && a.steps >= b.steps;
}

// Levels of detail and names are made anew from the slices, as of every import.
bool isMadeHere(const std::string& kind) {
    return kind.starts_with("lod") || kind == kNames || kind == kKin;
}

class SessionsCopy {
public:
    SessionsCopy(const std::string& database, const std::string& file, const std::function<bool(double)>& go)
        : m_database(database), m_file(file), m_go(go) {}

    Result<ImportSummary> all(const std::string& name);

private:
    Status choose();
    Status copy(const SessionSummary& session, const std::string& name);
    Status events(std::int64_t session, std::int64_t count, ImportStore& store);
    void renumber(StudyRow& row) const;
    Status chunks(std::int64_t session, ImportStore& store);
    // Shares of a session: its events, then its chunks.
    bool goOn(double ofSession) {
        m_stopped = m_stopped || !m_go((static_cast<double>(m_done) + ofSession) / static_cast<double>(m_chosen.size()));
        return !m_stopped;
    }
    static Error stopped() { return makeError(ErrorCode::Cancelled, "The import was stopped; what was whole by then is stored."); }

    const std::string &m_database, &m_file;
    const std::function<bool(double)>& m_go;
    std::unique_ptr<SessionReader> m_reader;
    std::vector<SessionSummary> m_chosen;            // oldest first
    std::map<std::int64_t, std::int64_t> m_numbers;  // which session here one of there is
    std::vector<std::string> m_left;
    std::int64_t m_here = 0;
    std::size_t m_done = 0;
    bool m_stopped = false;
    ImportSummary m_summary;
};

Status SessionsCopy::choose() {
    std::error_code ignored;
    const auto header = inspectFile(m_file);
    if (!header) return header.error();
    if (header->schemaVersion < schemaVersion())
        return refused(m_file,
                       fmt::format("\"{0}\" was written by an older Stepscope (schema {1}, this one writes {2}); stepscope-cli sessions list --db "
                                   "\"{0}\" brings it up to date, and then it can be imported.",
                                   m_file, header->schemaVersion, schemaVersion()));
    auto reader = SessionReader::open(m_file);
    if (!reader) return reader.error();
    m_reader = std::move(*reader);
    auto there = m_reader->list();
    if (!there) return there.error();
    for (const Error& error : m_reader->unreadable()) m_left.push_back(error.sentence);
    std::vector<SessionSummary> here;
    if (std::filesystem::exists(m_database, ignored)) {
        const auto own = SessionReader::open(m_database);
        if (!own) return own.error();
        auto list = (*own)->list();
        if (!list) return list.error();
        here = std::move(*list);
    }
    for (auto session = there->rbegin(); session != there->rend(); ++session) {
        const auto known = std::ranges::find_if(here, [&](const SessionSummary& one) { return same(one, *session); });
        if (known != here.end()) {
            ++m_here;
            m_numbers[session->id] = known->id;
        } else if (session->state == RunState::Preparing || session->state == RunState::Running || session->state == RunState::Paused) {
            m_left.push_back(fmt::format("Session {} (\"{}\") is still being recorded there; import the file again when it has ended.", session->id,
                                         session->name));
        } else {
            m_chosen.push_back(std::move(*session));
        }
    }
    return {};
}

// Which session measured a row of a ladder that went on: by the number that it has here.
void SessionsCopy::renumber(StudyRow& row) const {
    if (row.keptSession <= 0) return;
    const auto measured = m_numbers.find(row.keptSession);
    if (measured != m_numbers.end()) {
        row.keptSession = measured->second;
        return;
    }
    // Nobody can look there; what is said of it stays.
    row.why = fmt::format("Measured in session {} of another file{}.{}{}", row.keptSession,
                          row.keptVersions.empty() ? std::string() : fmt::format(" by another version ({})", row.keptVersions),
                          row.why.empty() ? "" : " ", row.why);
    row.keptSession = 0;
    row.keptVersions.clear();
}

Status SessionsCopy::events(std::int64_t session, std::int64_t count, ImportStore& store) {
    for (std::int64_t from = 1;;) {  // the first says that the session began, as its row does
        auto page = m_reader->events(session, from, kEventsBroughtAtOnce);
        if (!page) return page.error();
        if (page->empty()) return {};
        from += std::ssize(*page);
        for (Event& event : *page) {
            m_summary.steps += std::holds_alternative<StepDone>(event) ? 1 : 0;
            if (auto* row = std::get_if<StudyRow>(&event)) renumber(*row);
        }
        if (!goOn(0.5 * static_cast<double>(std::min(from, count)) / static_cast<double>(std::max<std::int64_t>(1, count)))) return stopped();
        if (!store.add(std::move(*page))) return {};  // finish() says why
    }
}

Status SessionsCopy::chunks(std::int64_t session, ImportStore& store) {
    const auto lanes = m_reader->chunkLanes(session);
    if (!lanes) return lanes.error();
    // The levels of detail of every lane are held until its last slice.
    if (lanes->size() > kMostLanesOfAnother)
        return refused(m_file, fmt::format("it has {} lanes, and no more than {} are read.", lanes->size(), kMostLanesOfAnother), ErrorCode::Damaged);
    for (std::size_t i = 0; i < lanes->size(); ++i) {
        const ChunkLane& lane = (*lanes)[i];
        if (isMadeHere(lane.kind)) continue;
        if (lane.kind.starts_with("slices")) m_summary.operations += lane.records;
        ChunkRange range{.kind = lane.kind,
                         .lane = lane.lane,
                         .from = {std::numeric_limits<std::int64_t>::min()},
                         .to = {std::numeric_limits<std::int64_t>::max()}};
        for (ChunkPlace after;;) {
            auto page = m_reader->chunks(session, range, after, std::int64_t{16} << 20);
            if (!page) return page.error();
            for (const ChunkPtr& chunk : page->chunks)
                if (!store.add([chunk] { return *chunk; })) return {};
            if (!goOn(0.5 + 0.5 * static_cast<double>(i) / static_cast<double>(lanes->size()))) return stopped();
            if (!page->more) break;
            after = page->next;
        }
    }
    return {};
}

Status SessionsCopy::copy(const SessionSummary& session, const std::string& name) {
    auto info = m_reader->info(session.id);
    if (!info) return info.error();
    const auto count = m_reader->eventCount(session.id);
    if (!count) return count.error();
    if (!name.empty()) info->name = name;
    // Sessions have numbers of their own here.
    if (info->goesOnWith > 0) {
        const auto begun = m_numbers.find(info->goesOnWith);
        if (begun == m_numbers.end() && info->resumedFrom.empty()) info->resumedFrom = fmt::format("session {} of another file", info->goesOnWith);
        info->goesOnWith = begun == m_numbers.end() ? 0 : begun->second;
    }
    auto store = ImportStore::open(m_database, *info);
    if (!store) return store.error();
    const std::int64_t steps = m_summary.steps;
    Status done = events(session.id, *count, **store);
    if (done) done = chunks(session.id, **store);
    if (done) done = (*store)->finish();
    if (!done) {
        m_summary.steps = steps;
        return done;
    }
    m_summary.session = (*store)->session();
    m_numbers[session.id] = m_summary.session;
    ++m_summary.sessions;
    return {};
}

Result<ImportSummary> SessionsCopy::all(const std::string& name) {
    if (auto chosen = choose(); !chosen) return chosen.error();
    if (!name.empty() && m_chosen.size() > 1)
        return refused(
            m_file, fmt::format("\"{}\" holds {} sessions that are not here yet, and --name gives one name; leave it out.", m_file, m_chosen.size()));
    for (const SessionSummary& session : m_chosen) {
        if (const Status done = copy(session, name); !done) {
            // What is wrong with one session there leaves the others; what is wrong here, or a person who wants it to end, ends it.
            if (done.error().code != ErrorCode::Damaged && done.error().code != ErrorCode::BadInput) return done.error();
            m_left.push_back(fmt::format("Session {} is left out: {}", session.id, done.error().sentence));
        }
        ++m_done;
    }
    if (m_here > 0)
        m_summary.notes.push_back(m_here == 1 ? "1 of its sessions is here already." : fmt::format("{} of its sessions are here already.", m_here));
    const auto told = static_cast<std::ptrdiff_t>(std::min(m_left.size(), kToldApart));
    m_summary.notes.insert(m_summary.notes.end(), m_left.begin(), m_left.begin() + told);
    if (m_left.size() > kToldApart) m_summary.notes.push_back(fmt::format("And {} more were left out.", m_left.size() - kToldApart));
    if (m_summary.sessions == 0) {
        const std::string why = m_summary.notes.empty() ? "it holds none." : fmt::format("{}", fmt::join(m_summary.notes, " "));
        return refused(m_file, fmt::format("\"{}\" has no session to bring here: {}", m_file, why));
    }
    return std::move(m_summary);
}

}  // namespace

bool looksLikeSessionsFile(std::string_view head) {
    std::uint32_t id = 0;
    for (std::size_t i = 0; i < 4 && kApplicationIdAt + i < head.size(); ++i) id = id << 8 | static_cast<unsigned char>(head[kApplicationIdAt + i]);
    return head.starts_with("SQLite format 3") && id == kApplicationId;
}

Result<ImportSummary> importSessions(const std::string& database, const std::string& file, const std::string& name,
                                     const std::function<bool(double share)>& go) {
    return SessionsCopy(database, file, go).all(name);
}

}  // namespace stepscope::importing
