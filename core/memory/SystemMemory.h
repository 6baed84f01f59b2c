// What memory there is: physical, available now, and what a cgroup allows. Read from /proc and /sys; any thread.
#pragma once
#include "core/base/Units.h"

namespace stepscope {

Bytes totalMemory();         // the smaller of physical memory and the cgroup's limit
Bytes availableMemory();     // the smaller of MemAvailable and what is left of the cgroup's limit; pages of files can be dropped and count as left
Bytes residentMemory();      // of this process, now
Bytes peakResidentMemory();  // of this process, since it began

}  // namespace stepscope
