// The counters below the lanes of a timeline: what was measured of the machine while the session ran, what its trace counted, and how many works of
// each stream were waiting. Read by TimelineWiring on a thread of its own.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/analysis/panes/RangePanes.h"
#include "core/base/Result.h"
#include "core/trace/TraceIndex.h"
#include "widgets/timeline/TimelineLayout.h"

namespace stepscope {

struct TraceCounters {
    std::vector<CounterSeries> series;
    std::int64_t missing = 0;  // samples of them that were lost or invalid, of series too of which not one was kept
};

// Appends the series to `into`. ErrorCode::Cancelled where `goesOn` is false. most: of more slices than that the queues of streams are means over
// stretches, as their every change is too many to be held.
Status traceCounters(const std::string& database, std::int64_t session, const TraceLanes& lanes, const std::function<bool()>& goesOn,
                     TraceCounters& into, std::int64_t most = PanesReader::kMostSlices);

}  // namespace stepscope
