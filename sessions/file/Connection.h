// How a database is opened: for writing (made and migrated as needed) or for reading (nothing is changed, on media where
// nothing may be written either). Inside sessions/ only; a connection is used by one thread at a time.
#pragma once
#include <SQLiteCpp/Database.h>

#include <memory>
#include <span>
#include <string>

#include "core/base/Result.h"
#include "sessions/Schema.h"

namespace stepscope {

using Connection = std::unique_ptr<SQLite::Database>;

// Makes the folder and the file when they are not there. WAL, so that readers never wait for a writer nor it for them.
Result<Connection> openForWriting(const std::string& path);

// Never creates: NotFound when there is no file. Null when the file is empty: there is nothing in it yet, and a reader does
// not write. A file of an older schema is migrated first, through a short writing connection.
Result<Connection> openForReading(const std::string& path);

// Brings the file to the last of `steps` in one exclusive transaction; nothing happens when it is there already.
void migrate(SQLite::Database& database, std::span<const Migration> steps);

}  // namespace stepscope
