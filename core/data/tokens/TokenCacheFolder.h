// The folder of token caches as a whole: bounded, the file that was not used for the longest time goes first, one in use never goes.
// Called by TokenCache while a corpus is opened.
#pragma once
#include <cstddef>
#include <string>

#include "core/base/Units.h"

namespace stepscope {

struct TokenCacheLimits {
    std::size_t files = 20;
    Bytes bytes{10'000'000'000};
};
// On a disk of that size a tenth of it, where that is more: the tokens of tens of gigabytes of text are longer than the rest together, and should
// not go with the next run on another text.
TokenCacheLimits limitsOn(Bytes disk);

// Notes that `path` was used now: its time of modification, since many systems do not keep the time of reading.
void markTokenCacheUsed(const std::string& path);

// Removes token caches from `folder` until the limits hold or only files are left that somebody has mapped (MappedFile::Hold::InUse).
// Other files in the folder are left alone. What cannot be removed is left: the cache never stands in the way of a run.
void boundTokenCaches(const std::string& folder, const TokenCacheLimits& limits);
void boundTokenCaches(const std::string& folder);  // by its disk

}  // namespace stepscope
