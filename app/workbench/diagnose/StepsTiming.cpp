// What timed steps say, summed up: TimedSteps.h. Torch-free.
#include "app/workbench/diagnose/TimedSteps.h"
#include "core/analysis/Statistics.h"

namespace stepscope {

double StepsTiming::meanMs() const {
    return mean(stepMs);
}
double StepsTiming::medianMs() const {
    return median(stepMs);
}
double StepsTiming::quantileMs(double q) const {
    return quantile(stepMs, q);
}
double StepsTiming::tokensPerSecond() const {
    return static_cast<double>(tokens) / meanMs() * 1e3;
}
double StepsTiming::sequencesPerSecond() const {
    return static_cast<double>(sequences) / meanMs() * 1e3;
}
double StepsTiming::shareOfPeak(const MachinePeaks& peaks) const {
    return work.products / (meanMs() / 1e3) / peaks.of(plan.precision);
}

}  // namespace stepscope
