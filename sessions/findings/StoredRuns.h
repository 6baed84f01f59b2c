// StoredRuns: a stored session as RunComparison looks at it, read in pages: however many steps it has, few of its events are in memory at a time.
// Main thread of the command line.
#pragma once
#include <cstdint>

#include "core/analysis/RunComparison.h"
#include "core/base/Result.h"
#include "sessions/SessionStore.h"

namespace stepscope {

// Errors: those of SessionReader::events().
Result<StoredRun> readStoredRun(SessionReader& reader, std::int64_t session);

}  // namespace stepscope
