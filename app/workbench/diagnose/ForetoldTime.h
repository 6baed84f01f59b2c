// ForetoldTime: of one run that is recorded here, how long it is expected to take, and what became of that: kept with its session, told as sentences
// for its log. Made once the session is there. On the thread that keeps it: the trainer's, or that of an EngineRun.
#pragma once
#include <optional>
#include <string>
#include <utility>

#include "app/workbench/Workbench.h"
#include "app/workbench/diagnose/RunForecast.h"
#include "core/events/RunPlan.h"

namespace stepscope {

class ForetoldTime {
public:
    ForetoldTime(std::string database, std::int64_t session) : m_database(std::move(database)), m_session(session) {}

    // done: steps that are made already. Nothing where too little is known.
    std::optional<std::string> begin(const RunPlan& plan, const Machine& machine, std::int64_t trainTokens, std::int64_t done);
    // The run is over: keeps what its steps took, for runs like it. What is said: where it was foretold and came to its end.
    std::optional<std::string> end(const RunTook& took, const RunSummary& summary, const RunConfig& config, const Machine& machine);

private:
    std::string m_database;
    std::int64_t m_session;
    std::optional<StoredForecast> m_forecast;
};

}  // namespace stepscope
