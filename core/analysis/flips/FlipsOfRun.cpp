#include "core/analysis/flips/FlipsOfRun.h"

#include <algorithm>
#include <limits>

namespace stepscope {
namespace {

constexpr std::size_t kTooNear = FlipEffect::kWarmUp + FlipEffect::kFewest;
constexpr std::size_t kFurtherBack = 10'000;  // flips before the first that is asked for, that may be of its group

}  // namespace

NewestFlips newestFlips(const RunHistory& history, std::size_t most) {
    NewestFlips found;
    const Markers& markers = history.markers();
    found.all = markers.count(Marker::Kind::Switch);
    if (found.all == 0 || most == 0) return found;
    const Stretches stretches(history);
    found.looked = history.flips().size();

    const auto markerOf = [&](std::size_t number) -> const Marker& { return markers[markers.nth(Marker::Kind::Switch, number)]; };
    // The first that runs with the flip.
    const auto rowOf = [&](std::size_t number) { return history.firstRowAt(XAxis::Step, markerOf(number).place.step + 0.5); };
    const std::size_t oldest = found.all > most ? found.all - most : 0;
    std::size_t begin = oldest;
    found.looked += found.all - oldest;
    while (begin > 0 && oldest - begin < kFurtherBack && rowOf(begin) - rowOf(begin - 1) < kTooNear) --begin;
    found.looked += oldest - begin;

    std::vector<std::size_t> rows;  // of the flips from `begin` on
    rows.reserve(found.all - begin);
    for (std::size_t number = begin; number < found.all; ++number) rows.push_back(rowOf(number));
    const auto row = [&](std::size_t number) { return rows[number - begin]; };
    for (std::size_t first = begin; first < found.all;) {
        std::size_t last = first;
        while (last + 1 < found.all && row(last + 1) - row(last) < kTooNear) ++last;
        const std::size_t former = first == 0 ? 0 : (first == begin ? rowOf(first - 1) : row(first - 1)) + FlipEffect::kWarmUp;
        const std::size_t after = std::min(row(last) + FlipEffect::kWarmUp, history.rows());
        const std::size_t to = last + 1 < found.all ? row(last + 1) : history.rows();
        const FlipEffect effect = measureFlip(history, stretches, std::min(former, row(first)), row(first), after, to);
        ++found.measured;
        for (std::size_t number = std::max(first, oldest); number <= last; ++number)
            found.flips.push_back(
                {.marker = markers.nth(Marker::Kind::Switch, number), .number = number, .first = first, .last = last, .effect = effect});
        first = last + 1;
    }
    return found;
}

std::vector<RunFlip> flipsOf(const RunHistory& history) {
    return newestFlips(history, std::numeric_limits<std::size_t>::max()).flips;
}

}  // namespace stepscope
