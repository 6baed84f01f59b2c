#include "sessions/file/Connection.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "sessions/file/FileHeader.h"
#include "sessions/file/PrivateFile.h"
#include "sessions/file/SqliteError.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyMs = 3000;

int pragmaInteger(SQLite::Database& database, const char* pragma) {
    return database.execAndGet(fmt::format("PRAGMA {}", pragma)).getInt();
}

// The file may be a stranger's: views and triggers, which we have none of, are not followed, functions named by its schema are not called, and no
// row is larger than the largest that we write.
void distrust(SQLite::Database& database) {
    constexpr int kMaxRow = 80 << 20;
    sqlite3* handle = database.getHandle();
    for (const int option : {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_TRUSTED_SCHEMA})
        sqlite3_db_config(handle, option, 0, static_cast<int*>(nullptr));
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, static_cast<int*>(nullptr));
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxRow);
}

void enterWal(SQLite::Database& database) {
    // The busy handler is not asked while the journal mode changes, which another opener may be doing this very moment.
    const auto giveUp = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyMs);
    for (;;) {
        try {
            database.execAndGet("PRAGMA journal_mode = WAL").getString();
            break;
        } catch (const SQLite::Exception& thrown) {
            if (thrown.getErrorCode() != SQLITE_BUSY || std::chrono::steady_clock::now() > giveUp) throw;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    // NORMAL does not fsync at commit. A killed process loses nothing by that: what it wrote is in the system's page cache, and
    // the system lives. A power cut may take the last transactions, never the file. FULL would wait for the disk ten times a second.
    database.exec("PRAGMA synchronous = NORMAL");
}

// Whether the file has been taken away, or another one put in its place, since it was opened.
bool hasMoved(SQLite::Database& database) {
    int moved = 0;
    return sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

// A file that was made in vain, as on a full disk, goes again while nobody uses it. The locks are SQLite's, but of no transaction: that would begin a
// journal, for which there is no room. Whoever had opened it and waits for them sees that it has gone (hasMoved).
void removeUnused(const std::string& path) {
    (void)guarded(path, [&]() -> Status {
        SQLite::Database database(fs::absolute(path).string(), SQLite::OPEN_READWRITE);
        sqlite3_file* file = nullptr;
        sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
        if (file == nullptr || file->pMethods == nullptr) return {};
        bool alone = true;
        for (const int lock : {SQLITE_LOCK_SHARED, SQLITE_LOCK_RESERVED, SQLITE_LOCK_EXCLUSIVE})
            alone = alone && file->pMethods->xLock(file, lock) == SQLITE_OK;
        std::error_code problem;
        const fs::path real = fs::canonical(path, problem);  // a link to it stays
        const bool unused = alone && !problem && fs::file_size(real, problem) == 0 && !problem && !hasMoved(database);
        if (unused) fs::remove(real, problem);
        file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
        return {};
    });
}

Result<Connection> openWritable(const std::string& path) {
    return guarded(path, [&]() -> Result<Connection> {
        // An absolute path: ":memory:" and "file:..." are names of files here, not words of SQLite.
        auto database = std::make_unique<SQLite::Database>(fs::absolute(path).string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMs);
        distrust(*database);
        // SQLite opens a write-protected file for reading and says nothing.
        if (sqlite3_db_readonly(database->getHandle(), "main") == 1) return sqliteError(path, SQLITE_READONLY, "opened read-only");
        if (pragmaInteger(*database, "user_version") < schemaVersion()) {
            migrate(*database, migrations());
            if (hasMoved(*database)) return sqliteError(path, SQLITE_BUSY, "taken away while it was opened");
        }
        enterWal(*database);
        return database;
    });
}

std::string fileUri(const std::string& path, const char* query) {
    std::string uri = "file:";
    for (const char c : fs::absolute(path).string()) {
        if (c == '%' || c == '?' || c == '#')
            uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        else
            uri += c;
    }
    return uri + query;
}

Connection tryReading(const std::string& name, bool alone) {
    // Used by one thread at a time: the locks around every column of every row were 17.6 % of all samples (perf over overlay_bench).
    auto database = std::make_unique<SQLite::Database>(name, SQLite::OPEN_READONLY | SQLite::OPEN_URI | SQLite::OPEN_NOMUTEX, kBusyMs);
    distrust(*database);
    // With exclusive locking the index of the write-ahead log is kept in memory instead of a -shm file.
    if (alone) database->exec("PRAGMA locking_mode = EXCLUSIVE");
    SQLite::Statement(*database, "SELECT id FROM sessions LIMIT 1").executeStep();  // the first read: finds a damaged or unreachable file now
    return database;
}

// In a folder where nothing may be written a reader cannot make the -shm file that a database in WAL mode wants. Then nobody
// else is using it either (they would have made it), so it is safe to read without locks: with the log that a killed process
// left, or, where there is none, the file as it is.
Connection readWithoutSideFiles(const std::string& path) {
    std::error_code ignored;
    const auto log = fs::file_size(path + "-wal", ignored);
    const bool logLeft = !ignored && log > 0;
    return logLeft ? tryReading(fileUri(path, "?mode=ro&vfs=unix-none"), true) : tryReading(fileUri(path, "?mode=ro&immutable=1"), false);
}

}  // namespace

void migrate(SQLite::Database& database, std::span<const Migration> steps) {
    // So that purging deleted sessions can give their room back without a copy. It takes effect when it is compiled, on a file that
    // is still empty; run, it would write a first page of its own, which does not yet carry our name.
    const SQLite::Statement autoVacuum(database, "PRAGMA auto_vacuum = INCREMENTAL");
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::EXCLUSIVE);
    // Asked again inside the lock: another process may have done it while we waited.
    const int from = pragmaInteger(database, "user_version");
    if (from >= steps.back().version) return;
    for (const auto& step : steps) {
        if (step.version <= from) continue;
        database.exec(std::string(step.sql));
        database.exec(fmt::format("PRAGMA user_version = {}", step.version));
    }
    // In the first transaction, before WAL: no kill leaves a file with our tables but not our name in its header.
    database.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
    transaction.commit();
    // So that the header of the file itself tells other versions what it is, without its log.
    if (from > 0) database.execAndGet("PRAGMA wal_checkpoint").getInt();
}

Result<Connection> openForWriting(const std::string& path) {
    if (const int problem = makePrivateFolders(fs::path(path).parent_path().string()); problem != 0)
        return makeError(ErrorCode::Io, fmt::format("The folder of the session database \"{}\" cannot be made ({}); choose another file (--db).",
                                                    path, std::strerror(problem)))
            .about(Subject::Kind::Database, path);
    const auto header = inspectFile(path);
    if (!header) return header.error();
    if (!header->exists)
        if (const int problem = makePrivateFile(path); problem != 0)
            return makeError(ErrorCode::Io, fmt::format("The session database \"{}\" cannot be made ({}); choose another file (--db).", path,
                                                        std::strerror(problem)))
                .about(Subject::Kind::Database, path);
    auto opened = openWritable(path);
    if (!opened && !header->exists) removeUnused(path);
    return opened;
}

Result<Connection> openForReading(const std::string& path) {
    const auto header = inspectFile(path);
    if (!header) return header.error();
    if (!header->exists)
        return makeError(ErrorCode::NotFound, fmt::format("There is no session database \"{}\" yet; the first recorded run makes it.", path))
            .about(Subject::Kind::Database, path);
    if (header->empty) return Connection{};
    if (header->schemaVersion < schemaVersion())
        if (const auto migrated = openWritable(path); !migrated) return migrated.error();
    return guarded(path, [&]() -> Result<Connection> {
        try {
            return tryReading(fileUri(path, "?mode=ro"), false);
        } catch (const SQLite::Exception& thrown) {
            const int code = thrown.getErrorCode();
            std::error_code ignored;
            // SQLite follows a link first: its other files lie beside what the link leads to.
            const fs::path canonical = fs::canonical(path, ignored);
            const std::string place = canonical.empty() ? path : canonical.string();
            if ((code != SQLITE_CANTOPEN && code != SQLITE_READONLY) || fs::exists(place + "-shm", ignored)) throw;
            if (!fs::exists(place + "-journal", ignored)) return readWithoutSideFiles(place);
            // Its maker died inside the very first transaction, the only one without a write-ahead log: pages are half written, and only
            // a writer may undo that.
            if (const auto undone = openWritable(path); !undone) return undone.error();
            return tryReading(fileUri(path, "?mode=ro"), false);
        }
    });
}

}  // namespace stepscope
