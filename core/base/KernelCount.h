// How many fused kernels of our own have run in this process. LibTorch's observers see its operations and not ours; whoever counts what a
// step runs (core/profile/OperationCounter.h) needs both.
#pragma once
#include <atomic>
#include <cstdint>

namespace stepscope {

inline std::atomic<std::int64_t>& kernelsRun() {
    static std::atomic<std::int64_t> count{0};
    return count;
}

// Called where a fused operation hands its work to the threads: once an operation, not once a thread.
inline void noteKernel() { kernelsRun().fetch_add(1, std::memory_order_relaxed); }

}  // namespace stepscope
