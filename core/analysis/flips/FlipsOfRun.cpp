#include "core/analysis/flips/FlipsOfRun.h"

#include <algorithm>

namespace stepscope {
std::vector<RunFlip> flipsOf(const RunHistory& history) {
    std::vector<RunFlip> flips;
    std::vector<std::size_t> rows;  // the first that runs with the flip
    for (std::size_t i = 0; i < history.markers().size(); ++i) {
        const Marker& marker = history.markers()[i];
        if (marker.kind != Marker::Kind::Switch) continue;
        flips.push_back({.marker = i, .effect = {}});
        rows.push_back(history.firstRowAt(XAxis::Step, marker.place.step + 0.5));
    }
    constexpr std::size_t kTooNear = FlipEffect::kWarmUp + FlipEffect::kFewest;
    for (std::size_t first = 0; first < flips.size();) {
        std::size_t last = first;
        while (last + 1 < flips.size() && rows[last + 1] - rows[last] < kTooNear) ++last;
        const std::size_t from = first == 0 ? 0 : rows[first - 1] + FlipEffect::kWarmUp;
        const std::size_t after = std::min(rows[last] + FlipEffect::kWarmUp, history.rows());
        const std::size_t to = last + 1 < flips.size() ? rows[last + 1] : history.rows();
        const FlipEffect effect = measureFlip(history, std::min(from, rows[first]), rows[first], after, to);
        for (std::size_t i = first; i <= last; ++i) {
            flips[i].first = first;
            flips[i].last = last;
            flips[i].effect = effect;
        }
        first = last + 1;
    }
    return flips;
}

}  // namespace stepscope
