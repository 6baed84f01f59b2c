// ClockExchange: how the clocks of a run's workers stand to the first one's (core/trace/WorkerClock.h). Every worker takes part in each exchange: at
// the start, around each capture, and between steps once the newest one is a minute old. All of them find the same; the first one stores it. Trainer
// thread.
#pragma once
#include <cstdint>
#include <vector>

#include "core/events/EventSink.h"
#include "core/trace/WorkerClock.h"

namespace stepscope {

class DataParallel;

class ClockExchange {
public:
    static constexpr int kRounds = 8;                // round trips, of which the shortest counts
    static constexpr int kGathers = kRounds + 2;     // exchanges of a number that these are made of
    static constexpr TimeNs kEvery{60'000'000'000};  // no older than this where steps allow it

    // others: null where the run has one worker: nothing is exchanged.
    ClockExchange(DataParallel* others, const SessionClock* clock, EventSink* sink) : m_others(others), m_clock(clock), m_sink(sink) {}

    // By all workers, between steps. Throws WorkersApart.
    void exchange();
    // Whether the newest one is old. What the first one says of it counts.
    bool due() const;
    // Of a span of a worker's own time, in ns of its session clock.
    ClockLine over(int worker, std::int64_t from, std::int64_t to) const;

private:
    DataParallel* m_others;
    const SessionClock* m_clock;
    EventSink* m_sink;
    std::vector<WorkerClock> m_clocks;  // by rank
    TimeNs m_newest;
};

}  // namespace stepscope
