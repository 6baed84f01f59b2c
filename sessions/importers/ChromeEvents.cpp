#include "sessions/importers/ChromeEvents.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "core/base/StepPlace.h"
#include "core/trace/SliceCodec.h"
#include "sessions/importers/JsonScan.h"

namespace stepscope::importing {
namespace {

constexpr std::size_t kMostOpen = 1'000'000;

constexpr std::string_view kOrdinal("device:", 6);  // the ordinal of a kernel's device: its key without the colon

struct Category {
    std::string_view word;
    SliceKind kind;
    bool usual;  // the word that is written again for the kind
};
constexpr std::array kCategories{
    Category{"cpu_op", SliceKind::Operation, true}, Category{"cuda_runtime", SliceKind::Runtime, true}, Category{"kernel", SliceKind::Kernel, true},
    Category{"python_function", SliceKind::Python, true}, Category{"gpu_memcpy", SliceKind::Memcpy, true},
    Category{"gpu_memset", SliceKind::Memset, true}, Category{"cuda_driver", SliceKind::Driver, true},
    Category{"user_annotation", SliceKind::Annotation, true}, Category{"gpu_user_annotation", SliceKind::DeviceAnnotation, true},
    Category{"cuda_sync", SliceKind::Synchronisation, true}, Category{"overhead", SliceKind::Overhead, true},
    Category{"hip_runtime", SliceKind::Runtime, false}, Category{"hip_driver", SliceKind::Driver, false},
    Category{"xpu_runtime", SliceKind::Runtime, false}, Category{"xpu_driver", SliceKind::Driver, false},
    // as the first versions of Kineto wrote them
    Category{"Operator", SliceKind::Operation, false}, Category{"Runtime", SliceKind::Runtime, false}, Category{"Kernel", SliceKind::Kernel, false},
    Category{"Memcpy", SliceKind::Memcpy, false}, Category{"Memset", SliceKind::Memset, false}};

constexpr std::array kKindWords{
    std::pair<std::string_view, SliceKind>{"operation", SliceKind::Operation}, std::pair<std::string_view, SliceKind>{"own", SliceKind::Own},
    std::pair<std::string_view, SliceKind>{"backward", SliceKind::Backward}, std::pair<std::string_view, SliceKind>{"phase", SliceKind::Phase},
    std::pair<std::string_view, SliceKind>{"evaluation", SliceKind::Evaluation}};

std::string_view between(std::string_view token) {
    return token.size() >= 2 && token.front() == '"' ? token.substr(1, token.size() - 2) : token;
}

std::string readable(std::string_view token, std::size_t most = 256) {
    return jsonText(between(token), most);
}

bool ofDevice(SliceKind kind) {
    return isDeviceWork(kind) || kind == SliceKind::DeviceAnnotation || kind == SliceKind::Synchronisation;
}

bool sizes(std::string_view value, std::array<std::int64_t, 3>& out) {
    std::array<std::int64_t, 3> found{};
    std::size_t at = 0;
    const auto space = [&] {
        while (at < value.size() && isJsonSpace(value[at])) ++at;
    };
    if (value.empty() || value[at++] != '[') return false;
    for (std::size_t i = 0; i < 3; ++i) {
        space();
        const auto [end, problem] = std::from_chars(value.data() + at, value.data() + value.size(), found[i]);
        if (problem != std::errc{} || found[i] < 0) return false;
        at = static_cast<std::size_t>(end - value.data());
        space();
        if (at == value.size() || value[at++] != (i < 2 ? ',' : ']')) return false;
    }
    out = found;
    return at == value.size();
}

// ProfilerStep#12 -> 12.
std::optional<std::int64_t> stepNumber(std::string_view name) {
    constexpr std::string_view kStep = "ProfilerStep#";
    if (!name.starts_with(kStep)) return std::nullopt;
    const auto number = wholeNumber(name.substr(kStep.size()));
    return number && *number >= 0 ? number : std::nullopt;
}

bool sameBandwidth(std::string_view written, std::int64_t bytes, std::int64_t duration) {
    double value = 0;
    const auto [end, problem] = std::from_chars(written.data(), written.data() + written.size(), value);
    if (problem != std::errc{} || duration <= 0) return false;
    return std::abs(value - static_cast<double>(bytes) / static_cast<double>(duration)) <= 1e-12 * std::abs(value);
}

}  // namespace

SliceKind kindOfOperation(std::string_view name, std::int64_t forwardThread) {
    if (name.find("autograd::engine::evaluate_function") != std::string_view::npos) return SliceKind::Operation;
    return forwardThread > 0 || name == "torch::autograd::AccumulateGrad" ? SliceKind::Backward : SliceKind::Operation;
}

std::string_view kindWord(SliceKind kind) {
    const auto found = std::ranges::find(kKindWords, kind, [](const auto& one) { return one.second; });
    return found == kKindWords.end() ? std::string_view() : found->first;
}

std::uint32_t ChromeEvents::nameOf(std::string_view token) {
    const std::string_view text = between(token);
    if (text.size() <= kLongestSliceName && text.find('\\') == std::string_view::npos) return m_trace.text(text);
    const std::string name = jsonText(text, kLongestSliceName);
    // Cut between two characters: a few bytes less may be left.
    if (text.size() > kLongestSliceName && name.size() + 4 > kLongestSliceName) m_trace.tell("names that were cut: longer than 65536 bytes");
    return m_trace.text(name);
}

void ChromeEvents::take(const ChromeEvent& event) {
    const std::string_view ph = between(event.ph);
    if (ph.size() != 1) return m_trace.skip(ph.empty() ? "an event without \"ph\"" : "an event whose \"ph\" is no letter");
    if (ph[0] == 'M') return metadata(event);
    constexpr std::string_view kKnown = "XBEisftICRPO";
    if (kKnown.find(ph[0]) == std::string_view::npos) return m_trace.skip(fmt::format("events of the kind ph {}", readable(event.ph)));
    const auto at = thousandfold(event.ts);
    if (!at) return m_trace.skip("a time that is no number");
    // Kineto wrote microseconds as floating-point numbers, which of the time since 1970 are multiples of a quarter.
    if (m_rounded > 1) m_rounded = std::gcd(m_rounded, *at);
    switch (ph[0]) {
        case 'X': {
            const auto duration = event.dur.empty() ? std::optional<std::int64_t>(0) : thousandfold(event.dur);
            if (!duration) return m_trace.skip("a duration that is no number");
            return slice(event, *at, *duration, 'X');
        }
        case 'B':
            return begin(event, *at);
        case 'E':
            return finish(event, *at);
        case 's':
        case 'f': {
            const auto lane = m_trace.lane(event.pid, event.tid);
            if (!lane) return m_trace.skip("more than 50000 lanes");
            return m_trace.flow(between(event.cat), event.id, ph[0] == 's', *at, *lane);
        }
        case 't':
            return;  // a place that a flow comes by between its ends
        case 'C':
            return counter(event, *at);
        case 'i':
        case 'I':
        case 'R':
            return instant(event, *at);
        default:
            return m_trace.skip(fmt::format("events of the kind ph {}", readable(event.ph)));
    }
}

std::optional<ChromeEvents::Told> ChromeEvents::told(const ChromeEvent& event, std::int64_t at, std::int64_t duration, char phase) {
    const auto found = std::ranges::find(kCategories, between(event.cat), &Category::word);
    Told told{.record = {.kind = found == kCategories.end() ? SliceKind::Other : found->kind, .start = at, .duration = duration}, .step = {}};
    Record& record = told.record;
    const std::string_view name = between(event.name);
    if (record.kind == SliceKind::Annotation || record.kind == SliceKind::Operation) told.step = stepNumber(name);
    const bool sync = record.kind == SliceKind::Synchronisation;
    const auto lane = m_trace.lane(event.pid, event.tid, sync ? TraceBuilder::LaneUse::Synchronisation : TraceBuilder::LaneUse::Slices);
    if (!lane) {
        m_trace.skip("more than 50000 lanes");
        return std::nullopt;
    }
    record.lane = *lane;
    record.name = nameOf(event.name);
    arguments(event, phase, record);
    // As PyTorch names the step of an optimizer; its traces tell no phase otherwise. What lies in it has it from there (LaneWriter).
    if (record.kind == SliceKind::Annotation && record.phase == TextStore::kNone && name.starts_with("Optimizer.step#"))
        record.phase = m_trace.text(toString(Activity::Optimizer));
    return told;
}

// What is told beside names and times: columns of the record, and the rest as it stands.
void ChromeEvents::arguments(const ChromeEvent& event, char phase, Record& record) {
    SliceArguments& arguments = m_arguments;
    arguments.text.clear();
    arguments.extra.clear();
    arguments.flops = arguments.bytes = arguments.registers = arguments.sharedBytes = 0;
    arguments.grid = arguments.block = {};
    const auto extra = [&](std::string_view key, std::string_view value) {
        // What is longer is left out as a whole.
        if (value.size() > 16 * kLongestSliceExtra) arguments.extra.resize(kLongestSliceExtra + 1, ' ');
        if (arguments.extra.size() > kLongestSliceExtra) return;
        arguments.extra += arguments.extra.empty() ? "{\"" : ",\"";
        arguments.extra += key;
        arguments.extra += "\":";
        appendCompact(arguments.extra, value);
    };
    const auto found = std::ranges::find(kCategories, between(event.cat), &Category::word);
    const bool device = ofDevice(record.kind), operation = isOperation(record.kind);
    // What has a place in a step: our own export says so of kernels and phases too.
    const bool placed = operation || isDeviceWork(record.kind) || record.kind == SliceKind::Annotation;
    std::optional<SliceKind> saidKind;
    std::optional<std::int64_t> ordinal, stream;
    std::string_view dims, types, bandwidth;
    for (const auto& argument : event.args) {
        const auto& key = argument.first;
        const auto& value = argument.second;
        const auto whole = [&](std::int64_t& into, std::int64_t least) {
            const auto parsed = value.front() == '"' && !device ? std::nullopt : wholeNumber(value);
            if (!parsed || *parsed < least) return false;
            into = *parsed;
            return true;
        };
        std::int64_t parsed = 0;
        bool column = false;
        switch (key.empty() ? '\0' : key[0]) {
            case 'E':
            case 'e':
                column = key == "Ev Idx" || ((key == "External id" || key == "external id") && whole(record.external, 0));
                break;
            case 'c':
                column = key == "correlation" && whole(record.correlation, 0);
                break;
            case 'S':
                column = (operation && key == "Sequence number" && whole(record.sequence, 0)) || (key == "Step" && whole(record.step, 0));
                break;
            case 'F':
                column = operation && key == "Fwd thread id" && whole(record.forwardThread, 0);
                break;
            case 'I':
                if (key == "Input Dims" || key == "Input dims") {
                    dims = value;
                    column = true;
                } else if (key == "Input type") {
                    types = value;
                    column = true;
                }
                break;
            case 'd':
                if (device && key == kOrdinal && whole(parsed, 0) && parsed < 1 << 20) {
                    ordinal = parsed;
                    column = true;
                }
                break;
            case 's':
                if (device && key == "stream" && whole(parsed, 0)) {
                    stream = parsed;
                    column = true;
                } else if (record.kind == SliceKind::Kernel && key == "shared memory") {
                    column = whole(arguments.sharedBytes, 0);
                }
                break;
            case 'g':
                column = record.kind == SliceKind::Kernel && key == "grid" && sizes(value, arguments.grid);
                break;
            case 'b':
                if (record.kind == SliceKind::Kernel && key == "block") column = sizes(value, arguments.block);
                if ((isDeviceWork(record.kind) || operation) && key == "bytes") column = whole(arguments.bytes, 0);
                break;
            case 'f':
                column = operation && key == "flops" && whole(arguments.flops, 0);
                break;
            case 'r':
                column = record.kind == SliceKind::Kernel && key == "registers per thread" && whole(arguments.registers, 0);
                break;
            case 'm':
                if (key == "memory bandwidth (GB/s)") {
                    bandwidth = value;
                    column = true;
                }
                break;
            case 'L':
                if (placed && key == "Layer" && whole(parsed, 0) && parsed < 1 << 20) {
                    record.layer = static_cast<std::int32_t>(parsed);
                    column = true;
                }
                break;
            case 'R':
                if (placed && key == "Role" && value.front() == '"') {
                    record.role = nameOf(value);
                    column = true;
                } else if (operation && key == "Recomputed" && value == "true") {
                    record.recomputed = column = true;
                }
                break;
            case 'k':
                // Our own export says the work of an operation a second time, in the words of PyTorch's own report.
                column = operation && arguments.bytes > 0 && (key == "kernel_flop" || key == "kernel_num_gb");
                break;
            case 'K':
                if (key == "Kind" && (operation || record.kind == SliceKind::Annotation)) {
                    const auto word = std::ranges::find(kKindWords, between(value), [](const auto& one) { return one.first; });
                    column = word != kKindWords.end() && isOperation(word->second) == operation;
                    if (column) saidKind = word->second;
                }
                break;
            case 'P':
                if (placed && key == "Phase" && value.front() == '"') {
                    record.phase = nameOf(value);
                    column = true;
                }
                break;
            default:
                break;
        }
        if (!column) extra(key, value);
    }
    if (operation) record.kind = kindOfOperation(between(event.name), record.forwardThread);
    if (saidKind) record.kind = *saidKind;
    // Worked out again from bytes and duration; kept where that does not give the same, as the clock was finer than what was written.
    if (!bandwidth.empty() && !sameBandwidth(bandwidth, arguments.bytes, record.duration)) extra("memory bandwidth (GB/s)", bandwidth);
    if (!dims.empty() && !types.empty() && m_inputs.text(dims, types, arguments.text)) {
        dims = types = {};
    }
    if (!dims.empty()) extra("Input Dims", dims);
    if (!types.empty()) extra("Input type", types);
    if (record.kind == SliceKind::Other || (found != kCategories.end() && !found->usual))
        extra("cat", event.cat.empty() ? std::string_view("\"\"") : event.cat);
    if (phase == 'i') extra("ph", "\"i\"");
    if (!arguments.extra.empty()) arguments.extra += '}';
    record.arguments = m_trace.arguments(arguments);

    if (device) {
        if (!ordinal) ordinal = wholeNumber(event.pid);
        if (!stream && record.kind != SliceKind::Synchronisation) stream = wholeNumber(event.tid);
        if (ordinal && *ordinal >= 0 && *ordinal < 1 << 20) m_trace.ofDevice(record.lane, *ordinal, stream);
    }
}

void ChromeEvents::keep(Told& told) {
    Record& record = told.record;
    if (told.step && record.duration >= 0) {
        m_trace.step(*told.step, record.start, record.duration);
        // One that came as an operation counts as one still.
        if (record.kind == SliceKind::Annotation) record.kind = SliceKind::Step;
        record.step = *told.step;
    }
    m_trace.slice(record);
}

void ChromeEvents::slice(const ChromeEvent& event, std::int64_t at, std::int64_t duration, char phase) {
    if (auto whole = told(event, at, duration, phase)) keep(*whole);
}

void ChromeEvents::metadata(const ChromeEvent& event) {
    const std::string_view what = between(event.name);
    std::optional<std::string> found, own;
    for (const auto& [key, value] : event.args) {
        if (value.empty() || value.front() != '"') continue;
        if (key == "name") {
            found = readable(value);
            while (found->ends_with(' ')) found->pop_back();
        }
        // As our own export says what a thread is called, beside the name that other readers know threads by.
        if (key == "Lane") own = readable(value);
    }
    if (what == "process_name" && found) m_trace.nameProcess(event.pid, *found);
    if (what == "thread_name" && (own || found)) m_trace.nameThread(event.pid, event.tid, own ? *own : *found);
}

void ChromeEvents::instant(const ChromeEvent& event, std::int64_t at) {
    if (between(event.name) != "[memory]") return slice(event, at, 0, 'i');
    TraceBuilder::Memory memory{.at = at};
    bool sized = false;
    std::int64_t type = 0;
    for (const auto& [key, value] : event.args) {
        if (value.size() >= 2 && value.front() == '"') {
            if (key == "Kind") memory.kind = readable(value);
            if (key == "Owner") memory.owner = readable(value, kLongestSliceName);
        }
        const auto number = wholeNumber(value);
        if (!number) continue;
        if (key == "Bytes") {
            memory.bytes = *number;
            sized = true;
        } else if (key == "Addr") {
            memory.address = static_cast<std::uint64_t>(*number);
        } else if (key == "Device Id") {
            memory.device = *number;
        } else if (key == "Device Type") {
            type = *number;
        } else if (key == "Total Allocated") {
            memory.totalAllocated = *number;
        } else if (key == "Total Reserved") {
            memory.totalReserved = *number;
        }
    }
    if (!sized) return m_trace.skip("an allocation without its bytes");
    if (type == 0) memory.device = -1;
    m_trace.allocation(event.pid, memory);
}

void ChromeEvents::counter(const ChromeEvent& event, std::int64_t at) {
    const std::string name = readable(event.name, kLongestSliceName);
    for (const auto& [key, value] : event.args) {
        double number = 0;
        const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (problem != std::errc{} || end != value.data() + value.size()) {
            m_trace.skip("a counter's value that is no finite number");
            continue;
        }
        const std::string series = event.args.size() == 1 && (key == "value" || key.empty()) ? name : name + " " + jsonText(key, 256);
        const auto unit = m_units.find(series);
        m_trace.sample(event.pid, series, unit == m_units.end() ? std::string() : unit->second, at, number);
    }
    if (event.args.empty()) m_trace.skip("a counter without a value");
}

// A range whose begin and end are events of their own: what is told at its begin is what it is, and only its arguments may come with its end.
void ChromeEvents::begin(const ChromeEvent& event, std::int64_t at) {
    const auto lane = m_trace.lane(event.pid, event.tid);
    if (!lane || m_open == kMostOpen) return m_trace.skip(lane ? "more than a million ranges that are open at once" : "more than 50000 lanes");
    const auto begun = told(event, at, 0, 'B');
    if (!begun) return;
    std::optional<std::uint32_t> cat;
    if (event.args.empty() && event.cat.size() <= kLongestSliceExtra) cat = m_trace.text(event.cat);
    m_begun[*lane].push_back({.told = *begun, .cat = cat});
    ++m_open;
}

void ChromeEvents::finish(const ChromeEvent& event, std::int64_t at) {
    const auto lane = m_trace.lane(event.pid, event.tid);
    const auto stack = lane ? m_begun.find(*lane) : m_begun.end();
    if (stack == m_begun.end() || stack->second.empty()) return m_trace.skip("an end of a range that has not begun");
    Begun begun = stack->second.back();
    stack->second.pop_back();
    --m_open;
    Record& record = begun.told.record;
    if (__builtin_sub_overflow(at, record.start, &record.duration)) return m_trace.skip("a time that does not fit");
    if (begun.cat && !event.args.empty()) {
        const std::string cat = m_trace.textAt(*begun.cat);
        ChromeEvent whole = event;
        whole.cat = cat;
        arguments(whole, 'E', record);
    } else if (!event.args.empty()) {
        m_trace.tell("arguments at the end of a range that were left out: its begin has its own");
    }
    keep(begun.told);
}

void ChromeEvents::end() {
    if (m_open > 0) m_trace.skip("ranges that have no end", static_cast<std::int64_t>(m_open));
    m_begun.clear();
    m_open = 0;
    m_trace.file().roundedNs = m_rounded > 1 ? m_rounded : 0;
}

}  // namespace stepscope::importing
