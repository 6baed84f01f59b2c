#include "core/trace/SamePlace.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace stepscope {
namespace {

constexpr std::size_t kMostPlaces = 1'000'000;  // calls of one name within one step that are told apart
constexpr std::size_t kMostLanesLookedAt = 256;

using Places = std::vector<std::pair<std::int64_t, std::int32_t>>;  // start, depth

struct StepPart {
    std::int64_t number = kNoStep;    // of the update
    std::int64_t start = 0, end = 0;  // of what begins in it, told by time
    std::int64_t last = 0;            // no slice of it begins later: a device may work for a step when the next one has begun
};

// Where a slice stands among the steps: 0 is the first, -1 before it.
std::int64_t stepOf(const CapturedPart& part, const Slice& slice) {
    if (slice.step >= 0) {
        const auto found = std::ranges::find(part.steps, slice.step, &StepTime::number);
        if (found != part.steps.end()) return found - part.steps.begin();
    }
    return std::ranges::upper_bound(part.steps, slice.start, {}, &StepTime::start) - part.steps.begin() - 1;
}

StepPart wholeOf(const CapturedPart& part) {
    return {.number = kNoStep, .start = part.from, .end = part.until, .last = part.until};
}

StepPart stepAt(const CapturedPart& part, std::int64_t place) {
    const auto count = static_cast<std::int64_t>(part.steps.size());
    const auto startOf = [&](std::int64_t step) { return step < count ? part.steps[static_cast<std::size_t>(step)].start : part.until; };
    if (place < 0) return {.number = kNoStep, .start = part.from, .end = startOf(0), .last = startOf(0)};
    return {
        .number = part.steps[static_cast<std::size_t>(place)].number, .start = startOf(place), .end = startOf(place + 1), .last = startOf(place + 2)};
}

bool isIn(const StepPart& step, const Slice& slice) {
    if (slice.step >= 0 && step.number >= 0) return slice.step == step.number;
    return slice.start >= step.start && slice.start < step.end;
}

bool alike(const TraceSlice& wanted, const SliceBlock& block, const Slice& slice) {
    if (slice.kind != wanted.slice.kind) return false;
    if (slice.kind == SliceKind::Step) return true;  // their names count them
    return slice.layer == wanted.slice.layer && block.strings[slice.name] == wanted.name && block.strings[slice.phase] == wanted.phase &&
           block.strings[slice.role] == wanted.role;
}

// Another name, but the same part of the model.
bool standsFor(const TraceSlice& wanted, const SliceBlock& block, const Slice& slice) {
    if (wanted.role.empty() || isOperation(slice.kind) != isOperation(wanted.slice.kind) ||
        isDeviceWork(slice.kind) != isDeviceWork(wanted.slice.kind))
        return false;
    return slice.layer == wanted.slice.layer && block.strings[slice.phase] == wanted.phase && block.strings[slice.role] == wanted.role;
}

template <class Fits>
Result<Places> placesIn(TraceIndex& index, std::int64_t lane, const StepPart& step, const Fits& fits) {
    Places places;
    const auto done = index.slices(lane, step.start, step.last, [&](const SliceBlock& block, const Slice& slice) {
        if (isIn(step, slice) && fits(block, slice)) places.emplace_back(slice.start, slice.depth);
        return places.size() < kMostPlaces;
    });
    if (!done) return done.error();
    std::ranges::sort(places);
    return places;
}

// Those where it may be, the likeliest first: of the same worker, then of the same name.
std::vector<const TraceLane*> lanesLike(const TraceSlice& slice, const TraceLanes& lanes) {
    std::vector<const TraceLane*> some;
    for (const TraceLane& lane : lanes.lanes)
        if ((lane.thread.device >= 0) == (slice.thread.device >= 0) && isTeamLane(lane.thread) == isTeamLane(slice.thread)) some.push_back(&lane);
    std::ranges::stable_sort(some, {}, [&](const TraceLane* lane) {
        const SliceThread& thread = lane->thread;
        const bool same =
            thread.device >= 0 ? thread.device == slice.thread.device && thread.thread == slice.thread.thread : thread.name == slice.thread.name;
        return std::tuple(thread.rank != slice.thread.rank, !same, !lane->steps);
    });
    if (some.size() > kMostLanesLookedAt) some.resize(kMostLanesLookedAt);
    return some;
}

}  // namespace

Result<CapturedPart> capturedPart(TraceIndex& index, const TraceLanes& lanes, std::int64_t from, std::int64_t until) {
    CapturedPart part{.from = from, .until = until, .steps = {}};
    for (const TraceLane& lane : lanes.lanes) {
        if (!lane.steps || lane.thread.device >= 0) continue;
        const auto done = index.slicesOfKind(SliceKind::Step, lane.lane, from, until, [&](const Slice& slice) {
            part.steps.push_back({slice.step, slice.start, cappedSum(slice.start, slice.duration)});
            return part.steps.size() < kMostSideSteps;
        });
        if (!done) return done.error();
        if (!part.steps.empty()) break;
    }
    std::ranges::sort(part.steps, {}, &StepTime::start);
    return part;
}

Result<SamePlace> samePlace(const CapturedSide& own, const TraceSlice& slice, const CapturedSide& other) {
    // Where one of them tells of no steps all of it is as one.
    const bool byStep = !own.part.steps.empty() && !other.part.steps.empty();
    const std::int64_t place = byStep ? stepOf(own.part, slice.slice) : -1;
    const auto stepIn = [&](const CapturedPart& part) { return byStep ? stepAt(part, place) : wholeOf(part); };
    SamePlace answer{.step = place + 1, .slice = {}};
    if (byStep && place >= static_cast<std::int64_t>(other.part.steps.size())) return answer;
    const auto fits = [&](const SliceBlock& block, const Slice& one) { return alike(slice, block, one); };
    const auto before = placesIn(own.index, slice.lane, stepIn(own.part), fits);
    if (!before) return before.error();
    const auto which = static_cast<std::size_t>(std::ranges::lower_bound(*before, std::pair(slice.slice.start, slice.slice.depth)) - before->begin());

    const StepPart step = stepIn(other.part);
    const auto lanes = lanesLike(slice, other.lanes);
    std::optional<std::tuple<std::int64_t, std::int64_t, std::int32_t>> best;  // lane, start, depth
    std::size_t most = 0;
    for (const TraceLane* lane : lanes) {
        const auto places = placesIn(other.index, lane->lane, step, fits);
        if (!places) return places.error();
        if (places->size() <= most) continue;
        most = places->size();
        const auto& [start, depth] = (*places)[std::min(which, most - 1)];
        best.emplace(lane->lane, start, depth);
        if (most > which) break;
    }
    if (!best)
        for (const TraceLane* lane : lanes) {
            const auto places =
                placesIn(other.index, lane->lane, step, [&](const SliceBlock& block, const Slice& one) { return standsFor(slice, block, one); });
            if (!places) return places.error();
            if (places->empty()) continue;
            const auto& [start, depth] = *std::ranges::min_element(*places, {}, [](const auto& one) { return std::pair(one.second, one.first); });
            best.emplace(lane->lane, start, depth);
            break;
        }
    if (!best) return answer;
    const auto& [lane, start, depth] = *best;
    auto found = other.index.at(lane, depth, start, 0);
    if (!found) return found.error();
    answer.slice = std::move(*found);
    return answer;
}

}  // namespace stepscope
