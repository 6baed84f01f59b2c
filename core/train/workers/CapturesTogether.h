// CapturesTogether: what every worker of a run observes of the same steps, with the first one, which alone stores it. The others hold theirs in
// memory while a capture goes on; between steps, when it has ended, they say it to the first one in pieces, and that one hands it on with its rank,
// in its own time (ClockExchange). Trainer thread, but for what is held.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/events/CaptureDone.h"
#include "core/events/EventSink.h"
#include "core/events/RunEvents.h"
#include "core/trace/Slice.h"
#include "core/trace/WorkerClock.h"

namespace stepscope {

class ClockExchange;
class DataParallel;

// Where the captures of a worker beside the first go until they are said. Any thread.
class HeldCapture final : public EventSink {
public:
    static constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // what comes beyond them is counted as lost

    explicit HeldCapture(std::size_t mostBytes = kMostBytes) : m_most(mostBytes) {}

    void publish(Event event) override;  // of its own words on what could not be kept the sentences; nothing else
    void publishChunk(ChunkPtr chunk) override;
    // All of it, sentences as notes and what was lost as blocks that say how much; nothing is held afterwards.
    std::vector<ChunkPtr> take();

private:
    std::mutex m_mutex;
    std::size_t m_most, m_bytes = 0;
    std::vector<ChunkPtr> m_chunks;
    std::map<std::int64_t, SliceBlock> m_lost;  // by lane, without slices
    TimeNs m_lostAt;
};

class CapturesTogether {
public:
    // others: null where the run has one worker.
    CapturesTogether(DataParallel* others, EventSink* sink, const SessionClock* clock, ClockExchange& clocks)
        : m_others(others), m_sink(sink), m_clock(clock), m_clocks(clocks) {}

    // Where this worker's captures go.
    EventSink* sink();
    // Of a worker beside the first; 0: of the first, or of one alone.
    int rank() const;

    // A capture has ended, with all workers after the same step. With the first one: hands on what the others have, says what of it is not there, and
    // sets `done` to end no earlier than what it is of. Throws WorkersApart; what had come is handed on by then.
    void collect(CaptureDone& done);
    // What is held is of no capture.
    void forget() { (void)m_held.take(); }

private:
    void handOn(int worker, const Chunk& chunk, CaptureDone& done);
    void say(const CaptureDone& done, LogLevel level, std::string sentence) const;

    DataParallel* m_others;
    EventSink* m_sink;
    const SessionClock* m_clock;
    ClockExchange& m_clocks;
    HeldCapture m_held;
    std::vector<ClockLine> m_lines;  // by rank, while they are collected
    std::int64_t m_notRead = 0;      // blocks of others that are nothing that a capture says
};

}  // namespace stepscope
