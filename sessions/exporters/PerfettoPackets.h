// PerfettoPackets: slices, counters and allocations as the packets of a Perfetto trace: names interned once, a begin and an end a slice, in the order
// in which they nest. Used by PerfettoTrace.cpp; one thread.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/base/KeyedHash.h"
#include "core/base/Result.h"
#include "core/trace/Allocation.h"
#include "core/trace/Sample.h"
#include "core/trace/Slice.h"
#include "sessions/exporters/LaunchIds.h"
#include "sessions/exporters/ProtoMessage.h"

namespace stepscope::perfetto {

// What has to be known of all slices before the first is written: when the first begins, who launches what, and which forward operations have
// backward functions. Of a launch it keeps bits, of a backward function a dozen bytes.
class PerfettoLinks {
public:
    void add(const SliceBlock& block);
    void done();
    std::int64_t shift() const { return m_first < 0 ? -m_first : 0; }  // ns added to every time
    bool launches(std::int64_t rank, std::int64_t correlation) const { return m_launches.joined(rank, correlation); }
    // Of an operation, and of each of its backward functions: the same number. Nothing: there is no arrow to or from it.
    std::optional<std::uint64_t> forwardOf(const SliceThread& thread, const Slice& backward) const;
    std::uint64_t keyOf(const SliceThread& thread, const Slice& forward) const;
    static std::uint64_t launchKey(std::int64_t rank, std::int64_t correlation);

    // Operations that backward functions have told of, and the place of one of them among these; nothing: none has. Behind done().
    std::size_t forwards() const { return m_backward.size(); }
    std::optional<std::size_t> placeOf(std::uint64_t key) const;
    std::uint32_t backwardOf(std::size_t place) const { return m_counts[place]; }  // how many functions there are

private:
    std::int64_t m_first = 0;
    LaunchIds m_launches;
    std::deque<std::uint64_t> m_backward;        // one a backward function; behind done() by size, each once
    std::deque<std::uint32_t> m_counts;          // behind done(), of each how many there were
    std::unordered_set<std::uint64_t> m_atZero;  // operations that begin at 0, which is also what is stored where no begin is known
};

class PerfettoPackets {
public:
    PerfettoPackets(std::ostream& out, const PerfettoLinks& links);

    // Blocks of a lane by the begin of the blocks, lane after lane.
    Status add(const SliceBlock& block);
    Status add(const SampleBlock& block);
    Status add(const AllocationBlock& block);
    Status finish();  // what is still open

    std::int64_t slices() const { return m_slices; }

private:
    struct Waiting {  // a slice that nothing can begin before any more, once the next block is known
        Slice slice;
        std::string name;
        std::string arguments;  // fields of a TrackEvent
    };
    struct Open {
        std::int64_t end = 0, written = 0;  // written: where its end is, no later than that of what holds it
        std::int64_t covered = 0;           // up to here it is known what it called
        std::int64_t called = 0;            // ns of Slice::called behind that
        std::int32_t depth = 0;
        std::int64_t timeOf(const Slice& slice) const;
        bool holds(const Slice& slice) const;
        bool makesWayFor(const Slice& slice) const;
    };
    struct Track {
        std::uint64_t uuid = 0;
        std::vector<Open> open;  // outermost first
    };
    struct Interned {
        std::uint32_t field = 0;  // of InternedData
        KeyedMap<std::string, std::uint64_t> ids{};
    };
    void beginLane(const SliceThread& thread);
    void endLane();
    void writeUntil(std::int64_t before);
    void write(const Waiting& waiting);
    void end(Track& track, std::int64_t until);
    void endLast(Track& track, std::int64_t at);
    Track& trackFor(const Slice& slice);
    std::uint64_t trackOf(const SliceThread& thread);
    // what: of a process, a thread or a counter, which `kind` is the field of; 0: a track that is none of them.
    std::uint64_t newTrack(std::uint64_t parent, const std::string& name, std::uint32_t kind = 0, const ProtoMessage& what = {});
    std::uint64_t processTrack(const SliceThread& thread);
    std::uint64_t counterTrack(const std::string& key, const std::string& name, const std::string& unit, const char* category = nullptr);
    std::string annotations(const SliceBlock& block, const Slice& slice);
    void annotate(std::string& into, const std::string& name, std::int64_t value);
    void annotate(std::string& into, const std::string& name, const std::string& value);
    void annotateUnsigned(std::string& into, const std::string& name, std::uint64_t value);
    std::uint64_t intern(Interned& of, const std::string& text);
    void eventPacket(std::int64_t at, const ProtoMessage& event);
    void packet(ProtoMessage& packet);
    Status flush();

    std::ostream& m_out;
    const PerfettoLinks& m_links;
    ProtoMessage m_trace, m_new;  // m_new: interned since the last packet
    Interned m_names{2}, m_categories{1}, m_annotations{3};
    std::map<std::string, std::uint64_t> m_tracks;  // processes, devices and counters by what tells them apart
    SliceThread m_thread;
    bool m_laneOpen = false;
    std::vector<Track> m_laneTracks;
    std::vector<Waiting> m_waiting;
    std::uint64_t m_lastTrack = 0;
    std::vector<bool> m_forward;                                 // by PerfettoLinks::placeOf: its flows begin in a slice that is written
    std::vector<std::uint32_t> m_backward;                       // and how many of them end in one
    std::set<std::pair<std::uint64_t, std::int64_t>> m_threads;  // by process and number of the system
    std::int64_t m_slices = 0;
};

}  // namespace stepscope::perfetto
