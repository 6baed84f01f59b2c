// What of a text or of its tokens has to lie in RAM is measured before it is read: the system kills a process that takes too much, and
// nothing can be caught then. The answer is handed in with the CorpusRequest, for the allocator's room is not seen from here.
#pragma once
#include <functional>
#include <limits>

#include "core/base/Result.h"
#include "core/base/Units.h"

namespace stepscope {

using FreeMemory = std::function<Bytes()>;  // what may be taken now; any thread

inline constexpr Bytes kUnbounded{std::numeric_limits<std::int64_t>::max()};

// What is put together piece by piece is copied as it grows: for a moment both lie in RAM.
inline Bytes mostThatGrows(Bytes free) {
    return {free.count / 2};
}

// "WHAT; 210 MB of memory are free for it: REMEDY."
Error noRoom(const std::string& what, Bytes free, const std::string& remedy);

}  // namespace stepscope
