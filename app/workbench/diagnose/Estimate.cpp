#include "app/workbench/diagnose/Estimate.h"

#include <algorithm>
#include <cmath>

#include "core/state/CheckpointRetention.h"

namespace stepscope {

std::int64_t validationsOf(const RunPlan& plan, std::int64_t trainTokens) {
    const std::int64_t steps = plan.config.steps;
    if (plan.validation.everySteps > 0) return (steps + plan.validation.everySteps - 1) / plan.validation.everySteps;
    if (!plan.validation.everyEpoch || trainTokens <= 0) return 0;
    const double tokens =
        static_cast<double>(steps) * static_cast<double>(plan.batchSize) * static_cast<double>(plan.context) * static_cast<double>(plan.accumulation);
    return static_cast<std::int64_t>(std::ceil(tokens / static_cast<double>(trainTokens)));
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
