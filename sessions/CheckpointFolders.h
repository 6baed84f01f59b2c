// Where the checkpoints of stored sessions lie: <database>.checkpoints/db-<identity>/<session>/step-…, the database's path with symbolic
// links followed. Files of before had <database>.checkpoints/<session>/ as it was spelt; what a session stored of those is still its own.
// Inside sessions/ only; throws SQLite::Exception.
#pragma once
#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/Result.h"

namespace stepscope {

Result<std::string> checkpointFolder(SQLite::Database& database, const std::string& path, std::int64_t session);

// Before a session is made: numbers whose folder is there already are left out, for a copy of the database that was put back hands out again those of
// the sessions that came after it. Errors: as of the folder.
Status leaveOutTakenNumbers(SQLite::Database& database, const std::string& path);

// Of those that are there: stored by the session, or found whole in its folder, where a kill came between a checkpoint and its row.
// Oldest first.
Result<std::vector<std::string>> checkpointsOnDisk(SQLite::Database& database, const std::string& path, std::int64_t session);

// Everything on disk that is this session's and nobody else's. Good when nothing of it is left.
Status removeCheckpoints(SQLite::Database& database, const std::string& path, std::int64_t session);

}  // namespace stepscope
