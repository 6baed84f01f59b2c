#include "app/workbench/workers/LinkTimes.h"

#include <algorithm>
#include <chrono>

namespace stepscope {
namespace {

struct TimedSum {
    std::int64_t bytes;
    int count;
};
// From a message whose bytes do not matter to the bucket that gradients are added up in.
constexpr TimedSum kTimedSums[] = {{4 << 10, 11}, {256 << 10, 7}, {4 << 20, 5}};

}  // namespace

Result<std::vector<double>> timeSums(WorkerGroup& group, std::int64_t bytes, int count) {
    std::vector<float> values(static_cast<std::size_t>(bytes) / sizeof(float), 0.0f);
    std::vector<double> seconds;
    for (int i = 0; i <= count; ++i) {
        if (const Status met = group.meet(); !met) return met.error();
        const auto begin = std::chrono::steady_clock::now();
        if (const Status added = group.sum(values.data(), static_cast<std::int64_t>(values.size())); !added) return added.error();
        const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (i > 0) seconds.push_back(took);
    }
    std::ranges::sort(seconds);
    return seconds;
}

Result<std::vector<LinkTime>> timeLink(WorkerGroup& group) {
    std::vector<LinkTime> link;
    for (const auto& [bytes, count] : kTimedSums) {
        const auto seconds = timeSums(group, bytes, count);
        if (!seconds) return seconds.error();
        link.push_back({.bytes = bytes, .seconds = (*seconds)[seconds->size() / 2]});
    }
    return link;
}

}  // namespace stepscope
