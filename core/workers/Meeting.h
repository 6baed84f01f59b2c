// Meeting: how the workers of a run come together: the store opened or found, each rank claimed once, all waited for. c10d opens a store without a
// time limit that holds against somebody who listens and says nothing, so it is done on a thread of its own and waited for here. WorkerGroup calls
// it; sees c10d.
#pragma once
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <functional>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "core/base/Result.h"
#include "core/workers/WorkerPlace.h"

namespace stepscope {

struct MetAt {
    c10::intrusive_ptr<c10d::Store> store;    // what is said there is of this start of these workers alone
    c10::intrusive_ptr<c10d::Store> lasting;  // outlives a restart; null: nothing is kept for a next time
};

// torchrun's agent has a store for its workers, and those who meet at a file need none; else the first of them opens it.
bool opensStore(const WorkerPlace& place);

// Returns when all have come, `patience` is over, `cancelled` (polled on the calling thread) says so, or it is known that they will never come
// together: Cancelled, or a sentence. A thread that still waits within c10d a few seconds after that is left behind: end the process then. whyNot:
// not empty where this one cannot train with the others, who all hear it; with it nobody comes together.
Result<MetAt> comeTogether(const WorkerPlace& place, std::chrono::milliseconds patience, const std::function<bool()>& cancelled,
                           const std::string& whyNot = {});

// The sentence of one who waited in vain; and of one who was stopped meanwhile.
Error didNotFindOthers(const WorkerPlace& place, std::chrono::milliseconds patience, std::string cause);
Error stoppedEarly();

}  // namespace stepscope
