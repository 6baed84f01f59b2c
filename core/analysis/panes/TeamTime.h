// TeamTime: what the other threads of a team did during steps, each instant of each in one class. A thread is of a step's team where it did anything
// in that step; while it did nothing there it waited, so that classes and waiting are threads times step to the nanosecond. Threads that record
// nothing are in none of it: nobody knows whether they waited. Pure functions; any thread.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/analysis/panes/LaneNest.h"

namespace stepscope {

using NsSpan = std::pair<std::int64_t, std::int64_t>;  // ns: from, to

struct OwnTime {
    std::int64_t start = 0, end = 0;  // ns
    WorkClass work = WorkClass::Host;
};
// Of a lane as nestLane() leaves it, each instant the innermost slice: in order, without overlaps, also where slices are tangled.
std::vector<OwnTime> ownTimes(const std::vector<NestedSlice>& slices);

struct TeamStep {
    NsSpan shown;  // what is divided
    NsSpan whole;  // what of it lies outside of the range too: a thread that was busy there is of the team
};
struct TeamMember {
    std::vector<OwnTime> times;  // within the range
    std::vector<NsSpan> active;  // when it did anything, around the range too; in order, without overlaps
};
struct TeamTime {
    std::array<std::int64_t, kWorkClasses> classes{};  // ns of all members together
    std::int64_t waiting = 0;                          // ns
    std::int64_t fewest = 1, most = 1;                 // threads of a step, with the one that runs it
    std::int64_t together() const;                     // ns: classes and waiting
};
TeamTime teamTime(const std::vector<TeamStep>& steps, const std::vector<const TeamMember*>& members);

}  // namespace stepscope
