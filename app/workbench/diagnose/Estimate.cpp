#include "app/workbench/diagnose/Estimate.h"

#include <algorithm>
#include <cmath>

#include "core/state/CheckpointRetention.h"

namespace stepscope {

std::int64_t validationsOf(const RunPlan& plan, std::int64_t trainTokens, std::int64_t done) {
    const std::int64_t steps = plan.config.steps, every = plan.validation.everySteps;
    if (steps <= done) return 0;
    if (every > 0) return steps / every - done / every + (steps % every != 0 ? 1 : 0);
    if (!plan.validation.everyEpoch || trainTokens <= 0) return 0;
    const double tokens = static_cast<double>(plan.batchSize) * static_cast<double>(plan.context) * static_cast<double>(plan.accumulation);
    const auto epochs = [&](std::int64_t step) { return static_cast<double>(step) * tokens / static_cast<double>(trainTokens); };
    return static_cast<std::int64_t>(std::ceil(epochs(steps)) - std::floor(epochs(done)));
}

std::int64_t checkpointsOf(const RunConfig& config, std::int64_t done) {
    const bool atEnd = config.checkpointAtEnd == "on" && config.schedule != "range-test";
    return planCheckpoints(done, config.steps, config.checkpointEvery, atEnd, config.keep, config.keepsBest()).written;
}

TimeEstimate estimateTime(const StepsTiming& timing) {
    TimeEstimate estimate;
    estimate.timed = static_cast<std::int64_t>(timing.stepMs.size());
    estimate.steps = timing.plan.config.steps;
    estimate.msPerStep = timing.meanMs();
    estimate.disturbed = timing.disturbedBy();
    estimate.validationMs = timing.validationMs;
    estimate.validations = std::isfinite(timing.validationMs) ? validationsOf(timing.plan, timing.trainTokens) : 0;
    estimate.checkpointMs = timing.checkpointMs;
    estimate.checkpoints = checkpointsOf(timing.plan.config);
    double besides = estimate.validations > 0 ? static_cast<double>(estimate.validations) * timing.validationMs : 0;
    if (std::isfinite(timing.checkpointMs)) besides += static_cast<double>(estimate.checkpoints) * timing.checkpointMs;
    const auto of = [&](double ms) { return (static_cast<double>(estimate.steps) * ms + besides) / 1e3; };
    estimate.seconds = of(timing.meanMs());
    estimate.low = of(timing.quantileMs(0));
    estimate.high = of(timing.quantileMs(1));
    return estimate;
}

}  // namespace stepscope
