#include "core/profile/activity/ActivityDecoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/profile/activity/ActivityNames.h"

namespace stepscope {
namespace {

constexpr std::size_t kBlock = 4096;             // slices
constexpr std::size_t kMostExternals = 1 << 20;  // calls whose kernels may still come
constexpr std::size_t kMostEvents = 1 << 20;     // records of events that may still be waited for
constexpr int kMostSpare = 16;                   // lanes beside a stream's first
// Lanes of devices are told from those of threads by these.
constexpr std::int64_t kDeviceLanes = std::int64_t{1} << 40, kDevice = std::int64_t{1} << 32, kStream = 32;
constexpr std::int64_t kCallLanes = std::int64_t{1} << 48, kOverheadLanes = std::int64_t{1} << 49;

SliceKind kindOf(CudaActivityKind kind) {
    switch (kind) {
        case CudaActivityKind::Kernel:
            return SliceKind::Kernel;
        case CudaActivityKind::Memcpy:
            return SliceKind::Memcpy;
        case CudaActivityKind::Memset:
            return SliceKind::Memset;
        case CudaActivityKind::Runtime:
            return SliceKind::Runtime;
        case CudaActivityKind::Driver:
            return SliceKind::Driver;
        case CudaActivityKind::Overhead:
            return SliceKind::Overhead;
        case CudaActivityKind::Synchronisation:
            return SliceKind::Synchronisation;
        case CudaActivityKind::External:
        case CudaActivityKind::EventRecord:
            break;
    }
    return SliceKind::Other;
}

std::string quoted(std::string_view text) {
    std::string into = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') into += '\\';
        if (static_cast<unsigned char>(c) < 0x20)
            into += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            into += c;
    }
    return into + "\"";
}

// From activities of a lane to a block that stands for itself.
class Block {
public:
    explicit Block(const SliceThread& thread) { m_block.thread = thread; }

    std::uint32_t text(const std::string& text) {
        if (text.empty()) return 0;
        const auto [found, added] = m_texts.try_emplace(text, static_cast<std::uint32_t>(m_block.strings.size()));
        if (added) m_block.strings.push_back(text);
        return found->second;
    }
    // Few kernels are launched in few ways, each many times. waited: members of JSON, of a wait alone.
    std::uint32_t arguments(const CudaActivity& a, const char* operation, const std::string& waited) {
        const bool sized = a.kind == CudaActivityKind::Kernel || a.bytes > 0;
        if (!sized && a.graphNode == 0 && *operation == '\0' && waited.empty()) return 0;
        std::string extra;
        const auto say = [&](std::string_view key, const std::string& value) {
            extra += (extra.empty() ? "{" : ",") + fmt::format("\"{}\":{}", key, value);
        };
        if (*operation != '\0') say("operation", quoted(operation));
        if (a.context != 0) extra += fmt::format("{}\"context\":{}", extra.empty() ? '{' : ',', a.context);
        if (a.graph != 0) say("graph id", std::to_string(a.graph));
        if (a.graphNode != 0) say("graph node id", std::to_string(a.graphNode));
        if (!waited.empty()) extra += (extra.empty() ? '{' : ',') + waited;
        if (!extra.empty()) extra += '}';
        SliceArguments made{.bytes = a.bytes,
                            .grid = {a.grid[0], a.grid[1], a.grid[2]},
                            .block = {a.block[0], a.block[1], a.block[2]},
                            .registers = a.registers,
                            .sharedBytes = a.sharedBytes,
                            .extra = std::move(extra)};
        std::string key = fmt::format("{} {} {} {} {} {} {} {} {} {}", made.bytes, made.grid[0], made.grid[1], made.grid[2], made.block[0],
                                      made.block[1], made.block[2], made.registers, made.sharedBytes, made.extra);
        const auto [found, added] = m_arguments.try_emplace(std::move(key), static_cast<std::uint32_t>(m_block.arguments.size()));
        if (added) m_block.arguments.push_back(std::move(made));
        return found->second;
    }
    // Of a call the number of its function: PyTorch's profiler writes it, and readers of its traces look for it.
    std::uint32_t function(const CudaActivity& call) {
        if (call.what <= 0) return 0;
        const auto [found, added] = m_functions.try_emplace(call.what, static_cast<std::uint32_t>(m_block.arguments.size()));
        if (added) m_block.arguments.push_back({.extra = fmt::format("{{\"cbid\":{}}}", call.what)});
        return found->second;
    }
    std::vector<Slice>& slices() { return m_block.slices; }
    SliceBlock take() { return std::move(m_block); }

private:
    SliceBlock m_block;
    std::unordered_map<std::string, std::uint32_t> m_texts;
    std::unordered_map<std::string, std::uint32_t> m_arguments;
    std::unordered_map<std::int32_t, std::uint32_t> m_functions;
};

// Calls of a thread lie in each other; what began within another and outlasted it counts as far as that went.
void nest(std::vector<Slice>& slices) {
    std::vector<std::size_t> open;
    const auto end = [&](std::size_t i) { return slices[i].start + slices[i].duration; };
    for (std::size_t i = 0; i < slices.size(); ++i) {
        while (!open.empty() && end(open.back()) <= slices[i].start) open.pop_back();
        slices[i].depth = static_cast<std::int32_t>(open.size());
        if (!open.empty()) {
            Slice& around = slices[open.back()];
            around.called = std::min(around.duration, around.called + std::min(end(i), end(open.back())) - slices[i].start);
        }
        open.push_back(i);
    }
}

// By place in `all`, calls of one thread by their begin: which are the driver's part of a call of the runtime that has the same correlation. A launch
// is joined with its kernel by one call of the host: whoever reads an export counts the kernel once for each.
std::vector<bool> partsOfLaunches(const std::vector<CudaActivity>& all) {
    std::vector<bool> parts(all.size(), false);
    std::vector<const CudaActivity*> open;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const CudaActivity& one = all[i];
        while (!open.empty() && open.back()->end <= one.start) open.pop_back();
        parts[i] = one.kind == CudaActivityKind::Driver && std::ranges::any_of(open, [&](const CudaActivity* around) {
                       return around->kind == CudaActivityKind::Runtime && around->correlation == one.correlation;
                   });
        open.push_back(&one);
    }
    return parts;
}

}  // namespace

ActivityDecoder::LaneKey ActivityDecoder::keyOf(const CudaActivity& a) const {
    using What = LaneKey::What;
    switch (a.kind) {
        case CudaActivityKind::Runtime:
        case CudaActivityKind::Driver:
            return {What::Calls, -1, a.thread};
        case CudaActivityKind::Overhead:
            return {What::Overhead, a.device, a.thread};
        case CudaActivityKind::Synchronisation: {
            const auto device = m_devices.find(a.context);
            return {What::Waits, device != m_devices.end() ? device->second : 0, a.stream};
        }
        default:
            return {What::Stream, a.device, a.stream};
    }
}

ActivityDecoder::Lane& ActivityDecoder::lane(const LaneKey& key) {
    const auto [found, added] = m_lanes.try_emplace(key);
    if (!added) return found->second;
    SliceThread& thread = found->second.thread;
    const bool ofDevice = key.what == LaneKey::What::Stream || key.what == LaneKey::What::Waits || key.device >= 0;
    if (ofDevice) {
        thread = {.process = key.device, .thread = key.number, .device = key.device};
        thread.lane = kDeviceLanes + kDevice * (key.device + 1) + kStream * ((key.number + 1) & 0x3ffffff) +
                      (key.what == LaneKey::What::Waits      ? kStream - 1
                       : key.what == LaneKey::What::Overhead ? kStream - 2
                                                             : key.spare);
        if (m_setup.deviceName) thread.processName = m_setup.deviceName(key.device);
    } else {
        thread = {.process = m_setup.process, .thread = key.number};
        thread.lane = (key.what == LaneKey::What::Calls ? kCallLanes : kOverheadLanes) + key.number;
    }
    switch (key.what) {
        case LaneKey::What::Stream:
            thread.name = key.spare == 0 ? fmt::format("stream {}", key.number) : fmt::format("stream {} ({})", key.number, key.spare + 1);
            break;
        case LaneKey::What::Waits:
            thread.name = key.number < 0 ? std::string("waits") : fmt::format("stream {} (sync)", key.number);
            break;
        case LaneKey::What::Calls: {
            const std::string who = m_setup.threadName ? m_setup.threadName(key.number) : std::string();
            thread.name = fmt::format("{}: CUDA calls", who.empty() ? fmt::format("thread {}", key.number) : who);
            break;
        }
        case LaneKey::What::Overhead:
            thread.name = "CUPTI";
            break;
    }
    return found->second;
}

// The name where it lives as long as the decoder: what CUPTI gave may go with the buffer.
const char* ActivityDecoder::kept(const CudaActivity& a) {
    if (a.kind == CudaActivityKind::Kernel) {
        const std::string mangled = a.name != nullptr ? a.name : "";
        const auto [found, added] = m_names.try_emplace(mangled);
        if (added) found->second = activityName(a);
        return found->second.c_str();
    }
    return m_calls.insert(activityName(a)).first->c_str();
}

std::optional<LaunchingOperation> ActivityDecoder::operationOf(std::int64_t external) const {
    return external != 0 && m_setup.operation ? m_setup.operation(external) : std::nullopt;
}

// In the words of PyTorch's profiler, which readers of critical paths look for: the stream whose work a wait for an event is over with, and the call
// that recorded the event there. Nothing where that was before the capture.
std::string ActivityDecoder::waitedFor(const CudaActivity& wait) const {
    const auto found = wait.kind == CudaActivityKind::Synchronisation && wait.eventRecord >= 0 ? m_events.find(wait.eventRecord) : m_events.end();
    if (found == m_events.end() || found->second.stream < 0 || found->second.correlation == 0) return {};
    return fmt::format(R"("wait_on_stream":{},"wait_on_cuda_event_record_corr_id":{},"wait_on_cuda_event_id":{})", found->second.stream,
                       m_setup.correlationsFrom + found->second.correlation, wait.event);
}

void ActivityDecoder::add(const CudaActivity& activity) {
    if (activity.kind == CudaActivityKind::External) {
        if (m_externals.insert_or_assign(activity.correlation, activity.external).second) m_order.push_back(activity.correlation);
        if (m_order.size() > kMostExternals) {
            m_externals.erase(m_order.front());
            m_order.pop_front();
        }
        return;
    }
    if (activity.device >= 0 && activity.context != 0) m_devices[activity.context] = activity.device;
    if (activity.kind == CudaActivityKind::EventRecord) {
        if (activity.eventRecord < 0) return;
        if (m_events.insert_or_assign(activity.eventRecord, EventRecord{activity.stream, activity.correlation}).second)
            m_eventOrder.push_back(activity.eventRecord);
        if (m_eventOrder.size() > kMostEvents) {
            m_events.erase(m_eventOrder.front());
            m_eventOrder.pop_front();
        }
        return;
    }
    Lane& into = lane(keyOf(activity));
    if (activity.start == 0 || activity.end < activity.start) {
        into.invalid += 1;
        m_counts.invalid += 1;
        return;
    }
    into.fresh.push_back(activity);
    into.fresh.back().name = kept(activity);
}

std::vector<SliceBlock> ActivityDecoder::take(bool last) {
    std::vector<SliceBlock> blocks;
    std::vector<LaneKey> keys;
    for (auto& [key, lane] : m_lanes) {
        if (last) {
            lane.ready.insert(lane.ready.end(), lane.fresh.begin(), lane.fresh.end());
            lane.fresh.clear();
        }
        keys.push_back(key);
    }
    for (const LaneKey& key : keys) decode(key, blocks);
    for (auto& [key, lane] : m_lanes) lane.ready.swap(lane.fresh);
    if (m_lost > 0 && (last || !blocks.empty())) {
        if (blocks.empty()) blocks.push_back({.thread = lane({LaneKey::What::Overhead, -1, 0}).thread});
        blocks.front().lost += std::exchange(m_lost, 0);
    }
    return blocks;
}

void ActivityDecoder::decode(const LaneKey& key, std::vector<SliceBlock>& into) {
    std::vector<CudaActivity> all;
    lane(key).ready.swap(all);
    std::int64_t invalid = std::exchange(lane(key).invalid, 0);
    std::ranges::stable_sort(all,
                             [](const CudaActivity& a, const CudaActivity& b) { return a.start != b.start ? a.start < b.start : a.end > b.end; });
    // A stream does one thing after the other, but for kernels that begin while the one before ends: those get lanes beside it.
    std::map<int, Block> open;
    const auto finish = [&](Block& block) {
        if (key.what != LaneKey::What::Stream) nest(block.slices());
        SliceBlock made = block.take();
        made.invalid = std::exchange(invalid, 0);
        m_counts.slices += static_cast<std::int64_t>(made.slices.size());
        into.push_back(std::move(made));
    };
    const std::vector<bool> parts = key.what == LaneKey::What::Calls ? partsOfLaunches(all) : std::vector<bool>(all.size(), false);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const CudaActivity& a = all[i];
        const std::int64_t start = m_clock.sessionTime(a.start), end = std::max(start, m_clock.sessionTime(a.end));
        LaneKey own = key;
        if (key.what == LaneKey::What::Stream)
            while (own.spare + 1 < kMostSpare && lane(own).end > start) own.spare += 1;
        Lane& to = lane(own);
        to.end = std::max(to.end, end);
        Block& block = open.try_emplace(own.spare, to.thread).first->second;
        const auto call = m_externals.find(a.correlation);
        const std::int64_t external = call != m_externals.end() ? call->second : 0;
        const auto launching = operationOf(external), captured = operationOf(a.external);
        LaunchingOperation by = captured ? *captured : launching ? *launching : LaunchingOperation{};
        if (launching) {
            by.step = launching->step;  // a graph is captured once and replayed in many steps
            if (by.place.activity == Activity::None) by.place.activity = launching->place.activity;
        }
        if (a.kind == CudaActivityKind::Kernel) {
            m_counts.kernels += 1;
            m_counts.unattributed += launching || captured ? 0 : 1;
        }
        const std::uint32_t arguments = key.what == LaneKey::What::Calls      ? block.function(a)
                                        : key.what == LaneKey::What::Overhead ? 0
                                                                              : block.arguments(a, by.name, waitedFor(a));
        block.slices().push_back({.start = start,
                                  .duration = end - start,
                                  .name = block.text(a.name),
                                  .phase = block.text(toString(by.place.activity)),
                                  .role = block.text(toString(by.place.role)),
                                  .arguments = arguments,
                                  .layer = by.place.layer,
                                  .kind = kindOf(a.kind),
                                  .recomputed = by.place.recomputed,
                                  .step = stepOfRun(by.step),
                                  .correlation = parts[i] || a.correlation == 0 ? 0 : m_setup.correlationsFrom + a.correlation,
                                  .external = external});
        if (block.slices().size() == kBlock) {
            finish(block);
            open.erase(own.spare);
        }
    }
    for (auto& [spare, block] : open) finish(block);
    if (invalid > 0) into.push_back({.thread = lane(key).thread, .invalid = invalid});
}

}  // namespace stepscope
