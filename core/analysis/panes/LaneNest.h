// LaneNest: the slices of one lane within a range, each with what it lies in and how much of it is its own: what flame graphs and the classes of a
// step's time are made of. Slices that reach over the range's edges count with what lies in it. Pure functions; any thread.
#pragma once
#include <cstdint>
#include <vector>

#include "core/analysis/why/WorkClass.h"
#include "core/trace/Slice.h"

namespace stepscope {

struct NestedSlice {
    std::int64_t start = 0, end = 0;  // ns, within the range
    std::uint32_t text = 0;           // of whoever adds it
    std::int32_t depth = 0;
    SliceKind kind = SliceKind::Operation;
    WorkClass work = WorkClass::Host;
    bool cut = false;          // it began before the range
    bool open = false;         // it ended behind the range
    std::int64_t self = 0;     // ns that none of those that lie in it take
    std::int32_t parent = -1;  // a place in the same list, before it; -1: none
    bool inStep = false;       // a step holds it, or it is one
    bool moves = false;        // data between workers, on the host
    std::int64_t length() const { return end - start; }
};

// Sorts by start, those around others first, and fills in self, parent and inStep. What overlaps without lying in each other (two ranges of a
// tangled trace) lies in what is one level up; no self is below 0.
void nestLane(std::vector<NestedSlice>& slices);

}  // namespace stepscope
