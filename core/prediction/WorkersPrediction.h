// What several workers would make of a step, foretold from a run of some of them: what one works, and how long sums of gradients take over a ring of
// so many, as far as backward does not hide them. A prediction, never a measurement. Torch-free; any thread.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "core/events/SessionInfo.h"

namespace stepscope {

constexpr std::int64_t kMostForetoldWorkers = 4096;

// Between neighbours of a ring.
struct Link {
    double latency = std::numeric_limits<double>::quiet_NaN();         // seconds of a message
    double bytesPerSecond = std::numeric_limits<double>::quiet_NaN();  // adding up included
    bool known() const;
};

// A ring of W adds up n bytes in 2 (W - 1) messages of n / W bytes each (Patarasuk and Yuan 2009), so that
// seconds = 2 (W - 1) (latency + n / W / bytesPerSecond).
double sumSeconds(const Link& link, double bytes, std::int64_t workers);
// The link that fits times of sums of `workers` best, by least squares of the relative errors; unknown where they tell none: fewer than two sizes, or
// times that do not grow with them.
Link linkOf(const std::vector<LinkTime>& times, std::int64_t workers);

// A step of one of the workers as it was measured: of the one that works longest.
struct WorkerStep {
    double work = 0;                 // seconds: all but waiting for the others
    double backward = 0;             // of them, of the micro-batch whose gradients are final
    std::int64_t gradientBytes = 0;  // as they travel
    std::int64_t bucketBytes = 0;    // of them that are added up at a time
    std::int64_t tokens = 0;         // of a worker
};

struct WorkersPrediction {
    std::int64_t workers = 1;
    double seconds = 0;          // of a step
    double waiting = 0;          // of them, for sums that backward does not hide and for what all agree on
    double tokensPerSecond = 0;  // of all of them
    double times = 1;            // those of one worker that trains alone
};

// Gradients become final evenly over backward, from the last bucket to the first, and are added up one bucket after the other; before each step all
// say twice what they want. Whoever works beside each other here is taken to work no slower there: each further worker has cores of its own.
// workers: from 1. link known.
WorkersPrediction predictWorkers(const WorkerStep& step, const Link& link, std::int64_t workers);

}  // namespace stepscope
