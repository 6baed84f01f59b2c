// SessionReader over SQLite (SessionStore.h). Used by one thread at a time: the window's reader thread, or the command line.
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/base/Format.h"
#include "core/events/Event.h"
#include "core/trace/WorkerTimes.h"
#include "sessions/ChunkTables.h"
#include "sessions/Columns.h"
#include "sessions/SessionRow.h"
#include "sessions/SessionStore.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SessionLock.h"
#include "sessions/file/SqliteError.h"
#include "sessions/record/EventMerge.h"
#include "sessions/record/StepSummary.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMostSessions = 100'000;

class SqliteReader final : public SessionReader {
public:
    SqliteReader(std::string path, Connection connection) : m_path(std::move(path)) { use(std::move(connection)); }

    Result<std::vector<SessionSummary>> list() override {
        return guarded(m_path, [&]() -> Result<std::vector<SessionSummary>> {
            if (const auto ready = ensureOpen(); !ready) return ready.error();
            std::vector<SessionSummary> all;
            if (!m_connection) return all;
            // Counted before they are sorted: a stranger's table may lead in circles, and then has no end.
            SQLite::Statement count(*m_connection, "SELECT count(*) FROM (SELECT deleted_unix_ms FROM sessions LIMIT ?)");
            count.bind(1, kMostSessions + 1);
            if (count.executeStep() && count.getColumn(0).getInt64() > kMostSessions)
                return makeError(ErrorCode::Damaged,
                                 fmt::format("\"{}\" lists more than {} sessions, and no more are read.", m_path, format::count(kMostSessions)))
                    .about(Subject::Kind::Database, m_path);
            SQLite::Statement ids(*m_connection, "SELECT id FROM sessions WHERE deleted_unix_ms = 0 ORDER BY started_unix_ms DESC, id DESC");
            std::vector<std::int64_t> found;
            while (ids.executeStep()) found.push_back(ids.getColumn(0).getInt64());
            ids.reset();  // ends its snapshot: each row is to be read as it is after its lock was looked at
            m_unreadable.clear();
            for (const auto session : found) {
                auto one = guarded(m_path, [&]() -> Result<std::optional<SessionSummary>> { return read(session); });
                if (one) {
                    if (*one) all.push_back(std::move(**one));
                } else if (one.error().code == ErrorCode::Damaged) {
                    m_unreadable.push_back(leftOut(session, one.error()));
                } else {
                    return one.error();
                }
            }
            return all;
        });
    }

    const std::vector<Error>& unreadable() const override { return m_unreadable; }

    Result<SessionSummary> summary(std::int64_t session) override {
        return guarded(m_path, [&]() -> Result<SessionSummary> {
            if (const auto ready = ensureOpen(); !ready) return ready.error();
            if (auto found = m_connection ? read(session) : std::nullopt) return std::move(*found);
            return noSuchSession(m_path, session);
        });
    }

    Result<SessionInfo> info(std::int64_t session) override {
        return guarded(m_path, [&]() -> Result<SessionInfo> {
            if (const auto ready = ensureOpen(); !ready) return ready.error();
            return m_connection ? readInfo(*m_connection, m_path, session) : noSuchSession(m_path, session);
        });
    }

    Result<std::vector<Event>> events(std::int64_t session, std::int64_t from, std::int64_t most) override {
        auto stored = info(session);
        if (!stored) return stored.error();
        return guarded(m_path, [&]() -> Result<std::vector<Event>> {
            std::vector<Event> out;
            if (from < 0 || most <= 0) return out;
            if (from == 0) out.emplace_back(SessionStarted{session, std::make_shared<const SessionInfo>(std::move(*stored)), true});
            // Reading on from where the last call ended costs nothing; any other place is counted out.
            const bool onwards = from == m_nextIndex && session == m_nextSession;
            const EventKey after = from <= 1 ? EventKey{} : onwards ? m_nextKey : m_merge->skip(session, from - 1);
            m_nextKey = m_merge->read(session, after, most - static_cast<std::int64_t>(out.size()), out);
            m_nextSession = session;
            m_nextIndex = from + static_cast<std::int64_t>(out.size());
            return out;
        });
    }

    Result<std::int64_t> eventCount(std::int64_t session) override {
        if (const auto stored = info(session); !stored) return stored.error();
        return guarded(m_path, [&]() -> Result<std::int64_t> { return 1 + m_merge->count(session); });
    }

    Result<std::vector<Event>> measurements(std::int64_t session) override {
        if (const auto stored = info(session); !stored) return stored.error();
        return guarded(m_path, [&]() -> Result<std::vector<Event>> {
            std::vector<Event> out;
            EventMerge(*m_connection, EventMerge::Kinds::Measurements).read(session, {}, std::numeric_limits<std::int64_t>::max(), out);
            return out;
        });
    }

    Result<std::vector<DeviceSample>> samples(std::int64_t session, std::int64_t most) override {
        if (const auto stored = info(session); !stored) return stored.error();
        return guarded(m_path, [&]() -> Result<std::vector<DeviceSample>> {
            constexpr std::int64_t kPage = 10'000;  // events are larger than samples
            EventMerge merge(*m_connection, EventMerge::Kinds::Samples);
            std::vector<DeviceSample> all;
            std::vector<Event> page;
            EventKey after;
            do {
                page.clear();
                after = merge.read(session, after, std::min(kPage, most - static_cast<std::int64_t>(all.size())), page);
                for (const Event& event : page)
                    if (const auto* sample = std::get_if<DeviceSample>(&event)) all.push_back(*sample);
            } while (!page.empty());
            return all;
        });
    }

    Result<std::vector<ChunkLane>> chunkLanes(std::int64_t session) override {
        return guarded(m_path, [&]() -> Result<std::vector<ChunkLane>> {
            if (const auto ready = ensureOpen(); !ready) return ready.error();
            if (!m_connection) return noSuchSession(m_path, session);
            return readChunkLanes(*m_connection, session);
        });
    }

    Result<ChunkPage> chunks(std::int64_t session, const ChunkRange& range, const ChunkPlace& after, std::int64_t mostBytes) override {
        return guarded(m_path, [&]() -> Result<ChunkPage> {
            if (const auto ready = ensureOpen(); !ready) return ready.error();
            if (!m_connection) return noSuchSession(m_path, session);
            return readChunks(*m_connection, m_path, session, range, after, mostBytes);
        });
    }

private:
    // One bad row hides its session, not all of them.
    Error leftOut(std::int64_t session, const Error& why) const {
        return makeError(
                   why.code,
                   fmt::format("Session {} in \"{}\" cannot be read and is left out; the others are listed (\"sessions delete {}\" removes it).",
                               session, m_path, session),
                   why.cause)
            .about(Subject::Kind::Session, std::to_string(session));
    }

    void use(Connection connection) {
        m_connection = std::move(connection);
        if (m_connection) m_merge.emplace(*m_connection);
    }

    // The file was empty when it was opened; somebody may have begun to record into it since.
    Status ensureOpen() {
        if (m_connection) return {};
        auto opened = openForReading(m_path);
        if (!opened) return opened.error();
        use(std::move(*opened));
        return {};
    }

    std::optional<SessionSummary> read(std::int64_t session) {
        // Asked before the row is read: a recorder commits the end first and lets the lock go after, so a session that is stored
        // as running although its lock was free before we looked has no process any more.
        const bool locked = SessionLock::held(m_path, session);
        SQLite::Statement select(*m_connection,
                                 "SELECT substr(name, 1, 1000), substr(notes, 1, 1000000), tags, state, why, started_unix_ms, ended_unix_ms, "
                                 "step_ns_median, step_tokens_median, kind, "
                                 "CASE WHEN json_valid(machine) THEN substr(coalesce(json_extract(machine, '$.host'), ''), 1, 255) ELSE '' END,"
                                 " workers, EXISTS (SELECT 1 FROM switches_applied WHERE session = sessions.id AND from_value IS NOT to_value)"
                                 " OR EXISTS (SELECT 1 FROM experiments WHERE session = sessions.id)"
                                 " FROM sessions WHERE id = ? AND deleted_unix_ms = 0");
        select.bind(1, session);
        if (!select.executeStep()) return std::nullopt;
        SessionSummary found;
        RowReader row(select);
        std::string tags;
        StepMedians medians;
        found.id = session;
        row("name", found.name);
        row("notes", found.notes);
        row("tags", tags);
        row("state", found.state);
        row("why", found.why);
        row("started_unix_ms", found.startedUnixMs);
        row("ended_unix_ms", found.endedUnixMs);
        const bool summarised = !select.getColumn(7).isNull();
        row("step_ns_median", medians.durationNs);
        row("step_tokens_median", medians.tokens);
        row("kind", found.kind);
        row("host", found.host);
        row("workers", found.workers);
        row("flipped", found.flipped);
        found.tags = tagsFromJson(tags);
        if (!ended(found.state) && !locked) found.state = RunState::Interrupted;
        const LastStep last = lastStep(*m_connection, session);
        found.steps = last.step;
        if (found.kind == SessionKind::Trace)
            if (const StoredSteps stored = storedSteps(*m_connection, session); stored.count > 0) {
                found.steps = stored.count;
                found.numbered.emplace(stored.first, stored.last);
            }
        found.lossLast = last.loss;
        found.validationLossLast = lastValidationLoss(*m_connection, session);
        if (!summarised) medians = rememberedMedians(session, last.step);
        // No step takes no time: a log that was imported told none.
        if (!(medians.durationNs > 0)) medians.durationNs = kUnknown;
        found.msPerStepMedian = medians.durationNs / 1e6;
        found.tokensPerSecond = medians.tokens / (medians.durationNs / 1e9);
        found.config = readConfig(session);
        SQLite::Statement workers(*m_connection, "SELECT 1 FROM chunk_lanes WHERE session = ? AND kind = ? LIMIT 1");
        workers.bind(1, session);
        workers.bind(2, kWorkerTimes);
        found.severalWorkers = workers.executeStep();
        return found;
    }

    // Reading every step of a long interrupted session takes a while, and a list is asked for again and again.
    StepMedians rememberedMedians(std::int64_t session, std::int64_t steps) {
        auto& held = m_medians[session];
        if (held.first != steps) held = {steps, stepMedians(*m_connection, session)};
        return held.second;
    }

    std::vector<std::pair<std::string, std::string>> readConfig(std::int64_t session) {
        SQLite::Statement select(*m_connection, "SELECT key, value FROM config WHERE session = ? ORDER BY position");
        select.bind(1, session);
        std::vector<std::pair<std::string, std::string>> all;
        while (select.executeStep()) all.emplace_back(select.getColumn(0).getString(), select.getColumn(1).getString());
        return all;
    }

    std::string m_path;
    std::vector<Error> m_unreadable;
    Connection m_connection;
    std::optional<EventMerge> m_merge;
    std::map<std::int64_t, std::pair<std::int64_t, StepMedians>> m_medians;  // session -> (steps then, medians)
    std::int64_t m_nextSession = 0, m_nextIndex = 0;
    EventKey m_nextKey;
};

}  // namespace

Result<std::unique_ptr<SessionReader>> SessionReader::open(const std::string& path) {
    auto connection = openForReading(path);
    if (!connection) return connection.error();
    return guarded(path, [&]() -> Result<std::unique_ptr<SessionReader>> {
        return std::unique_ptr<SessionReader>(std::make_unique<SqliteReader>(path, std::move(*connection)));
    });
}

}  // namespace stepscope
