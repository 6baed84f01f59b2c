// A stored session as JSON: its line in the list, the machine it ran on, and what happened in it apart from the steps.
// Used by `sessions list` and `sessions show`.
#pragma once
#include <cstdint>

#include "app/cli/output/Json.h"
#include "core/analysis/ExperimentHistory.h"
#include "core/analysis/StudyHistory.h"
#include "sessions/SessionStore.h"

namespace stepscope::cli {

inline constexpr std::int64_t kEventsAtOnce = 20'000;  // read from a session at a time

Json toJson(const SessionSummary& summary);
Json toJson(const Machine& machine);

struct SessionPoints {  // arrays, each in order of time
    Json validation = Json::array();
    Json switches = Json::array();  // applied
    Json refused = Json::array();
    Json checkpoints = Json::array();
    ExperimentHistory experiment;  // the newest of them
    std::int64_t experiments = 0;
    StudyHistory study;
    Json captures = Json::array();  // without their rows: see sessions captures
    Json log = Json::array();
    std::int64_t steps = 0;
    double waitedMs = 0;  // in all of them together, for other workers
    // What an experiment, or a study that makes several, says.
    void measured(const Event& event) {
        experiment.add(event);
        study.add(event);
    }
    double waitedMsPerStep() const { return steps > 0 ? waitedMs / static_cast<double>(steps) : 0; }
};
Result<SessionPoints> readPoints(SessionReader& reader, std::int64_t session);

}  // namespace stepscope::cli
