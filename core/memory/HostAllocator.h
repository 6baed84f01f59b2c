// HostAllocator: how LibTorch gets CPU memory. Installed once, first thing in main, and never swapped; the switch
// `host-memory` acts inside it. `system` passes through to the C library; `caching` keeps freed blocks of 64 KiB and more on
// free lists of mapped, huge-page-advised memory, so that a step does not page-fault the same buffers anew.
// It counts live bytes and throws c10::OutOfMemoryError above a budget: without that a run over memory is killed by the
// system and cannot be caught. Safe across threads.
#pragma once
#include <cstdint>

#include "core/base/Result.h"
#include "core/base/Units.h"

namespace stepscope::host_memory {

enum class Mode { System, Caching };

// Replaces LibTorch's CPU allocator. Call before any tensor is made; later calls do nothing.
void install();
bool installed();

// Mode of allocations from now on (any thread); blocks of either mode are freed correctly at any time. Returns the former mode.
Mode setMode(Mode mode);
Mode mode();

// The most live bytes allowed. Default: the smaller of the cgroup's limit and the available memory, less a margin of 5 % or
// 256 MB; the environment variable STEPSCOPE_MEMORY_LIMIT (bytes) overrides it.
void setBudget(Bytes budget);
// What STEPSCOPE_MEMORY_LIMIT allows, 0 where it is not set; an error where it is no whole number of bytes above 0.
Result<Bytes> limitOfEnvironment();
Bytes budget();
// How many processes of this machine, this one included, take what is available: each has an equal part of what none of them holds yet. 1 at first.
// A limit of the environment is each one's own.
void shareAmong(int processes);
// The default, computed anew from what is available now plus what we hold; sets nothing.
Bytes affordable();
void refreshBudget();  // sets it

struct Usage {
    Bytes live;    // handed out
    Bytes peak;    // highest live since resetPeak()
    Bytes cached;  // kept on free lists
};
Usage usage();
void resetPeak();

// Gives everything on the free lists back to the system; called when a run ends.
void trim();

}  // namespace stepscope::host_memory
