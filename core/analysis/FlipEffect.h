// FlipEffect: what flipping a switch did to the steps around it: medians of up to 20 steps before and after, with their quartiles.
// Two quartile ranges that overlap prove nothing, and are called inconclusive. Where the machine was another one on the two sides, because other
// processes or the host took another share of it or because the steps moved by themselves, times are not compared at all. Used by the window for
// the live run and by sessions/MeasuredFlips for stored ones. Pure functions, any thread.
#pragma once
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "core/events/Event.h"

namespace stepscope {

struct StepSample {  // of one step; unknown values are NaN and left out
    double ms = kUnknown, tokensPerSecond = kUnknown, memory = kUnknown, pageFaults = kUnknown, operations = kUnknown;
    double seconds = kUnknown;  // when it ended, since the session began
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

struct MachineSample {  // of a DeviceSample
    double seconds = 0, othersPct = kUnknown, stealPct = kUnknown;
};
struct MachineShares {  // means over some time
    double othersPct = kUnknown, stealPct = kUnknown;
};

struct FlipEffect {
    static constexpr std::size_t kSteps = 20;   // on either side
    static constexpr std::size_t kFewest = 10;  // fewer tell nothing
    static constexpr std::size_t kWarmUp = 5;   // after a flip: caches and buffers are filled anew

    std::size_t stepsBefore = 0, stepsAfter = 0;
    Change ms, tokensPerSecond, memory, pageFaults, operations;
    MachineShares machineBefore, machineAfter;
    // Why times before and after cannot be compared: "other processes took 2 % of the processors before and 45 % after". Empty = as far as is
    // known the machine was the same.
    std::string machineChange;

    bool measured() const { return stepsBefore >= kFewest && stepsAfter >= kFewest; }
};

// What is measured: the steps on either side, each the nearest to the flip first, those that came before `before` under the same settings, as
// many as there are, and the machine meanwhile.
struct FlipSides {
    std::vector<StepSample> before, after, earlier;
    std::vector<MachineSample> machine;
};
FlipEffect measureFlip(const FlipSides& sides);

// From the beginning of the earliest to the end of the latest; empty (from > to) where that is not known.
struct TimeSpan {
    double from = 0, to = -1;
};
TimeSpan timeOf(std::span<const StepSample> steps);

}  // namespace stepscope
