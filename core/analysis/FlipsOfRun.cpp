#include "core/analysis/FlipsOfRun.h"

#include <algorithm>
#include <cmath>

namespace stepscope {
namespace {

// Up to `most` rows of [begin, end) that tell something, the nearest to the flip first.
std::vector<StepSample> samples(const RunHistory& history, std::size_t begin, std::size_t end, bool fromEnd, std::size_t most) {
    const StepColumns& steps = history.steps();
    std::vector<StepSample> found;
    for (std::size_t i = begin; i < end && found.size() < most; ++i) {
        const std::size_t row = fromEnd ? end - 1 - (i - begin) : i;
        if (!tellsOfFlips(steps.disturbed[row] != 0, steps.skipped[row] != 0)) continue;
        found.push_back({steps.stepMs[row], steps.tokensPerSecond[row], memoryOf(steps.peakBytes[row], steps.residentBytes[row]),
                         steps.pageFaults[row], steps.operations[row], steps.seconds[row]});
    }
    return found;
}

// Those that know more than this process's own share.
std::vector<MachineSample> machineSamples(const RunHistory& history, const TimeSpan& before, const TimeSpan& after) {
    const DeviceColumns& device = history.device();
    constexpr double kBeyond = 1;  // seconds: a sample is of the time before it
    std::vector<MachineSample> found;
    const auto first = std::ranges::lower_bound(device.place, before.from, {}, &RunPlace::seconds);
    for (auto row = static_cast<std::size_t>(first - device.place.begin()); row < device.place.size(); ++row) {
        if (device.place[row].seconds > after.to + kBeyond) break;
        if (std::isfinite(device.othersPct[row])) found.push_back({device.place[row].seconds, device.othersPct[row], device.stealPct[row]});
    }
    return found;
}

FlipEffect effectOf(const RunHistory& history, std::size_t from, std::size_t flip, std::size_t after, std::size_t to) {
    std::vector<StepSample> before = samples(history, std::min(from, flip), flip, true, 2 * FlipEffect::kSteps), earlier;
    if (before.size() > FlipEffect::kSteps) {
        earlier.assign(before.begin() + FlipEffect::kSteps, before.end());
        before.resize(FlipEffect::kSteps);
    }
    std::vector<StepSample> behind = samples(history, after, std::max(after, to), false, FlipEffect::kSteps);
    const auto machine = machineSamples(history, timeOf(before), timeOf(behind));
    return measureFlip({std::move(before), std::move(behind), std::move(earlier), machine});
}

}  // namespace

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
        const FlipEffect effect = effectOf(history, from, rows[first], after, to);
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
