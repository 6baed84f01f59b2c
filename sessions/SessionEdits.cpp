// What a person changes in stored sessions: name, notes, tags, deletion and its undo. Each call opens a short writing connection
// with a busy timeout, so that it may run beside a recorder. Any thread but the window's own.
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/Utf8.h"
#include "sessions/Captures.h"
#include "sessions/CheckpointFolders.h"
#include "sessions/PurgeSession.h"
#include "sessions/SessionRow.h"
#include "sessions/SessionStore.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SessionLock.h"
#include "sessions/file/SqliteError.h"
#include "sessions/record/WalSync.h"

namespace stepscope {
namespace {

// Runs `change` in one transaction on an existing database.
template <class Change>
Status edit(const std::string& path, Change change) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        return makeError(ErrorCode::NotFound, fmt::format("There is no session database \"{}\"; choose another file (--db).", path))
            .about(Subject::Kind::Database, path);
    auto connection = openForWriting(path);
    if (!connection) return connection.error();
    return guarded(path, [&]() -> Status {
        SQLite::Transaction transaction(**connection, SQLite::TransactionBehavior::IMMEDIATE);
        if (Status done = change(**connection); !done) return done;
        transaction.commit();
        WalSync::once(path);
        return {};
    });
}

// One UPDATE of one session's row; `?1` is the session. NotFound when no row was meant.
template <class... Values>
Status updateRow(const std::string& path, SQLite::Database& database, std::int64_t session, const char* sql, const Values&... values) {
    SQLite::Statement update(database, sql);
    update.bind(1, session);
    [[maybe_unused]] int at = 1;
    (update.bind(++at, values), ...);
    if (update.exec() == 0) return noSuchSession(path, session);
    return {};
}

}  // namespace

namespace {

// The sessions that are going and have no checkpoint on disk any more; `failed`: of the first whose folder stays.
Result<std::vector<std::int64_t>> withoutCheckpoints(const std::string& path, Status& failed) {
    auto connection = openForReading(path);
    if (!connection) return connection.error();
    return guarded(path, [&]() -> Result<std::vector<std::int64_t>> {
        std::vector<std::int64_t> going, gone;
        if (!*connection) return gone;
        SQLite::Statement select(**connection, "SELECT id FROM sessions WHERE deleted_unix_ms < 0");
        while (select.executeStep()) going.push_back(select.getColumn(0).getInt64());
        select.reset();
        for (const std::int64_t session : going) {
            if (auto removed = removeCheckpoints(**connection, path, session); removed)
                gone.push_back(session);
            else if (failed)
                failed = removed;
        }
        return gone;
    });
}

}  // namespace

Status checkSessionName(const std::string& name) {
    if (std::ranges::all_of(name, [](unsigned char c) { return c == ' '; }))
        return makeError(ErrorCode::BadInput, "A session's name cannot be empty; give a line of text.");
    for (std::string_view rest = name; !rest.empty();) {
        char32_t code = 0;
        const std::size_t length = utf8At(rest, code);
        if (length == 0) return makeError(ErrorCode::BadInput, "A session's name is text in UTF-8, and this is not; give another name.");
        if (!showsAsWritten(code))
            return makeError(ErrorCode::BadInput,
                             "A session's name is one line of text, without line breaks, tabs and other control characters; give another name.");
        rest.remove_prefix(length);
    }
    return {};
}

Status renameSession(const std::string& path, std::int64_t session, const std::string& name) {
    if (auto good = checkSessionName(name); !good) return good;
    return edit(path, [&](SQLite::Database& database) {
        return updateRow(path, database, session, "UPDATE sessions SET name = ?2 WHERE id = ?1 AND deleted_unix_ms = 0", name);
    });
}

Status annotateSession(const std::string& path, std::int64_t session, const std::string& notes, const std::vector<std::string>& tags) {
    return edit(path, [&](SQLite::Database& database) {
        return updateRow(path, database, session, "UPDATE sessions SET notes = ?2, tags = ?3 WHERE id = ?1 AND deleted_unix_ms = 0", notes,
                         tagsToJson(tags));
    });
}

Status deleteSession(const std::string& path, std::int64_t session) {
    return edit(path, [&](SQLite::Database& database) -> Status {
        if (SessionLock::held(path, session))
            return makeError(ErrorCode::BadInput, fmt::format("Session {} is still running; stop it before deleting it.", session));
        return updateRow(path, database, session, "UPDATE sessions SET deleted_unix_ms = unixepoch() * 1000 WHERE id = ?1 AND deleted_unix_ms = 0");
    });
}

Status restoreSession(const std::string& path, std::int64_t session) {
    return edit(path, [&](SQLite::Database& database) {
        return updateRow(path, database, session,
                         "UPDATE sessions SET deleted_unix_ms = 0 WHERE id = ?1 AND deleted_unix_ms >= 0 AND deleted_unix_ms <> ?2", kBeingImported);
    });
}

// Three steps, so that a kill or a disk that refuses leaves nothing behind that the next purge does not see: the sessions are marked as
// going (negative), from when on none is restored; their folders are removed, without a lock that a recorder would wait for; then the rows of
// those whose folders are gone.
Status purgeDeletedSessions(const std::string& path) {
    const Status marked = edit(path, [&](SQLite::Database& database) -> Status {
        SQLite::Statement select(database, "SELECT id, deleted_unix_ms FROM sessions WHERE deleted_unix_ms > 0");
        std::vector<std::int64_t> going;
        while (select.executeStep()) {
            const std::int64_t session = select.getColumn(0).getInt64();
            // One that is being imported goes on, unless whoever imported it was killed.
            if (select.getColumn(1).getInt64() != kBeingImported || !SessionLock::held(path, session)) going.push_back(session);
        }
        select.reset();
        for (const std::int64_t session : going)
            if (auto done = updateRow(path, database, session, "UPDATE sessions SET deleted_unix_ms = -abs(deleted_unix_ms) WHERE id = ?1"); !done)
                return done;
        return {};
    });
    if (!marked) return marked;
    Status folders;
    auto gone = withoutCheckpoints(path, folders);
    if (!gone) return gone.error();
    const Status purged = edit(path, [&](SQLite::Database& database) -> Status {
        for (const std::int64_t session : *gone) purgeSession(database, session);
        return {};
    });
    if (!purged) return purged;
    return giveRoomBack(path).andThen([&] { return folders; });
}

}  // namespace stepscope
