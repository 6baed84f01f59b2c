// TraceIndex: what is asked of a session's slices: pictures in tiles, sums over a range, one slice with all that is known of it, the next of a name,
// where an arrow leads. It reads what it needs from a TraceSource and keeps nothing but the styles, so that a session of any size takes no memory;
// who draws keeps tiles. On a reader's thread; never the GUI's. Every answer can be cut short: `goesOn` false ends it with ErrorCode::Cancelled.
#pragma once
#include <compare>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/KeyedHash.h"
#include "core/base/Result.h"
#include "core/trace/Chunk.h"
#include "core/trace/Lod.h"
#include "core/trace/LodCodec.h"

namespace stepscope {

struct TraceSourceLane {
    std::string kind;
    std::int64_t lane = 0;
    std::int64_t records = 0;
    TimeNs begin, end;
};

class TraceSource {
public:
    virtual ~TraceSource() = default;
    virtual Result<std::vector<TraceSourceLane>> lanes() = 0;
    // The blocks that overlap [from, to), by their begin. An error of `take` ends it and is handed on.
    virtual Status read(const std::string& kind, std::int64_t lane, std::int64_t from, std::int64_t to,
                        const std::function<Status(const Chunk&)>& take) = 0;
};

struct TraceLane {
    std::int64_t lane = 0;
    SliceThread thread;
    std::int32_t depths = 0;  // rows
    int finest = 1;           // level that it has beside level 0
    std::int64_t slices = 0;
    std::int64_t begin = 0, end = 0;  // ns
    bool steps = false;               // it has ranges of steps
};
struct TraceLanes {
    std::vector<TraceLane> lanes;  // ranks, in each who runs the steps, streams, other threads
    std::int64_t begin = 0, end = 0;
    bool whole = true;  // the level of detail stands for every slice; else it has to be built anew, or the session is being recorded
};

struct RangeSum {
    std::string name;
    SliceKind kind = SliceKind::Operation;
    std::int64_t count = 0, total = 0, self = 0;  // of a call within one of its own name and kind `total` has nothing, unless nestedEach
    std::int64_t spent = 0;                       // of all calls together, those too
};
struct RangeSums {
    std::vector<RangeSum> sums;  // by self, then name
    std::int64_t slices = 0, lost = 0, invalid = 0;
    bool nestedEach = false;  // calls within calls of the same name may be in `total` each: there were too many slices to look at every one
};
// What is stored of a name and kind over all of a session: its `total` has every call, and of that so much is of calls within calls of that name.
struct KinAnswer : KinSum {
    std::int64_t nested = 0;  // ns
    bool nestedEach = false;  // that is not known, for the same reason
};

// Where a search stands among slices: those that begin at once follow each other by lane, then depth.
struct TracePlace {
    std::int64_t start = 0, lane = 0;
    std::int32_t depth = 0;
    // Behind (before) all that begin at this time.
    static constexpr TracePlace behind(std::int64_t time) {
        return {time, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int32_t>::max()};
    }
    static constexpr TracePlace before(std::int64_t time) { return {time, std::numeric_limits<std::int64_t>::min(), -1}; }
    auto operator<=>(const TracePlace&) const = default;
};

// Of a lane: slices that could not be kept, or were none, told of by what was recorded from here to there.
struct TraceLoss {
    std::int64_t lane = 0, from = 0, to = 0;  // ns; half-open
    std::int64_t lost = 0, invalid = 0;
    bool operator==(const TraceLoss&) const = default;
};

// A slice with everything that its block says of it.
struct TraceSlice {
    std::int64_t lane = 0;
    SliceThread thread;
    Slice slice;  // its places in tables mean nothing here
    std::string name, phase, role;
    SliceArguments arguments;

    TracePlace place() const { return {slice.start, lane, slice.depth}; }
};

class TraceIndex {
public:
    using GoesOn = std::function<bool()>;
    // Slices that sums look at one by one where calls may lie in calls of the same name; what is stored by name does not tell those.
    static constexpr std::int64_t kMostRead = 100'000;
    explicit TraceIndex(
        TraceSource& source, GoesOn goesOn = [] { return true; }, std::int64_t mostRead = kMostRead)
        : m_source(source), m_goesOn(std::move(goesOn)), m_mostRead(mostRead) {}

    Result<TraceLanes> lanes();
    // Those with indices first to last, both included; each is there, be it empty.
    Result<std::vector<LodTilePtr>> tiles(std::int64_t lane, int level, std::int64_t first, std::int64_t last);
    // Styles that tiles name by their place; those from `from` on. Any thread.
    std::vector<LodStyle> stylesFrom(std::size_t from) const;

    // Of slices that begin in [from, to). lane: all when not given.
    Result<RangeSums> sums(std::int64_t from, std::int64_t to, std::optional<std::int64_t> lane = {});
    // Over everything that was captured; count 0: there is none. By name and kind.
    Result<KinAnswer> kin(const std::string& name, SliceKind kind);
    // The slice of a row that covers this time, or begins or ends at most `near` ns from it.
    Result<std::optional<TraceSlice>> at(std::int64_t lane, std::int32_t depth, std::int64_t time, std::int64_t near);
    // The first slice behind `from` (or, backwards, the last before it) whose name holds `words` in whatever case.
    Result<std::optional<TraceSlice>> find(const std::string& words, const TracePlace& from, bool forwards);
    // That begins behind (before) this time.
    Result<std::optional<TraceSlice>> find(const std::string& words, std::int64_t time, bool forwards) {
        return find(words, forwards ? TracePlace::behind(time) : TracePlace::before(time), forwards);
    }
    // By lane, then time; where there are very many, neighbours of a lane as one.
    Result<std::vector<TraceLoss>> losses();
    // Where arrows lead to and come from: launch and kernel, forward and backward operation.
    Result<std::vector<TraceSlice>> flows(const TraceSlice& slice);
    // Slices of the lane's base blocks that reach into the range, block by block, with what else those blocks hold, until `take` says that it has
    // enough (false).
    Status slices(std::int64_t lane, std::int64_t from, std::int64_t to, const std::function<bool(const SliceBlock&, const Slice&)>& take);
    // Of slices that begin in [from, to) those of a kind. Where the sums by name stand for all of the lane, no block is read that holds none.
    Status slicesOfKind(SliceKind kind, std::int64_t lane, std::int64_t from, std::int64_t to, const std::function<bool(const Slice&)>& take);

private:
    struct Nested {
        std::int64_t calls = 0;  // of a name
        std::int64_t time = 0;   // ns that those within others of them take
    };
    using NestedByName = std::map<std::pair<std::string, SliceKind>, Nested>;

    std::uint32_t styleOf(const LodStyle& style);
    Status cancelled() const;
    // Of a lane's slices that begin in [from, to), each looked at; `only`: those of this name.
    Result<NestedByName> nested(std::int64_t lane, std::int64_t from, std::int64_t to, const std::string* only = nullptr);
    TraceSource& m_source;
    GoesOn m_goesOn;
    std::int64_t m_mostRead;
    mutable std::mutex m_mutex;
    std::vector<LodStyle> m_styles;
    KeyedMap<std::string, std::uint32_t> m_places;
    KeyedMap<std::int64_t, std::string> m_kinds;  // of the base blocks of a lane
    std::vector<TraceLane> m_lanes;
};

}  // namespace stepscope
