#include "sessions/file/SqliteError.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <nlohmann/json.hpp>

namespace stepscope {

Error sqliteError(const std::string& path, int extendedCode, const std::string& message) {
    const std::string cause = fmt::format("SQLite {}: {}", extendedCode, message);
    const auto say = [&](ErrorCode code, const char* sentence) {
        return makeError(code, fmt::format(fmt::runtime(sentence), path), cause).about(Subject::Kind::Database, path);
    };
    switch (extendedCode & 0xff) {
        case SQLITE_NOTADB:
            return say(ErrorCode::BadInput, "\"{}\" is not a session database; choose another file (--db) or move this one away.");
        case SQLITE_CORRUPT:
            return say(ErrorCode::Damaged,
                       "The session database \"{}\" is damaged; move it away to start a new one (sqlite3's .recover may save its contents).");
        case SQLITE_CANTOPEN:
            return say(ErrorCode::Io, "The session database \"{}\" cannot be opened; check that its folder exists and that you may write there.");
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_AUTH:
            return say(ErrorCode::Io, "The session database \"{}\" may only be read; change its permissions or choose another file (--db).");
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return say(ErrorCode::Io, "The session database \"{}\" is locked by another program; close that one or try again.");
        case SQLITE_FULL:
            return say(ErrorCode::Io, "The disk that holds the session database \"{}\" is full; free some room there.");
        case SQLITE_IOERR:
            return say(ErrorCode::Io, "The session database \"{}\" could not be read or written; check the disk, its quota and its free room.");
        case SQLITE_NOMEM:
            return say(ErrorCode::OutOfMemory, "There is not enough memory to work with the session database \"{}\"; close other programs.");
        // What SQLite says of a statement that is right where the tables are those of schema.sql.
        case SQLITE_ERROR:
        case SQLITE_SCHEMA:
        case SQLITE_CONSTRAINT:
        case SQLITE_MISMATCH:
        case SQLITE_ABORT:
        case SQLITE_TOOBIG:
        case SQLITE_FORMAT:
            return say(ErrorCode::Damaged,
                       "The tables of the session database \"{}\" are not as Stepscope made them; move it away to start a new one (sqlite3's "
                       ".recover may save its contents).");
        default:
            return say(ErrorCode::Internal, "The session database \"{}\" could not be used because of a mistake in Stepscope; please report it.");
    }
}

Error damagedRow(const std::string& path, const std::string& cause) {
    return makeError(ErrorCode::Damaged,
                     fmt::format("The session database \"{}\" holds something that cannot be read ({}); the session may come from another version, "
                                 "and the others in the file can be used.",
                                 path, cause.substr(0, 300)),
                     cause)
        .about(Subject::Kind::Database, path);
}

Error damagedRow(const std::string& path, const std::exception& thrown) {
    if (dynamic_cast<const nlohmann::json::exception*>(&thrown) == nullptr) return damagedRow(path, std::string(thrown.what()));
    // The parser's own words are of its grammar.
    Error damaged = damagedRow(path, "a text that is broken, or not of the form that belongs there");
    damaged.cause = thrown.what();
    return damaged;
}

Error noSuchSession(const std::string& path, std::int64_t session) {
    return makeError(ErrorCode::NotFound,
                     fmt::format("There is no session {} in \"{}\"; choose one of those listed by \"sessions list\".", session, path))
        .about(Subject::Kind::Session, std::to_string(session));
}

}  // namespace stepscope
