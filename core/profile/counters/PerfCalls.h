// PerfCalls: the three calls of Linux's perf events, and what the system says of them. systemPerf() is the kernel; tests play another one. Any
// thread.
#pragma once
#include <linux/perf_event.h>

#include <cstdint>
#include <optional>
#include <span>

namespace stepscope {

class PerfCalls {
public:
    virtual ~PerfCalls() = default;
    // A counter of one thread, on whatever processor it runs; thread 0: the calling one. group: the descriptor of the counter that it is read with,
    // -1: its own. A descriptor, or -errno.
    virtual int open(perf_event_attr& counter, int thread, int group) = 0;
    // Bytes that were read, 0: the counter is in error and counts no longer; or -errno.
    virtual std::int64_t read(int descriptor, std::span<std::uint64_t> into) = 0;
    virtual void close(int descriptor) = 0;
    // kernel.perf_event_paranoid; nothing: this kernel has no perf events.
    virtual std::optional<int> paranoid() = 0;
};

PerfCalls& systemPerf();

}  // namespace stepscope
