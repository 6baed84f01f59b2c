#include "app/workbench/diagnose/RunForecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/workbench/RunRecorder.h"
#include "app/workbench/diagnose/SpeedKey.h"
#include "core/base/Format.h"

namespace stepscope {
namespace {

constexpr std::int64_t kFewestOfARun = 10;  // steps; fewer are mostly its first ones, which are slow

std::string clockTime(double seconds) {
    return seconds < 1 ? format::milliseconds(seconds * 1e3) : format::duration(TimeNs::fromSeconds(std::min(seconds, 9e8)));
}

}  // namespace

StoredForecast forecastFrom(const TimedSteps& timed, const RunPlan& plan, std::int64_t trainTokens, std::int64_t done) {
    const std::int64_t left = std::max<std::int64_t>(0, plan.config.steps - done);
    double besides = std::isfinite(timed.validationMs) ? timed.validationMs * static_cast<double>(validationsOf(plan, trainTokens, done)) : 0;
    if (std::isfinite(timed.checkpointMs)) besides += timed.checkpointMs * static_cast<double>(checkpointsOf(plan.config, done));
    const auto of = [&](double ms) { return (static_cast<double>(left) * ms + besides) / 1e3; };
    return {.source = timed.session > 0 ? fmt::format("session {}", timed.session) : fmt::format("{} timed steps", timed.steps),
            .seconds = of(timed.ms),
            .low = of(timed.lowMs),
            .high = of(timed.highMs)};
}

std::optional<StoredForecast> forecastFrom(const std::string& database, const RunPlan& plan, const Machine& machine, std::int64_t trainTokens,
                                           std::int64_t done) {
    const auto timed = newestTimedSteps(database, speedKey(plan.config, machine));
    if (!timed || !*timed) return std::nullopt;
    return forecastFrom(**timed, plan, trainTokens, done);
}

std::string forecastWords(const StoredForecast& forecast) {
    return fmt::format("about {}, between {} and {}, from {}", clockTime(forecast.seconds), clockTime(forecast.low), clockTime(forecast.high),
                       forecast.source);
}

std::string offWords(double ratio) {
    if (std::fabs(ratio - 1) < 0.005) return "as foretold";
    return fmt::format("{} {}", format::percent(std::fabs(ratio - 1)), ratio > 1 ? "more" : "less");
}

std::string memoryOutcome(const ForetoldRun& run) {
    if (run.predictedBytes <= 0) return "";
    std::string words = format::bytes({run.predictedBytes}) + " foretold for tensors";
    if (!std::isfinite(run.peakBytes)) return words;
    words += fmt::format("; the most at a time was {}, ", format::bytes(run.peakBytes));
    return words + (run.asBegun ? offWords(1 + run.memoryError()) : "but the settings did not stay those that it was foretold of");
}

std::string forecastBesideOutcome(const StoredForecast& forecast) {
    const std::string words = forecastWords(forecast);
    if (!std::isfinite(forecast.measuredSeconds)) return words;
    return fmt::format("{}; steps, validations and checkpoints took {}, {}", words, clockTime(forecast.measuredSeconds),
                       offWords(forecast.measuredSeconds / forecast.seconds));
}

std::string forecastOutcome(const StoredForecast& forecast) {
    return fmt::format("Foretold: {}.", forecastBesideOutcome(forecast));
}

void keepTimedSteps(const std::string& database, const StepsTiming& timing, const Machine& machine) {
    if (!timing.disturbedBy().empty()) return;
    (void)storeTimedSteps(database, {.setting = speedKey(timing.plan.config, machine),
                                     .atUnixMs = unixMillisecondsNow(),
                                     .session = 0,
                                     .steps = static_cast<std::int64_t>(timing.stepMs.size()),
                                     .ms = timing.meanMs(),
                                     .lowMs = timing.quantileMs(0),
                                     .highMs = timing.quantileMs(1),
                                     .validationMs = timing.validationMs,
                                     .checkpointMs = timing.checkpointMs});
}

void keepTimedSteps(const std::string& database, const RunTook& took, std::int64_t session, const RunConfig& config, const Machine& machine) {
    if (took.steps < kFewestOfARun || !took.asBegun) return;
    const double ms = took.stepSeconds / static_cast<double>(took.steps) * 1e3;
    (void)storeTimedSteps(database,
                          {.setting = speedKey(config, machine),
                           .atUnixMs = unixMillisecondsNow(),
                           .session = session,
                           .steps = took.steps,
                           .ms = ms,
                           .lowMs = std::fmin(took.lowMs, ms),
                           .highMs = std::fmax(took.highMs, ms),
                           .validationMs = took.validations > 0 ? took.validationSeconds / static_cast<double>(took.validations) * 1e3 : kUnknown,
                           .checkpointMs = took.checkpoints > 0 ? took.checkpointSeconds / static_cast<double>(took.checkpoints) * 1e3 : kUnknown});
}

}  // namespace stepscope
