// A session that another process recorded before, taken up again: what it stored behind the checkpoint from which training goes on is made once more,
// so those rows go, and the times of workers of those steps; logs, samples and captures tell what happened, and stay, but for a capture that had not
// come to its end. The recorder calls it within the transaction that opens the session, with its lock held. Throws SQLite::Exception.
// Of a session whose training went on elsewhere (Recorder::GoneOn::all) everything stays.
#pragma once
#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <string>

#include "core/base/Result.h"
#include "core/base/Units.h"
#include "sessions/record/Recorder.h"

namespace stepscope {

// before.checkpoint: its folder, as the session stored it or as it was found beside the database; empty: training begins anew. When the last thing
// happened that is stored. An error where there is no such session.
Result<TimeNs> takeUpSession(SQLite::Database& database, const std::string& path, std::int64_t session, const Recorder::GoneOn& before);
// One more than the largest number by which its rows are told apart.
std::int64_t behindAllSequences(SQLite::Database& database, std::int64_t session);

// Another process still holds it.
Error stillRecorded(const std::string& path, std::int64_t session);

}  // namespace stepscope
