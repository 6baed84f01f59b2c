// CounterSamples: what was counted, as samples (core/trace/Sample.h): of each phase instructions a cycle, bytes a second that the last cache had to
// fetch, and the share of cycles that were stalled; of operations their sums. HardwareSource fills it under a lock of its own.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/Units.h"
#include "core/profile/counters/ThreadCounters.h"
#include "core/trace/Sample.h"

namespace stepscope {

// What this processor counts beside cycles.
struct CountedKinds {
    bool instructions = false, misses = false, stalled = false;

    static CountedKinds of(const ThreadCounters& counters);
    // A sentence that names what it does not count; empty: all.
    std::string missing() const;
};

// Of an operation, over all of its calls.
struct CountedSum {
    CounterDelta counted;
    double ns = 0;

    void add(const CountedSum& other);
};

class CounterSamples {
public:
    static constexpr std::int64_t kTeamLane = 0, kOperationLane = 1, kFirstThreadLane = 2;
    static constexpr std::size_t kFullBlock = 2048;  // samples

    // rank, process: of the capture (CaptureOutlet). cacheLine: what one miss of the last cache fetches, in bytes.
    CounterSamples(std::int64_t rank, std::string process, double cacheLine = thisCacheLine());
    static double thisCacheLine();

    void setKinds(CountedKinds kinds) { m_kinds = kinds; }
    CountedKinds kinds() const { return m_kinds; }

    // Of a phase that began at `at` and took so many seconds. thread: its name, empty for all of them together (kTeamLane).
    void addPhase(std::int64_t lane, const std::string& thread, const CounterDelta& counted, TimeNs at, double seconds);
    // The blocks of phases that are full; all: every one that holds anything.
    std::vector<SampleBlock> take(bool all);

    // By the names of operations; what was not counted has no series.
    SampleBlock operations(const std::map<std::string, CountedSum>& sums, TimeNs at) const;

private:
    SampleBlock emptyBlock(std::int64_t lane, const std::string& name) const;

    std::int64_t m_rank;
    std::string m_process;
    double m_cacheLine;
    CountedKinds m_kinds;
    std::map<std::int64_t, SampleBlock> m_blocks;  // of phases, by lane
};

}  // namespace stepscope
