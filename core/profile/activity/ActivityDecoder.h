// ActivityDecoder: what CUPTI recorded (core/cuda/CudaActivity.h) as blocks of slices: a lane for each stream of a device, for the waits on it, for
// the calls of each thread and for what the profiler itself took. Kernels are joined with their launches, and with the operation that had them
// launched, waits for an event with the call that recorded it. Torch-free and CUDA-free. One thread at a time.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/StepPlace.h"
#include "core/cuda/CudaActivity.h"
#include "core/profile/activity/ClockPairs.h"
#include "core/trace/Slice.h"

namespace stepscope {

// The operation that an external id stands for.
struct LaunchingOperation {
    const char* name = "";  // lives as long as the decoder
    StepPlace place;
    std::int64_t step = 0;
};

struct ActivityCounts {
    std::int64_t slices = 0;        // made
    std::int64_t kernels = 0;       // of them
    std::int64_t unattributed = 0;  // kernels that belong to no operation
    std::int64_t invalid = 0;       // records that never began or ended before they did
};

class ActivityDecoder {
public:
    struct Setup {
        std::int64_t process = 0;
        // Which operation an id is that was pushed; nothing where it is not known.
        std::function<std::optional<LaunchingOperation>(std::int64_t external)> operation = nullptr;
        std::function<std::string(std::int64_t device)> deviceName = nullptr;  // "NVIDIA A100"
        std::function<std::string(std::int64_t thread)> threadName = nullptr;  // "trainer"
        std::int64_t correlationsFrom = 0;                                     // added to each (OperationStream.h's numberOperationsFrom)
    };
    explicit ActivityDecoder(Setup setup) : m_setup(std::move(setup)) {}

    ClockPairs& clock() { return m_clock; }
    void add(const CudaActivity& activity);
    // Records that the source of them had no room for: told with the next blocks.
    void addLost(std::int64_t records) { m_lost += records; }
    // What was added before the last call: a launch and what it launched may come in either order, and one call apart. last: everything. Blocks of at
    // most 4096 slices, by lane and start.
    std::vector<SliceBlock> take(bool last);

    const ActivityCounts& counts() const { return m_counts; }

private:
    struct Lane {
        SliceThread thread;
        std::vector<CudaActivity> fresh, ready;
        std::int64_t invalid = 0;
        std::int64_t end = 0;  // of the last slice that was handed on
    };
    struct LaneKey {
        enum class What { Stream, Waits, Calls, Overhead } what = What::Stream;
        std::int64_t device = -1, number = 0;  // a stream or a thread
        int spare = 0;                         // which of the lanes beside the first
        auto operator<=>(const LaneKey&) const = default;
    };
    // A CUDA event, the one time that it was recorded.
    struct EventRecord {
        std::int64_t stream = -1, correlation = 0;
    };
    std::string waitedFor(const CudaActivity& wait) const;
    LaneKey keyOf(const CudaActivity& activity) const;
    Lane& lane(const LaneKey& key);
    const char* kept(const CudaActivity& activity);
    std::optional<LaunchingOperation> operationOf(std::int64_t external) const;
    void decode(const LaneKey& key, std::vector<SliceBlock>& into);

    Setup m_setup;
    ClockPairs m_clock;
    std::map<LaneKey, Lane> m_lanes;
    std::unordered_map<std::int64_t, std::int64_t> m_externals;  // of calls, by correlation
    std::deque<std::int64_t> m_order;                            // in which they came
    std::unordered_map<std::int64_t, EventRecord> m_events;      // by CudaActivity::eventRecord
    std::deque<std::int64_t> m_eventOrder;                       // in which they came
    std::unordered_map<std::int64_t, std::int64_t> m_devices;    // of contexts
    std::unordered_map<std::string, std::string> m_names;        // of kernels: mangled, and as they are shown
    std::unordered_set<std::string> m_calls;                     // names of functions
    std::int64_t m_lost = 0;
    ActivityCounts m_counts;
};

}  // namespace stepscope
