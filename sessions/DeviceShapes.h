// What the GPUs of a session are, as far as a capture or an imported trace tells: how many multiprocessors, threads, registers and how much shared
// memory. On a reader's thread; what is stored is checked as a stranger's.
#pragma once
#include <map>

#include "core/analysis/captures/DeviceSummary.h"
#include "core/base/Result.h"
#include "sessions/SessionStore.h"

namespace stepscope {

// Those of which nothing is told are left out.
Result<GpuShapes> deviceShapes(SessionReader& reader, std::int64_t session);

}  // namespace stepscope
