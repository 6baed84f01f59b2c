// DeviceSummary: what the streams of GPUs did, from captured or imported slices (core/trace/Slice.h): when a device was busy, for what it was idle,
// how long launches waited, which kernels took most, and how much of the GPU they filled. Definitions are those of HolisticTraceAnalysis and of
// TensorBoard's profiler, so that numbers agree. Blocks are added in any order and however they were cut; the same slices give the same answers.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/KeyedHash.h"
#include "core/base/Units.h"
#include "core/trace/Lod.h"
#include "core/trace/Slice.h"

namespace stepscope {

// What of a GPU says how much of it a kernel fills. 0: unknown.
struct GpuShape {
    std::int64_t multiprocessors = 0;
    std::int64_t threadsPerMultiprocessor = 0;
    std::int64_t registersPerMultiprocessor = 0;
    std::int64_t sharedPerMultiprocessorBytes = 0;
    std::int64_t blocksPerMultiprocessor = 32;  // 0: unknown, and with it how full it can be
    std::int64_t warp = 32;
    std::int64_t sharedReservedBytes = 0;  // that the system takes of the shared memory for each block, beside the block's own
    // What it can do at most by its own numbers, not measured. 0: unknown.
    double bytesPerSecond = 0;
    double float32 = 0;  // FLOP/s, of its ordinary units
};

// Those of a session, as far as it tells of them.
struct GpuShapes {
    using ByOrdinal = std::map<std::int64_t, GpuShape>;
    ByOrdinal first;                           // what was told first of each ordinal
    std::map<std::int64_t, ByOrdinal> ofRank;  // and what a worker's own file tells of its GPUs, which may be others

    const GpuShape* find(std::int64_t rank, std::int64_t ordinal) const;
};

// Blocks and warps of a launch for each multiprocessor, and the share of its threads that they occupy at most: of those that there are, of those that
// fit in by threads, registers and shared memory. Nothing where the shape or the launch is not known.
struct KernelFill {
    double blocksPerMultiprocessor = 0;
    double warpsPerMultiprocessor = 0;
    double occupancy = 0;  // 0..1
};
std::optional<KernelFill> kernelFill(const SliceArguments& launch, const GpuShape& gpu);

struct StreamTime {
    std::int64_t device = 0, stream = 0;
    std::int64_t works = 0;  // kernels, copies and memsets
    TimeNs begin, end;       // of the first and the last
    TimeNs busy;             // of that, with work of this stream
    TimeNs hostWait;         // idle because what came next was launched only after the one before had ended
    TimeNs kernelWait;       // idle for less than `kernelGap` although it was launched in time
    TimeNs otherIdle;        // idle for another reason: a wait for another stream, say
    TimeNs idle() const { return TimeNs{cappedSum(cappedSum(hostWait.ns, kernelWait.ns), otherIdle.ns)}; }
};

struct DeviceTime {
    std::int64_t device = 0;
    TimeNs begin, end;      // of its first work to its last
    TimeNs busy;            // with any work on any stream
    TimeNs kernels;         //   with a kernel
    TimeNs copies;          //   with a copy or a memset and no kernel
    double efficiency = 0;  // 0..1: of the time from begin to end, kernels weighted by how many multiprocessors they give a block; < 0: unknown
    double occupancy = 0;   // 0..1: of kernels, weighted by their time; < 0: unknown
};

struct KernelRow {
    std::string name;
    std::int64_t calls = 0;
    TimeNs total, shortest, longest;
    // Where most of its time was spent; operation: that launched it.
    std::string operation, phase, role;
    std::int32_t layer = -1;
    TimeNs launchDelay;                                   // from the begin of the calls to the begin of the kernels, together
    std::int64_t launched = 0;                            // calls of them that are known
    double blocksPerMultiprocessor = -1, occupancy = -1;  // weighted by time; < 0: unknown
    TimeNs mean() const { return {calls == 0 ? 0 : total.ns / calls}; }
};

struct CopyRow {
    std::string name;
    std::int64_t count = 0, bytes = 0;
    TimeNs total;
    double bytesPerSecond() const { return total.ns > 0 ? static_cast<double>(bytes) / total.seconds() : 0; }
};

// Works of a stream that were launched and had not begun, from `at` on.
struct QueuePoint {
    TimeNs at;
    std::int64_t length = 0;
};

// How long works of a stream waited from the begin of the call that launched them to their own, and how many waited at once.
struct StreamLaunches {
    std::int64_t device = 0, stream = 0;
    std::int64_t launched = 0;  // works whose calls are known
    TimeNs total, median, longest;
    double meanQueue = 0;  // over the time from the first call to the begin of the last work
    std::int64_t longestQueue = 0;
    TimeNs mean() const { return {launched == 0 ? 0 : total.ns / launched}; }
};

class DeviceSummary {
public:
    // `gpu`: of devices without a shape of their own.
    explicit DeviceSummary(const GpuShape& gpu = {}) : m_gpu(gpu) {}
    void setShape(std::int64_t device, const GpuShape& gpu) { m_shapes[device] = gpu; }
    void setShapes(const GpuShapes& gpus, std::int64_t rank);
    void add(const SliceBlock& block);

    bool empty() const { return m_works.empty(); }
    // By device and stream. Idle time is between works of a stream, as HTA counts it. kernelGap: its consecutive_kernel_delay, which it calls 30 ns
    // and compares with microseconds (tests/interop/device_agrees.py).
    std::vector<StreamTime> streams(TimeNs kernelGap = {30'000}) const;
    std::vector<DeviceTime> devices() const;
    // By total time, the longest first; limit: 0 = all.
    std::vector<KernelRow> kernels(std::size_t limit = 0) const;
    std::vector<CopyRow> copies() const;
    // By device and stream; those of which no launch is known are left out.
    std::vector<StreamLaunches> launches() const;
    // By time; of a stream whose launches are unknown nothing.
    std::vector<QueuePoint> queue(std::int64_t device, std::int64_t stream) const;

private:
    struct Work {
        std::int64_t device, stream, start, end, correlation;
        std::uint32_t name, operation, phase, role;
        std::int32_t layer;
        SliceKind kind;
        std::int64_t bytes;
        float blocks, occupancy;  // < 0: unknown
    };
    struct Launch {
        std::int64_t start = 0, end = 0;
    };
    std::uint32_t textOf(const std::string& text);
    std::vector<Work> inOrder() const;  // by device, stream and start
    const Launch* launchOf(const Work& work) const;

    GpuShape m_gpu;
    std::map<std::int64_t, GpuShape> m_shapes;
    std::vector<Work> m_works;
    KeyedMap<std::int64_t, Launch> m_launches;  // by correlation; the outermost call of several
    std::vector<std::string> m_texts;
    KeyedMap<std::string, std::uint32_t> m_places;
};

// The operation that SliceArguments::extra names; empty where it names none.
std::string launchingOperation(const std::string& extra);

}  // namespace stepscope
