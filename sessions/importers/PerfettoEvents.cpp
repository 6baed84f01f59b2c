#include "sessions/importers/PerfettoEvents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "core/trace/SliceCodec.h"
#include "sessions/importers/JsonScan.h"
#include "sessions/importers/ProtoFields.h"

namespace stepscope::importing {
namespace {

constexpr std::size_t kMostTracks = 50'000, kMostSequences = 1'000, kMostInterned = 1'000'000, kMostBegunSlices = 1'000'000;
constexpr std::uint64_t kFarthestStamp = std::uint64_t{1} << 61;  // ns
constexpr std::string_view kOverlapping = " (overlapping)", kAllocationsOf = "allocations of ";
// What our own export names a counter of allocations by, and an allocation of which nobody knows what it is for.
constexpr std::string_view kAllocationCounters = "stepscope allocations", kOfUnknownKind = "allocation";

// Perfetto's messages (protos/perfetto/trace), as far as they are read.
namespace packet_of {
constexpr int kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12, kFlags = 13, kCompressed = 50, kDescriptor = 60;
constexpr std::uint64_t kCleared = 1;
}  // namespace packet_of
namespace event_of {
constexpr int kCategory = 3, kAnnotation = 4, kType = 9, kName = 10, kTrack = 11, kPlainCategory = 22, kPlainName = 23, kWhole = 30, kReal = 44,
              kFlow = 47, kLastOfFlow = 48;
constexpr std::uint64_t kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4;
}  // namespace event_of

constexpr std::int64_t kPerRankThere = 100'000'000;  // what our own export adds to the processes of each rank
constexpr std::int64_t kMostRankThere = 1 << 24;
constexpr std::size_t kMostRanksOfAFile = 4096;  // of more processes the worker is the first

// "GPU 0 (rank 3)" becomes "GPU 0" and 3: so our own export tells workers apart.
std::int64_t takeRank(std::string& name) {
    constexpr std::string_view kRank = " (rank ";
    const auto at = name.rfind(kRank);
    if (at == std::string::npos || !name.ends_with(')')) return 0;
    const auto rank = wholeNumber(std::string_view(name).substr(at + kRank.size(), name.size() - at - kRank.size() - 1));
    if (!rank || *rank < 0 || *rank >= kMostRankThere) return 0;
    name.erase(at);
    return *rank;
}

struct KindWord {
    std::string_view word;
    SliceKind kind;
};
constexpr std::array kKinds{KindWord{"operation", SliceKind::Operation},   KindWord{"own", SliceKind::Own},
                            KindWord{"backward", SliceKind::Backward},     KindWord{"step", SliceKind::Step},
                            KindWord{"phase", SliceKind::Phase},           KindWord{"evaluation", SliceKind::Evaluation},
                            KindWord{"annotation", SliceKind::Annotation}, KindWord{"python", SliceKind::Python},
                            KindWord{"runtime", SliceKind::Runtime},       KindWord{"driver", SliceKind::Driver},
                            KindWord{"kernel", SliceKind::Kernel},         KindWord{"memcpy", SliceKind::Memcpy},
                            KindWord{"memset", SliceKind::Memset},         KindWord{"sync", SliceKind::Synchronisation},
                            KindWord{"overhead", SliceKind::Overhead}};

SliceKind kindOfWord(std::string_view word) {
    const auto found = std::ranges::find(kKinds, word, &KindWord::word);
    return found == kKinds.end() ? SliceKind::Other : found->kind;
}

}  // namespace

bool PerfettoEvents::take(std::string_view packet) {
    std::uint64_t at = 0, sequence = 0, flags = 0;
    std::string_view event, interned, descriptor;
    bool isEvent = false, isDescriptor = false, compressed = false;
    ProtoFields fields(packet);
    while (fields.next()) {
        switch (fields.field) {
            case packet_of::kTimestamp:
                at = fields.number;
                break;
            case packet_of::kSequence:
                sequence = fields.number;
                break;
            case packet_of::kTrackEvent:
                event = fields.bytes;
                isEvent = true;
                break;
            case packet_of::kInterned:
                interned = fields.bytes;
                break;
            case packet_of::kFlags:
                flags = fields.number;
                break;
            case packet_of::kDescriptor:
                descriptor = fields.bytes;
                isDescriptor = true;
                break;
            case packet_of::kCompressed:
                compressed = true;
                break;
            default:
                break;
        }
    }
    if (!fields.good()) return false;
    if (!m_sequences.contains(sequence) && m_sequences.size() == kMostSequences) {
        m_trace.skip("packets of more than 1000 writers");
        return true;
    }
    Sequence& writer = m_sequences[sequence];
    if ((flags & packet_of::kCleared) != 0) {
        m_interned -= writer.names.size() + writer.categories.size() + writer.annotations.size();
        writer = {};
    }
    if (!interned.empty() && !intern(interned, writer)) return false;
    if (isDescriptor) return describe(descriptor);
    if (isEvent) return this->event(event, at, writer);
    // What only tells how others are to be read is not missed.
    if (compressed)
        m_trace.skip("packets that are packed");
    else if (interned.empty() && (flags & packet_of::kCleared) == 0)
        m_trace.skip("packets of other kinds than events of tracks");
    return true;
}

bool PerfettoEvents::intern(std::string_view data, Sequence& sequence) {
    ProtoFields fields(data);
    while (fields.next()) {
        if (fields.field < 1 || fields.field > 3) continue;
        std::uint64_t id = 0;
        std::string_view name;
        const int of = fields.field;
        ProtoFields one(fields.bytes);
        while (one.next()) {
            if (one.field == 1) id = one.number;
            if (one.field == 2) name = one.bytes;
        }
        if (!one.good()) return false;
        if (m_interned == kMostInterned) {
            m_trace.tell("names that were left out: more than a million");
            continue;
        }
        ++m_interned;
        const bool added = of == 1   ? sequence.categories.try_emplace(id, Category{kindOfWord(name), std::string(name.substr(0, 256))}).second
                           : of == 2 ? sequence.names.try_emplace(id, textOf(name)).second
                                     : sequence.annotations.try_emplace(id, readableText(name, kLongestAnnotationName)).second;
        if (!added) --m_interned;
    }
    return fields.good();
}

bool PerfettoEvents::describe(std::string_view descriptor) {
    std::uint64_t uuid = 0;
    Track track;
    std::int64_t pid = 0, tid = 0;
    bool process = false, thread = false;
    ProtoFields fields(descriptor);
    while (fields.next()) {
        if (fields.field == 1) uuid = fields.number;
        if (fields.field == 2) track.name = readableText(fields.bytes, kLongestSliceName);
        if (fields.field == 5) track.parent = fields.number;
        if (fields.field != 3 && fields.field != 4 && fields.field != 8) continue;
        process = process || fields.field == 3;
        thread = thread || fields.field == 4;
        track.counter = track.counter || fields.field == 8;
        const int of = fields.field;
        ProtoFields what(fields.bytes);
        while (what.next()) {
            if (of != 8 && what.field == 1) pid = static_cast<std::int64_t>(what.number);
            if (of == 4 && what.field == 2) tid = static_cast<std::int64_t>(what.number);
            if ((of == 3 && what.field == 6) || (of == 4 && what.field == 5)) track.name = readableText(what.bytes, kLongestSliceName);
            if (of == 8 && what.field == 2 && what.bytes == kAllocationCounters) track.ofAllocations = true;
            if (of == 8 && what.field == 3 && what.number == 3) track.unit = "B";
            if (of == 8 && what.field == 6) track.unit = readableText(what.bytes, 64);
        }
        if (!what.good()) return false;
    }
    if (!fields.good()) return false;
    if (m_tracks.contains(uuid)) return true;  // told again, as writers that begin anew do
    if (m_tracks.size() == kMostTracks) {
        m_trace.skip("tracks beyond 50000");
        return true;
    }
    // A number of the system where it has one: threads of one process are then told by these, as elsewhere.
    const auto parent = m_tracks.find(track.parent);
    if (thread) {
        track.pid = std::to_string(pid);
        track.tid = std::to_string(tid);
    } else {
        track.pid = process ? std::to_string(pid) : parent != m_tracks.end() ? parent->second.pid : fmt::format("track {}", uuid);
        track.tid = fmt::format("track {}", uuid);
    }
    if (process || (!thread && parent == m_tracks.end())) {
        track.rank = takeRank(track.name);
        tellWhose(track, process ? std::optional(pid) : std::nullopt);
    }
    // What overlapped on a stream lies on a track beside it, and is of the same stream.
    std::string name = track.name;
    if (name.ends_with(kOverlapping)) name.erase(name.size() - kOverlapping.size());
    const std::string key = fmt::format("{} {}", track.parent, name);
    const auto [sibling, first] = m_siblings.try_emplace(key, uuid);
    if (const auto found = m_tracks.find(sibling->second); !first && found != m_tracks.end() && name.size() < track.name.size()) {
        track.pid = found->second.pid;
        track.tid = found->second.tid;
    } else {
        sibling->second = uuid;
        if (process || (!thread && !track.counter && parent == m_tracks.end()))
            m_trace.nameProcess(track.pid, track.name);
        else if (!track.counter)
            m_trace.nameThread(track.pid, track.tid, track.name);
    }
    m_tracks.emplace(uuid, std::move(track));
    return true;
}

// pid: of the system, of a process.
void PerfettoEvents::tellWhose(const Track& track, std::optional<std::int64_t> pid) {
    constexpr std::string_view kGpuTrack = "GPU ";
    TraceBuilder::File& file = m_trace.file();
    if (file.ranks.size() >= kMostRanksOfAFile && !file.ranks.contains(track.rank)) return;
    file.ranks.emplace(track.rank, track.rank);
    file.saysRank = true;
    TraceBuilder::File::Whose whose{.rank = track.rank};
    if (pid) {
        const std::int64_t added = kPerRankThere * track.rank;
        whose.process = *pid > added ? *pid - added : *pid;
    } else if (track.name.starts_with(kGpuTrack)) {
        whose.process = wholeNumber(std::string_view(track.name).substr(kGpuTrack.size()));
    }
    file.whose.emplace(track.pid, whose);
}

// The process of what is counted of a worker.
std::string PerfettoEvents::countersOf(const Track& track) {
    if (track.rank == 0) return "counters";
    std::string pid = fmt::format("counters (rank {})", track.rank);
    m_trace.file().whose.emplace(pid, TraceBuilder::File::Whose{.rank = track.rank});
    return pid;
}

bool PerfettoEvents::event(std::string_view message, std::uint64_t at, Sequence& sequence) {
    Event event;
    ProtoFields fields(message);
    while (fields.next()) {
        switch (fields.field) {
            case event_of::kCategory: {
                // One by one, or several in one field.
                std::uint64_t id = fields.number;
                if (!fields.bytes.empty() && !ProtoFields::varint(fields.bytes, id)) return false;
                if (const auto found = sequence.categories.find(id); found != sequence.categories.end() && event.category.word.empty())
                    event.category = found->second;
                break;
            }
            case event_of::kPlainCategory:
                if (event.category.word.empty()) event.category = {kindOfWord(fields.bytes), std::string(fields.bytes.substr(0, 256))};
                break;
            case event_of::kAnnotation:
                if (event.annotations.size() < 256) event.annotations.push_back(fields.bytes);
                break;
            case event_of::kType:
                event.type = fields.number;
                break;
            case event_of::kName:
                event.name = fields.number;
                break;
            case event_of::kPlainName:
                event.plainName = fields.bytes;
                break;
            case event_of::kTrack:
                event.track = fields.number;
                break;
            case event_of::kWhole:
                event.value = static_cast<double>(static_cast<std::int64_t>(fields.number));
                break;
            case event_of::kReal:
                if (fields.bytes.size() == 8) event.value = std::bit_cast<double>(littleEndian<std::uint64_t>(fields.bytes, 0));
                break;
            case event_of::kFlow:
            case event_of::kLastOfFlow: {
                auto& into = fields.field == event_of::kFlow ? event.flows : event.lastOfFlows;
                for (std::size_t i = 0; i + 8 <= fields.bytes.size() && into.size() < 1024; i += 8)
                    into.push_back(littleEndian<std::uint64_t>(fields.bytes, i));
                break;
            }
            default:
                break;
        }
    }
    if (!fields.good()) return false;
    const auto found = m_tracks.find(event.track);
    if (found == m_tracks.end()) {
        m_trace.skip("events of tracks that are not described");
        return true;
    }
    Track& track = found->second;
    const bool fits = at <= kFarthestStamp;
    const auto time = static_cast<std::int64_t>(std::min(at, kFarthestStamp));
    if (event.type == event_of::kCounter) {
        if (track.ofAllocations) return true;
        if (!fits || !event.value)
            m_trace.skip(fits ? "a counter without a value" : "a time that does not fit");
        else
            m_trace.sample(countersOf(track), track.name, track.unit, time, *event.value);
        return true;
    }
    if (event.type == event_of::kEnd) {
        finish(track, time);
        return true;
    }
    if (event.type != event_of::kBegin && event.type != event_of::kInstant) {
        m_trace.skip("events of tracks that neither begin nor end");
        return true;
    }
    Record record;
    record.kind = event.category.kind;
    record.name = nameOf(event, sequence);
    if (!m_arguments.read(event.annotations, sequence.annotations, m_trace, record)) return false;
    if (!fits) m_trace.skip("a time that does not fit");
    if (event.type == event_of::kInstant && fits && m_arguments.bytes && track.name.starts_with(kAllocationsOf)) {
        TraceBuilder::Memory memory{.at = time,
                                    .bytes = *m_arguments.bytes,
                                    .totalAllocated = m_arguments.totalAllocated,
                                    .totalReserved = m_arguments.totalReserved,
                                    .address = static_cast<std::uint64_t>(m_arguments.address)};
        const std::string_view of = std::string_view(track.name).substr(kAllocationsOf.size());
        constexpr std::string_view kGpu = "GPU ";
        if (of.starts_with(kGpu)) memory.device = wholeNumber(of.substr(kGpu.size())).value_or(-1);
        const auto name = sequence.names.find(event.name);
        memory.kind = m_trace.textAt(name == sequence.names.end() ? TextStore::kNone : name->second);
        if (memory.kind == kOfUnknownKind) memory.kind.clear();
        memory.owner = readableText(m_arguments.owner, kLongestSliceName);
        m_trace.allocation(countersOf(track), memory);
        return true;
    }
    if (record.kind == SliceKind::Other && !event.category.word.empty()) m_arguments.add("cat", event.category.word);
    if (event.type == event_of::kInstant) m_arguments.add("ph", "i");
    const std::size_t before = m_open;
    begin(event, track, fits ? time : -1, record);
    if (event.type == event_of::kInstant && m_open > before) finish(track, time);
    return true;
}

// at: below 0 where it cannot be; its end is waited for all the same.
void PerfettoEvents::begin(const Event& event, Track& track, std::int64_t at, const Record& record) {
    if (m_open == kMostBegunSlices) return m_trace.skip("more than a million ranges that are open at once");
    Begun begun{.record = record, .kept = at >= 0};
    if (!track.lane) track.lane = m_trace.lane(track.pid, track.tid);
    if (!track.lane && begun.kept) m_trace.skip("more than 50000 lanes");
    begun.kept = begun.kept && track.lane.has_value();
    if (begun.kept) {
        Record& made = begun.record;
        made.lane = *track.lane;
        made.start = at;
        made.arguments = m_trace.arguments(m_arguments.arguments());
        if (m_arguments.device) {
            m_trace.ofDevice(*track.lane, *m_arguments.device, m_arguments.stream);
            if (made.kind == SliceKind::Annotation) made.kind = SliceKind::DeviceAnnotation;
        }
        flows(event, made);
    }
    track.open.push_back(begun);
    ++m_open;
}

void PerfettoEvents::finish(Track& track, std::int64_t at) {
    if (track.open.empty()) return m_trace.skip("an end of a range that has not begun");
    Begun begun = track.open.back();
    track.open.pop_back();
    --m_open;
    if (!begun.kept) return;
    begun.record.duration = at - begun.record.start;
    if (begun.record.kind == SliceKind::Step && begun.record.step < 0) begun.record.kind = SliceKind::Annotation;
    if (begun.record.kind == SliceKind::Step && begun.record.duration >= 0)
        m_trace.step(begun.record.step, begun.record.start, begun.record.duration);
    m_trace.slice(begun.record);
}

void PerfettoEvents::flows(const Event& event, const Record& record) {
    const bool operation = isOperation(record.kind);
    const char* const category = operation ? "fwdbwd" : "ac2g";
    const bool calls = record.kind == SliceKind::Runtime || record.kind == SliceKind::Driver;
    for (const std::uint64_t id : event.flows) m_trace.flow(category, std::to_string(id), operation || calls, record.start, record.lane);
    for (const std::uint64_t id : event.lastOfFlows) m_trace.flow(category, std::to_string(id), false, record.start, record.lane);
}

std::uint32_t PerfettoEvents::nameOf(const Event& event, const Sequence& sequence) {
    if (!event.plainName.empty()) return textOf(event.plainName);
    const auto found = sequence.names.find(event.name);
    return found == sequence.names.end() ? TextStore::kNone : found->second;
}

std::uint32_t PerfettoEvents::textOf(std::string_view name) {
    if (name.size() > kLongestSliceName) m_trace.tell("names that were cut: longer than 65536 bytes");
    return m_trace.text(readableText(name, kLongestSliceName));
}

void PerfettoEvents::end() {
    if (m_open > 0) m_trace.skip("ranges that have no end", static_cast<std::int64_t>(m_open));
    m_tracks.clear();
    m_open = 0;
}

}  // namespace stepscope::importing
