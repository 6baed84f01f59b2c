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

// Which kind of operation an event of PyTorch's profiler is: a backward function says on which thread its forward operation ran, as does the step of
// autograd's engine that it lies in; one that only adds a gradient to a weight's has no forward operation.
SliceKind kindOfOperation(std::string_view name, std::int64_t forwardThread);
// What our own export says under "Kind" where the kind is not what a reader would take the event for; nothing of another kind.
std::string_view kindWord(SliceKind kind);

class ChromeEvents {
public:
    explicit ChromeEvents(TraceBuilder& trace) : m_trace(trace) {}
    void take(const ChromeEvent& event);
    void setUnit(const std::string& counter, const std::string& unit) { m_units[counter] = unit; }  // before its values come
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
    KeyedMap<std::string, std::string> m_units;
};

}  // namespace stepscope::importing
