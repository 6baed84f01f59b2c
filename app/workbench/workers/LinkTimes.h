// How long the workers of a run take to add up so many bytes, nothing else to do: what forecasts for other numbers of workers rest on. Every worker
// calls it at the same place.
#pragma once
#include <vector>

#include "core/base/Result.h"
#include "core/events/SessionInfo.h"
#include "core/workers/WorkerGroup.h"

namespace stepscope {

// Seconds of each of `count` sums of so many bytes, in order of size, as this worker saw them; all have met before each. The first, which connects,
// is not among them.
Result<std::vector<double>> timeSums(WorkerGroup& group, std::int64_t bytes, int count);

// A few of each of three sizes, by their medians: a fraction of a second where workers share a machine or a fast network.
Result<std::vector<LinkTime>> timeLink(WorkerGroup& group);

}  // namespace stepscope
