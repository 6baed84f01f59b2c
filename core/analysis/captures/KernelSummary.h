// KernelSummary: what the kernels, copies and memsets of captured or imported slices come to, by name, with the operation that had them launched.
// Blocks are added in any order and however they were cut. `profile --by kernel` and the page Operations read this.
#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/analysis/captures/DeviceSummary.h"
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

// What streams tell of the kernels of one name, on all GPUs.
struct KernelFacts {
    std::string phase;                                    // where most of its time was spent; empty: unknown
    TimeNs launchDelay;                                   // of a call, from the begin of the launch to its own
    std::int64_t launched = 0;                            // calls whose launches are known
    double blocksPerMultiprocessor = -1, occupancy = -1;  // weighted by time; < 0: unknown
};
// By name. devices: by rank.
std::map<std::string, KernelFacts> kernelFacts(const std::map<std::int64_t, DeviceSummary>& devices);

class KernelSummary {
public:
    void add(const SliceBlock& block);
    // By total time, or where sorted by memory by the bytes that are moved, then by total time. limit: 0 = all.
    std::vector<LaunchedRow> rows(SummarySort sort, std::size_t limit = 0) const;
    TimeNs total() const { return {m_total}; }

private:
    struct Operation {
        std::uint32_t name = 0, role = 0;
        std::int32_t layer = -1;
        auto operator<=>(const Operation&) const = default;
    };
    struct Launch {
        std::uint32_t name = 0;
        SliceKind kind = SliceKind::Kernel;
        std::int64_t duration = 0, bytes = 0, rank = 0, external = 0, correlation = 0;
        std::uint32_t shape = 0;
        Operation own;          // that the slice itself names; name 0: none
        bool replayed = false;  // by a CUDA graph
    };
    struct Work {  // of one call of an operation
        std::int64_t flops = 0, bytes = 0;
        std::uint32_t type = 0;
    };
    struct Span {  // an operation on its lane
        std::int64_t rank, lane, start, end;
        std::int32_t depth;
        Operation operation;
    };
    struct Call {  // of the runtime
        std::int64_t rank, lane, start, correlation;
    };
    using Shape = std::array<std::int64_t, 8>;  // grid, block, registers, shared memory
    std::uint32_t textOf(const std::string& text);

    using Joined = KeyedMap<std::pair<std::int64_t, std::int64_t>, Operation>;
    std::pair<std::int64_t, std::int64_t> callOf(const Launch& launch) const;
    const Operation* operationOf(const Launch& launch, const Joined& around) const;
    Joined aroundCalls() const;
    std::vector<std::string> m_texts{std::string()};
    KeyedMap<std::string, std::uint32_t> m_textPlaces{{std::string(), 0}};
    std::vector<Shape> m_shapes;
    KeyedMap<std::string, std::uint32_t> m_shapePlaces;
    KeyedMap<std::pair<std::int64_t, std::int64_t>, Work> m_works;              // by rank and external id
    Joined m_operations;                                                        // by rank and external id
    KeyedMap<std::pair<std::int64_t, std::int64_t>, std::int64_t> m_externals;  // by rank and correlation: that of the launching call
    std::vector<Launch> m_launches;
    std::vector<Span> m_spans;
    std::vector<Call> m_calls;
    std::int64_t m_total = 0;
};

}  // namespace stepscope
