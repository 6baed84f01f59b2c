#include "core/events/Schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace stepscope {
namespace {

// Smith and Topin: from a 25th of the peak to the peak in the first 30 % of the steps, then down to a 10 000th of where it began. The same rates as
// torch.optim.lr_scheduler.OneCycleLR(max_lr=lr, total_steps=steps) gives.
constexpr double kOneCycleStart = 1.0 / 25, kOneCycleRise = 0.3, kOneCycleEnd = 1e-4;
constexpr double kTrapezoidFall = 0.2;  // share of the steps in which a trapezoid falls

// From `from` at 0 to `to` at 1 along half a cosine.
double cosine(double from, double to, double progress) {
    return to + (from - to) * 0.5 * (1 + std::cos(std::numbers::pi * std::clamp(progress, 0.0, 1.0)));
}
double straight(double from, double to, double progress) {
    return from + (to - from) * std::clamp(progress, 0.0, 1.0);
}

double oneCycle(const RunConfig& config, double step) {
    // Counted from 0, as PyTorch does: its first update has the lowest rate, and the peak may lie between two updates.
    const auto steps = static_cast<double>(config.steps);
    const double last = steps - 1, at = std::min(step - 1, last), peakAt = kOneCycleRise * steps - 1, start = config.lr * kOneCycleStart;
    if (peakAt > 0 && at <= peakAt) return cosine(start, config.lr, at / peakAt);
    return cosine(config.lr, start * kOneCycleEnd, (at - peakAt) / (last - peakAt));
}

double rangeTest(const RunConfig& config, double step) {
    const double last = std::max(1.0, static_cast<double>(config.steps - 1));
    const double lowest = std::max(config.minLr, std::numeric_limits<double>::min());
    return lowest * std::pow(config.lr / lowest, std::clamp((step - 1) / last, 0.0, 1.0));
}

}  // namespace

double learningRate(const RunConfig& config, std::int64_t step) {
    const std::string& word = config.schedule;
    if (word == "one-cycle") return oneCycle(config, static_cast<double>(step));
    if (word == "range-test") return rangeTest(config, static_cast<double>(step));
    const bool warms = word != "constant" && word != "cosine";
    const std::int64_t warmup = warms ? std::min(config.warmup, config.steps) : 0;
    if (step <= warmup) return config.lr * static_cast<double>(step) / static_cast<double>(warmup);
    if (word == "constant" || word == "warmup") return config.lr;

    const double floor = std::min(config.minLr, config.lr);  // a preset's floor may lie above a rate that a person lowered
    const std::int64_t whole = std::max<std::int64_t>(1, config.steps - warmup);
    const std::int64_t decay =
        word == "trapezoid" ? std::clamp<std::int64_t>(std::llround(kTrapezoidFall * static_cast<double>(config.steps)), 1, whole) : whole;
    const double progress = static_cast<double>(step - (warmup + whole - decay)) / static_cast<double>(decay);
    return word == "linear" || word == "trapezoid" ? straight(config.lr, floor, progress) : cosine(config.lr, floor, progress);
}

}  // namespace stepscope
