#include "app/workbench/diagnose/RunFacts.h"

#include <fmt/format.h>

#include <cmath>

#include "core/analysis/Thinned.h"
#include "core/events/ConfigNumbers.h"
#include "core/events/Event.h"
#include "sessions/SessionStore.h"

namespace stepscope {
namespace {

constexpr std::int64_t kPage = 20'000;  // events read at a time

}  // namespace

Status addRunFacts(const std::string& database, std::int64_t session, AdviceFacts& facts) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    const auto info = (*reader)->info(session);
    if (!info) return info.error();
    if (info->kind != SessionKind::Run || !info->config)
        return makeError(ErrorCode::BadInput, fmt::format("Session {} is no run, and has no steps to learn from.", session))
            .about(Subject::Kind::Session, std::to_string(session));
    Thinned<LrRangePoint> curve;
    std::int64_t clipped = 0;
    RunConfig config = *info->config;
    double norm = clipNorm(config);
    for (std::int64_t from = 0;;) {
        const auto events = (*reader)->events(session, from, kPage);
        if (!events) return events.error();
        if (events->empty()) break;
        from += static_cast<std::int64_t>(events->size());
        for (const Event& event : *events) {
            if (const auto* done = std::get_if<StepDone>(&event)) {
                curve.add({done->learningRate, done->loss});
                ++facts.stepsMade;
                clipped += norm > 0 && done->gradientNorm > norm ? 1 : 0;
            } else if (const auto* applied = std::get_if<SwitchApplied>(&event)) {
                config.switches[applied->id] = applied->to;
                norm = clipNorm(config);
            } else if (const auto* changed = std::get_if<StateChanged>(&event)) {
                facts.brokeDown = changed->state == RunState::Failed && changed->code == ErrorCode::Training;
            }
        }
    }
    if (norm > 0 && facts.stepsMade > 0) {
        facts.clippedShare = static_cast<double>(clipped) / static_cast<double>(facts.stepsMade);
        facts.clippedAt = norm;
    }
    if (info->config->schedule == "range-test") return {};  // its rate is too high on purpose, at its end
    const bool fromTheStart = info->firstStep == 0 && info->config->data != "random" && info->vocabulary > 0;
    facts.rate =
        findRateTrouble(curve.values(), fromTheStart ? std::log(static_cast<double>(info->vocabulary)) : kUnknown, curve.every(), info->firstStep);
    return {};
}

}  // namespace stepscope
