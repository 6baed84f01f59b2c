// ThreadCounters: what the processor counts while one thread runs: cycles, instructions, misses of the last cache, and cycles in which nothing could
// be retired, as far as this processor counts them. They are one group, so that a reading is of one instant. CounterDelta: what was counted between
// two readings. Where the system lets other programs count in turn with us (multiplexing), a group counts for a part of the time: what is told is
// scaled by that part, and the part is told too. Opened and read on any thread.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/Result.h"
#include "core/profile/counters/PerfCalls.h"

namespace stepscope {

enum class HardwareCounter { Cycles, Instructions, Misses, Stalled };
constexpr int kHardwareCounters = 4;

struct CounterReading {
    std::array<std::uint64_t, kHardwareCounters> raw{};
    std::uint64_t enabled = 0, running = 0;  // ns that the group was to count, and that it did
    bool good = false;                       // false: could not be read
};

struct CounterDelta {
    std::array<double, kHardwareCounters> counted{};  // not scaled
    double enabled = 0, running = 0;                  // ns

    void add(const CounterDelta& other);
    void subtract(const CounterDelta& other);
    // Scaled to all of the time. Nothing where it counted in no part of it; 0 where the thread did not run.
    std::optional<double> of(HardwareCounter counter) const;
    double share() const { return enabled > 0 ? running / enabled : 1; }  // of the time in which it counted
};

// Nothing where a reading failed, or where the numbers run backwards.
std::optional<CounterDelta> countedBetween(const CounterReading& before, const CounterReading& after);

class ThreadCounters {
public:
    // thread: as gettid() numbers it, 0: the calling one. The error is the sentence of whyNoCounters().
    static Result<std::unique_ptr<ThreadCounters>> open(PerfCalls& calls, int thread);
    ~ThreadCounters();
    ThreadCounters(const ThreadCounters&) = delete;
    ThreadCounters& operator=(const ThreadCounters&) = delete;

    CounterReading read() const;
    bool has(HardwareCounter counter) const { return m_places[static_cast<std::size_t>(counter)] >= 0; }

private:
    explicit ThreadCounters(PerfCalls& calls) : m_calls(calls) {}

    PerfCalls& m_calls;
    std::array<int, kHardwareCounters> m_descriptors{-1, -1, -1, -1};
    std::array<int, kHardwareCounters> m_places{-1, -1, -1, -1};  // in what a reading of the group gives
    int m_open = 0;
};

// Which it is, and what to do: error is an errno of perf_event_open. A machine that has no counters, a system that forbids them, or too many files.
std::string whyNoCounters(int error, std::optional<int> paranoid);

}  // namespace stepscope
