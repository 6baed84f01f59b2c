// QueueFold: DeviceSummary::queue() of captures that are too large to be held: how many works of a stream were launched and had not begun, as means
// over stretches of so many works each. What is held does not grow with the capture. NewestLaunches: by whom a work was launched, while calls and
// works are read as time goes on (sessions/Slices.h). Read by the window for the counters below a timeline, on a reader's thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/KeyedHash.h"
#include "core/base/Units.h"
#include "core/trace/Slice.h"

namespace stepscope {

// The begins of the newest calls, by rank and correlation id; of several with one id the earliest, as DeviceSummary takes them. Older ones are
// forgotten: what they launched and has not begun by then was launched by nobody known.
class NewestLaunches {
public:
    static constexpr std::size_t kMost = std::size_t{1} << 20;  // calls, about a hundred bytes each

    explicit NewestLaunches(std::size_t most = kMost) : m_most(most) {}
    void add(std::int64_t rank, const Slice& call);  // of the runtime or the driver; others launch nothing
    std::optional<std::int64_t> of(std::int64_t rank, const Slice& work) const;

private:
    using Place = std::pair<std::int64_t, std::int64_t>;
    std::size_t m_most;
    KeyedMap<Place, std::int64_t> m_starts;
    std::deque<Place> m_order;
};

struct QueueMean {
    TimeNs at;  // until the next one
    double length = 0;
};

class QueueFold {
public:
    // works: of the stream, known or thought; stretches: into about so many, at most twice, as a break of kBreak between two works ends one.
    static constexpr std::int64_t kBreak = 100'000'000;  // ns
    QueueFold(std::int64_t works, std::size_t stretches);

    // One that was launched and began, both in ns; works in order of their begins. Of those that come earlier all the same the sums are right, too.
    void add(std::int64_t launched, std::int64_t begun);
    // By time; the last one is 0, where the last work began. Nothing where none waited.
    std::vector<QueueMean> means() const;

private:
    struct Stretch {
        std::int64_t begin = 0;
        std::int64_t through = 0;  // works more that waited all through it than through the one before
        double area = 0;           // ns, of those that waited for a part of it
    };
    void open(std::int64_t at);
    std::size_t stretchOf(std::int64_t at) const;

    std::int64_t m_worksEach;
    std::size_t m_most;
    std::vector<Stretch> m_stretches;
    std::int64_t m_works = 0;  // of the newest stretch
    std::int64_t m_last = 0;   // begin of a work, the latest
};

}  // namespace stepscope
