#include "sessions/record/TakenUp.h"

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <tuple>

#include "sessions/ChunkTables.h"
#include "sessions/EventFields.h"
#include "sessions/file/SqliteError.h"

namespace stepscope {
namespace {

// What a step, or what is done between two, leaves behind.
constexpr std::array<const char*, 3> kMadeAgain{Table<StepDone>::name, Table<ValidationDone>::name, Table<SwitchApplied>::name};

std::optional<std::int64_t> number(SQLite::Statement& select) {
    if (!select.executeStep() || select.getColumn(0).isNull()) return std::nullopt;
    return select.getColumn(0).getInt64();
}

// When the checkpoint was written. Rows come in the order of what happened: behind one that a kill kept from being stored nothing is stored either.
std::int64_t momentOf(SQLite::Database& database, std::int64_t session, const std::string& checkpoint) {
    if (checkpoint.empty()) return -1;
    SQLite::Statement select(database, "SELECT max(at_ns) FROM checkpoints WHERE session = ? AND path = ?");
    select.bind(1, session);
    select.bind(2, checkpoint);
    return number(select).value_or(std::numeric_limits<std::int64_t>::max());
}

// When the last capture came to its end; before all time where none did.
std::int64_t lastCapture(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement select(database, fmt::format("SELECT max(at_ns) FROM {} WHERE session = ?", Table<CaptureDone>::name));
    select.bind(1, session);
    return number(select).value_or(std::numeric_limits<std::int64_t>::min());
}

std::int64_t latestIn(SQLite::Database& database, const std::string& table, std::int64_t session, const char* column = "at_ns") {
    SQLite::Statement select(database, fmt::format("SELECT max({}) FROM {} WHERE session = ?", column, table));
    select.bind(1, session);
    return number(select).value_or(0);
}

template <class... Events>
std::int64_t latestOf(SQLite::Database& database, std::int64_t session, const std::tuple<Events...>*, const char* column = "at_ns") {
    return std::max({latestIn(database, Table<Events>::name, session, column)...});
}

void removeWhatIsMadeAgain(SQLite::Database& database, std::int64_t session, const std::string& checkpoint) {
    const std::int64_t moment = momentOf(database, session, checkpoint);
    for (const char* table : kMadeAgain) {
        SQLite::Statement remove(database, fmt::format("DELETE FROM {} WHERE session = ? AND at_ns > ?", table));
        remove.bind(1, session);
        remove.bind(2, moment);
        remove.exec();
    }
    // The text of the checkpoint's own step, or of one before it, may have come behind it, and nobody writes it again.
    SQLite::Statement texts(database, fmt::format("DELETE FROM {} WHERE session = ?1 AND at_ns > ?2 AND (?3 = '' OR step > (SELECT max(step) FROM "
                                                  "checkpoints WHERE session = ?1 AND path = ?3))",
                                                  Table<TextGenerated>::name));
    texts.bind(1, session);
    texts.bind(2, moment);
    texts.bind(3, checkpoint);
    texts.exec();
    cutWorkerTimes(database, session, moment);
    // What a capture had observed that a kill cut short is nobody's, and would count to the next one.
    removeCaptureBlocks(database, session, lastCapture(database, session), std::numeric_limits<std::int64_t>::max());
}

}  // namespace

Result<TimeNs> takeUpSession(SQLite::Database& database, const std::string& path, std::int64_t session, const Recorder::GoneOn& before) {
    SQLite::Statement known(database, "SELECT 1 FROM sessions WHERE id = ? AND deleted_unix_ms = 0");
    known.bind(1, session);
    if (!known.executeStep()) return noSuchSession(path, session);
    const std::int64_t latest =
        std::max(latestOf(database, session, static_cast<const StoredEvents*>(nullptr)), latestIn(database, "chunk_lanes", session, "end_ns"));
    if (!before.all) removeWhatIsMadeAgain(database, session, before.checkpoint);
    // As of a session that has just begun: its medians are worked out anew at its end.
    SQLite::Statement update(database,
                             "UPDATE sessions SET state = ?1, why = '', ended_unix_ms = 0, step_ns_median = NULL, step_tokens_median = NULL "
                             "WHERE id = ?2");
    update.bind(1, toString(RunState::Preparing));
    update.bind(2, session);
    update.exec();
    return TimeNs{latest};
}

std::int64_t behindAllSequences(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement chunks(database, "SELECT max(chunks.seq) FROM chunks JOIN chunk_lanes ON chunks.lane = chunk_lanes.id WHERE session = ?");
    chunks.bind(1, session);
    return 1 + std::max(number(chunks).value_or(0), latestOf(database, session, static_cast<const StoredEvents*>(nullptr), "seq"));
}

Error stillRecorded(const std::string& path, std::int64_t session) {
    return makeError(ErrorCode::Io,
                     fmt::format("Session {} of \"{}\" cannot go on: another process still records it; end that one first.", session, path))
        .about(Subject::Kind::Database, path);
}

}  // namespace stepscope
