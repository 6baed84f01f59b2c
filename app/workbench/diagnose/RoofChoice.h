// Which roof the panes below the timeline and `profile` lay over the operations and kernels of a session: what was measured of this machine where it
// ran here, what a trace tells of its device, or a sentence why there is none. Any thread.
#pragma once
#include <vector>

#include "core/analysis/panes/Roofline.h"
#include "core/events/Machine.h"
#include "core/events/SessionInfo.h"

namespace stepscope {

// How long a worker's GPU worked.
struct GpuWork {
    std::int64_t rank = 0, device = 0;
    TimeNs time;
};
std::vector<GpuWork> gpuWorkOf(const RangePanes& panes);

// device: whether it ran on GPUs; shapes: of those that the session tells of; worked: by rank and number, empty where nobody knows: of unlike GPUs
// the roof is that of the one that worked most, and says so. here: this machine, null: not known yet. Reads a small file.
Roof roofOf(const SessionInfo& session, bool device, const GpuShapes& shapes, const std::vector<GpuWork>& worked, const Machine* here);

}  // namespace stepscope
