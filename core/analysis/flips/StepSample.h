// StepSample: what a flip is measured by, of one step. Pure data.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/events/RunEvents.h"

namespace stepscope {

class RunHistory;

struct StepSample {  // of one step; unknown values are NaN and left out
    double ms = kUnknown, tokensPerSecond = kUnknown, memory = kUnknown, pageFaults = kUnknown, operations = kUnknown;
    double seconds = kUnknown;  // when it ended, since the session began
};
StepSample sampleOf(const StepDone& step);
StepSample sampleOf(const RunHistory& history, std::size_t row);

// Tokens that were trained before a session whose first step this is: a resumed run goes on where the other ended. As if the steps before had had as
// many tokens as this one, which is right unless the batch changed meanwhile; nobody stored more.
inline std::int64_t tokensBefore(const SessionInfo* info, std::int64_t tokensOfFirst) {
    if (info == nullptr || info->firstStep <= 0 || tokensOfFirst <= 0) return 0;
    return static_cast<std::int64_t>(std::min(static_cast<double>(info->firstStep) * static_cast<double>(tokensOfFirst), 1e15));
}

// What a step's memory is: the most that tensors held during it, or, in sessions that do not know, what the process held after it.
inline double memoryOf(double peakBytes, double residentBytes) {
    return std::isfinite(peakBytes) ? peakBytes : residentBytes;
}
// Steps that share the machine with something else, or that fp16 left out, tell nothing of a switch.
constexpr bool tellsOfFlips(bool disturbed, bool skipped) {
    return !disturbed && !skipped;
}
bool tellsOfFlips(const RunHistory& history, std::size_t row);

struct MachineSample {  // of a DeviceSample
    double seconds = 0, othersPct = kUnknown, stealPct = kUnknown;
};
// From `since` to `until` (seconds), those that know more than this process's own share.
std::vector<MachineSample> machineSamples(const RunHistory& history, double since, double until);

}  // namespace stepscope
