// Recorder over SQLite (Recorder.h). publish() runs on any thread and only queues; everything else happens on the recorder thread,
// which owns the connection from open() on.
#include "sessions/Recorder.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "sessions/Connection.h"
#include "sessions/EventWriter.h"
#include "sessions/RecorderQueue.h"
#include "sessions/SessionLock.h"
#include "sessions/SessionRow.h"
#include "sessions/SqliteError.h"
#include "sessions/StepSummary.h"
#include "sessions/WalCheckpointer.h"

namespace stepscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTransactionEvery{100};
constexpr std::chrono::milliseconds kRetryEvery{200};

class SqliteRecorder final : public Recorder {
public:
    SqliteRecorder(Options options, Connection connection, std::int64_t session, SessionLock lock)
        : m_options(std::move(options)),
          m_session(session),
          m_lock(std::move(lock)),
          m_connection(std::move(connection)),
          m_queue(m_options.queueCapacity) {
        m_writer.emplace(*m_connection, session);
        m_checkpointer.emplace(m_options.path, *m_connection);
        m_thread = std::thread([this] { run(); });
    }
    ~SqliteRecorder() override { (void)finish(); }

    void publish(Event event) override {
        if (const auto waited = m_queue.push(std::move(event)); waited && m_options.onWaited) m_options.onWaited(*waited);
    }
    std::int64_t session() const override { return m_session; }
    bool blocked() const override { return m_blocked; }
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
    void run() {
        std::vector<Event> batch;
        while (m_queue.take(batch, kTransactionEvery)) {
            if (const Status stored = storeOrWait(batch); !stored) {
                const auto lost = batch.size() + m_queue.abandon();
                m_outcome = makeError(stored.error().code,
                                      fmt::format("{} The last {} events of session {} are not stored.", stored.error().sentence, lost, m_session),
                                      stored.error().cause)
                                .about(Subject::Kind::Database, m_options.path);
                break;
            }
            m_queue.committed(batch.size());
        }
        (void)m_queue.abandon();
        if (m_outcome) (void)storeMedians();
        m_lock.release();
        m_checkpointer.reset();
        m_writer.reset();
        m_connection.reset();  // the last connection empties the log into the file
    }

    // Tries until the batch is committed, telling the run when it has to hold on. An error only when finish() was told to give up.
    Status storeOrWait(const std::vector<Event>& batch) {
        std::optional<Clock::time_point> lastTry;
        for (;;) {
            const Status stored = store(batch);
            if (stored) {
                setBlocked(false, {});
                return stored;
            }
            if (m_ending && m_options.mayGiveUp()) {
                if (!lastTry) lastTry = Clock::now() + m_options.patience;
                if (Clock::now() >= *lastTry) return stored;
            }
            setBlocked(true, stored.error().sentence);
            m_queue.waitForClose(Clock::now() + kRetryEvery);
        }
    }

    Status store(const std::vector<Event>& batch) {
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
            for (const auto& event : batch) m_writer->write(event, sequence++);
            transaction.commit();
            m_nextSequence = sequence;
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
            return {};
        });
    }

    void setBlocked(bool blocked, const std::string& why) {
        if (m_blocked.exchange(blocked) != blocked && m_options.onBlocked) m_options.onBlocked(blocked, why);
    }

    const Options m_options;
    const std::int64_t m_session;
    SessionLock m_lock;
    Connection m_connection;
    std::optional<EventWriter> m_writer;
    std::optional<WalCheckpointer> m_checkpointer;
    RecorderQueue m_queue;
    std::int64_t m_nextSequence = 0;
    std::atomic<bool> m_blocked = false;
    std::atomic<bool> m_ending = false;  // finish() waits
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
        const std::int64_t session = insertSession(**connection, info);
        auto lock = SessionLock::take(options.path, session);
        if (!lock) return lock.error();
        transaction.commit();
        return std::unique_ptr<Recorder>(std::make_unique<SqliteRecorder>(std::move(options), std::move(*connection), session, std::move(*lock)));
    });
}

}  // namespace stepscope
