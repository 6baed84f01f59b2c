// WorkerClocks: what one exchange of stamps (WorkerClock.h) found of the clocks of a run's workers, with the most that each may be off by, as a Chunk
// of kind "worker-clocks/1". Written where a run of several workers trains, read where their times are shown; any thread.
#pragma once
#include <cstdint>
#include <vector>

#include "core/base/Result.h"
#include "core/trace/Chunk.h"
#include "core/trace/WorkerClock.h"

namespace stepscope {

constexpr const char* kWorkerClocks = "worker-clocks/1";
constexpr std::size_t kMostClocks = 1 << 20;  // workers of one exchange

struct WorkerClocks {
    std::int64_t at = 0;                 // when it was over, ns of the session's clock, which is the first worker's
    std::vector<ClockReading> readings;  // by rank; no error is below 0

    bool operator==(const WorkerClocks&) const = default;
};

// Of one worker at least.
Chunk encodeWorkerClocks(const WorkerClocks& clocks);
// The bytes are a stranger's: limits are checked before memory is taken, and what is wrong is one sentence with the place of the byte.
Result<WorkerClocks> decodeWorkerClocks(const Chunk& chunk);

}  // namespace stepscope
