#include "core/analysis/FlipEffect.h"

#include <cmath>
#include <vector>

#include "core/analysis/Statistics.h"

namespace stepscope {
namespace {

Spread spreadOf(std::span<const StepSample> steps, double StepSample::*value) {
    std::vector<double> known;
    for (const auto& step : steps)
        if (std::isfinite(step.*value)) known.push_back(step.*value);
    return {quantile(known, 0.25), median(known), quantile(known, 0.75)};
}

}  // namespace

StepSample sampleOf(const StepDone& step) {
    const double seconds = step.duration.seconds();
    return {step.duration.milliseconds(), seconds > 0 ? static_cast<double>(step.tokens) / seconds : kUnknown,
            memoryOf(step.peakBytes, static_cast<double>(step.residentBytes)), static_cast<double>(step.pageFaults), step.operations};
}

FlipEffect measureFlip(std::span<const StepSample> before, std::span<const StepSample> after) {
    FlipEffect effect{
        .stepsBefore = before.size(), .stepsAfter = after.size(), .ms = {}, .tokensPerSecond = {}, .memory = {}, .pageFaults = {}, .operations = {}};
    const auto change = [&](double StepSample::*value) { return Change{spreadOf(before, value), spreadOf(after, value)}; };
    effect.ms = change(&StepSample::ms);
    effect.tokensPerSecond = change(&StepSample::tokensPerSecond);
    effect.memory = change(&StepSample::memory);
    effect.pageFaults = change(&StepSample::pageFaults);
    effect.operations = change(&StepSample::operations);
    return effect;
}

}  // namespace stepscope
