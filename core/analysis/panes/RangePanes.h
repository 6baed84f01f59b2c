// RangePanes: everything that the panes of a timeline say of a range of time: which operations and kernels took most, what devices waited for, what
// steps spent their time with, what called what, where in the model. One reading of the slices in it. What begins in the range counts, whole; only
// the flame graph and the division of steps cut at its edges. Where there are more slices than fit into memory, the sums by name that are stored
// beside them answer what they can, and `folded` says so. PanesReader: on a reader's thread.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/analysis/captures/DeviceSummary.h"
#include "core/analysis/captures/KernelSummary.h"
#include "core/analysis/captures/OperationSummary.h"
#include "core/analysis/panes/FlameTree.h"
#include "core/analysis/panes/LayerMap.h"
#include "core/analysis/panes/MemoryCurve.h"
#include "core/analysis/panes/StepDivision.h"
#include "core/trace/TraceIndex.h"

namespace stepscope {

// Where a slice is found again.
struct SlicePlace {
    std::int64_t lane = 0;
    std::int32_t depth = 0;
    std::int64_t start = 0, duration = -1;  // ns; duration < 0: nowhere
};

struct PaneOperation {
    SummaryRow row;
    SlicePlace longest;
    std::string type;          // of its first tensor, as LibTorch names it, where most of its own time went; empty: unknown
    std::int64_t threads = 1;  // that share it: of our own operations each has a slice, so that the time by the clock is a part of its own time
    std::string formats{};     // all of its types with their shares of its own time (OperationForms)
};
struct PaneKernel {
    LaunchedRow row;
    std::string phase;                                    // where most of its time was spent
    TimeNs launchDelay;                                   // of a call
    std::int64_t launched = 0;                            // calls whose launches are known
    double blocksPerMultiprocessor = -1, occupancy = -1;  // of a kernel, weighted by time; < 0: unknown
    SlicePlace longest;
};
struct PaneStream {
    std::int64_t rank = 0;
    StreamTime time;
    StreamLaunches launches;  // launched 0: unknown
};
struct PaneDevice {
    std::int64_t rank = 0;
    DeviceTime time;
};

struct RangePanes {
    std::int64_t from = 0, to = 0;  // ns, what begins in [from, to)
    bool folded = false;            // too many slices to be read one by one: operations, kernels and how busy streams were, nothing else
    bool nestedEach = false;        //   and calls within calls of the same name may be in an operation's total each
    std::int64_t slices = 0;        // that begin in it
    bool devices = false;           // the capture has streams of GPUs at all
    bool severalRanks = false;
    SummaryTotals totals;
    std::vector<PaneOperation> operations;  // by own time
    std::vector<PaneKernel> kernels;        // by total time; copies and memsets too
    std::vector<PaneStream> streams;
    std::vector<PaneDevice> gpus;
    std::vector<DividedSteps> steps;  // one a rank
    FlameTree flame;                  // top-down
    FlameTree turned;                 // the same bottom-up, once turnFlame() was called
    LayerMap layers;
    std::vector<MemoryOfDevice> memory;
    bool allocations = false;        // the capture has any
    bool memoryCut = false;          // more of them than are kept: what came later is not in `memory`
    std::int64_t memoryMissing = 0;  // allocations up to the end of the range that were lost or invalid, of all devices together

    // Whether an edge of the range lies in a step: what begins in the range, by steps, is then not what a step has.
    bool cutsSteps() const;
    // For who draws it bottom-up: takes as long as the flame graph has nodes, and callers.
    void turnFlame() { turned = flame.bottomUp(); }
};

class PanesReader {
public:
    static constexpr std::int64_t kMostSlices = 1'500'000;    // read one by one
    static constexpr std::int64_t kLookBack = 2'000'000'000;  // ns: how long before the range a launch is looked for, and a team around it

    // `source` outlives it. shapes: of GPUs, where they are known.
    PanesReader(TraceSource& source, GpuShapes shapes, TraceIndex::GoesOn goesOn, std::int64_t most = kMostSlices);

    // What lanes there are; before read(), and again when the capture has grown.
    Status open();
    // `from` not before `to`: all that was captured. ErrorCode::Cancelled where goesOn() says no.
    Result<RangePanes> read(std::int64_t from, std::int64_t to);

private:
    struct Growing;
    Status readLane(const TraceLane& lane, Growing& growing);
    Result<RangePanes> readFolded(std::int64_t from, std::int64_t to);
    Status readMemory(RangePanes& into);
    Status foldedStream(const TraceLane& lane, RangePanes& into);
    static RangePanes finish(Growing& growing);

    TraceSource& m_source;
    GpuShapes m_shapes;
    TraceIndex::GoesOn m_goesOn;
    std::int64_t m_most;
    TraceIndex m_index;
    TraceLanes m_lanes;
    std::map<std::int64_t, std::string> m_kinds;  // of the base blocks of a lane
    std::vector<std::int64_t> m_allocations;      // lanes of them
    bool m_someAllocations = false;               // in any of those
};

// "trainer", "stream 7 of GPU 0": what a lane is called.
std::string laneWords(const SliceThread& thread, bool severalRanks);

}  // namespace stepscope
