// What a file is, found out without changing a byte of it and without leaving anything beside it. Called before every opening,
// on any thread: a file that is not ours must never meet a SQLite connection that locks, recovers or checkpoints.
#pragma once
#include <string>

#include "core/base/Result.h"

namespace stepscope {

struct FileHeader {
    bool exists = false;
    bool empty = true;      // nothing in it yet: missing, or left by a process killed while it created the file
    int schemaVersion = 0;  // of a file of ours
};

// Errors: not a regular file, not permitted, not SQLite, another application's, of a newer schema.
Result<FileHeader> inspectFile(const std::string& path);

}  // namespace stepscope
