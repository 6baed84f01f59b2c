#include "app/workbench/EventTee.h"

#include <cmath>
#include <utility>

#include "core/analysis/PairedVerdict.h"
#include "core/analysis/RateDiagnosis.h"
#include "core/analysis/Statistics.h"
#include "core/analysis/flips/FlipContext.h"
#include "core/events/ConfigNumbers.h"
#include "core/events/Event.h"

namespace stepscope {
void EventTee::publish(Event event) {
    note(event);
    if (const auto* changed = std::get_if<StateChanged>(&event))
        if (auto said = lastWords(*changed)) publish(std::move(*said));
    if (const auto recorder = this->recorder()) recorder->publish(event);
    m_listener.publish(std::move(event));
}

void EventTee::tell(Event event) {
    m_listener.publish(std::move(event));
}

void EventTee::tellUnstored(const Error& error, TimeNs at) {
    {
        const std::lock_guard lock(m_mutex);
        if (std::exchange(m_unstored, error.sentence) == error.sentence) return;
    }
    tell(LogLine{at, 0, LogLevel::Error, error.sentence, error.code, error.subject});
}

void EventTee::publishChunk(ChunkPtr chunk) {
    if (const auto recorder = this->recorder()) recorder->publishChunk(chunk);
    m_listener.publishChunk(std::move(chunk));
}

void EventTee::record(std::shared_ptr<Recorder> recorder) {
    const std::lock_guard lock(m_mutex);
    m_recorder = std::move(recorder);
}

// What a library says may come while the recorder is being opened.
std::shared_ptr<Recorder> EventTee::recorder() const {
    const std::lock_guard lock(m_mutex);
    return m_recorder;
}

void EventTee::note(const Event& event) {
    std::lock_guard lock(m_mutex);
    std::visit(Visitor{
                   [&](const StepDone& done) {
                       if (m_stepMs.seen() == 0) m_summary.lossFirst = done.loss;
                       m_summary.lossLast = done.loss;
                       m_summary.steps = done.step;
                       m_stepMs.add(done.duration.milliseconds());
                       ++m_took.steps;
                       m_took.stepSeconds += done.duration.seconds();
                       if (m_curve.seen() == 0) m_curveFrom = done.step - 1;
                       m_curve.add({done.learningRate, done.loss});
                       m_summary.skipped += done.skipped ? 1 : 0;
                       if (done.tokens > 0) m_tokenMs.add(done.duration.milliseconds() / static_cast<double>(done.tokens));
                   },
                   [&](const ValidationDone& done) {
                       m_summary.validationLoss = done.loss;
                       ++m_took.validations;
                       m_took.validationSeconds += done.duration.seconds();
                   },
                   [&](const StateChanged& changed) {
                       m_summary.state = changed.state;
                       m_summary.why = changed.why;
                   },
                   [&](const SessionStarted& started) {
                       m_summary.session = started.session;
                       m_info = started.info;
                       m_config = started.info->config.value_or(RunConfig{});
                   },
                   [&](const SwitchApplied& applied) {
                       m_took.asBegun = false;
                       const std::int64_t before = batchShape(m_config).context;
                       m_config.switches[applied.id] = applied.to;
                       if (isChosenByTurns(applied)) m_summary.answers.back().changed = true;
                       m_flippedSince = true;
                       if (batchShape(m_config).context != before) m_curve.clear();  // longer contexts have other losses
                   },
                   [&](const SwitchRefused& refused) { m_summary.refused.push_back(refused); },
                   [&](const DeviceSample& sample) {
                       if (isMeasuring()) m_measured.add(sample);
                   },
                   [](const LogLine&) {},
                   [&](const CheckpointSaved& saved) {
                       m_summary.keptStep = saved.step;
                       ++m_took.checkpoints;
                       m_took.checkpointSeconds += saved.duration.seconds();
                   },
                   [](const TextGenerated&) {},
                   [](const Preparing&) {},
                   [](const RecorderWaited&) {},
                   [&](const CaptureDone& done) { m_summary.captures.push_back(done); },
                   [&](const ExperimentBegan& began) {
                       m_asked = {.began = began, .judged = {}};
                       m_measured.add(began);
                       m_flippedSince = false;
                   },
                   [](const StudyBegan&) {},
                   [](const StudyRow&) {},
                   [&](const BlockDone& block) {
                       m_took.asBegun = false;
                       if (isMeasuring()) m_measured.add(block);
                   },
                   [&](const ExperimentJudged& judged) {
                       if (!judged.over) {
                           m_asked.same += !judged.discarded && std::isfinite(judged.sameArm) ? 1 : 0;
                           return;
                       }
                       // One that is told again, with what came behind it, is the same answer.
                       const bool again = m_asked.judged.over;
                       m_asked.judged = judged;
                       m_asked.machine = m_measured.machineMeanwhile();
                       if (again)
                           m_summary.answers.back().judged = judged;
                       else
                           m_summary.answers.push_back(m_asked);
                   },
               },
               event);
}

// The run goes on with the value that was found faster. The event itself does not tell it from a person's flip but in the words of its note.
bool EventTee::isChosenByTurns(const SwitchApplied& applied) const {
    if (m_flippedSince || !m_asked.judged.over || m_asked.judged.outcome != toString(PairedOutcome::Faster)) return false;
    const auto turns = turnsOf(m_asked.began.configA, m_asked.began.configB);
    return turns && turns->id == applied.id && turns->from == applied.from && turns->to == applied.to;
}

std::optional<LogLine> EventTee::lastWords(const StateChanged& end) const {
    std::lock_guard lock(m_mutex);
    if (!m_hasLastWords || !ended(end.state) || m_curve.seen() == 0) return std::nullopt;
    // A range test may well end by breaking down.
    if (m_info->config->schedule == "range-test") return LogLine{end.at, end.step, LogLevel::Info, sentenceOf(readLrRange(m_curve.values()))};
    if (end.state == RunState::Failed) return std::nullopt;  // it has said why
    const bool fromTheStart = m_curve.seen() == m_stepMs.seen() && m_info->config->data != "random";
    const auto said =
        diagnoseRate(m_curve.values(), fromTheStart ? std::log(static_cast<double>(m_info->vocabulary)) : kUnknown, m_curve.every(), m_curveFrom);
    return said ? std::optional(LogLine{end.at, end.step, LogLevel::Warning, *said}) : std::nullopt;
}

std::int64_t EventTee::lastStep() const {
    std::lock_guard lock(m_mutex);
    return m_summary.steps;
}

RunTook EventTee::took() const {
    std::lock_guard lock(m_mutex);
    RunTook took = m_took;
    const auto steps = withoutWarmUp(m_stepMs.values());
    took.lowMs = quantile(steps, 0.1);
    took.highMs = quantile(steps, 0.9);
    return took;
}

RunSummary EventTee::summary() const {
    std::lock_guard lock(m_mutex);
    RunSummary summary = m_summary;
    summary.msPerStepMedian = median(withoutWarmUp(m_stepMs.values()));
    summary.tokensPerSecond = 1e3 / median(withoutWarmUp(m_tokenMs.values()));
    return summary;
}

void sayWhy(RunSummary& summary, const Error& failure, const Status& stored) {
    if (summary.state == RunState::Failed) {
        summary.code = failure.code;
        summary.why = failure.sentence;
    } else if (!stored) {
        summary.state = RunState::Interrupted;
        summary.code = stored.error().code;
        summary.why = stored.error().sentence;
    }
}

}  // namespace stepscope
