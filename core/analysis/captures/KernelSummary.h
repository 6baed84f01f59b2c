// KernelSummary: what the kernels, copies and memsets of captured or imported slices come to, by name, with the operation that had them launched.
// Blocks are added in any order and however they were cut. Which operation launched a work is known when all have come, so a few bytes of each are
// held: bytesNeeded(). Where that is more than a bound nothing of it is, and what each kernel took is still told: launchersKnown(). `profile --by
// kernel` and the page Operations read this.
#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/analysis/captures/DeviceSummary.h"
#include "core/analysis/captures/IdColumn.h"
#include "core/analysis/captures/KernelFacts.h"
#include "core/analysis/captures/OperationSummary.h"
#include "core/base/KeyedHash.h"
#include "core/trace/Slice.h"

namespace stepscope {

struct LaunchedRow {
    std::string name;
    SliceKind kind = SliceKind::Kernel;  // or Memcpy, Memset
    std::int64_t calls = 0;
    TimeNs total, shortest, longest;
    // Of the launches that took the most time together: their grid, threads of a block, registers of a thread and shared memory of a block, and the
    // operation; empty or 0: unknown.
    std::array<std::int64_t, 3> grid{}, block{};
    std::int64_t registers = 0, sharedBytes = 0;
    std::string operation;
    std::int32_t layer = -1;  // of that operation
    std::string role;
    std::int64_t operations = 0;  // different ones that launched it
    std::int64_t bytes = 0;       // that were copied or set
    // Of the operations that launched it, as far as sizes were recorded: what they compute and move. Where one launches several kernels each has the
    // part of its time. worked: the time of the launches that this is known of.
    double flops = 0, movedBytes = 0;
    TimeNs worked;
    std::string type;  // of most of them, as LibTorch names it: "Float"; empty: unknown

    TimeNs mean() const { return {calls == 0 ? 0 : total.ns / calls}; }
    // Copied or set, or read and written by what launched it; 0: unknown.
    double moved() const { return static_cast<double>(bytes) + movedBytes; }
};

class KernelSummary {
public:
    // InAnyOrder: the operations and calls of all threads are held until it is asked which lies in which. LaneByLane: the blocks of a lane come one
    // after the other by their begin, as forEachSliceBlock reads them, and of a lane only what a later block may still reach is held.
    enum class Blocks { InAnyOrder, LaneByLane };
    static constexpr std::int64_t kMostHeld = 50'000'000;  // operations, calls and kernels: about two gigabytes
    KernelSummary() = default;
    // gpus: for facts().
    explicit KernelSummary(Blocks order, GpuShapes gpus = {}, std::int64_t mostHeld = kMostHeld)
        : m_order(order), m_gpus(std::move(gpus)), m_mostHeld(mostHeld) {}

    void add(const SliceBlock& block);
    // What is asked is asked when all blocks have come.
    // By total time, or where sorted by memory by the bytes that are moved, then by total time. limit: 0 = all.
    std::vector<LaunchedRow> rows(SummarySort sort, std::size_t limit = 0);
    // Of kernels, by name.
    std::map<std::string, KernelFacts> facts();
    TimeNs total() const { return {m_total}; }

    // False where more came than are held: then of every kernel it is unknown which operation launched it, what that computed and how long launches
    // waited, but for what kernels say of themselves. All else is of all of them.
    bool launchersKnown() const { return !m_tooMany; }
    // Operations and calls that are held because it is not known yet which lies in which.
    std::size_t waiting() const;
    // What so many slices take at most that come lane by lane, with what ordering them takes.
    static std::int64_t bytesNeeded(std::int64_t slices);

private:
    struct Operation {
        std::uint32_t name = 0, role = 0;
        std::int32_t layer = -1;
        auto operator<=>(const Operation&) const = default;
    };
    struct Known {  // what calls of an operation have alike
        Operation operation;
        std::int64_t flops = 0, bytes = 0;
        std::uint32_t type = 0;
        bool sized() const { return flops > 0 || bytes > 0; }
        auto operator<=>(const Known&) const = default;
    };
    struct Call {  // of the runtime, by correlation
        Packed64 external, start;
        std::uint32_t around = 0;  // the innermost operation that it was made in, a place in m_known; 0: in none
    };
    struct Launch {
        std::uint32_t sort = 0;
        Packed64 duration, start, external, correlation;
    };
    struct Sort {  // what launches have alike
        std::int64_t rank = 0;
        std::uint32_t row = 0, facts = 0;
        Operation own;          // that the slice itself names; name 0: none
        bool replayed = false;  // by a CUDA graph
        std::int64_t time = 0;
    };
    using SortKey = std::tuple<std::int64_t, std::uint32_t, SliceKind, Operation, bool>;  // rank, name, kind
    using Shape = std::array<std::int64_t, 8>;                                            // grid, block, registers, shared memory
    struct Row {
        LaunchedRow sums;
        std::map<Shape, std::int64_t> ofShape;
    };
    struct Worker {
        IdColumn<std::uint32_t> operations;  // by external id, places in m_known
        IdColumn<Call> calls;
    };
    struct Span {  // an operation on its lane
        std::int64_t start = 0, end = 0;
        std::int32_t depth = 0;
        std::uint32_t known = 0;
    };
    struct WaitingCall {
        std::int64_t start = 0, correlation = 0, external = 0;
    };
    struct Lane {
        std::vector<Span> spans, open;
        std::vector<WaitingCall> calls;
    };
    struct Launcher {
        const Operation* operation = nullptr;  // nobody: unknown
        std::optional<std::size_t> place;      // in Worker::operations, where an id tells it
    };
    std::uint32_t textOf(const std::string& text);
    std::uint32_t knownOf(const Known& known);
    std::uint32_t sortOf(const SortKey& key);
    Lane& laneOf(const SliceBlock& block);
    // before: nothing of the lane that begins earlier comes any more; none: nothing at all.
    static void settle(Lane& lane, Worker& worker, std::optional<std::int64_t> before);
    void hold(const SliceBlock& block);
    void finish();
    Launcher launcherOf(const Launch& launch, const Worker& worker) const;
    std::map<std::int64_t, std::vector<std::int64_t>> deviceTimes() const;

    Blocks m_order = Blocks::InAnyOrder;
    GpuShapes m_gpus;
    std::vector<std::string> m_texts{std::string()};
    KeyedMap<std::string, std::uint32_t> m_textPlaces{{std::string(), 0}};
    std::vector<Known> m_known{Known()};  // the first stands for none
    std::map<Known, std::uint32_t> m_knownPlaces;
    std::vector<Sort> m_sorts;
    std::map<SortKey, std::uint32_t> m_sortPlaces;
    std::vector<Row> m_rows;
    std::map<std::pair<std::string, SliceKind>, std::uint32_t> m_rowPlaces;
    std::map<std::int64_t, Worker> m_workers;                       // by rank
    std::map<std::pair<std::int64_t, std::int64_t>, Lane> m_lanes;  // by rank and number; lane by lane: the one in hand
    std::deque<Launch> m_launches;                                  // which never moves all of them to grow
    KernelFactSums m_facts;
    std::int64_t m_total = 0;
    std::int64_t m_mostHeld = kMostHeld, m_held = 0;
    bool m_tooMany = false;  // came than are held
    bool m_sized = false;    // of some operations it is known what they compute or move
};

}  // namespace stepscope
