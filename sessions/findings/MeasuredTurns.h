// What the values of a switch did on this machine when runs measured them in turns ("Measure properly"), from the stored sessions: for each switch,
// in each context (core/analysis/flips/FlipContext.h), the newest verdict of which something can be said, or where there is none, the newest. And
// what was found of two values whenever they were measured, within runs and in experiments of their own. Read by the window on its reader thread, for
// the switches' chips and cards and for the strip of a flip.
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

// Two values of a switch in one context, whichever of them was A.
struct MeasuredPair {
    std::string id;  // of the switch
    std::string context;
    Value from, to;  // `judged` tells of `to` beside `from`
    double delta = 0.01;
    ExperimentJudged judged;  // the newest of which something can be said; where there is none, the newest
    std::int64_t times = 0;   // that they were measured to the end
    std::int64_t decided = 0;

    bool of(const std::string& otherId, const std::string& otherContext, const Value& a, const Value& b) const;
    void add(const MeasuredPair& older);  // of the same two values
};
MeasuredPair pairOf(const MeasuredTurns& turns);
// The same sessions, and those of `ab` and of the page Compare, in which one switch alone differs. Newest first.
Result<std::vector<MeasuredPair>> measuredPairs(const std::string& path, const Machine& machine);

}  // namespace stepscope
