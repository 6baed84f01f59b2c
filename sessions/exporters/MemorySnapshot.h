// MemorySnapshot: the allocations of a session as the pickle that torch.cuda.memory._dump_snapshot writes, which pytorch.org/memory_viz and
// torch/cuda/_memory_viz.py open. Written, never read. Called by the command line and the window's export, on a reader thread.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>

#include "core/base/Result.h"
#include "sessions/exporters/ExportFile.h"
#include "sessions/exporters/OneRank.h"

namespace stepscope {

// device_traces has one list a device, in the order of their numbers, each with its allocations ("alloc") and what was given back ("free_requested",
// "free_completed") in order of time; the host is the last, as a device behind the others. segments are the blocks that are in use at the end. The
// frame of a block is who took it, in the "file" of its kind (weights, activations). Where no allocation was recorded, that is an error with a
// sentence. `progress` is asked while they are read, before anything is written. rank: of that worker alone.
Status exportMemorySnapshot(const std::string& database, std::int64_t session, std::ostream& out, const ExportProgress& progress = {},
                            const OneRank& rank = {});

}  // namespace stepscope
