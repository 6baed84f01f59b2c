#include "app/workbench/workers/NotBegun.h"

#include <algorithm>

#include "core/workers/WorkerGroup.h"

namespace stepscope {
namespace {

// Workers are started together. Where they were not, the person who waits for this sentence has started one alone.
constexpr std::chrono::milliseconds kWaitsToTell{10'000};

}  // namespace

void tellNotBegun(const WorkerPlace& place, std::chrono::milliseconds patience, const Error& why) {
    const auto group = WorkerGroup::join(place, std::min(patience, kWaitsToTell));
    if (group) (*group)->giveUp(why.sentence);
}

}  // namespace stepscope
