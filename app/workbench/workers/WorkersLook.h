// What the workers of a run are and how fast they add up gradients: asked before a long run is started with them. Each worker calls it; waits for the
// others.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/Result.h"

namespace stepscope {

struct WorkerFacts {
    std::string host;
    std::int64_t process = 0;
    int cores = 0;  // that this process may use
};

struct SumTime {
    std::int64_t bytes = 0;
    double median = 0, slowest = 0;  // seconds, of this worker; from when it asked until the sum was there
    // A worker sends and receives 2 (W - 1) / W times as much in a ring; this over the median.
    double bytesPerSecond = 0;
};

struct WorkersLook {
    int rank = 0, size = 1;
    std::vector<WorkerFacts> workers;  // by rank
    std::vector<SumTime> sums;         // none where there is one worker
};

// Refused with a sentence where the environment contradicts itself, a worker does not come within `patience`, or one runs another version.
Result<WorkersLook> lookAtWorkers(std::chrono::milliseconds patience);

}  // namespace stepscope
