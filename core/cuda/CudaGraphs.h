// What the program and libstepscope_cuda_graphs.so say to each other: one versioned table, as CudaInterface.h is. That library is apart
// from the kernels because it is linked to LibTorch's CUDA half, whose allocator has to know of a capture. Torch-free.
// Every function that can fail returns null when it worked, else a sentence that lives until the next call on this thread.
#pragma once
#include <cstdint>

namespace stepscope {

inline constexpr int kCudaGraphsVersion = 1;

struct CudaGraphs {
    std::int32_t version;

    // Begins to capture what is put onto LibTorch's current stream of the device, which must not be the default one; only this thread's
    // unsafe calls are refused meanwhile. The graph has memory of its own, or with `sharesWith` that of a graph that is always replayed
    // before it.
    const char* (*begin)(std::int32_t device, void* sharesWith, void** graph);
    // Ends it and makes it ready to be replayed; kernels: how many it launches.
    const char* (*end)(void* graph, std::int64_t* kernels);
    // Puts the whole graph onto the current stream.
    const char* (*replay)(void* graph);
    // Also of a graph whose capture failed or was not ended.
    void (*destroy)(void* graph);
};

}  // namespace stepscope

// The only symbol that the library exports. Null when it does not speak the version that was asked for.
extern "C" const stepscope::CudaGraphs* stepscope_cuda_graphs(int version);
