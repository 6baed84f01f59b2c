// KinetoRows: slices, counters and allocations of a session as the events of a Kineto trace, one line each. Used by KinetoTrace.cpp.
#pragma once
#include <array>
#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/analysis/captures/DeviceSummary.h"
#include "core/base/Result.h"
#include "core/trace/Allocation.h"
#include "core/trace/Sample.h"
#include "core/trace/Slice.h"
#include "sessions/exporters/LaunchIds.h"
#include "sessions/exporters/SpareLanes.h"

namespace stepscope::kineto {

// Added to the processes of each rank behind the first, which have the same numbers; as often as its rank is greater.
constexpr std::int64_t kPerRank = 100'000'000;

// Quoted; control characters escaped, and what is no UTF-8 replaced.
std::string quoted(const std::string& text);

// What has to be known of all slices before the first is written: who launches what, what of a device overlaps, and what tells the numbers of one
// worker from those of another. Of a launch it keeps bits, of slices those that overlap.
class KinetoLinks {
public:
    // Blocks by their begin, those of all lanes together.
    void add(const SliceBlock& block);
    void done();
    // Whether the forward operation of a backward function is known: a begin at 0 is stored as one that is not, and there autograd's number tells.
    bool hasForward(const SliceThread& thread, const Slice& slice) const;
    // Whether both ends of a flow from a launch to what it launched are there.
    bool launches(std::int64_t rank, std::int64_t correlation) const;
    // Of a slice of a device's stream that reaches beyond another that it began in, the spare lane that it is written to, from 1 on: readers want
    // slices that nest. 0: it lies on the stream's own.
    int spare(const SliceThread& thread, const Slice& slice) const;
    // The greatest number that joins an operation with what it had launched; 0: there is none. What has no number takes one behind it.
    std::int64_t mostExternal() const { return m_mostExternal; }
    bool hasStacks() const { return m_stacks; }  // of Python functions
    // What is added to the numbers of a worker: all begin at 1, and readers want each once in a trace. Nothing to those of the first.
    struct Shift {
        std::int64_t external = 0, correlation = 0;
    };
    Shift shiftOf(std::int64_t rank) const;
    // `id` moved by it; 0, which is none, and what no profiler counts up to stay as they are.
    static std::int64_t shifted(std::int64_t id, std::int64_t by);
    // Slices that are held until it is known that none comes that began before them.
    std::size_t waiting() const;

private:
    LaunchIds m_launches;
    using Stream = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // rank, device, number: one in the trace, however many lanes it has here
    std::map<Stream, SpareLanes> m_streams;
    using Numbered = std::array<std::int64_t, 4>;  // an operation by rank, process, and autograd's numbers of its thread and of itself
    std::set<Numbered> m_atZero;                   // those that begin at 0
    std::map<std::int64_t, Shift> m_ranks;         // by rank: the greatest numbers until done(), what is added to them afterwards
    std::int64_t m_mostExternal = 0;
    bool m_stacks = false;
};

class KinetoRows {
public:
    // gpus: those that are known: how much of it a kernel fills is written where its trace did not say so.
    KinetoRows(std::ostream& out, const std::vector<SliceThread>& threads, const KinetoLinks& links, GpuShapes gpus = {});

    void metadata(const SliceThread& thread);
    Status add(const SliceBlock& block);
    Status add(const SampleBlock& block);
    Status add(const AllocationBlock& block);
    Status flush();

private:
    struct Said;
    std::string place(const SliceThread& thread, std::int64_t tid) const;
    std::int64_t processOf(std::int64_t process, std::int64_t rank) const;
    std::string processText(std::int64_t process, std::int64_t rank, const std::string& name) const;
    void forwardFlow(const SliceThread& thread, const Slice& slice, const std::string& place);
    void launchFlow(const Slice& slice, std::int64_t rank, const std::string& place, bool begins);
    std::string operationArgs(const Slice& slice, std::int64_t external);
    void row(const std::string& text);

    std::ostream& m_out;
    const KinetoLinks& m_links;
    GpuShapes m_gpus;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> m_threads;  // rank, process and autograd's number -> the system's
    std::set<std::pair<std::int64_t, bool>> m_processes;
    std::set<std::tuple<std::int64_t, bool, std::int64_t>> m_named;  // process, whether of a device, thread
    std::int64_t m_firstRank = 0;
    bool m_severalRanks = false;
    std::string m_text;
    bool m_first = true;
    std::int64_t m_operations = 0, m_flows = 0;
    std::int64_t m_unnumbered = 0;  // operations without a number begin behind it
};

}  // namespace stepscope::kineto
