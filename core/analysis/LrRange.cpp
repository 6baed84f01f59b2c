#include "core/analysis/LrRange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepscope {
namespace {

constexpr std::size_t kFewestSteps = 20;
constexpr std::size_t kWindows = 40;  // half a window is this part of the sweep
constexpr double kDiverged = 1.1;     // of the loss at the start
constexpr double kLeastFall = 0.02;   // share of the loss at the start that must be gained for a suggestion
constexpr double kBroken = 4;         // times the lowest loss

std::size_t halfWindow(std::size_t points) {
    return std::max<std::size_t>(1, points / kWindows);
}

// Centred, so that the curve is not shifted towards higher rates as a running average would.
std::vector<double> smooth(std::span<const LrRangePoint> points, std::size_t half) {
    std::size_t usable = 0;
    while (usable < points.size() && std::isfinite(points[usable].loss)) ++usable;
    std::vector<double> mean(points.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < usable; ++i) {
        const std::size_t reach = std::min({half, i, usable - 1 - i});
        double sum = 0;
        for (std::size_t j = i - reach; j <= i + reach; ++j) sum += points[j].loss;
        mean[i] = sum / static_cast<double>(2 * reach + 1);
    }
    return mean;
}

}  // namespace

Result<LrRange> readLrRange(std::span<const LrRangePoint> points) {
    if (points.size() < kFewestSteps)
        return makeError(ErrorCode::BadInput,
                         fmt::format("A range test of {} steps says nothing; make at least {} (steps).", points.size(), kFewestSteps));
    const std::size_t half = halfWindow(points.size());
    LrRange range{.smoothed = smooth(points, half)};
    const auto& loss = range.smoothed;
    std::size_t end = half;  // the first points are hardly smoothed
    while (end < loss.size() && loss[end] <= kDiverged * loss[half]) ++end;
    if (end < loss.size()) range.divergedAt = points[end].rate;
    const auto from = loss.begin() + static_cast<std::ptrdiff_t>(half);
    const auto lowest =
        static_cast<std::size_t>(std::min_element(from, std::max(from, loss.begin() + static_cast<std::ptrdiff_t>(end))) - loss.begin());
    if (end <= half || !(loss[lowest] < (1 - kLeastFall) * loss[half]))
        return makeError(ErrorCode::BadInput,
                         fmt::format("The loss fell nowhere between {:.3g} and {:.3g}; sweep lower or higher rates, or make more steps.",
                                     points.front().rate, points.back().rate));
    range.lowest = points[lowest].rate;
    double steepest = 0;
    for (std::size_t i = half; i + half < end && i <= lowest; ++i) {
        const double slope = (loss[i + half] - loss[i - half]) / std::log(points[i + half].rate / points[i - half].rate);
        if (slope < steepest) {
            steepest = slope;
            range.suggestion = points[i].rate;
        }
    }
    if (range.suggestion == 0) range.suggestion = range.lowest / 10;  // all of the fall lies within one window
    range.suggestedAt = static_cast<std::size_t>(
        std::ranges::min_element(points, {}, [&](const auto& point) { return std::fabs(std::log(point.rate / range.suggestion)); }) - points.begin());
    return range;
}

std::vector<double> smoothedLoss(std::span<const LrRangePoint> points) {
    return smooth(points, halfWindow(points.size()));
}

bool hasBrokenDown(double loss, double lowest) {
    return loss > kBroken * lowest;
}

std::string endingOf(const LrRange& range, std::span<const LrRangePoint> points, bool whole) {
    if (range.divergedAt > 0) return fmt::format("from {:.2g} on it breaks down", range.divergedAt);
    // A loss that began high can rise to a multiple of its lowest and still lie below where it began.
    const LrRangePoint last = points.back();
    if (hasBrokenDown(last.loss, std::ranges::min(points, {}, &LrRangePoint::loss).loss)) return fmt::format("at {:.2g} it broke down", last.rate);
    if (whole) return "it did not break down up to the highest rate";
    return fmt::format("it did not break down up to {:.2g}, where it ended", last.rate);
}

std::string sentenceOf(const Result<LrRange>& range) {
    if (!range) return "Range test: " + range.error().sentence;
    return fmt::format("Range test: suggested lr {:.2g}, where the loss falls most steeply; it is lowest at {:.2g}{}.", range->suggestion,
                       range->lowest, range->divergedAt > 0 ? fmt::format(" and breaks down from {:.2g} on", range->divergedAt) : "");
}

}  // namespace stepscope
