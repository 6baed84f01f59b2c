// CapturesTogether: what every worker of a run observes of the same steps, with the first one, which alone stores it: operations, kernels, memory and
// counters. The others hold theirs in memory while a capture goes on; between steps, when it has ended, they say it to the first one in pieces, and
// that one hands it on with its rank, in lanes of its own (laneOfWorker), in its own time (ClockExchange). Trainer thread, but for what is held.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
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
    // Slices, samples, allocations, and what a GPU is. Notes are left out: on kernels publish() hears the same, and on counters they are of readings
    // whose values the first one's note explains.
    void publishChunk(ChunkPtr chunk) override;
    std::int64_t bytes();  // that are held
    // All of it, sentences as notes and what was lost as blocks that say how much; nothing is held afterwards.
    std::vector<ChunkPtr> take();

private:
    std::mutex m_mutex;
    std::size_t m_most, m_bytes = 0;
    std::vector<ChunkPtr> m_chunks;
    std::int64_t m_lostSlices = 0, m_lostOthers = 0;  // of the latter samples and allocations; in m_chunks with their lanes
    TimeNs m_lostAt;
};

// Where the first one hands the others' parts on to: a disk that may be slow or full, for which workers are not to wait in vain.
struct CapturesPlace {
    std::function<std::int64_t()> inHand{};  // bytes of captures that are not stored yet; empty: nobody counts them
    std::function<bool()> blocked{};         // whether nothing can be stored at all; once a worker is asked to stop that is waited for no more
    std::function<bool()> stops{};           // whether this worker is asked to; empty: it never is. With all of them
    std::size_t mostHeld = HeldCapture::kMostBytes;  // by each of the others; the same with all
};

class CapturesTogether {
public:
    // others: null where the run has one worker.
    CapturesTogether(DataParallel* others, EventSink* sink, const SessionClock* clock, ClockExchange& clocks, CapturesPlace place = {})
        : m_others(others), m_sink(sink), m_clock(clock), m_clocks(clocks), m_place(std::move(place)), m_held(m_place.mostHeld) {}

    // Where this worker's captures go.
    EventSink* sink();
    // Of a worker beside the first; 0: of the first, or of one alone.
    int rank() const;

    // A capture has ended, with all workers after the same step. With the first one: hands on what the others have, says what of it is not there, and
    // sets `done` to end no earlier than what it is of. While nothing can be stored they wait, and hear of each other. Throws WorkersApart; what had
    // come is handed on by then.
    void collect(CaptureDone& done);
    // Bytes that this worker has for the first one by now.
    std::int64_t held() { return m_held.bytes(); }
    // What is held is of no capture.
    void forget() { (void)m_held.take(); }

private:
    void handOn(int worker, const Chunk& chunk, CaptureDone& done);
    ChunkPtr slicesOf(int worker, const Chunk& chunk, TimeNs& last) const;
    ChunkPtr samplesOf(int worker, const Chunk& chunk, TimeNs& last) const;
    ChunkPtr allocationsOf(int worker, const Chunk& chunk, TimeNs& last) const;
    bool waitsForDisk(bool stops);
    void say(const CaptureDone& done, LogLevel level, std::string sentence) const;

    DataParallel* m_others;
    EventSink* m_sink;
    const SessionClock* m_clock;
    ClockExchange& m_clocks;
    CapturesPlace m_place;
    HeldCapture m_held;
    std::set<std::int64_t> m_devices;  // ordinals of GPUs of the others that were told of
    // While they are collected:
    std::vector<ClockLine> m_lines;  // by rank
    std::int64_t m_notRead = 0;      // blocks of others that are nothing that a capture says
    bool m_leavesOut = false;        // what comes is not handed on any more,
    std::int64_t m_leftOut = 0;      //   and so many slices were not
};

}  // namespace stepscope
