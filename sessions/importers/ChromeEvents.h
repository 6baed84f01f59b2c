// ChromeEvents: one event of a Chrome trace at a time becomes a slice, a flow end, a sample or an allocation. Used by ChromeTrace.cpp.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/KeyedHash.h"
#include "sessions/importers/ChromeInputs.h"
#include "sessions/importers/TraceBuilder.h"

namespace stepscope::importing {

// The members of an event as they stand in the file; those that are not there are empty.
struct ChromeEvent {
    std::string_view ph, cat, name, pid, tid, ts, dur, id, scope;     // texts with their quotes
    std::vector<std::pair<std::string_view, std::string_view>> args;  // keys without quotes
    void clear() {
        ph = cat = name = pid = tid = ts = dur = id = scope = {};
        args.clear();
    }
};

class ChromeEvents {
public:
    explicit ChromeEvents(TraceBuilder& trace) : m_trace(trace) {}
    void take(const ChromeEvent& event);
    void end();  // of the file: ranges that are still open are told

private:
    // A slice as its event tells it, but for when it ends.
    struct Told {
        Record record;
        std::optional<std::int64_t> step;  // that it is itself
    };
    std::optional<Told> told(const ChromeEvent& event, std::int64_t at, std::int64_t duration, char phase);
    void arguments(const ChromeEvent& event, char phase, Record& record);
    void keep(Told& told);
    void slice(const ChromeEvent& event, std::int64_t at, std::int64_t duration, char phase);
    void metadata(const ChromeEvent& event);
    void instant(const ChromeEvent& event, std::int64_t at);
    void counter(const ChromeEvent& event, std::int64_t at);
    void begin(const ChromeEvent& event, std::int64_t at);
    void finish(const ChromeEvent& event, std::int64_t at);
    std::uint32_t nameOf(std::string_view token);

    TraceBuilder& m_trace;
    SliceArguments m_arguments;
    ChromeInputs m_inputs;
    std::int64_t m_rounded = 1000;  // ns: what all times so far are multiples of
    struct Begun {
        Told told;
        std::optional<std::uint32_t> cat;  // a text, where the end may bring the arguments
    };
    KeyedMap<std::uint32_t, std::vector<Begun>> m_begun;  // of B without its E, by lane
    std::size_t m_open = 0;
};

}  // namespace stepscope::importing
