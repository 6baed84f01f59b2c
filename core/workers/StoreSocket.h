// StoreSocket: where the store of workers without torchrun listens, and whether it does already. Torch-free; any thread.
#pragma once
#include <optional>

#include "core/workers/WorkerPlace.h"

namespace stepscope {

// A socket that is bound to MASTER_ADDR alone, for the store to listen on; whoever takes it closes it. None where that address may be another one
// with the other machines (a name is, often enough), or is none of this machine: c10d then listens on all of them.
std::optional<int> boundToAddress(const WorkerPlace& place);

// Whether somebody takes connections at MASTER_ADDR and MASTER_PORT. Waits a second at most for each address that the name has.
bool somebodyListens(const WorkerPlace& place);

}  // namespace stepscope
