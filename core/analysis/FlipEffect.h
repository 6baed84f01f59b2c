// FlipEffect: what flipping a switch did to the steps around it: medians of up to 20 steps before and after, with their quartiles.
// Two quartile ranges that overlap prove nothing, and are called inconclusive. Used by the window for the live run and by
// sessions/MeasuredFlips for stored ones. Pure functions, any thread.
#pragma once
#include <cmath>
#include <span>

#include "core/events/Event.h"

namespace stepscope {

struct StepSample {  // of one step; unknown values are NaN and left out
    double ms = kUnknown, tokensPerSecond = kUnknown, memory = kUnknown, pageFaults = kUnknown, operations = kUnknown;
};
StepSample sampleOf(const StepDone& step);
// What a step's memory is: the most that tensors held during it, or, in sessions that do not know, what the process held after it.
inline double memoryOf(double peakBytes, double residentBytes) {
    return std::isfinite(peakBytes) ? peakBytes : residentBytes;
}
// Steps that share the machine with something else, or that fp16 left out, tell nothing of a switch.
constexpr bool tellsOfFlips(bool disturbed, bool skipped) {
    return !disturbed && !skipped;
}

struct Spread {
    double low = kUnknown, median = kUnknown, high = kUnknown;  // quartiles: half of the steps lie between low and high
};

struct Change {
    Spread before, after;
    double ratio() const { return after.median / before.median; }
    bool conclusive() const { return after.low > before.high || after.high < before.low; }
};

struct FlipEffect {
    static constexpr std::size_t kSteps = 20;   // on either side
    static constexpr std::size_t kFewest = 10;  // fewer tell nothing
    static constexpr std::size_t kWarmUp = 5;   // after a flip: caches and buffers are filled anew

    std::size_t stepsBefore = 0, stepsAfter = 0;
    Change ms, tokensPerSecond, memory, pageFaults, operations;

    bool measured() const { return stepsBefore >= kFewest && stepsAfter >= kFewest; }
};

FlipEffect measureFlip(std::span<const StepSample> before, std::span<const StepSample> after);

}  // namespace stepscope
