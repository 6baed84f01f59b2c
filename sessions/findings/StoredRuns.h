// StoredRuns: a stored session as RunComparison looks at it, read in pages: however many steps it has, few of its events are in memory at a time.
// And what the newest run of a name was set to, for whoever names the next one. Any thread but the window's own.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/RunComparison.h"
#include "core/base/Result.h"
#include "sessions/SessionStore.h"

namespace stepscope {

// Errors: those of SessionReader::events().
Result<StoredRun> readStoredRun(SessionReader& reader, std::int64_t session);

// Keys and values of the newest run that has this very name, as listConfig() has them; nothing where there is none, or no database. Errors: those of
// opening it.
using RunSettings = std::vector<std::pair<std::string, std::string>>;
Result<std::optional<RunSettings>> settingsOfNewest(const std::string& database, const std::string& name);

}  // namespace stepscope
