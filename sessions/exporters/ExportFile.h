// exportToFile(): an export into a file that is either whole or, when something fails, what it was before. Written beside, synced to
// the disk, then renamed over the target. Called by the exporters, on their callers' threads.
#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include "core/base/Result.h"

namespace stepscope {

// What a file that is there already is to the one that is written.
enum class Existing {
    Replace,  // a person was asked, or wants it so
    Keep,     // it stays, and nothing is written
};

// Told at the begin and at the end, and of each some hundred kilobytes: how many bytes are written; false stops it.
using ExportProgress = std::function<bool(std::int64_t bytes)>;

// Asked again and again while nothing can be written yet, because all is read once before: Cancelled, where nobody wants it any more.
Status stillWanted(const ExportProgress& progress);

// BadInput, where a file (or a link to one) is there: what to do. A pipe or a device is no file that could be lost.
Status mayWrite(const std::string& path, Existing existing);

// Before long work whose answer goes there: what exportToFile() would end with where its folder is not there or takes no file. Leaves nothing behind.
Status canBeWritten(const std::string& path);

// `write` fills the stream. Its error is handed on; one of the file names the path, as it was given. A link keeps pointing where it did; a
// pipe or a device takes the bytes as they come. What is stopped is as if nobody had tried (Cancelled). BadInput where a
// database is there: no export takes its place.
Status exportToFile(const std::string& path, const std::function<Status(std::ostream&)>& write, const ExportProgress& progress = {});

}  // namespace stepscope
