#include "core/analysis/flips/StepSample.h"

#include <algorithm>

#include "core/analysis/RunHistory.h"

namespace stepscope {

StepSample sampleOf(const StepDone& step) {
    const double seconds = step.duration.seconds();
    return {step.duration.milliseconds(),
            seconds > 0 ? static_cast<double>(step.tokens) / seconds : kUnknown,
            memoryOf(step.peakBytes, static_cast<double>(step.residentBytes)),
            static_cast<double>(step.pageFaults),
            step.operations,
            step.at.seconds()};
}

StepSample sampleOf(const RunHistory& history, std::size_t row) {
    const StepColumns& steps = history.steps();
    return {steps.stepMs[row],     steps.tokensPerSecond[row], memoryOf(steps.peakBytes[row], steps.residentBytes[row]),
            steps.pageFaults[row], steps.operations[row],      steps.seconds[row]};
}

bool tellsOfFlips(const RunHistory& history, std::size_t row) {
    return tellsOfFlips(history.steps().disturbed[row] != 0, history.steps().skipped[row] != 0);
}

std::vector<MachineSample> machineSamples(const RunHistory& history, double since, double until) {
    const DeviceColumns& device = history.device();
    std::vector<MachineSample> found;
    const auto first = std::ranges::lower_bound(device.place, since, {}, &RunPlace::seconds);
    for (auto row = static_cast<std::size_t>(first - device.place.begin()); row < device.place.size(); ++row) {
        if (device.place[row].seconds > until) break;
        if (std::isfinite(device.othersPct[row])) found.push_back({device.place[row].seconds, device.othersPct[row], device.stealPct[row]});
    }
    return found;
}

}  // namespace stepscope
