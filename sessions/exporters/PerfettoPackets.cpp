#include "sessions/exporters/PerfettoPackets.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "sessions/importers/JsonScan.h"

namespace stepscope::perfetto {
namespace {

// The numbers of fields in protos/perfetto/trace, by message.
namespace packet_field {
constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12, kFlags = 13, kTrackDescriptor = 60;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;
}  // namespace packet_field
namespace event_field {
constexpr std::uint32_t kCategories = 3, kAnnotations = 4, kType = 9, kName = 10, kTrack = 11, kDouble = 44, kFlows = 47, kLastOfFlows = 48;
constexpr std::uint64_t kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4;
}  // namespace event_field
namespace annotation_field {
constexpr std::uint32_t kName = 1, kUnsigned = 3, kInteger = 4, kText = 6;
}
namespace track_field {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
}
constexpr std::uint64_t kBytesUnit = 3;  // CounterDescriptor.Unit
// Of counters whose values stand beside each allocation too (importers/PerfettoEvents.cpp).
constexpr const char* kAllocationCounters = "stepscope allocations";
constexpr std::int64_t kEarliest = -(std::int64_t{1} << 62);  // what began before that begins at 0
constexpr std::size_t kFlushAt = 1 << 20;                     // bytes
constexpr std::int64_t kPerRank = 100'000'000;                // added to the processes of ranks, which have the same numbers
constexpr std::int64_t kLargestSystemId = INT32_MAX;          // a process or thread of Perfetto's is an int32
constexpr std::uint64_t kMostRounded = 1000;                  // ns: what a trace in microseconds may make of an end (importers/LaneWriter.cpp)

std::uint64_t mixed(std::uint64_t value) {  // splitmix64
    value += 0x9E3779B97F4A7C15ULL;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
    return value ^ (value >> 31);
}

std::uint64_t mixedOf(std::initializer_list<std::int64_t> values) {
    std::uint64_t key = 0;
    for (const std::int64_t value : values) key = mixed(key ^ static_cast<std::uint64_t>(value));
    return key;
}

const char* perfettoCategory(SliceKind kind) {
    constexpr const char* words[kSliceKinds] = {"operation", "own",    "backward", "step",   "phase", "evaluation", "annotation", "python", "runtime",
                                                "driver",    "kernel", "memcpy",   "memset", "sync",  "annotation", "overhead",   "other"};
    return words[static_cast<std::size_t>(kind)];
}

// Behind the names of what belongs to no process of Perfetto's, so that readers and our importer tell workers apart.
std::string rankWords(std::int64_t rank) {
    return rank == 0 ? std::string() : fmt::format(" (rank {})", rank);
}

// From a time to a later one, however far apart a file has put them.
std::uint64_t distance(std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

std::uint64_t forwardKey(const SliceThread& thread, std::int64_t number, std::int64_t start) {
    return mixedOf({2, thread.rank, thread.process, number, start});
}
// A begin at 0 is stored as one that is not known: there autograd's number tells which operation it is.
std::uint64_t zeroKey(const SliceThread& thread, std::int64_t number, std::int64_t sequence) {
    return mixedOf({3, thread.rank, thread.process, number, sequence});
}
bool mayBelongToZero(const Slice& slice) {
    return slice.kind == SliceKind::Backward && slice.forwardStart == 0 && slice.forwardThread != 0 && slice.sequence >= 0;
}

bool earlier(const Slice& a, const Slice& b) {
    if (a.start != b.start) return a.start < b.start;
    if (a.duration != b.duration) return a.duration > b.duration;
    return a.depth < b.depth;
}

}  // namespace

std::uint64_t PerfettoLinks::launchKey(std::int64_t rank, std::int64_t correlation) {
    return mixedOf({1, rank, correlation});
}

std::optional<std::uint64_t> PerfettoLinks::forwardOf(const SliceThread& thread, const Slice& backward) const {
    if (backward.forwardStart != 0) return forwardKey(thread, backward.forwardThread, backward.forwardStart);
    if (!mayBelongToZero(backward)) return std::nullopt;
    const std::uint64_t key = zeroKey(thread, backward.forwardThread, backward.sequence);
    return m_atZero.contains(key) ? std::optional(key) : std::nullopt;
}

std::uint64_t PerfettoLinks::keyOf(const SliceThread& thread, const Slice& forward) const {
    return forward.start == 0 ? zeroKey(thread, thread.number, forward.sequence) : forwardKey(thread, thread.number, forward.start);
}

void PerfettoLinks::add(const SliceBlock& block) {
    m_launches.add(block);
    for (const auto& slice : block.slices) {
        m_first = std::max(std::min(m_first, slice.start), kEarliest);
        if (!isOperation(slice.kind)) continue;
        if (slice.forwardStart != 0)
            m_backward.push_back(forwardKey(block.thread, slice.forwardThread, slice.forwardStart));
        else if (mayBelongToZero(slice))
            m_backward.push_back(zeroKey(block.thread, slice.forwardThread, slice.sequence));
        else if (slice.start == 0 && slice.sequence >= 0 && slice.kind != SliceKind::Backward && slice.forwardThread == 0)
            m_atZero.insert(zeroKey(block.thread, block.thread.number, slice.sequence));
    }
}

void PerfettoLinks::done() {
    std::ranges::sort(m_backward);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < m_backward.size(); ++i) {
        if (kept > 0 && m_backward[kept - 1] == m_backward[i]) {
            ++m_counts.back();
        } else {
            m_backward[kept++] = m_backward[i];
            m_counts.push_back(1);
        }
    }
    m_backward.resize(kept);
}

std::optional<std::size_t> PerfettoLinks::placeOf(std::uint64_t key) const {
    const auto found = std::ranges::lower_bound(m_backward, key);
    if (found == m_backward.end() || *found != key) return std::nullopt;
    return static_cast<std::size_t>(found - m_backward.begin());
}

PerfettoPackets::PerfettoPackets(std::ostream& out, const PerfettoLinks& links)
    : m_out(out), m_links(links), m_forward(links.forwards(), false), m_backward(links.forwards(), 0) {
    ProtoMessage first;
    first.whole(packet_field::kSequence, 1).whole(packet_field::kFlags, packet_field::kStateCleared);
    m_trace.message(1, first);
}

std::uint64_t PerfettoPackets::intern(Interned& of, const std::string& text) {
    const auto [found, added] = of.ids.try_emplace(text, of.ids.size() + 1);
    if (added) m_new.message(of.field, ProtoMessage().whole(1, found->second).bytes(2, text));
    return found->second;
}

void PerfettoPackets::annotate(std::string& into, const std::string& name, std::int64_t value) {
    into += ProtoMessage()
                .message(event_field::kAnnotations,
                         ProtoMessage().whole(annotation_field::kName, intern(m_annotations, name)).integer(annotation_field::kInteger, value))
                .text();
}

// An address of a traced program's may be larger than a number with a sign.
void PerfettoPackets::annotateUnsigned(std::string& into, const std::string& name, std::uint64_t value) {
    if (value <= INT64_MAX) return annotate(into, name, static_cast<std::int64_t>(value));
    into += ProtoMessage()
                .message(event_field::kAnnotations,
                         ProtoMessage().whole(annotation_field::kName, intern(m_annotations, name)).whole(annotation_field::kUnsigned, value))
                .text();
}

void PerfettoPackets::annotate(std::string& into, const std::string& name, const std::string& value) {
    into += ProtoMessage()
                .message(event_field::kAnnotations,
                         ProtoMessage().whole(annotation_field::kName, intern(m_annotations, name)).bytes(annotation_field::kText, value))
                .text();
}

std::string PerfettoPackets::annotations(const SliceBlock& block, const Slice& slice) {
    std::string all;
    const SliceArguments& of = block.arguments[slice.arguments];
    const auto number = [&](const char* name, std::int64_t value, std::int64_t none) {
        if (value != none) annotate(all, name, value);
    };
    number("step", slice.step, kNoStep);
    number("layer", slice.layer, -1);
    if (slice.role != 0) annotate(all, "role", block.strings[slice.role]);
    if (slice.phase != 0) annotate(all, "phase", block.strings[slice.phase]);
    if (slice.recomputed) annotate(all, "recomputed", 1);
    number("sequence", slice.sequence, -1);
    number("correlation", slice.correlation, 0);
    number("external id", slice.external, 0);
    if (block.thread.device >= 0) {
        annotate(all, "gpu", block.thread.device);
        annotate(all, "stream", block.thread.thread);
    }
    if (!of.text.empty()) annotate(all, "inputs", of.text);
    number("flops", of.flops, 0);
    number("bytes", of.bytes, 0);
    const auto triple = [](const std::array<std::int64_t, 3>& sizes) { return fmt::format("{}, {}, {}", sizes[0], sizes[1], sizes[2]); };
    if (of.grid != SliceArguments().grid) {
        annotate(all, "grid", triple(of.grid));
        annotate(all, "block", triple(of.block));
        annotate(all, "shared memory", of.sharedBytes);
    }
    number("registers per thread", of.registers, 0);
    if (!of.extra.empty() && importing::isShallowJson(of.extra)) {
        const auto more = nlohmann::ordered_json::parse(of.extra, nullptr, false);
        if (more.is_object())
            for (const auto& [key, value] : more.items()) {
                if (value.is_number_unsigned())
                    annotateUnsigned(all, key, value.template get<std::uint64_t>());
                else if (value.is_number_integer())
                    annotate(all, key, value.template get<std::int64_t>());
                else
                    annotate(all, key,
                             value.is_string() ? value.template get<std::string>()
                                               : value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
            }
    }
    return all;
}

std::uint64_t PerfettoPackets::newTrack(std::uint64_t parent, const std::string& name, std::uint32_t kind, const ProtoMessage& what) {
    ProtoMessage track;
    track.whole(track_field::kUuid, ++m_lastTrack);
    if (parent != 0) track.whole(track_field::kParent, parent);
    if (!name.empty()) track.bytes(track_field::kName, name);
    if (kind != 0) track.message(kind, what);
    ProtoMessage one;
    one.message(packet_field::kTrackDescriptor, track);
    packet(one);
    return m_lastTrack;
}

std::uint64_t PerfettoPackets::processTrack(const SliceThread& thread) {
    const bool device = thread.device >= 0;
    const std::string rank = rankWords(thread.rank);
    auto& track = m_tracks[fmt::format("{} {} {} {}", device ? "gpu" : "process", thread.rank, device ? thread.device : thread.process,
                                       !device && thread.process < 0 ? thread.processName : std::string())];
    if (track != 0) return track;
    if (device) return track = newTrack(0, fmt::format("GPU {}{}", thread.device, rank));
    const std::string name = (thread.processName.empty() ? "stepscope" : thread.processName) + rank;
    const bool fits = thread.process > 0 && thread.process <= kPerRank && thread.rank >= 0 && thread.rank < 20;
    if (!fits) return track = newTrack(0, name);
    return track = newTrack(0, {}, track_field::kProcess, ProtoMessage().integer(1, thread.process + kPerRank * thread.rank).bytes(6, name));
}

std::uint64_t PerfettoPackets::trackOf(const SliceThread& thread) {
    const std::uint64_t process = processTrack(thread);
    if (thread.device >= 0) return newTrack(process, thread.name.empty() ? fmt::format("stream {}", thread.thread) : thread.name);
    const std::string name = thread.name.empty() ? fmt::format("thread {}", thread.thread) : thread.name;
    const bool fits = thread.process > 0 && thread.process <= kPerRank && thread.rank >= 0 && thread.rank < 20 && thread.thread > 0 &&
                      thread.thread <= kLargestSystemId && m_threads.insert({process, thread.thread}).second;
    if (!fits) return newTrack(process, name);
    return newTrack(process, {}, track_field::kThread,
                    ProtoMessage().integer(1, thread.process + kPerRank * thread.rank).integer(2, thread.thread).bytes(5, name));
}

void PerfettoPackets::beginLane(const SliceThread& thread) {
    if (m_laneOpen && thread.laneNumber() == m_thread.laneNumber() && thread.rank == m_thread.rank) return;
    endLane();
    m_thread = thread;
    m_laneOpen = true;
    m_laneTracks.push_back({trackOf(thread), {}});
}

void PerfettoPackets::endLane() {
    writeUntil(std::numeric_limits<std::int64_t>::max());
    for (Track& track : m_laneTracks) end(track, std::numeric_limits<std::int64_t>::max());
    m_laneTracks.clear();
    m_laneOpen = false;
}

// Nothing that begins before `before` comes any more.
void PerfettoPackets::writeUntil(std::int64_t before) {
    std::ranges::stable_sort(m_waiting, [](const Waiting& a, const Waiting& b) { return earlier(a.slice, b.slice); });
    std::size_t done = 0;
    for (; done < m_waiting.size() && m_waiting[done].slice.start < before; ++done) write(m_waiting[done]);
    m_waiting.erase(m_waiting.begin(), m_waiting.begin() + static_cast<std::ptrdiff_t>(done));
}

void PerfettoPackets::endLast(Track& track, std::int64_t at) {
    eventPacket(at, ProtoMessage().whole(event_field::kType, event_field::kEnd).whole(event_field::kTrack, track.uuid));
    track.open.pop_back();
}

void PerfettoPackets::end(Track& track, std::int64_t until) {
    while (!track.open.empty() && track.open.back().written <= until) endLast(track, track.open.back().written);
}

// What a slice that begins in this one adds to what it called, were it counted within it, as the importer counts.
std::int64_t PerfettoPackets::Open::timeOf(const Slice& slice) const {
    return std::max<std::int64_t>(0, std::min(slice.start + slice.duration, end) - std::max(slice.start, covered));
}

// Whether a slice that begins in this one nests in it: it ends no later, or it was counted within it although rounding has brought its end beyond.
// What overlaps by as little and was not counted so stays apart.
bool PerfettoPackets::Open::holds(const Slice& slice) const {
    const std::int64_t until = slice.start + slice.duration;
    if (until <= written) return true;
    const std::uint64_t beyond = until > end ? distance(end, until) : 0;
    return slice.depth > depth && beyond <= kMostRounded && beyond < distance(slice.start, end) && called >= timeOf(slice);
}

// Whether this one had ended when the slice began, but for what rounding has made of its end: that time was counted for the slice.
bool PerfettoPackets::Open::makesWayFor(const Slice& slice) const {
    return slice.depth > depth && distance(slice.start, end) <= kMostRounded && called >= timeOf(slice);
}

PerfettoPackets::Track& PerfettoPackets::trackFor(const Slice& slice) {
    for (Track& track : m_laneTracks) end(track, slice.start);
    for (Track& track : m_laneTracks) {
        std::size_t stays = track.open.size();
        while (stays > 0 && !track.open[stays - 1].holds(slice) && track.open[stays - 1].makesWayFor(slice)) --stays;
        if (stays > 0 && !track.open[stays - 1].holds(slice)) continue;
        while (track.open.size() > stays) endLast(track, slice.start);
        return track;
    }
    const std::string name =
        m_thread.name.empty() ? fmt::format("{} {}", m_thread.device >= 0 ? "stream" : "thread", m_thread.thread) : m_thread.name;
    m_laneTracks.push_back({newTrack(processTrack(m_thread), fmt::format("{} (overlapping)", name)), {}});
    return m_laneTracks.back();
}

void PerfettoPackets::write(const Waiting& waiting) {
    const Slice& slice = waiting.slice;
    Track& track = trackFor(slice);
    ProtoMessage event;
    event.whole(event_field::kType, event_field::kBegin)
        .whole(event_field::kTrack, track.uuid)
        .whole(event_field::kName, intern(m_names, waiting.name))
        .whole(event_field::kCategories, intern(m_categories, perfettoCategory(slice.kind)));
    // A launch may have several kernels: a flow goes through all of them.
    if (m_links.launches(m_thread.rank, slice.correlation) &&
        (LaunchIds::isLaunched(slice.kind, m_thread.device >= 0) || LaunchIds::isCall(slice.kind)))
        event.fixed64(event_field::kFlows, PerfettoLinks::launchKey(m_thread.rank, slice.correlation));
    if (const auto key = isOperation(slice.kind) ? m_links.forwardOf(m_thread, slice) : std::nullopt) {
        if (const auto place = m_links.placeOf(*key)) event.fixed64(event_field::kLastOfFlows, *key + m_backward[*place]++);
    } else if (isOperation(slice.kind)) {
        const std::uint64_t forward = m_links.keyOf(m_thread, slice);
        const auto place = m_links.placeOf(forward);
        if (place && !m_forward[*place]) {
            m_forward[*place] = true;
            for (std::uint32_t i = 0; i < m_links.backwardOf(*place); ++i) event.fixed64(event_field::kFlows, forward + i);
        }
    }
    event.append(waiting.arguments);
    eventPacket(slice.start, event);
    Open open{.end = slice.start + slice.duration, .covered = slice.start, .called = slice.called, .depth = slice.depth};
    open.written = open.end;
    if (!track.open.empty()) {
        Open& within = track.open.back();
        open.written = std::min(open.end, within.written);
        within.called -= std::min(within.called, within.timeOf(slice));
        within.covered = std::max(within.covered, std::min(open.end, within.end));
    }
    track.open.push_back(open);
    ++m_slices;
}

Status PerfettoPackets::add(const SliceBlock& block) {
    beginLane(block.thread);
    if (block.slices.empty()) return {};
    writeUntil(std::ranges::min(block.slices, {}, &Slice::start).start);
    for (const auto& slice : block.slices)
        m_waiting.push_back(
            {slice, slice.kind == SliceKind::Step ? fmt::format("ProfilerStep#{}", std::max<std::int64_t>(0, slice.step)) : block.strings[slice.name],
             annotations(block, slice)});
    return flush();
}

std::uint64_t PerfettoPackets::counterTrack(const std::string& key, const std::string& name, const std::string& unit, const char* category) {
    auto& track = m_tracks["counter " + key];
    if (track != 0) return track;
    ProtoMessage counter;
    if (category != nullptr) counter.bytes(2, category);
    if (unit == "B")
        counter.whole(3, kBytesUnit);
    else if (!unit.empty())
        counter.bytes(6, unit);
    return track = newTrack(0, name, track_field::kCounter, counter);
}

Status PerfettoPackets::add(const SampleBlock& block) {
    if (block.name == kCountedOperations) return {};  // sums, not a course
    for (const auto& sample : block.samples) {
        const auto& series = block.series.at(sample.series);
        const std::uint64_t track = counterTrack(fmt::format("{} {}", block.lane, series.name), series.name + rankWords(block.rank), series.unit);
        eventPacket(sample.at, ProtoMessage()
                                   .whole(event_field::kType, event_field::kCounter)
                                   .whole(event_field::kTrack, track)
                                   .real(event_field::kDouble, sample.value));
    }
    return flush();
}

// Each by itself with what it is for and who took it; and as a course how much is in use, where that was recorded.
Status PerfettoPackets::add(const AllocationBlock& block) {
    for (const auto& one : block.allocations) {
        const std::string of = (one.device < 0 ? std::string("of the host") : fmt::format("of GPU {}", one.device)) + rankWords(block.rank);
        const auto total = [&](const char* what, std::int64_t bytes) {
            const std::uint64_t track = counterTrack(fmt::format("memory {} {} {}", block.rank, one.device, what),
                                                     fmt::format("memory {} {}", what, of), "B", kAllocationCounters);
            eventPacket(one.at, ProtoMessage()
                                    .whole(event_field::kType, event_field::kCounter)
                                    .whole(event_field::kTrack, track)
                                    .real(event_field::kDouble, static_cast<double>(bytes)));
        };
        if (one.totalAllocated >= 0) total("allocated", one.totalAllocated);
        if (one.totalReserved >= 0) total("reserved", one.totalReserved);
        auto& track = m_tracks[fmt::format("allocations {} {}", block.rank, one.device)];
        if (track == 0) track = newTrack(0, "allocations " + of);
        std::string arguments;
        annotate(arguments, "bytes", one.bytes);
        if (one.address != 0) annotate(arguments, "address", static_cast<std::int64_t>(one.address));
        if (one.totalAllocated >= 0) annotate(arguments, "total allocated", one.totalAllocated);
        if (one.totalReserved >= 0) annotate(arguments, "total reserved", one.totalReserved);
        if (one.owner != 0) annotate(arguments, "owner", block.strings[one.owner]);
        eventPacket(one.at, ProtoMessage()
                                .whole(event_field::kType, event_field::kInstant)
                                .whole(event_field::kTrack, track)
                                .whole(event_field::kName, intern(m_names, one.kind != 0 ? block.strings[one.kind] : std::string("allocation")))
                                .append(arguments));
    }
    return flush();
}

Status PerfettoPackets::finish() {
    endLane();
    m_out << m_trace.text();
    m_trace.clear();
    return m_out ? Status() : makeError(ErrorCode::Io, "The trace could not be written; check the free room and the permissions of the target.");
}

void PerfettoPackets::eventPacket(std::int64_t at, const ProtoMessage& event) {
    ProtoMessage one;
    const auto shift = static_cast<std::uint64_t>(m_links.shift());
    one.whole(packet_field::kTimestamp, at < -m_links.shift() ? 0 : static_cast<std::uint64_t>(at) + shift);
    one.message(packet_field::kTrackEvent, event);
    packet(one);
}

void PerfettoPackets::packet(ProtoMessage& one) {
    one.whole(packet_field::kSequence, 1).whole(packet_field::kFlags, packet_field::kNeedsState);
    if (!m_new.empty()) one.message(packet_field::kInterned, m_new);
    m_new.clear();
    m_trace.message(1, one);
}

Status PerfettoPackets::flush() {
    if (m_trace.text().size() < kFlushAt) return {};
    m_out << m_trace.text();
    m_trace.clear();
    return m_out ? Status() : makeError(ErrorCode::Io, "The trace could not be written; check the free room and the permissions of the target.");
}

}  // namespace stepscope::perfetto
