// How long a ladder takes on this machine: from steps of its rungs that were timed here, in a look, a run or an earlier ladder. Torch-free; any
// thread that may wait for the database.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "app/workbench/RunRecorder.h"
#include "app/workbench/diagnose/SpeedKey.h"
#include "app/workbench/experiments/LiveLadder.h"
#include "core/base/Format.h"
#include "core/events/ConfigKeys.h"
#include "sessions/findings/Forecasts.h"

namespace stepscope {
namespace {

constexpr std::int64_t kFewestKept = 10;  // steps; fewer say little

}  // namespace

Result<RunConfig> ladderBottom(const Workbench& workbench, const LadderRequest& request) {
    auto config = onLadder(request.ladder, {}, request.config, workbench.switches(request.config));
    return config ? workbench.complete(std::move(*config)) : config;
}

LadderForecast forecastOf(const LadderCourse& course, const LadderEngine& engine, const std::string& database) {
    std::map<RungSet, double> known;  // each is asked for several times
    const auto stepSeconds = [&](const RungSet& rungs) {
        if (const auto found = known.find(rungs); found != known.end()) return found->second;
        double seconds = kUnknown;
        if (const auto config = engine.config(rungs))
            if (const auto timed = newestTimedSteps(database, speedKey(*config, engine.machine)); timed && *timed) seconds = (*timed)->ms / 1e3;
        return known[rungs] = seconds;
    };
    const auto expected = course.expected(stepSeconds);
    return {
        .rows = course.rows(),
        .legs = course.legs(),
        .open = std::ranges::count_if(course.rows(), [](const StudyRow& row) { return row.role != study::kBottom && row.state == study::kWaiting; }),
        .budgetSeconds = course.budgetSeconds(),
        .seconds = expected.seconds,
        .pairSeconds = expected.pairs,
        .slowestStep = expected.slowest,
        .waiting = expected.waiting};
}

void keepStepsOf(const ExperimentHistory& history, Arm arm, const RunConfig& config, const Machine& machine, const std::string& database) {
    const SideFacts facts = history.facts(arm);
    const std::string setting = speedKey(config, machine);
    const auto known = newestTimedSteps(database, setting);
    // What a run or a look timed says more: validations are in it.
    if (facts.steps < kFewestKept || !known || *known) return;
    (void)storeTimedSteps(database, {.setting = setting,
                                     .atUnixMs = unixMillisecondsNow(),
                                     .session = 0,
                                     .steps = facts.steps,
                                     .ms = facts.msPerStep,
                                     .lowMs = std::fmin(facts.medianMsPerStep, facts.msPerStep),
                                     .highMs = std::fmax(facts.slowestMs, facts.msPerStep),
                                     .validationMs = kUnknown});
}

std::string forecastWords(const LadderForecast& forecast, bool budget) {
    if (forecast.legs == 0) return "Nothing of it can be measured here";
    if (forecast.open == 0) return "All of it is measured already";
    const bool timed = forecast.slowestStep > 0;
    const std::int64_t now = forecast.open - forecast.waiting;
    std::string words =
        fmt::format("{} measurement{}, about {:.1f} minutes", now, now == 1 ? "" : "s", (timed ? forecast.seconds : forecast.budgetSeconds) / 60);
    if (forecast.pairSeconds > 0) words += fmt::format(", {:.1f} of them for pairs", forecast.pairSeconds / 60);
    // What is measured already, or waits, takes nothing of it.
    const double each = forecast.budgetSeconds / static_cast<double>(std::max<std::int64_t>(now, 1));
    if (budget && each < kSecondsALeg)
        words += fmt::format(", {:.0f} s for each, too short for many of them to be decided ({:.0f} s is usual)", std::max(each, kLeastLegSeconds),
                             kSecondsALeg);
    if (!timed) return words + (budget ? "" : ", more where steps are slow: none of it was timed here yet");
    words += fmt::format(": the slowest step of those timed here takes {}", format::milliseconds(forecast.slowestStep * 1e3));
    if (forecast.waiting > 0) words += fmt::format("; {} more wait for a larger budget", forecast.waiting);
    return words;
}

}  // namespace stepscope
