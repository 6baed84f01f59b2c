#include "widgets/timeline/CaptureGaps.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace stepscope {

CaptureSpans gapsBetween(CaptureSpans captures, const std::vector<std::int64_t>& times) {
    CaptureSpans gaps;
    std::ranges::sort(captures);
    for (std::size_t i = 1; i < captures.size(); ++i) {
        captures[i].second = std::max(captures[i].second, captures[i - 1].second);
        if (captures[i].first > captures[i - 1].second) gaps.emplace_back(captures[i - 1].second, captures[i].first);
    }
    for (auto& [begin, end] : gaps) {
        const std::int64_t middle = std::max(std::midpoint(begin, end), begin + 1);
        const auto later = std::ranges::lower_bound(times, middle);
        if (later != times.end()) end = std::min(end, *later);
        if (later != times.begin()) begin = std::max(begin, *std::prev(later));
    }
    return gaps;
}

}  // namespace stepscope
