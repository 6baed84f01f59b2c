// Which roof the panes below the timeline and `profile` lay over the operations and kernels of a session: what was measured of this machine where it
// ran here, what a trace tells of its device, or a sentence why there is none. Any thread.
#pragma once
#include <map>

#include "core/analysis/panes/Roofline.h"
#include "core/events/Machine.h"
#include "core/events/SessionInfo.h"

namespace stepscope {

// device: whether it ran on GPUs; shapes: of those that the session tells of; here: this machine, null: not known yet. Reads a small file.
Roof roofOf(const SessionInfo& session, bool device, const std::map<std::int64_t, GpuShape>& shapes, const Machine* here);

}  // namespace stepscope
