// See Schedule.h.
#include "core/events/Schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stepscope {

double learningRate(const RunConfig& config, std::int64_t step) {
    const bool warms = config.schedule == "warmup" || config.schedule == "warmup-cosine" || config.schedule == "linear";
    const std::int64_t warmup = warms ? std::min(config.warmup, config.steps) : 0;
    if (step <= warmup) return config.lr * static_cast<double>(step) / static_cast<double>(warmup);
    if (config.schedule == "constant" || config.schedule == "warmup") return config.lr;

    const auto decaySteps = static_cast<double>(std::max<std::int64_t>(1, config.steps - warmup));
    const double progress = std::clamp(static_cast<double>(step - warmup) / decaySteps, 0.0, 1.0);
    const double share = config.schedule == "linear" ? 1 - progress : 0.5 * (1 + std::cos(std::numbers::pi * progress));
    const double floor = std::min(config.minLr, config.lr);  // a preset's floor may lie above a rate that a person lowered
    return floor + (config.lr - floor) * share;
}

}  // namespace stepscope
