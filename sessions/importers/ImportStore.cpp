#include "sessions/importers/ImportStore.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>

#include "core/events/Event.h"
#include "core/trace/LodBuilder.h"
#include "sessions/CheckpointFolders.h"
#include "sessions/ChunkTables.h"
#include "sessions/PurgeSession.h"
#include "sessions/SessionRow.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SessionLock.h"
#include "sessions/file/SqliteError.h"
#include "sessions/record/ChunkPacking.h"
#include "sessions/record/EventWriter.h"
#include "sessions/record/StepSummary.h"
#include "sessions/record/WalSync.h"

namespace stepscope::importing {
namespace {

constexpr std::size_t kMostQueued = 12;  // chunks still to be encoded, each of some 16 thousand records
constexpr std::size_t kTransactionBytes = std::size_t{4} << 20;
constexpr int kBusyTries = 50;

void removeLeftovers(const std::string& path, SQLite::Database& database) {
    std::vector<std::int64_t> left;
    {
        SQLite::Statement select(database, "SELECT id FROM sessions WHERE deleted_unix_ms = ?");
        select.bind(1, kBeingImported);
        while (select.executeStep()) left.push_back(select.getColumn(0).getInt64());
    }
    for (const std::int64_t session : left)
        if (!SessionLock::held(path, session)) purgeSession(database, session);
}

class SqliteImportStore final : public ImportStore {
public:
    SqliteImportStore(std::string path, Connection connection, std::int64_t session, SessionLock lock)
        : m_path(std::move(path)), m_connection(std::move(connection)), m_session(session), m_lock(std::move(lock)) {
        m_chunks.emplace(*m_connection, session);
        m_thread = std::thread([this] { run(); });
    }
    ~SqliteImportStore() override {
        close();
        if (m_finished) return;
        m_chunks.reset();
        (void)guarded(m_path, [&]() -> Status {
            SQLite::Transaction transaction(*m_connection, SQLite::TransactionBehavior::IMMEDIATE);
            purgeSession(*m_connection, m_session);
            transaction.commit();
            return {};
        });
    }

    std::int64_t session() const override { return m_session; }

    bool add(std::function<Chunk()> encode) override { return put(std::move(encode)); }
    bool add(std::vector<Event> events) override { return put(std::move(events)); }

    Status finish() override {
        close();
        if (!m_outcome) return m_outcome;
        const Status shown = guarded(m_path, [&]() -> Status {
            SQLite::Transaction transaction(*m_connection, SQLite::TransactionBehavior::IMMEDIATE);
            SQLite::Statement show(*m_connection, "UPDATE sessions SET deleted_unix_ms = 0 WHERE id = ? AND deleted_unix_ms = ?");
            show.bind(1, m_session);
            show.bind(2, kBeingImported);
            if (show.exec() != 1)
                return makeError(ErrorCode::Io, fmt::format("\"{}\" was cleaned up while a trace was imported into it; import it again.", m_path));
            const StepMedians medians = stepMedians(*m_connection, m_session);
            SQLite::Statement update(*m_connection, "UPDATE sessions SET step_ns_median = ?, step_tokens_median = ? WHERE id = ?");
            update.bind(1, medians.durationNs);
            update.bind(2, medians.tokens > 0 ? medians.tokens : kUnknown);  // steps of an import say nothing of tokens
            update.bind(3, m_session);
            update.exec();
            transaction.commit();
            WalSync::once(m_path);
            return {};
        });
        m_finished = shown.ok();
        return shown;
    }

private:
    using Queued = std::variant<std::function<Chunk()>, std::vector<Event>>;

    bool put(Queued one) {
        std::unique_lock lock(m_mutex);
        m_room.wait(lock, [&] { return m_queue.size() < kMostQueued || !m_outcome; });
        if (!m_outcome) return false;
        m_queue.push_back(std::move(one));
        lock.unlock();
        m_there.notify_one();
        return true;
    }
    void close() {
        {
            std::lock_guard lock(m_mutex);
            m_closing = true;
        }
        m_there.notify_all();
        if (m_thread.joinable()) m_thread.join();
    }

    void run() {
        Batch batch;
        std::optional<std::int64_t> lane;  // of the slices that came last
        for (;;) {
            Queued one;
            {
                std::unique_lock lock(m_mutex);
                m_there.wait(lock, [&] { return !m_queue.empty() || m_closing; });
                if (m_queue.empty()) break;
                one = std::move(m_queue.front());
                m_queue.pop_front();
            }
            m_room.notify_one();
            if (const auto* events = std::get_if<std::vector<Event>>(&one)) {
                if (!store(*events)) return;
                continue;
            }
            auto chunk = std::make_shared<const Chunk>(std::get<std::function<Chunk()>>(one)());
            std::vector<ChunkPtr> made{chunk};
            if (isSlices(chunk->kind)) {
                // Lanes come one after the other: what is held of all of them at once would grow with their number.
                if (lane && *lane != chunk->lane) m_lod.bringUpToDate(*lane, made);
                lane = chunk->lane;
            }
            m_lod.add(*chunk, made);
            if (!put(batch, made) || !storeIfFull(batch)) return;
        }
        std::vector<ChunkPtr> rest;
        m_lod.bringUpToDate(rest);
        if (put(batch, rest)) (void)store(batch);
    }

    struct Batch {
        std::vector<std::pair<ChunkPtr, std::string>> chunks;
        std::size_t bytes = 0;
    };
    // False: nobody could read one of them again, and the import ends.
    bool put(Batch& batch, std::vector<ChunkPtr>& chunks) {
        for (auto& chunk : chunks) {
            if (const Status fits = checkChunk(*chunk); !fits) return ended(fits);
            std::string frame = packed(*chunk);
            batch.bytes += frame.size() + chunk->bytes.size() / 8;
            batch.chunks.emplace_back(std::move(chunk), std::move(frame));
        }
        return true;
    }
    bool storeIfFull(Batch& batch) {
        if (batch.bytes < kTransactionBytes) return true;
        const bool stored = store(batch);
        batch = {};
        return stored;
    }
    bool store(const Batch& batch) {
        return inTransaction([&](std::int64_t& sequence) {
            for (const auto& [chunk, frame] : batch.chunks) m_chunks->write(*chunk, frame, sequence++);
        });
    }
    bool store(const std::vector<Event>& events) {
        return inTransaction([&](std::int64_t& sequence) {
            EventWriter writer(*m_connection, m_session);
            for (const Event& event : events) writer.write(event, sequence++);
        });
    }
    // write: numbers what it writes from `sequence` on; tried again where another program writes.
    bool inTransaction(const std::function<void(std::int64_t& sequence)>& write) {
        Status done;
        for (int tries = 0; tries < kBusyTries; ++tries) {
            done = guarded(m_path, [&]() -> Status {
                SQLite::Transaction transaction(*m_connection, SQLite::TransactionBehavior::IMMEDIATE);
                std::int64_t sequence = m_sequence;
                write(sequence);
                transaction.commit();
                m_sequence = sequence;
                return {};
            });
            if (done || done.error().code != ErrorCode::Io) break;
            std::unique_lock lock(m_mutex);
            if (m_there.wait_for(lock, std::chrono::milliseconds(100), [&] { return m_closing; }) && tries > 3) break;
        }
        return done ? true : ended(done);
    }
    bool ended(const Status& why) {
        {
            std::lock_guard lock(m_mutex);
            m_outcome = why;
        }
        m_room.notify_all();
        return false;
    }

    const std::string m_path;
    Connection m_connection;
    const std::int64_t m_session;
    SessionLock m_lock;
    std::optional<ChunkWriter> m_chunks;
    LodBuilder m_lod;
    std::mutex m_mutex;
    std::condition_variable m_room, m_there;
    std::deque<Queued> m_queue;
    std::int64_t m_sequence = 0;
    bool m_closing = false, m_finished = false;
    Status m_outcome;
    std::thread m_thread;
};

}  // namespace

Result<std::unique_ptr<ImportStore>> ImportStore::open(const std::string& database, const SessionInfo& info) {
    auto connection = openForWriting(database);
    if (!connection) return connection.error();
    return guarded(database, [&]() -> Result<std::unique_ptr<ImportStore>> {
        SQLite::Transaction transaction(**connection, SQLite::TransactionBehavior::IMMEDIATE);
        removeLeftovers(database, **connection);
        if (const Status free = leaveOutTakenNumbers(**connection, database); !free) return free.error();
        const std::int64_t session = insertSession(**connection, info);
        auto lock = SessionLock::take(database, session);
        if (!lock) return lock.error();
        SQLite::Statement hide(**connection, "UPDATE sessions SET deleted_unix_ms = ? WHERE id = ?");
        hide.bind(1, kBeingImported);
        hide.bind(2, session);
        hide.exec();
        transaction.commit();
        return std::unique_ptr<ImportStore>(std::make_unique<SqliteImportStore>(database, std::move(*connection), session, std::move(*lock)));
    });
}

}  // namespace stepscope::importing
