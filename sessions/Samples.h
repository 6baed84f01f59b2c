// The samples, allocations and times of workers of a session, block by block: never more than a few of them in memory. Whoever adds up, draws or
// exports counters or memory reads it by this. On a reader's thread.
#pragma once
#include <functional>

#include "core/analysis/panes/WorkerMap.h"
#include "core/base/Result.h"
#include "core/trace/Allocation.h"
#include "core/trace/Sample.h"
#include "core/trace/WorkerClocks.h"
#include "core/trace/WorkerTimes.h"
#include "sessions/SessionStore.h"

namespace stepscope {

// Those of [from, to) and of blocks that reach into it; by default all.
struct BlockRange {
    TimeNs from{std::numeric_limits<std::int64_t>::min()};
    TimeNs to{std::numeric_limits<std::int64_t>::max()};
};

// Lane by lane, in a lane by the begin of the blocks. The first error of `take` ends it and is handed on.
Status forEachSampleBlock(SessionReader& reader, std::int64_t session, const std::function<Status(const SampleBlock&)>& take,
                          const BlockRange& range = {});
Status forEachAllocationBlock(SessionReader& reader, std::int64_t session, const std::function<Status(const AllocationBlock&)>& take,
                              const BlockRange& range = {});
// Of a run of several workers: whether there is more of those beside the first than operations, phases and steps. Older versions recorded no more.
Result<bool> othersHaveMemory(SessionReader& reader, std::int64_t session);
// Of a run of several workers: what each of them took for the phases of its steps, in order of time.
Status forEachWorkerTimes(SessionReader& reader, std::int64_t session, const std::function<Status(const WorkerTimes&)>& take);
// And what was found of their clocks, exchange by exchange.
Status forEachWorkerClocks(SessionReader& reader, std::int64_t session, const std::function<Status(const WorkerClocks&)>& take);
// Both summed up; without steps where one worker made the run. NotFound: there is no such session.
Result<WorkerMap> workerMapOf(const std::string& database, std::int64_t session);

}  // namespace stepscope
