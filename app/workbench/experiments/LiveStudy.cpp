#include "app/workbench/experiments/LiveStudy.h"

#include <exception>

#include "app/workbench/RunRecorder.h"
#include "app/workbench/diagnose/MachineTurn.h"
#include "core/events/Event.h"

namespace stepscope {

// The events of one experiment on their way into the study's session.
class LiveStudy::Relay final : public EventSink {
public:
    Relay(LiveStudy& study, ExperimentHistory& history, const std::function<void()>& onNews)
        : m_study(study), m_history(history), m_onNews(onNews), m_first(!study.opened()) {}

    void publish(Event event) override {
        if (std::holds_alternative<StateChanged>(event)) return;  // the study has states of its own
        if (const auto* started = std::get_if<SessionStarted>(&event)) {
            if (auto opened = m_study.open(*started->info); !opened) {
                m_study.m_couldOpen = opened;
                m_study.send(Stop{});  // nothing of it could be kept
            } else if (m_first && m_onNews) {
                m_onNews();  // what is going to be measured is seen before the first figure, which may take its time
            }
            return;
        }
        if (auto* line = std::get_if<LogLine>(&event)) {
            line->at = m_study.m_clock.now();
            // What is said of the data is the same each time; errors are the row's.
            if (line->level == LogLevel::Warning || (line->level == LogLevel::Info && m_first)) m_study.m_tee.publish(std::move(event));
            return;
        }
        const TimeNs now = m_study.m_clock.now();
        if (auto* preparing = std::get_if<Preparing>(&event)) preparing->at = now;
        if (auto* began = std::get_if<ExperimentBegan>(&event)) began->at = now;
        if (auto* block = std::get_if<BlockDone>(&event)) block->at = now;
        if (auto* judged = std::get_if<ExperimentJudged>(&event)) judged->at = now;
        if (auto* sample = std::get_if<DeviceSample>(&event)) {
            sample->at = now;
            return m_study.m_tee.publish(std::move(event));  // from a thread of its own: the history is the experiment's thread's
        }
        m_history.add(event);
        const bool judged = std::holds_alternative<ExperimentJudged>(event);
        m_study.m_tee.publish(std::move(event));
        if (judged && m_onNews) m_onNews();
    }

private:
    LiveStudy& m_study;
    ExperimentHistory& m_history;
    const std::function<void()>& m_onNews;
    const bool m_first;
};

LiveStudy::LiveStudy(Session session, ExperimentStart start, EventSink& sink)
    : m_session(std::move(session)), m_start(std::move(start)), m_tee(sink) {}

void LiveStudy::publish(Event event) {
    m_tee.publish(std::move(event));
}

void LiveStudy::say(LogLevel level, const std::string& sentence) {
    m_tee.publish(LogLine{m_clock.now(), 0, level, sentence});
}

void LiveStudy::begin() {
    m_thread = std::jthread([this] { work(); });
}

void LiveStudy::end() {
    send(Stop{});
    if (m_thread.joinable()) m_thread.join();
}

void LiveStudy::send(Command command) {
    if (!std::holds_alternative<Stop>(command)) return;
    m_stop = true;
    const std::lock_guard lock(m_mutex);
    if (m_leg != nullptr) m_leg->send(Stop{});
}

RunSummary LiveStudy::wait() {
    {
        const std::lock_guard joining(m_joining);
        if (m_thread.joinable()) m_thread.join();
    }
    RunSummary summary = m_tee.summary();
    const std::lock_guard lock(m_mutex);
    sayWhy(summary, m_error, m_stored);
    return summary;
}

Status LiveStudy::open(const SessionInfo& like) {
    if (m_opened) return m_couldOpen;
    m_opened = true;
    SessionInfo info;
    info.kind = m_session.kind;
    info.name = m_session.name;
    info.notes = m_session.notes;
    info.tags = m_session.tags;
    info.startedUnixMs = unixMillisecondsNow() - m_clock.now().ns / 1'000'000;
    info.config = m_session.config;
    info.machine = m_session.machine;
    info.vocabulary = like.vocabulary;
    info.parameters = like.parameters;
    info.trainTokens = like.trainTokens;
    info.validationTokens = like.validationTokens;
    info.goesOnWith = m_session.goesOnWith;
    std::int64_t number = 0;
    if (m_session.record) {
        auto recorder = openRecorder(m_session.database, info, m_tee, m_clock, m_stop, {}, &m_measured);
        if (!recorder) {
            m_stop = true;
            return recorder.error();
        }
        m_recorder = std::move(*recorder);
        m_tee.record(m_recorder);
        number = m_recorder->session();
    }
    m_tee.publish(SessionStarted{number, std::make_shared<const SessionInfo>(std::move(info)), false});
    StudyBegan first = began();
    first.at = m_clock.now();
    m_tee.publish(std::move(first));
    return {};
}

LiveStudy::Outcome LiveStudy::measure(ExperimentRequest request, ExperimentHistory& history, const std::function<void()>& onNews) {
    request.record = false;
    request.whyWindows = 0;  // a row has no place for reasons, and captures would have a seventh of the time that it is given
    Relay relay(*this, history, onNews);
    auto started = m_start(std::move(request), relay);
    if (!started) return {RunState::Failed, started.error()};
    {
        const std::lock_guard lock(m_mutex);
        m_leg = started->get();
    }
    if (stopAsked()) (*started)->send(Stop{});
    const RunSummary summary = (*started)->wait();
    {
        const std::lock_guard lock(m_mutex);
        m_leg = nullptr;
    }
    if (!m_couldOpen) return {RunState::Failed, m_couldOpen.error()};
    return {summary.state, summary.state == RunState::Failed ? makeError(summary.code, summary.why) : Error{}};
}

void LiveStudy::work() {
    const RunTurn turn;  // between its experiments too
    m_tee.publish(StateChanged{m_clock.now(), 0, RunState::Preparing, {}});
    Outcome outcome;
    try {
        outcome = study();
    } catch (const std::exception& thrown) {
        outcome = {RunState::Failed, makeError(ErrorCode::Internal, thrown.what())};
    }
    if (!m_couldOpen) outcome = {RunState::Failed, m_couldOpen.error()};
    {
        const std::lock_guard lock(m_mutex);
        m_error = outcome.error;
    }
    const Error& why = outcome.error;
    const bool failed = outcome.state == RunState::Failed;
    if (failed) m_tee.publish(LogLine{m_clock.now(), 0, LogLevel::Error, why.sentence, why.code, why.subject});
    m_tee.publish(StateChanged{m_clock.now(), 0, outcome.state, why.sentence, failed ? std::optional(why.code) : std::nullopt, why.subject});
    if (m_recorder) m_stored = finishMeasured(*m_recorder, m_session.database, m_tee, m_clock, m_measured, m_stop);
    m_done = true;
}

}  // namespace stepscope
