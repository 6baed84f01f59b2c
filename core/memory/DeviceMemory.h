// Memory of the device that a run is on: of a CPU what HostAllocator counts, of a GPU what LibTorch's caching allocator handed out.
// Trainer thread, and whoever reads the peak after a run.
#pragma once
#include <c10/core/Device.h>

#include "core/base/Units.h"

namespace stepscope::device_memory {

Bytes live(c10::Device device);  // handed out now
Bytes peak(c10::Device device);  // highest live since resetPeak()
void resetPeak(c10::Device device);
// Highest live since the last call of this or of resetPeak(): what a step took. peak() keeps its meaning.
Bytes takePeak(c10::Device device);
// Waits until all that this thread has given the device to do is done: a Program may go on on a stream of its own. Nothing on a CPU.
void synchronise(c10::Device device);
// Gives back to the system what is kept for reuse.
void trim(c10::Device device);

}  // namespace stepscope::device_memory
