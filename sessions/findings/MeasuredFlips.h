// What the switches did on this machine, from the stored sessions: for each switch, in each context (core/analysis/flips/FlipContext.h), its newest
// live flip of which something can be said, or where there is none, the newest with steps on both sides. Read by the window on its reader thread, for
// the switches' chips and cards.
#pragma once
#include <string>
#include <vector>

#include "core/analysis/flips/FlipEffect.h"
#include "core/base/Result.h"

namespace stepscope {

struct MeasuredFlip {
    std::int64_t session = 0;
    std::string sessionName;
    std::int64_t startedUnixMs = 0;  // of the session
    SwitchApplied flip;
    std::string context;
    FlipEffect effect;
};

// Sessions of other machines (another processor, number of cores or GPUs) are left out, deleted ones too; so are steps that another
// flip, a text or a checkpoint disturbed. No database yet is an empty list.
Result<std::vector<MeasuredFlip>> measuredFlips(const std::string& path, const Machine& machine);

// Of one session, whatever machine it ran on: its newest 100 flips, the first of them first; fewer where the session cannot be read. One without
// flips, or that is not there, is an empty list.
Result<std::vector<MeasuredFlip>> measuredFlipsOf(const std::string& path, std::int64_t session);

}  // namespace stepscope
