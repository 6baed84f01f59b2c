#include "core/analysis/panes/TeamTime.h"

#include <algorithm>
#include <limits>

#include "core/trace/Lod.h"

namespace stepscope {

std::vector<OwnTime> ownTimes(const std::vector<NestedSlice>& slices) {
    std::vector<OwnTime> all;
    struct Open {
        std::int64_t end = 0;
        WorkClass work = WorkClass::Host;
    };
    std::vector<Open> open;
    std::int64_t at = std::numeric_limits<std::int64_t>::min();  // up to where all is told
    const auto tell = [&](std::int64_t until, WorkClass work) {
        if (until <= at) return;
        all.push_back({at, until, work});
        at = until;
    };
    const auto close = [&] {
        tell(open.back().end, open.back().work);
        open.pop_back();
    };
    for (const NestedSlice& one : slices) {
        while (!open.empty() && open.back().end <= one.start) close();
        if (!open.empty()) tell(one.start, open.back().work);
        at = std::max(at, one.start);
        open.push_back({one.end, one.work});
    }
    while (!open.empty()) close();
    return all;
}

std::int64_t TeamTime::together() const {
    std::int64_t sum = waiting;
    for (const std::int64_t time : classes) sum = cappedSum(sum, time);
    return sum;
}

TeamTime teamTime(const std::vector<TeamStep>& steps, const std::vector<const TeamMember*>& members) {
    TeamTime all;
    bool first = true;
    for (const TeamStep& step : steps) {
        const auto [from, to] = step.shown;
        if (to <= from) continue;
        std::int64_t threads = 1;
        for (const TeamMember* member : members) {
            const auto [begin, end] = step.whole;
            const auto active = std::ranges::partition_point(member->active, [until = begin](const NsSpan& one) { return one.second <= until; });
            if (active == member->active.end() || active->first >= end) continue;
            threads += 1;
            std::int64_t idle = to - from;
            auto part = std::ranges::partition_point(member->times, [until = from](const OwnTime& one) { return one.end <= until; });
            for (; part != member->times.end() && part->start < to; ++part) {
                const std::int64_t time = std::min(part->end, to) - std::max(part->start, from);
                const auto place = static_cast<std::size_t>(part->work == WorkClass::LaunchGaps ? WorkClass::Host : part->work);
                all.classes[place] = cappedSum(all.classes[place], time);
                idle -= time;
            }
            all.waiting = cappedSum(all.waiting, idle);
        }
        all.fewest = first ? threads : std::min(all.fewest, threads);
        all.most = std::max(all.most, threads);
        first = false;
    }
    return all;
}

}  // namespace stepscope
