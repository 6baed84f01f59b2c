// A worker that cannot even begin (a checkpoint that is not there with it, too little memory) comes where the others wait for it, all the same, to
// say why. Called by the command line on its main thread, before a run is made.
#pragma once
#include <chrono>

#include "core/base/Result.h"
#include "core/workers/WorkerPlace.h"

namespace stepscope {

// Returns when the others have come and can hear it, or when some have not come within a few seconds, or within `patience` where that is less. Of a
// place with more than one worker.
void tellNotBegun(const WorkerPlace& place, std::chrono::milliseconds patience, const Error& why);

}  // namespace stepscope
