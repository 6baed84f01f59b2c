// What the plug-in hands on of a capture with CUPTI: plain records of kernels, copies and calls, in CUPTI's own time. Made by core/cuda/cupti, turned
// into slices by core/profile/activity. Included by both sides of CudaInterface.h; torch-free, CUDA-free, STL-free.
#pragma once
#include <cstddef>
#include <cstdint>

namespace stepscope {

enum class CudaActivityKind : std::int32_t { Kernel, Memcpy, Memset, Runtime, Driver, Overhead, Synchronisation, External, EventRecord };

struct CudaActivity {
    CudaActivityKind kind = CudaActivityKind::Kernel;
    std::int32_t what = 0;          // of a synchronisation or of overhead its type, of a call its function (cbid), as CUPTI numbers them; 0: unknown
    std::int64_t device = -1;       // -1: unknown, or of the host
    std::int64_t context = 0;       //
    std::int64_t stream = -1;       // CUPTI's number of it; -1: of none
    std::uint64_t start = 0;        // ns of CUPTI's clock; a record whose start is 0 or whose end lies before it is invalid
    std::uint64_t end = 0;          //
    std::int64_t correlation = 0;   // joins a call with what it put onto the device
    std::int64_t external = 0;      // of External: the id that was pushed when the call `correlation` was made. Of a node of a graph: the id that was
                                    // pushed when the node was captured, 0: unknown
    const char* name = nullptr;     // of a kernel as the compiler mangled it, of a call the function's; valid during the call that hands it over
    std::int64_t grid[3] = {};      // blocks
    std::int64_t block[3] = {};     // threads
    std::int64_t registers = 0;     // of a thread
    std::int64_t sharedBytes = 0;   // of a block, static and dynamic together
    std::int64_t bytes = 0;         // of a copy or a memset
    std::int32_t copyKind = 0;      // CUpti_ActivityMemcpyKind
    std::int32_t from = 0, to = 0;  // CUpti_ActivityMemoryKind; of a memset `to`
    std::int64_t process = 0;       // of a call
    std::int64_t thread = 0;        //   as the system numbers it
    std::int64_t graph = 0;         // 0: not of a graph
    std::int64_t graphNode = 0;     //
    std::int64_t event = -1;        // of a wait for an event, and of EventRecord: which, as CUPTI numbers events; -1: of none
    std::int64_t eventRecord = -1;  //   and which time of those that it was recorded: a wait has that of the record it waits for; -1: unknown
};

struct CudaCaptureOptions {
    std::int64_t mostBytes = std::int64_t{64} << 20;   // of buffers; records beyond what fits into them are dropped by CUPTI, which counts them
    std::int64_t bufferBytes = std::int64_t{1} << 20;  // of one
};

struct CudaCaptureCounts {
    std::int64_t records = 0;     // handed on
    std::int64_t dropped = 0;     // that CUPTI had no room for
    std::int64_t unknown = 0;     // of kinds that nobody asked for
    std::int64_t unreadable = 0;  // buffers that CUPTI could not read to their end
    std::int64_t refused = 0;     // kinds beside kernels that CUPTI does not record here
};

using TakeCudaActivities = void (*)(void* user, const CudaActivity* records, std::size_t count);

}  // namespace stepscope
