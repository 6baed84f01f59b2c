// StoreSocket: where the store of workers without torchrun listens, and whether it does already. Torch-free; any thread.
#pragma once
#include "core/base/Result.h"
#include "core/workers/WorkerPlace.h"

namespace stepscope {

// A socket that listens at MASTER_PORT, for the first worker's store to take over; whoever takes it closes it. At MASTER_ADDR alone, but where that
// is a name that may be another address with the other machines: then at all of this one's. Refused with a sentence: the port is taken (Io), the
// address or the name is none of this machine (BadInput), the system allows no such port (Io).
Result<int> listenForStore(const WorkerPlace& place);

// Whether somebody takes connections at MASTER_ADDR and MASTER_PORT. Waits a second at most for each address that the name has.
bool somebodyListens(const WorkerPlace& place);

}  // namespace stepscope
