// prepareInTurn(): what each worker of a run makes ready for itself before the first step, some after others, so that those who come later find what
// those before them left (tokens in a cache). However long it takes nobody is taken for lost meanwhile: all say now and then how far they are.
// Called by all workers on their trainer threads; torch-free.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>

#include "core/base/Result.h"
#include "core/workers/Collectives.h"

namespace stepscope {

// turn: work begins when every worker with a lower turn is done; those with the same work side by side. `stop` comes true while it works when it is
// cancelled, or another worker has failed or gone. cancelled is polled. The workers meet from a thread of this call's until it returns, the first
// times soon and then as often as `mostBetween` says. Done when all are. Errors: this worker's own, where its work failed; Cancelled; or the group's,
// which is worth nothing then. A worker whose own work failed is to give up, for the others wait to hear why.
Status prepareInTurn(Collectives& group, int turn, const std::function<bool()>& cancelled,
                     const std::function<Status(const std::atomic<bool>& stop)>& work,
                     std::chrono::milliseconds mostBetween = std::chrono::seconds(1));

}  // namespace stepscope
