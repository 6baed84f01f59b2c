#include "app/gui/wiring/LogSentences.h"

#include <fmt/format.h>

#include <utility>

#include "app/workbench/experiments/ExperimentQuestion.h"
#include "core/analysis/JudgedSentence.h"
#include "core/analysis/RunHistory.h"
#include "core/analysis/captures/CaptureSentence.h"
#include "core/analysis/flips/FlipContext.h"
#include "core/base/Format.h"
#include "core/events/ConfigJson.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

constexpr TimeNs kLongWait{100'000'000};  // shorter waits for the recorder are nobody's business

struct Line {
    LogLevel level = LogLevel::Info;
    std::string text;
    std::int64_t step = 0;
    TimeNs at;
};

std::string startedText(const SessionStarted& event) {
    const SessionInfo& info = *event.info;
    if (info.kind == SessionKind::Trace) return fmt::format("“{}” is an imported trace: the pages Operations and Timeline show it.", info.name);
    if (!info.config) return fmt::format("{} “{}”: it was not run here, so it has no settings.", event.replay ? "Replay of" : "Session", info.name);
    return fmt::format("{} “{}”: {}, {} training tokens, {} tokens of {}.", event.replay ? "Replay of" : "Session", info.name,
                       format::rate(static_cast<double>(info.parameters), "parameters"), format::count(info.trainTokens), info.config->tokenizer,
                       info.config->data);
}

// The sentences that follow speak of A and B.
std::string sidesText(const ExperimentBegan& event) {
    const auto a = configFromJson(event.configA), b = configFromJson(event.configB);
    if (!a || !b) return "An experiment takes turns between A and B; what they are is not readable.";
    std::string sides[2];
    for (const auto& key : differingKeys(*a, *b)) {
        sides[0] += (sides[0].empty() ? "" : " ") + fmt::format("{}={}", key.key, key.a);
        sides[1] += (sides[1].empty() ? "" : " ") + fmt::format("{}={}", key.key, key.b);
    }
    if (sides[0].empty()) return "An experiment takes turns between two equal sides, A and B.";
    return fmt::format("An experiment takes turns: A is {}, B is {}.", sides[0], sides[1]);
}

// Of two values of a switch that take turns within a run the trainer has told just before which they are.
bool isToldByTrainer(const ExperimentBegan& event, const RunHistory* history) {
    return history != nullptr && history->info() && history->info()->kind == SessionKind::Run && turnsOf(event.configA, event.configB).has_value();
}

Line stateLine(const StateChanged& event) {
    const std::string because = event.why.empty() ? "." : ": " + event.why;
    const std::string steps = format::count(event.step);
    switch (event.state) {
        case RunState::Preparing:
            return {};
        case RunState::Running:
            return {LogLevel::Info, event.step == 0 ? "Training begins." : fmt::format("Training goes on after step {}.", steps), event.step,
                    event.at};
        case RunState::Paused:
            return {isHeldUp(event) ? LogLevel::Warning : LogLevel::Info, fmt::format("Paused after step {}{}", steps, because), event.step,
                    event.at};
        case RunState::Finished:
            if (event.step == 0) return {};  // an imported trace, an experiment: none of its own
            return {LogLevel::Info, fmt::format("Finished: {} steps{}", steps, because), event.step, event.at};
        case RunState::Stopped:
            if (event.step == 0) return {LogLevel::Info, "Stopped before the first step" + because, 0, event.at};
            return {LogLevel::Info, fmt::format("Stopped after step {}{}", steps, because), event.step, event.at};
        case RunState::Failed:
            // What was refused has said why, and made no step.
            if (event.step == 0) return {};
            return {LogLevel::Error, fmt::format("The run ended after step {}.", steps), event.step, event.at};
        case RunState::Interrupted:
            return {LogLevel::Warning, fmt::format("The program was interrupted after step {}{}", steps, because), event.step, event.at};
    }
    return {};
}

Line lineOf(const Event& event, const RunHistory* history) {
    return std::visit(
        Visitor{
            [](const SessionStarted& e) {
                return Line{LogLevel::Info, startedText(e), 0, {}};
            },
            // The trainer tells flips, refusals, checkpoints and the steps that fp16 left out in log lines of its own.
            [](const StepDone&) { return Line{}; },
            [](const ValidationDone& e) {
                return Line{LogLevel::Info, fmt::format("Validation loss {:.4f} after step {}.", e.loss, format::count(e.step)), e.step, e.at};
            },
            [](const SwitchApplied&) { return Line{}; },
            [](const SwitchRefused&) { return Line{}; },
            [](const DeviceSample&) { return Line{}; },
            [](const LogLine& e) {
                return Line{e.level, e.text, e.step, e.at};
            },
            [](const StateChanged& e) { return stateLine(e); },
            [](const CheckpointSaved&) { return Line{}; },
            [](const TextGenerated& e) {
                return e.complete
                           ? Line{LogLevel::Info, fmt::format("Text written with the weights of step {}; see the page Text.", format::count(e.step)),
                                  e.step, e.at}
                           : Line{};
            },
            [](const Preparing&) { return Line{}; },
            [](const RecorderWaited& e) {
                return e.waited > kLongWait
                           ? Line{LogLevel::Warning, fmt::format("Training waited {} for the disk.", format::milliseconds(e.waited.milliseconds())),
                                  0, e.at}
                           : Line{};
            },
            [](const CaptureDone& e) {
                return Line{LogLevel::Info, captureSentence(e), e.step, e.at};
            },
            [history](const ExperimentBegan& e) {
                return isToldByTrainer(e, history) ? Line{} : Line{LogLevel::Info, sidesText(e), e.step, e.at};
            },
            [](const BlockDone&) { return Line{}; },
            [history](const ExperimentJudged& e) {
                if (!e.over) return Line{};
                return Line{LogLevel::Info, history != nullptr ? history->saidOf(e) : judgedSentence(e), e.step, e.at};
            },
            [](const StudyBegan&) { return Line{}; },
            [](const StudyRow&) { return Line{}; },
        },
        event);
}

std::optional<LogEntry> entryOf(const Line& line, std::int64_t startedUnixMs) {
    if (line.text.empty()) return std::nullopt;
    return LogEntry{QDateTime::fromMSecsSinceEpoch(startedUnixMs + line.at.ns / 1'000'000), line.level, QString::fromStdString(line.text), line.step,
                    line.at};
}

}  // namespace

std::optional<LogEntry> logSentence(const Event& event, std::int64_t startedUnixMs, const RunHistory* history) {
    return entryOf(lineOf(event, history), startedUnixMs);
}

std::optional<LogEntry> ExperimentSentences::of(const Event& event, std::int64_t startedUnixMs) {
    if (const auto* began = std::get_if<ExperimentBegan>(&event)) {
        m_told = false;
        m_delta = began->delta;
        m_sides = sidesInWords(*began);
        m_names = armNames(*began);
    }
    const auto* judged = std::get_if<ExperimentJudged>(&event);
    if (judged == nullptr || !judged->over) return logSentence(event, startedUnixMs);
    // The verdict stood before it came again: what is new then are the losses at equal time. That they failed has a line of its own.
    const bool stood = std::exchange(m_told, true);
    return entryOf(
        {LogLevel::Info, stood ? equalTimeSentence(*judged, m_names) : judgedSentence(*judged, m_delta, m_sides), judged->step, judged->at},
        startedUnixMs);
}

}  // namespace stepscope
