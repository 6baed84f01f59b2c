// The row of a session: its name, configuration and machine, and the state it is in. Written by the recorder, read by
// SessionReader and Replayer; throws SQLite::Exception.
#pragma once
#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/events/RunEvents.h"

namespace stepscope {

std::int64_t insertSession(SQLite::Database& database, const SessionInfo& info);  // state Preparing; returns the new id
// Everything of info but what a person may have edited meanwhile: name, notes and tags.
void updateSession(SQLite::Database& database, std::int64_t session, const SessionInfo& info);
void updateState(SQLite::Database& database, std::int64_t session, const StateChanged& event);

// Errors: no such session (or deleted), a configuration of a newer version. `path` is for the sentence.
Result<SessionInfo> readInfo(SQLite::Database& database, const std::string& path, std::int64_t session);

std::string tagsToJson(const std::vector<std::string>& tags);
std::vector<std::string> tagsFromJson(const std::string& json);

}  // namespace stepscope
