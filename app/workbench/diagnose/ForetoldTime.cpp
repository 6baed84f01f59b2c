#include "app/workbench/diagnose/ForetoldTime.h"

#include <fmt/format.h>

namespace stepscope {

std::optional<std::string> ForetoldTime::begin(const RunPlan& plan, const Machine& machine, std::int64_t trainTokens, std::int64_t done) {
    m_forecast = forecastFrom(m_database, plan, machine, trainTokens, done);
    if (!m_forecast) return std::nullopt;
    (void)storeForecast(m_database, m_session, *m_forecast);
    return fmt::format("Expected to take {}.", forecastWords(*m_forecast));
}

std::optional<std::string> ForetoldTime::end(const RunTook& took, const RunSummary& summary, const RunConfig& config, const Machine& machine) {
    keepTimedSteps(m_database, took, m_session, config, machine);
    // One that ended early was not foretold.
    if (!m_forecast || !took.asBegun || summary.state != RunState::Finished || summary.steps < config.steps) return std::nullopt;
    m_forecast->measuredSeconds = took.stepSeconds + took.validationSeconds + took.checkpointSeconds;
    (void)storeForecast(m_database, m_session, *m_forecast);
    return forecastOutcome(*m_forecast);
}

}  // namespace stepscope
