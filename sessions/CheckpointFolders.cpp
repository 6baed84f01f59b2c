#include "sessions/CheckpointFolders.h"

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <set>

#include "sessions/SessionStore.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SessionLock.h"
#include "sessions/file/SqliteError.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kStep = "step-";

fs::path canonical(const std::string& path) {
    std::error_code problem;
    const fs::path real = fs::weakly_canonical(fs::absolute(path), problem);
    return problem ? fs::absolute(path) : real;
}

// The number behind "step-"; -1 for another name.
std::int64_t stepOf(const std::string& name) {
    if (!name.starts_with(kStep)) return -1;
    std::int64_t step = -1;
    const char* end = name.data() + name.size();
    const auto [stop, problem] = std::from_chars(name.data() + kStep.size(), end, step);
    return problem == std::errc{} && stop == end ? step : -1;
}

struct StoredCheckpoint {
    std::int64_t step = 0;
    std::string path;
};

std::int64_t bytesUnder(const fs::path& folder) {
    std::int64_t bytes = 0;
    std::error_code problem;
    // A run that still trains may be removing it.
    for (fs::recursive_directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem)) {
        std::error_code gone;
        const auto size = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
        if (!gone) bytes += static_cast<std::int64_t>(size);
    }
    return bytes;
}

// The newest, where a step was validated more than once.
double validationLossAt(SQLite::Database& database, std::int64_t session, std::int64_t step) {
    SQLite::Statement select(database, "SELECT loss FROM validations WHERE session = ? AND step = ? ORDER BY at_ns DESC, seq DESC LIMIT 1");
    select.bind(1, session);
    select.bind(2, step);
    return select.executeStep() && !select.getColumn(0).isNull() ? select.getColumn(0).getDouble() : kUnknown;
}

Status isStored(SQLite::Database& database, const std::string& path, std::int64_t session) {
    SQLite::Statement known(database, "SELECT 1 FROM sessions WHERE id = ? AND deleted_unix_ms = 0");
    known.bind(1, session);
    if (!known.executeStep()) return noSuchSession(path, session);
    return {};
}

std::vector<StoredCheckpoint> storedCheckpoints(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement select(database, "SELECT step, path FROM checkpoints WHERE session = ? ORDER BY at_ns, seq");
    select.bind(1, session);
    std::vector<StoredCheckpoint> all;
    while (select.executeStep()) all.push_back({select.getColumn(0).getInt64(), select.getColumn(1).getString()});
    return all;
}

// The folders that this session's checkpoints had before databases had an identity, in either spelling of the path.
std::set<fs::path> formerFolders(const std::string& path, std::int64_t session) {
    std::set<fs::path> folders;
    for (const fs::path& base : {fs::absolute(path), canonical(path)})
        folders.insert(fs::path(base.string() + ".checkpoints").lexically_normal() / std::to_string(session));
    return folders;
}

Status removeAll(const fs::path& folder) {
    std::error_code problem;
    fs::remove_all(folder, problem);
    if (!problem) return {};
    return makeError(ErrorCode::Io, fmt::format("The checkpoints in {} cannot be removed: {}.", folder.string(), problem.message()))
        .about(Subject::Kind::Checkpoint, folder.string());
}

}  // namespace

Result<std::string> checkpointFolder(SQLite::Database& database, const std::string& path, std::int64_t session) {
    SQLite::Statement select(database, "SELECT id FROM identity");
    const std::string id = select.executeStep() ? select.getColumn(0).getString() : "";
    // It becomes part of a path that is removed with everything in it.
    const bool hex = id.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (id.size() < 16 || id.size() > 64 || !hex) return damagedRow(path, "the identity \"" + id + "\" is not one");
    return fmt::format("{}.checkpoints/db-{}/{}", canonical(path).string(), id, session);
}

Status leaveOutTakenNumbers(SQLite::Database& database, const std::string& path) {
    std::int64_t newest = 0;
    {
        SQLite::Statement given(database, "SELECT seq FROM sqlite_sequence WHERE name = 'sessions'");
        if (given.executeStep()) newest = given.getColumn(0).getInt64();
    }
    std::int64_t last = newest;
    for (;;) {
        if (last == std::numeric_limits<std::int64_t>::max()) return {};  // SQLite has its own words for the end of numbers
        const auto next = checkpointFolder(database, path, last + 1);
        if (!next) return next.error();
        std::error_code problem;
        if (!fs::exists(*next, problem)) break;
        ++last;
    }
    if (last == newest) return {};
    SQLite::Statement update(database, "UPDATE sqlite_sequence SET seq = ? WHERE name = 'sessions'");
    update.bind(1, last);
    if (update.exec() > 0) return {};
    SQLite::Statement insert(database, "INSERT INTO sqlite_sequence (name, seq) VALUES ('sessions', ?)");
    insert.bind(1, last);
    insert.exec();
    return {};
}

namespace {

Result<std::vector<StoredCheckpoint>> thoseOnDisk(SQLite::Database& database, const std::string& path, std::int64_t session) {
    const auto folder = checkpointFolder(database, path, session);
    if (!folder) return folder.error();
    std::vector<StoredCheckpoint> all;
    std::set<fs::path> known;
    std::error_code problem;
    for (StoredCheckpoint& one : storedCheckpoints(database, session))
        if (fs::exists(one.path, problem) && known.insert(canonical(one.path)).second) all.push_back(std::move(one));
    for (const auto& entry : fs::directory_iterator(*folder, problem)) {
        const std::int64_t step = stepOf(entry.path().filename().string());
        // A checkpoint gets its name when it is whole.
        if (step >= 0 && fs::exists(entry.path() / "state.json", problem) && known.insert(canonical(entry.path().string())).second)
            all.push_back({step, entry.path().string()});
    }
    std::ranges::stable_sort(all, {}, &StoredCheckpoint::step);
    return all;
}

// In one step, so that half of it never looks like a whole one: what a kill leaves is cleared away as unfinished ones are.
Status removeOne(const std::string& place) {
    const std::string away = fmt::format("{}.unfinished-{}", place, ::getpid());
    std::error_code problem;
    fs::rename(place, away, problem);
    if (problem)
        return makeError(ErrorCode::Io, fmt::format("The checkpoint {} cannot be removed: {}.", place, problem.message()))
            .about(Subject::Kind::Checkpoint, place);
    return removeAll(away);
}

}  // namespace

Result<std::vector<std::string>> checkpointsOnDisk(SQLite::Database& database, const std::string& path, std::int64_t session) {
    auto all = thoseOnDisk(database, path, session);
    if (!all) return all.error();
    std::vector<std::string> paths;
    for (StoredCheckpoint& one : *all) paths.push_back(std::move(one.path));
    return paths;
}

Status removeCheckpoints(SQLite::Database& database, const std::string& path, std::int64_t session) {
    const auto folder = checkpointFolder(database, path, session);
    if (!folder) return folder.error();
    if (auto gone = removeAll(*folder); !gone) return gone;
    // In a folder of before, another database's session of the same number may have its own: only what this one stored goes.
    const auto former = formerFolders(path, session);
    for (const StoredCheckpoint& one : storedCheckpoints(database, session)) {
        const fs::path place = fs::path(one.path).lexically_normal();
        if (!former.contains(place.parent_path()) || stepOf(place.filename().string()) < 0) continue;
        if (auto gone = removeAll(place); !gone) return gone;
    }
    std::error_code notEmpty;
    for (const fs::path& place : former) fs::remove(place, notEmpty);
    return {};
}

Result<std::string> checkpointFolder(const std::string& path, std::int64_t session) {
    auto connection = openForReading(path);
    if (!connection) return connection.error();
    if (!*connection) return noSuchSession(path, session);
    return guarded(path, [&] { return checkpointFolder(**connection, path, session); });
}

Result<std::vector<std::string>> checkpointsOnDisk(const std::string& path, std::int64_t session) {
    auto connection = openForReading(path);
    if (!connection) return connection.error();
    if (!*connection) return noSuchSession(path, session);
    return guarded(path, [&]() -> Result<std::vector<std::string>> {
        if (const Status known = isStored(**connection, path, session); !known) return known.error();
        return checkpointsOnDisk(**connection, path, session);
    });
}

Result<std::string> newestStoredCheckpoint(const std::string& path, std::int64_t session) {
    auto connection = openForReading(path);
    if (!connection) return connection.error();
    if (!*connection) return noSuchSession(path, session);
    return guarded(path, [&]() -> Result<std::string> {
        auto all = storedCheckpoints(**connection, session);
        return all.empty() ? std::string() : std::move(all.back().path);
    });
}

Result<std::vector<ListedCheckpoint>> listCheckpoints(const std::string& path, std::int64_t session) {
    auto connection = openForReading(path);
    if (!connection) return connection.error();
    if (!*connection) return noSuchSession(path, session);
    return guarded(path, [&]() -> Result<std::vector<ListedCheckpoint>> {
        if (const Status known = isStored(**connection, path, session); !known) return known.error();
        const auto all = thoseOnDisk(**connection, path, session);
        if (!all) return all.error();
        std::vector<ListedCheckpoint> listed;
        for (const StoredCheckpoint& one : *all)
            listed.push_back({one.path, one.step, bytesUnder(one.path), validationLossAt(**connection, session, one.step)});
        return listed;
    });
}

Result<std::int64_t> deleteCheckpoint(const std::string& path, std::int64_t session, const std::string& checkpoint) {
    auto connection = openForReading(path);
    if (!connection) return connection.error();
    if (!*connection) return noSuchSession(path, session);
    return guarded(path, [&]() -> Result<std::int64_t> {
        if (const Status known = isStored(**connection, path, session); !known) return known.error();
        const auto about = [&](Error error) { return std::move(error).about(Subject::Kind::Checkpoint, checkpoint); };
        if (SessionLock::held(path, session))
            return about(
                makeError(ErrorCode::BadInput, fmt::format("Session {} is still running; stop it before deleting a checkpoint of it.", session)));
        const auto all = thoseOnDisk(**connection, path, session);
        if (!all) return all.error();
        const fs::path wanted = canonical(checkpoint);
        if (std::ranges::none_of(*all, [&](const StoredCheckpoint& one) { return canonical(one.path) == wanted; }))
            return about(makeError(ErrorCode::NotFound, fmt::format("Session {} has no checkpoint {}.", session, checkpoint)));
        // One that a person had written to a place of their own is theirs.
        const auto folder = checkpointFolder(**connection, path, session);
        if (!folder) return folder.error();
        const fs::path parent = wanted.parent_path();
        const bool own = parent == canonical(*folder) || formerFolders(path, session).contains(parent);
        if (!own || stepOf(wanted.filename().string()) < 0)
            return about(makeError(
                ErrorCode::BadInput,
                fmt::format("The checkpoint {} lies where somebody asked for it and not beside the database; delete it there.", checkpoint)));
        const std::int64_t bytes = bytesUnder(wanted);
        if (const Status removed = removeOne(wanted.string()); !removed) return removed.error();
        return bytes;
    });
}

}  // namespace stepscope
