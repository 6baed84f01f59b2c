// What TraceIndex answers beside pictures: sums over a range, kin, one slice, the next of a name, where arrows lead.
#include <algorithm>
#include <cctype>
#include <limits>
#include <map>

#include "core/trace/OutermostCalls.h"
#include "core/trace/SliceCodec.h"
#include "core/trace/TraceIndex.h"

namespace stepscope {
namespace {

constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::min(), kAlways = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kRememberAll = std::numeric_limits<std::size_t>::max();  // TraceIndex::kMostRead bounds it
constexpr std::int64_t kFirstLook = std::int64_t{1} << 24;  // ns: how far arrows are followed at first, eight times as far each time
constexpr std::int64_t kLastLook = std::int64_t{1} << 36;   // 69 s
constexpr std::size_t kMostFlows = 64;
constexpr std::size_t kMostLosses = 4096;

std::string lowered(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return lower;
}

std::int64_t clampedAdd(std::int64_t time, std::int64_t by) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(time, by, &sum)) return by > 0 ? kAlways : std::numeric_limits<std::int64_t>::min();
    return sum;
}

// Of the forward pass: what is of the backward pass says where its forward operation ran.
bool isForward(const Slice& slice) {
    return isOperation(slice.kind) && slice.kind != SliceKind::Backward && slice.forwardThread == 0;
}

TraceSlice whole(std::int64_t lane, const SliceBlock& block, const Slice& slice) {
    return {.lane = lane,
            .thread = block.thread,
            .slice = slice,
            .name = block.strings[slice.name],
            .phase = block.strings[slice.phase],
            .role = block.strings[slice.role],
            .arguments = block.arguments[slice.arguments]};
}

class Sums {
public:
    void add(const std::string& name, SliceKind kind, std::int64_t count, std::int64_t total, std::int64_t self) {
        RangeSum& sum = m_sums[{name, kind}];
        sum.count = cappedSum(sum.count, count);
        sum.total = cappedSum(sum.total, total);
        sum.self = cappedSum(sum.self, self);
        sum.spent = cappedSum(sum.spent, total);
    }
    void add(const Sums& other) {
        for (const auto& [key, one] : other.m_sums) {
            RangeSum& sum = m_sums[key];
            sum.count = cappedSum(sum.count, one.count);
            sum.total = cappedSum(sum.total, one.total);
            sum.self = cappedSum(sum.self, one.self);
            sum.spent = cappedSum(sum.spent, one.spent);
        }
    }
    // Whether a call may lie in one of its own name: what calls nothing has none in it.
    bool mayNest() const {
        return std::ranges::any_of(m_sums, [](const auto& one) { return one.second.spent > one.second.self; });
    }
    // Of those calls of a name that lie in others of it. Taken only where it is told of the calls that are summed here, no fewer and no more.
    bool leaveOut(const std::pair<std::string, SliceKind>& name, std::int64_t calls, std::int64_t time) {
        const auto found = m_sums.find(name);
        if (found == m_sums.end() || found->second.count != calls) return false;
        found->second.total = std::max<std::int64_t>(0, found->second.spent - time);
        return true;
    }
    std::size_t names() const { return m_sums.size(); }
    std::vector<RangeSum> take() {
        std::vector<RangeSum> all;
        for (auto& [key, sum] : m_sums) {
            sum.name = key.first;
            sum.kind = key.second;
            all.push_back(sum);
        }
        std::ranges::stable_sort(all, std::ranges::greater{}, &RangeSum::self);
        return all;
    }

private:
    std::map<std::pair<std::string, SliceKind>, RangeSum> m_sums;
};

}  // namespace

Result<RangeSums> TraceIndex::sums(std::int64_t from, std::int64_t to, std::optional<std::int64_t> only) {
    RangeSums answer;
    if (to <= from) return answer;
    Sums summed;
    std::vector<std::pair<std::int64_t, Sums>> nesting;  // lanes in which calls may lie in calls of the same name
    std::int64_t toRead = 0;
    for (const TraceLane& lane : m_lanes) {
        if (only && lane.lane != *only) continue;
        Sums sums;
        const std::int64_t before = answer.slices;
        // Base chunks that lie in the range with all their slices are in a table; what the range cuts is read itself.
        const auto inside = [&](std::int64_t first, std::int64_t last) { return first >= from && last < to; };
        const auto tables = m_source.read(kNames, lane.lane, from, to, [&](const Chunk& chunk) -> Status {
            if (auto go = cancelled(); !go) return go;
            const auto block = decodeNames(chunk);
            if (!block) return block.error();
            std::vector<NameSum> all;
            std::map<std::pair<std::uint32_t, SliceKind>, std::size_t> places;
            for (const NameTable& table : block->tables) {
                if (!inside(table.first, table.last)) continue;
                answer.slices = cappedSum(answer.slices, table.slices);
                answer.lost = cappedSum(answer.lost, table.lost);
                answer.invalid = cappedSum(answer.invalid, table.invalid);
                for (const NameSum& sum : table.sums) {
                    const auto [found, added] = places.try_emplace({sum.name, sum.kind}, all.size());
                    if (added) all.push_back({.name = sum.name, .kind = sum.kind});
                    NameSum& into = all[found->second];
                    into.count = cappedSum(into.count, sum.count);
                    into.total = cappedSum(into.total, sum.total);
                    into.self = cappedSum(into.self, sum.self);
                }
            }
            for (const NameSum& sum : all) sums.add(block->strings[sum.name], sum.kind, sum.count, sum.total, sum.self);
            return {};
        });
        if (!tables) return tables.error();
        const auto edge = [&](std::int64_t a, std::int64_t b, std::int64_t butNotAt) {
            return m_source.read(m_kinds[lane.lane], lane.lane, a, b, [&](const Chunk& chunk) -> Status {
                if (auto go = cancelled(); !go) return go;
                if (butNotAt != kAlways && chunk.begin.ns <= butNotAt && chunk.end.ns > butNotAt) return {};
                const auto block = decodeSlices(chunk);
                if (!block) return block.error();
                if (block->slices.empty() || inside(block->slices.front().start, block->slices.back().start)) return {};
                std::map<std::pair<std::uint32_t, SliceKind>, NameSum> cut;
                for (const Slice& slice : block->slices) {
                    if (slice.start < from || slice.start >= to) continue;
                    answer.slices = cappedSum(answer.slices, 1);
                    NameSum& into = cut[{slice.name, slice.kind}];
                    ++into.count;
                    into.total = cappedSum(into.total, slice.duration);
                    into.self = cappedSum(into.self, slice.self());
                }
                for (const auto& [key, sum] : cut) sums.add(block->strings[key.first], key.second, sum.count, sum.total, sum.self);
                return {};
            });
        };
        // A chunk that holds both edges is read once.
        if (const auto done = edge(from, clampedAdd(from, 1), kAlways); !done) return done.error();
        if (const auto done = edge(clampedAdd(to, -1), to, from); !done) return done.error();
        if (!sums.mayNest()) {
            summed.add(sums);
            continue;
        }
        toRead = cappedSum(toRead, answer.slices - before);
        nesting.emplace_back(lane.lane, std::move(sums));
    }
    answer.nestedEach = toRead > m_mostRead;
    for (auto& [lane, sums] : nesting) {
        if (toRead <= m_mostRead) {
            const auto known = nested(lane, from, to);
            if (!known) return known.error();
            if (known->size() != sums.names()) answer.nestedEach = true;
            for (const auto& [name, one] : *known)
                if (!sums.leaveOut(name, one.calls, one.time)) answer.nestedEach = true;
        }
        summed.add(sums);
    }
    answer.sums = summed.take();
    return answer;
}

Result<TraceIndex::NestedByName> TraceIndex::nested(std::int64_t lane, std::int64_t from, std::int64_t to, const std::string* only) {
    struct Name {
        Nested nested;
        OutermostCalls calls;
    };
    std::map<std::pair<std::string, SliceKind>, Name> names;
    std::size_t remembered = 0;
    const auto done = m_source.read(m_kinds[lane], lane, from, to, [&](const Chunk& chunk) -> Status {
        if (auto go = cancelled(); !go) return go;
        const auto block = decodeSlices(chunk);
        if (!block) return block.error();
        std::map<std::pair<std::uint32_t, SliceKind>, Name*> places;
        for (const Slice& slice : block->slices) {
            if (slice.start < from || slice.start >= to) continue;
            const auto [found, added] = places.try_emplace({slice.name, slice.kind}, nullptr);
            const std::string& name = block->strings[slice.name];
            if (added && (only == nullptr || name == *only)) found->second = &names[{name, slice.kind}];
            if (found->second == nullptr) continue;
            Name& into = *found->second;
            ++into.nested.calls;
            into.nested.time = cappedSum(into.nested.time, into.calls.countedTwice(slice.start, slice.duration, remembered, kRememberAll));
        }
        return {};
    });
    if (!done) return done.error();
    NestedByName all;
    for (const auto& [name, one] : names) all[name] = one.nested;
    return all;
}

Result<KinAnswer> TraceIndex::kin(const std::string& name, SliceKind kind) {
    KinAnswer answer;
    answer.name = name;
    answer.kind = kind;
    std::vector<std::pair<std::int64_t, std::int64_t>> nesting;  // lanes in which some may lie in others, and how many there are
    std::int64_t toRead = 0;
    for (const TraceLane& lane : m_lanes) {
        KinSum ofLane;
        const auto done = m_source.read(kKin, lane.lane, kEver, kAlways, [&](const Chunk& chunk) -> Status {
            if (auto go = cancelled(); !go) return go;
            const auto block = decodeKin(chunk);
            if (!block) return block.error();
            for (const KinSum& sum : block->sums)
                if (sum.name == name && sum.kind == kind) ofLane.add(sum);
            return {};
        });
        if (!done) return done.error();
        if (ofLane.count == 0) continue;
        answer.add(ofLane);
        if (ofLane.total <= ofLane.self) continue;
        toRead = cappedSum(toRead, lane.slices);
        nesting.emplace_back(lane.lane, ofLane.count);
    }
    answer.nestedEach = toRead > m_mostRead;
    if (answer.nestedEach) return answer;
    for (const auto& [lane, calls] : nesting) {
        const auto known = nested(lane, kEver, kAlways, &name);
        if (!known) return known.error();
        const auto found = known->find({name, kind});
        if (found != known->end() && found->second.calls == calls)
            answer.nested = cappedSum(answer.nested, found->second.time);
        else
            answer.nestedEach = true;
    }
    answer.nested = std::min(answer.nested, answer.total);
    return answer;
}

Result<std::optional<TraceSlice>> TraceIndex::at(std::int64_t lane, std::int32_t depth, std::int64_t time, std::int64_t near) {
    std::optional<TraceSlice> best;
    std::int64_t away = 0;
    const auto done = slices(lane, clampedAdd(time, -near), clampedAdd(time, near + 1), [&](const SliceBlock& block, const Slice& slice) {
        if (slice.depth != depth) return true;
        const std::int64_t end = slice.start + slice.duration;
        const std::int64_t distance = time < slice.start ? slice.start - time : time >= end && time != slice.start ? time - end + 1 : 0;
        if (distance > near || (best && distance >= away)) return true;
        best = whole(lane, block, slice);
        away = distance;
        return true;
    });
    if (!done) return done.error();
    return best;
}

Result<std::optional<TraceSlice>> TraceIndex::find(const std::string& words, const TracePlace& from, bool forwards) {
    const std::string wanted = lowered(words);
    std::optional<TraceSlice> best;
    const auto better = [&](const TracePlace& place) {
        if (forwards ? place <= from : place >= from) return false;
        return !best || (forwards ? place < best->place() : place > best->place());
    };
    // With what begins at that very time: it may be of another lane, or deeper.
    const std::int64_t first = forwards ? clampedAdd(from.start, -1) : kEver, last = forwards ? kAlways : clampedAdd(from.start, 1);
    for (const TraceLane& lane : m_lanes) {
        // The tables tell which base chunks have it; only the nearest of those is read.
        std::vector<std::pair<std::int64_t, std::int64_t>> places;
        const auto tables = m_source.read(kNames, lane.lane, first, last, [&](const Chunk& chunk) -> Status {
            if (auto go = cancelled(); !go) return go;
            const auto block = decodeNames(chunk);
            if (!block) return block.error();
            std::vector<bool> fits;
            for (const auto& text : block->strings) fits.push_back(lowered(text).find(wanted) != std::string::npos);
            if (std::ranges::find(fits, true) == fits.end()) return {};
            for (const NameTable& table : block->tables)
                if (std::ranges::any_of(table.sums, [&](const NameSum& sum) { return fits[sum.name]; })) places.emplace_back(table.first, table.last);
            return {};
        });
        if (!tables) return tables.error();
        if (forwards)
            std::ranges::sort(places);
        else
            std::ranges::sort(places, [](const auto& a, const auto& b) { return a.second > b.second; });
        for (const auto& [begin, end] : places) {
            if (forwards ? end < from.start : begin > from.start) continue;
            if (best && (forwards ? begin > best->slice.start : end < best->slice.start)) break;
            const auto done = slices(lane.lane, begin, clampedAdd(end, 1), [&](const SliceBlock& block, const Slice& slice) {
                if (better({slice.start, lane.lane, slice.depth}) && lowered(block.strings[slice.name]).find(wanted) != std::string::npos)
                    best = whole(lane.lane, block, slice);
                return true;
            });
            if (!done) return done.error();
        }
    }
    return best;
}

Status TraceIndex::slicesOfKind(SliceKind kind, std::int64_t lane, std::int64_t from, std::int64_t to,
                                const std::function<bool(const Slice&)>& take) {
    const auto known = std::ranges::find(m_lanes, lane, &TraceLane::lane);
    std::int64_t told = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> places;  // of base blocks that hold some
    const auto tables = m_source.read(kNames, lane, kEver, kAlways, [&](const Chunk& chunk) -> Status {
        if (auto go = cancelled(); !go) return go;
        const auto block = decodeNames(chunk);
        if (!block) return block.error();
        for (const NameTable& table : block->tables) {
            told = cappedSum(told, table.slices);
            if (table.first < to && table.last >= from && std::ranges::any_of(table.sums, [&](const NameSum& sum) { return sum.kind == kind; }))
                places.emplace_back(std::max(table.first, from), std::min(clampedAdd(table.last, 1), to));
        }
        return {};
    });
    if (!tables) return tables.error();
    if (known == m_lanes.end() || told < known->slices) places = {{from, to}};
    // A block that reaches into the next one is read once.
    std::ranges::sort(places);
    std::vector<std::pair<std::int64_t, std::int64_t>> apart;
    for (const auto& [begin, end] : places)
        if (apart.empty() || begin >= apart.back().second)
            apart.emplace_back(begin, end);
        else
            apart.back().second = std::max(apart.back().second, end);
    bool goesOn = true;
    for (const auto& [begin, end] : apart) {
        // Named anew, as Clang before version 16 takes no structured binding into a lambda.
        const auto done = slices(lane, begin, end, [&, first = begin, past = end](const SliceBlock&, const Slice& slice) {
            // What reaches in from a block before belongs to that one's place.
            if (slice.kind == kind && slice.start >= first && slice.start < past) goesOn = take(slice);
            return goesOn;
        });
        if (!done) return done.error();
        if (!goesOn) break;
    }
    return {};
}

Result<std::vector<TraceLoss>> TraceIndex::losses() {
    std::vector<TraceLoss> all;
    for (const TraceLane& lane : m_lanes) {
        const auto done = m_source.read(kNames, lane.lane, kEver, kAlways, [&](const Chunk& chunk) -> Status {
            if (auto go = cancelled(); !go) return go;
            const auto block = decodeNames(chunk);
            if (!block) return block.error();
            for (const NameTable& table : block->tables)
                if (table.lost > 0 || table.invalid > 0)
                    all.push_back({lane.lane, table.first, std::max(table.end, clampedAdd(table.first, 1)), table.lost, table.invalid});
            return {};
        });
        if (!done) return done.error();
    }
    std::ranges::stable_sort(all, {}, [](const TraceLoss& one) { return std::pair(one.lane, one.from); });
    for (std::size_t before = 0; all.size() > kMostLosses && all.size() != before;) {
        before = all.size();
        std::vector<TraceLoss> fewer;
        bool alone = false;  // the last of them has no neighbour yet
        for (const TraceLoss& one : all) {
            alone = alone && fewer.back().lane == one.lane;
            if (!alone) {
                fewer.push_back(one);
            } else {
                TraceLoss& into = fewer.back();
                into.to = std::max(into.to, one.to);
                into.lost = cappedSum(into.lost, one.lost);
                into.invalid = cappedSum(into.invalid, one.invalid);
            }
            alone = !alone;
        }
        all = std::move(fewer);
    }
    return all;
}

Result<std::vector<TraceSlice>> TraceIndex::flows(const TraceSlice& from) {
    std::vector<TraceSlice> ends;
    const Slice& one = from.slice;
    const auto look = [&](std::int64_t a, std::int64_t b, bool devices, const auto& fits) -> Status {
        for (const TraceLane& lane : m_lanes) {
            if (ends.size() == kMostFlows) break;
            if ((lane.thread.device >= 0) != devices || lane.thread.rank != from.thread.rank) continue;
            const auto done = slices(lane.lane, a, b, [&](const SliceBlock& block, const Slice& slice) {
                if (slice.start >= a && slice.start < b && fits(block, slice)) ends.push_back(whole(lane.lane, block, slice));
                return ends.size() < kMostFlows;
            });
            if (!done) return done;
        }
        return {};
    };
    // Ahead of `from` or behind it, further each time until something is there.
    const auto away = [&](bool ahead, bool devices, const auto& fits) -> Status {
        std::int64_t before = 0;
        for (std::int64_t reach = kFirstLook; reach <= kLastLook && ends.empty(); reach *= 8) {
            const std::int64_t a = ahead ? clampedAdd(one.start, before) : clampedAdd(one.start, -reach);
            const std::int64_t b = ahead ? clampedAdd(one.start, reach) : clampedAdd(one.start, 1 - before);
            if (auto done = look(a, b, devices, fits); !done) return done;
            before = reach;
        }
        return {};
    };
    Status done;
    if (one.correlation != 0) {
        const bool onDevice = from.thread.device >= 0;
        done = away(!onDevice, !onDevice, [&](const SliceBlock&, const Slice& slice) { return slice.correlation == one.correlation; });
    } else if (one.forwardStart != 0) {
        // A trace may not say which of its threads autograd numbers how.
        done = look(one.forwardStart, clampedAdd(one.forwardStart, 1), false, [&](const SliceBlock& block, const Slice& slice) {
            return slice.sequence == one.sequence && isForward(slice) && (block.thread.number == one.forwardThread || block.thread.number == 0);
        });
    } else if (one.sequence >= 0 && !isForward(one)) {
        done = away(false, false, [&](const SliceBlock&, const Slice& slice) { return slice.sequence == one.sequence && isForward(slice); });
    } else if (one.sequence >= 0) {
        // The step of autograd's engine that a backward function lies in has its number too, but no arrow, and is none itself.
        done = away(true, false, [&](const SliceBlock& block, const Slice& slice) {
            return slice.sequence == one.sequence && !isForward(slice) && (slice.kind != SliceKind::Operation || slice.forwardStart != 0) &&
                   (slice.forwardStart == 0 || (slice.forwardStart == one.start && block.slices.size() > 0));
        });
    }
    if (!done) return done.error();
    return ends;
}

}  // namespace stepscope
