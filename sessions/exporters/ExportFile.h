// exportToFile(): an export into a file that is either whole or, when something fails, what it was before. Written beside, synced to
// the disk, then renamed over the target. Called by the exporters, on their callers' threads.
#pragma once
#include <functional>
#include <iosfwd>
#include <string>

#include "core/base/Result.h"

namespace stepscope {

// `write` fills the stream. Its error is handed on; one of the file names the path, as it was given. A link keeps pointing where it did; a
// pipe or a device takes the bytes as they come.
Status exportToFile(const std::string& path, const std::function<Status(std::ostream&)>& write);

}  // namespace stepscope
