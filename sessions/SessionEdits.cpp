// What a person changes in stored sessions: name, notes, tags, deletion and its undo. Each call opens a short writing connection
// with a busy timeout, so that it may run beside a recorder. Any thread but the window's own.
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sessions/Connection.h"
#include "sessions/EventFields.h"
#include "sessions/SessionLock.h"
#include "sessions/SessionRow.h"
#include "sessions/SessionStore.h"
#include "sessions/SqliteError.h"

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

Status checkSessionName(const std::string& name) {
    const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    if (std::ranges::all_of(name, [](unsigned char c) { return c == ' '; }))
        return makeError(ErrorCode::BadInput, "A session's name cannot be empty; give a line of text.");
    if (std::ranges::any_of(name, control))
        return makeError(ErrorCode::BadInput, "A session's name is one line of text, without line breaks and tabs; give another name.");
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
        return updateRow(path, database, session, "UPDATE sessions SET deleted_unix_ms = 0 WHERE id = ?1");
    });
}

Status purgeDeletedSessions(const std::string& path) {
    std::vector<std::int64_t> gone;
    const Status purged = edit(path, [&](SQLite::Database& database) -> Status {
        gone.clear();
        SQLite::Statement deleted(database, "SELECT id FROM sessions WHERE deleted_unix_ms <> 0");
        while (deleted.executeStep()) gone.push_back(deleted.getColumn(0).getInt64());
        const auto purge = [&](const std::string& table) {
            database.exec("DELETE FROM " + table + " WHERE session IN (SELECT id FROM sessions WHERE deleted_unix_ms <> 0)");
        };
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (purge(Table<std::tuple_element_t<I, StoredEvents>>::name), ...);
        }
        (std::make_index_sequence<std::tuple_size_v<StoredEvents>>());
        purge("config");
        database.exec("DELETE FROM sessions WHERE deleted_unix_ms <> 0");
        return {};
    });
    if (!purged) return purged;
    for (const std::int64_t session : gone) {
        const std::string folder = checkpointFolder(path, session);
        std::error_code problem;
        std::filesystem::remove_all(folder, problem);
        if (problem) return makeError(ErrorCode::Io, fmt::format("The checkpoints in {} cannot be removed: {}.", folder, problem.message()));
    }
    // Gives the room back to the disk.
    return edit(path, [&](SQLite::Database& database) -> Status {
        SQLite::Statement vacuum(database, "PRAGMA incremental_vacuum");
        while (vacuum.executeStep()) {
        }
        return {};
    });
}

}  // namespace stepscope
