// Recorder over SQLite (Recorder.h). publish() runs on any thread and only queues; everything else happens on the recorder thread,
// which owns the connection from open() on.
#include "sessions/record/Recorder.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/Check.h"
#include "core/trace/WorkerClocks.h"
#include "core/trace/WorkerTimes.h"
#include "sessions/CheckpointFolders.h"
#include "sessions/ChunkTables.h"
#include "sessions/SessionRow.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SessionLock.h"
#include "sessions/file/SqliteError.h"
#include "sessions/record/ChunkPacking.h"
#include "sessions/record/EventWriter.h"
#include "sessions/record/LodRecording.h"
#include "sessions/record/RecorderQueue.h"
#include "sessions/record/StepSummary.h"
#include "sessions/record/TakenUp.h"
#include "sessions/record/WalCheckpointer.h"
#include "sessions/record/WalSync.h"

namespace stepscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTransactionEvery{100};
constexpr std::chrono::milliseconds kRetryEvery{200};

// What a run of several workers stores as it goes on is no capture's.
bool isOfRun(const std::string& kind) {
    return kind == kWorkerTimes || kind == kWorkerClocks;
}

// Of a session that goes on: what its captures take by now counts against the most that they may.
std::int64_t captureBytesOf(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement select(database, "SELECT coalesce(sum(packed_bytes), 0) FROM chunk_lanes WHERE session = ? AND kind NOT IN (?, ?)");
    select.bind(1, session);
    select.bind(2, kWorkerTimes);
    select.bind(3, kWorkerClocks);
    return select.executeStep() ? select.getColumn(0).getInt64() : 0;
}

class SqliteRecorder final : public Recorder {
public:
    SqliteRecorder(Options options, Connection connection, std::int64_t session, TimeNs storedUntil, SessionLock lock, std::string checkpoints)
        : m_options(std::move(options)),
          m_session(session),
          m_storedUntil(storedUntil),
          m_checkpoints(std::move(checkpoints)),
          m_lock(std::move(lock)),
          m_connection(std::move(connection)),
          m_queue(m_options.queueCapacity, m_options.queueBytes) {
        m_writer.emplace(*m_connection, session);
        m_chunks.emplace(*m_connection, session);
        if (m_options.goesOn) m_chunkBytes = captureBytesOf(*m_connection, session);
        // What is missing may have happened at the same moments as what is there.
        if (m_options.goesOn && m_options.goesOn->all) m_nextSequence = behindAllSequences(*m_connection, session);
        m_checkpointer.emplace(m_options.path, *m_connection);
        if (m_options.durable) {
            m_sync.emplace(m_options.path, m_options.onNotDurable);
            m_sync->committed();  // the session's row
        }
        m_thread = std::thread([this] { run(); });
    }
    ~SqliteRecorder() override { (void)finish(); }

    void publish(Event event) override { queue(std::move(event)); }
    void publishChunk(ChunkPtr chunk) override {
        SS_CHECK(chunk && checkChunk(*chunk));
        queue(std::move(chunk));
    }
    const std::string& checkpointFolder() const override { return m_checkpoints; }
    std::int64_t session() const override { return m_session; }
    TimeNs storedUntil() const override { return m_storedUntil; }
    bool blocked() const override { return m_blocked; }
    std::int64_t chunkBytes() const override { return m_chunkBytes; }
    std::int64_t bytesInHand() const override { return m_queue.bytes(); }
    std::int64_t published() const override { return m_queue.pushed(); }
    std::int64_t committed() const override { return m_queue.committed(); }
    void flush() override { m_queue.flush(); }

    Status finish() override {
        std::lock_guard once(m_finishing);
        if (m_thread.joinable()) {
            m_ending = true;
            m_queue.close();
            m_thread.join();
        }
        return m_outcome;
    }

private:
    void queue(Queued item) {
        if (const auto waited = m_queue.push(std::move(item)); waited && m_options.onWaited) m_options.onWaited(*waited);
    }

    void run() {
        std::vector<Queued> batch;
        while (m_queue.take(batch, kTransactionEvery)) {
            if (const Status stored = storeOrWait(batch, m_lod.of(batch)); !stored) {
                end(stored.error(), batch.size());
                break;
            }
            m_queue.committed(batch);
        }
        (void)m_queue.abandon();
        if (m_outcome) {
            // What a reader would make anew otherwise: nothing is lost where it cannot be stored.
            if (const auto rest = m_lod.rest(); !rest.empty()) (void)storeOrWait({}, rest);
            (void)storeMedians();
        }
        m_sync.reset();  // waits for the disk once more
        m_lock.release();
        m_checkpointer.reset();
        m_writer.reset();
        m_chunks.reset();
        m_connection.reset();  // the last connection empties the log into the file
    }

    void end(const Error& why, std::size_t batch) {
        // Asked before abandon() lets go who waits for room: it may call finish() at once, and it is told all the same.
        const bool ending = m_ending;
        const auto lost = batch + m_queue.abandon();
        m_outcome =
            makeError(why.code,
                      ending || m_gaveUp ? fmt::format("{} The last {} events of session {} are not stored, and it counts as interrupted.",
                                                       why.sentence, lost, m_session)
                                         : fmt::format("{} Recording of session {} ends here; the run goes on without it.", why.sentence, m_session),
                      why.cause)
                .about(Subject::Kind::Database, m_options.path);
        m_blocked = false;  // nobody need wait for what will not come
        if (!ending && m_options.onEnded) m_options.onEnded(m_outcome.error());
    }

    // A busy database, a full disk, one that cannot be read or written: that may pass. What else SQLite refuses, it would refuse again.
    static bool mayPass(const Error& error) { return error.code == ErrorCode::Io; }

    // Tries until the batch is committed, telling the run when it has to hold on. An error when waiting cannot mend it, and when finish() was told
    // to give up.
    // more: blocks that are made from those of the batch.
    Status storeOrWait(const std::vector<Queued>& batch, const std::vector<ChunkPtr>& more) {
        std::optional<Clock::time_point> lastTry;
        std::vector<std::string> frames;
        std::int64_t ofCaptures = 0;  // bytes: what a run stores of each of its steps is none of theirs
        const auto pack = [&](const Chunk& chunk) {
            frames.push_back(packed(chunk));
            if (!isOfRun(chunk.kind)) ofCaptures += static_cast<std::int64_t>(frames.back().size());
        };
        for (const Queued& item : batch)
            if (const auto* chunk = std::get_if<ChunkPtr>(&item)) pack(**chunk);
        for (const ChunkPtr& chunk : more) pack(*chunk);
        for (;;) {
            const Status stored = store(batch, more, frames);
            if (stored) {
                m_chunkBytes += ofCaptures;
                setBlocked(false, {});
                return stored;
            }
            if (!mayPass(stored.error())) return stored;
            // Who waits for room here cannot come to finish() before there is some.
            if ((m_ending || m_queue.producersWait()) && m_options.mayGiveUp()) {
                if (!lastTry) lastTry = Clock::now() + m_options.patience;
                m_gaveUp = Clock::now() >= *lastTry;
                if (m_gaveUp) return stored;
            }
            setBlocked(true, stored.error().sentence);
            m_queue.waitForClose(Clock::now() + kRetryEvery);
        }
    }

    // frames: of the chunks among the batch, in their order, and behind them those of `more`.
    Status store(const std::vector<Queued>& batch, const std::vector<ChunkPtr>& more, const std::vector<std::string>& frames) {
        return guarded(m_options.path, [&]() -> Status {
            // A file without a name takes every write and keeps none.
            int moved = 0;
            sqlite3_file_control(m_connection->getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
            if (moved != 0)
                return makeError(ErrorCode::Io,
                                 fmt::format("The session database \"{}\" was removed or replaced while a run is recorded into it; put it back.",
                                             m_options.path))
                    .about(Subject::Kind::Database, m_options.path);
            SQLite::Transaction transaction(*m_connection, SQLite::TransactionBehavior::IMMEDIATE);
            std::int64_t sequence = m_nextSequence;
            auto frame = frames.begin();
            for (const auto& item : batch) {
                if (const auto* chunk = std::get_if<ChunkPtr>(&item))
                    m_chunks->write(**chunk, *frame++, sequence++);
                else
                    m_writer->write(std::get<Event>(item), sequence++);
            }
            for (const ChunkPtr& chunk : more) m_chunks->write(*chunk, *frame++, sequence++);
            transaction.commit();
            m_nextSequence = sequence;
            if (m_sync) m_sync->committed();
            return {};
        });
    }

    Status storeMedians() {
        return guarded(m_options.path, [&]() -> Status {
            const StepMedians medians = stepMedians(*m_connection, m_session);
            SQLite::Statement update(*m_connection, "UPDATE sessions SET step_ns_median = ?, step_tokens_median = ? WHERE id = ?");
            update.bind(1, medians.durationNs);
            update.bind(2, medians.tokens);
            update.bind(3, m_session);
            update.exec();
            if (m_sync) m_sync->committed();
            return {};
        });
    }

    void setBlocked(bool blocked, const std::string& why) {
        if (m_blocked.exchange(blocked) != blocked && m_options.onBlocked) m_options.onBlocked(blocked, why);
    }

    const Options m_options;
    const std::int64_t m_session;
    const TimeNs m_storedUntil;
    const std::string m_checkpoints;
    SessionLock m_lock;
    Connection m_connection;
    std::optional<EventWriter> m_writer;
    std::optional<ChunkWriter> m_chunks;
    LodRecording m_lod;
    std::optional<WalSync> m_sync;
    std::optional<WalCheckpointer> m_checkpointer;
    RecorderQueue m_queue;
    std::int64_t m_nextSequence = 0;
    std::atomic<bool> m_blocked = false;
    std::atomic<std::int64_t> m_chunkBytes = 0;
    std::atomic<bool> m_ending = false;  // finish() waits
    bool m_gaveUp = false;               // because a person wants it over; of the recorder thread
    Status m_outcome;                    // of the recorder thread; read after it has ended
    std::mutex m_finishing;
    std::thread m_thread;
};

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::open(Options options, const SessionInfo& info) {
    auto connection = openForWriting(options.path);
    if (!connection) return connection.error();
    return guarded(options.path, [&]() -> Result<std::unique_ptr<Recorder>> {
        // The lock is taken before the row can be seen, so that no reader ever finds a live session with a free lock.
        SQLite::Transaction transaction(**connection, SQLite::TransactionBehavior::IMMEDIATE);
        const auto& before = options.goesOn;
        if (before && SessionLock::held(options.path, before->session)) return stillRecorded(options.path, before->session);
        if (!before)
            if (const Status free = leaveOutTakenNumbers(**connection, options.path); !free) return free.error();
        const std::int64_t session = before ? before->session : insertSession(**connection, info);
        auto lock = SessionLock::take(options.path, session);
        if (!lock) return lock.error();
        Result<TimeNs> until = TimeNs{};
        if (before) until = takeUpSession(**connection, options.path, session, *before);
        if (!until) return until.error();
        auto checkpoints = stepscope::checkpointFolder(**connection, options.path, session);
        if (!checkpoints) return checkpoints.error();
        transaction.commit();
        return std::unique_ptr<Recorder>(
            std::make_unique<SqliteRecorder>(std::move(options), std::move(*connection), session, *until, std::move(*lock), std::move(*checkpoints)));
    });
}

}  // namespace stepscope
