// WorkerClock: what the clock of one worker of a run is to the first one's, from exchanges of stamps between them: Cristian's probabilistic clock
// reading (Distributed Computing 3, 1989), of several rounds the one with the shortest round trip, as NTP's clock filter takes (RFC 5905). Every
// offset has the most that it can be off by. Pure arithmetic; any thread.
#pragma once
#include <cstdint>
#include <vector>

namespace stepscope {

// By how much at most two clocks that nobody disciplines drift apart: a crystal is good to some 50 parts in a million. What is said between and
// beyond exchanges holds where the drift is steady and no more than that.
constexpr double kMostDrift = 100e-6;

struct ClockReading {
    std::int64_t at = 0;      // ns of the worker's clock
    std::int64_t offset = 0;  // ns; the first one's clock showed at + offset,
    std::int64_t error = 0;   //   within this
    bool operator==(const ClockReading&) const = default;
};

// stamps: of some exchanges in turn, in each of which every worker hands its clock's time to all others and returns when it has theirs; a row an
// exchange, the time with which each worker came to it, by rank. From three rows on there is a reading a worker, the best of them.
std::vector<ClockReading> clockReadings(const std::vector<std::vector<std::int64_t>>& stamps);

// Of a span of a worker's time: what the first one's clock showed.
struct ClockLine {
    std::int64_t at = 0;      // ns of the worker's clock, as what is asked for
    std::int64_t offset = 0;  // ns, at that time
    double drift = 0;         // ns of offset a ns
    std::int64_t error = 0;   // ns at most, anywhere in the span
    // Never runs backwards: what came after something else does so afterwards, too.
    std::int64_t operator()(std::int64_t time) const;
};

class WorkerClock {
public:
    static constexpr std::size_t kMostReadings = 64;  // that are kept; the newest

    // In order of time; one that is not behind the one before is left out.
    void add(const ClockReading& reading);
    const std::vector<ClockReading>& readings() const { return m_readings; }
    // The line over [from, to] with the smallest error: through the reading that is nearest and best, or through two whose baseline is long enough to
    // tell the drift. Without any reading: nothing is moved, and the error is as large as can be.
    ClockLine over(std::int64_t from, std::int64_t to) const;

private:
    std::vector<ClockReading> m_readings;
};

// ns of offset a ns between two readings, and by how much that may be off.
struct ClockDrift {
    double drift = 0, error = 0;
    bool told() const;  // whether two undisciplined clocks can have it, and it is known better than that
};
ClockDrift driftBetween(const ClockReading& earlier, const ClockReading& later);

}  // namespace stepscope
