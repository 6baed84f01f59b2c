// SamePlace: two captures laid side by side. Where the steps of each begin, and which slice of one stands where a slice of the other stands: told by
// step, phase, layer, part and name, as often called before in its step, and never by time, which is what differs between them. Asked by the window
// on a reader's thread.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/Result.h"
#include "core/trace/TraceIndex.h"

namespace stepscope {

struct StepTime {
    std::int64_t number = 0;          // of the update; 0: unknown
    std::int64_t start = 0, end = 0;  // ns; half-open
    bool operator==(const StepTime&) const = default;
};

// What one side shows: a capture of a session.
struct CapturedPart {
    std::int64_t from = 0, until = 0;  // ns; half-open
    std::vector<StepTime> steps;       // that begin in it, by time; none: nobody told of steps

    // Where the other side is laid upon it.
    std::int64_t origin() const { return steps.empty() ? from : steps.front().start; }
};

// With the steps that the trace tells of, at most kMostSideSteps of them. Errors: those of TraceIndex.
constexpr std::size_t kMostSideSteps = 100'000;
Result<CapturedPart> capturedPart(TraceIndex& index, const TraceLanes& lanes, std::int64_t from, std::int64_t until);

struct SamePlace {
    std::int64_t step = 0;            // of both captures, from 1; 0: before the first, or nobody told of steps
    std::optional<TraceSlice> slice;  // of the other side; none: nothing of it is in that step there
};
struct CapturedSide {
    TraceIndex& index;
    const TraceLanes& lanes;
    const CapturedPart& part;
};
// What of `other` stands where `slice` of `own` stands. A call of the same name, or where that step has fewer of them the last; where it has none,
// the outermost of the same phase, layer and part. Errors: those of TraceIndex.
Result<SamePlace> samePlace(const CapturedSide& own, const TraceSlice& slice, const CapturedSide& other);

}  // namespace stepscope
