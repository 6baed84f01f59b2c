// purgeSession(): everything of a session that is in the tables. Called where deleted sessions are removed for good and where an import is undone,
// within the caller's transaction; throws SQLite::Exception.
#pragma once
#include <SQLiteCpp/Database.h>

#include <cstdint>

namespace stepscope {

// In the place of when a session was deleted: it is being imported and not to be seen before it is whole. Nobody deleted one in the first millisecond
// of 1970.
constexpr std::int64_t kBeingImported = 1;

void purgeSession(SQLite::Database& database, std::int64_t session);

}  // namespace stepscope
