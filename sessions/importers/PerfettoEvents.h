// PerfettoEvents: one packet of a Perfetto trace at a time becomes a description of a track, the begin or the end of a slice, a sample or an
// allocation. Used by PerfettoFile.cpp on the importing thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/KeyedHash.h"
#include "sessions/importers/PerfettoArguments.h"
#include "sessions/importers/TraceBuilder.h"

namespace stepscope::importing {

class PerfettoEvents {
public:
    explicit PerfettoEvents(TraceBuilder& trace) : m_trace(trace) {}
    bool take(std::string_view packet);  // false: it is damaged
    void end();                          // of the file: slices that are still open are told

private:
    struct Category {
        SliceKind kind = SliceKind::Other;
        std::string word;
    };
    struct Begun {
        Record record;
        bool kept = true;
    };
    // Of a process, a thread, a counter, or none of them.
    struct Track {
        std::uint64_t parent = 0;
        std::int64_t rank = 0;  // of a process, or of what is of none
        std::string name, unit, pid, tid;
        bool counter = false, ofAllocations = false;  // ofAllocations: its values stand beside each allocation too
        std::optional<std::uint32_t> lane;
        std::vector<Begun> open;
    };
    // What a writer has given numbers to, until it begins anew.
    struct Sequence {
        KeyedMap<std::uint64_t, std::uint32_t> names;  // texts of the builder
        KeyedMap<std::uint64_t, Category> categories;
        PerfettoArguments::Names annotations;
    };
    struct Event {
        std::uint64_t type = 0, track = 0, name = 0;
        std::string_view plainName;
        Category category;
        std::vector<std::string_view> annotations;
        std::vector<std::uint64_t> flows, lastOfFlows;
        std::optional<double> value;
    };
    bool intern(std::string_view data, Sequence& sequence);
    bool describe(std::string_view descriptor);
    void tellWhose(const Track& track, std::optional<std::int64_t> pid);
    std::string countersOf(const Track& track);
    bool event(std::string_view message, std::uint64_t at, Sequence& sequence);
    void begin(const Event& event, Track& track, std::int64_t at, const Record& record);
    void finish(Track& track, std::int64_t at);
    void flows(const Event& event, const Record& record);
    std::uint32_t nameOf(const Event& event, const Sequence& sequence);
    std::uint32_t textOf(std::string_view name);

    TraceBuilder& m_trace;
    PerfettoArguments m_arguments;  // of the slice in hand
    KeyedMap<std::uint64_t, Track> m_tracks;
    KeyedMap<std::string, std::uint64_t> m_siblings;  // tracks by parent and name
    KeyedMap<std::uint64_t, Sequence> m_sequences;
    std::size_t m_interned = 0, m_open = 0;
};

}  // namespace stepscope::importing
