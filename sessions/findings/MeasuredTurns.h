// What the values of a switch did on this machine when runs measured them in turns ("Measure properly"), from the stored sessions: for each switch,
// in each context (core/analysis/flips/FlipContext.h), the newest verdict of which something can be said, or where there is none, the newest. Read by
// the window on its reader thread, for the switches' chips and cards.
#pragma once
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/events/Experiment.h"
#include "core/events/Machine.h"
#include "core/events/RunConfig.h"

namespace stepscope {

struct MeasuredTurns {
    std::int64_t session = 0;
    std::string sessionName;
    std::int64_t startedUnixMs = 0;  // of the session
    std::string id;                  // of the switch
    Value from, to;                  // what the run had, and what took turns with it
    bool afterFlip = false;          // the newest flip before it had set the switch from `to` to `from`
    std::string context;
    double delta = 0.01;
    ExperimentJudged judged;  // the last one; over, with pairs

    bool decided() const { return judged.outcome != "inconclusive" && !judged.outcome.empty(); }
};

// Sessions of other machines are left out, deleted ones too, and measurements that were killed in the middle. A row that cannot be is left out. No
// database yet is an empty list.
Result<std::vector<MeasuredTurns>> measuredTurns(const std::string& path, const Machine& machine);

}  // namespace stepscope
