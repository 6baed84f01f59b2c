// EventMerge: the stream of one stored session in order of time, merged lazily from the tables of its kinds; plus the two look-ups
// a replay needs. Used by SessionReader, Replayer and the exporters, each on its own connection and thread; throws SQLite::Exception.
#pragma once
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "core/analysis/StandingEvents.h"

namespace stepscope {

struct Event;

// A place in the stream: just behind the event with this time and number.
struct EventKey {
    std::int64_t at = std::numeric_limits<std::int64_t>::min();
    std::int64_t sequence = std::numeric_limits<std::int64_t>::min();

    auto operator<=>(const EventKey&) const = default;
};

// Whether an event that is stored will be read again: its times, its step and what it says are within what the reader lets pass.
bool isReadable(const Event& event);

class EventMerge {
public:
    // Measurements: what experiments, ladders and searches said, and nothing of the steps of a run that holds them. Samples: what was measured of the
    // machine. count() and skip() are of all.
    enum class Kinds { All, Measurements, Samples };
    explicit EventMerge(SQLite::Database& database, Kinds kinds = Kinds::All);

    // Appends the events behind `after`, at most `most`, all of one snapshot; returns the place behind the last one.
    EventKey read(std::int64_t session, EventKey after, std::int64_t most, std::vector<Event>& into);
    // The place behind the first `count` events. O(count), but reads keys only.
    EventKey skip(std::int64_t session, std::int64_t count);
    std::int64_t count(std::int64_t session);

    TimeNs lastTime(std::int64_t session);  // of the last event; 0 when there is none
    // Of the first StepDone not before `step`; the last time when there is none. By bisection over the key: O(log of the session's length).
    TimeNs timeOfStep(std::int64_t session, std::int64_t step);
    // The last events until then of the kinds of which only the newest counts. One row a kind, found by its key.
    StandingEvents standingAt(std::int64_t session, TimeNs at);
    // The number of the last step made until then; `before` when there is none.
    std::int64_t stepAt(std::int64_t session, TimeNs at, std::int64_t before);

private:
    SQLite::Database& m_database;
    std::vector<SQLite::Statement> m_tables;  // in the order of StoredEvents
};

}  // namespace stepscope
