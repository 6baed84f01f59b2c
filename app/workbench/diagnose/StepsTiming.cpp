// What timed steps say, summed up: TimedSteps.h. Torch-free.
#include <fmt/format.h>

#include <numeric>

#include "app/workbench/diagnose/TimedSteps.h"
#include "core/advice/Facts.h"
#include "core/analysis/Statistics.h"

namespace stepscope {
namespace {

constexpr double kToldFrom = 0.03;  // seconds of a processor: the system counts in hundredths

}  // namespace

std::string StepsTiming::disturbedBy() const {
    const double seconds = std::accumulate(stepMs.begin(), stepMs.end(), 0.0) / 1e3;
    const auto took = [&](double pct, double least) { return pct >= least && pct / 100 * seconds >= kToldFrom; };
    std::string words;
    if (took(othersPct, kDisturbingOthersPct)) words = fmt::format("other programs took {:.0f} % of the processors", othersPct);
    if (took(stealPct, kDisturbingStealPct))
        words += fmt::format("{}the host of this machine gave {:.0f} % of the processors to others", words.empty() ? "" : " and ", stealPct);
    return words;
}

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
