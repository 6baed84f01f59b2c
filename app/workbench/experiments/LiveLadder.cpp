#include "app/workbench/experiments/LiveLadder.h"

#include <fmt/format.h>

#include "app/workbench/RunRecorder.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigNumbers.h"
#include "core/events/Event.h"
#include "sessions/SessionStore.h"

namespace stepscope {

LadderCourse courseOf(const LadderRequest& request, const LadderEngine& engine) {
    LadderCourse course(request.ladder, {.leaveOneOut = request.leaveOneOut, .pairs = request.pairs, .budgetSeconds = request.budgetSeconds},
                        engine.whyNot);
    course.restore(request.kept);
    return course;
}

LiveLadder::LiveLadder(LadderRequest request, LadderEngine engine, LadderCourse course, EventSink& sink)
    : LiveStudy({.kind = SessionKind::Ladder,
                 .name = request.name.empty() ? "ladder " + request.ladder.title : request.name,
                 .notes = request.notes,
                 .database = request.database,
                 .goesOnWith = request.goesOnWith,
                 .tags = request.tags,
                 .record = request.record,
                 .config = request.config,
                 .machine = engine.machine},
                engine.start, sink),
      m_request(std::move(request)),
      m_engine(std::move(engine)),
      m_course(std::move(course)) {}

StudyBegan LiveLadder::began() const {
    const auto bottom = m_engine.config({});
    return {.kind = "ladder",
            .title = m_request.ladder.title,
            .source = m_request.ladder.source,
            .unit = m_request.ladder.unit,
            .config = configToJson(m_request.config),
            .question = ladderQuestion(m_request, bottom ? *bottom : m_request.config, m_engine.machine),
            .budgetSeconds = m_request.budgetSeconds,
            .delta = m_request.delta,
            .alpha = 0.05,
            .seed = m_request.seed,
            .legs = m_course.legs(),
            .leaveOneOut = m_request.leaveOneOut,
            .pairs = m_request.pairs};
}

void LiveLadder::publishRows() {
    if (!opened()) return;  // the next one tells them
    for (const std::int64_t number : m_course.takeChanged()) {
        StudyRow row = m_course.rows()[static_cast<std::size_t>(number)];
        row.at = clock().now();
        publish(std::move(row));
    }
}

LiveStudy::Outcome LiveLadder::study() {
    bool running = false;
    while (const auto leg = stopAsked() ? std::nullopt : m_course.next(elapsed())) {
        publishRows();
        ExperimentHistory history;
        const auto a = m_engine.config(leg->a), b = m_engine.config(leg->b);
        if (!a || !b) {
            m_course.failed((a ? b : a).error().sentence, history);
            continue;
        }
        // Coins of its own for each leg.
        ExperimentRequest request{.a = *a,
                                  .b = *b,
                                  .budgetSeconds = leg->budgetSeconds,
                                  .mostSeconds = leg->mostSeconds,
                                  .delta = m_request.delta,
                                  .alpha = leg->alpha,
                                  .seed = m_request.seed + leg->row * 1000};
        const auto outcome = measure(std::move(request), history, [&] {
            if (!running) publish(StateChanged{clock().now(), 0, RunState::Running, {}});
            running = true;
            m_course.update(history);
            publishRows();
        });
        if (outcome.state == RunState::Failed && outcome.error.code == ErrorCode::Cancelled) {
            m_course.done(history, true);
        } else if (!couldOpen()) {
            return outcome;  // there is nowhere to keep any rung: said once, and not of this one
        } else if (outcome.state == RunState::Failed) {
            // Data that cannot be read stop everything, and are said once; that they are too short for a rung's own context is that rung's matter.
            const bool ofAll = outcome.error.subject.kind == Subject::Kind::Data && batchShape(*a).context == batchShape(*b).context;
            if (!opened() && (ofAll || outcome.error.subject.kind == Subject::Kind::Database)) return outcome;
            m_course.failed(outcome.error.sentence, history);
            const StudyRow& row = m_course.rows()[static_cast<std::size_t>(leg->row)];
            say(LogLevel::Warning, fmt::format("{}: {}", row.name, outcome.error.sentence));
        } else {
            m_course.done(history, outcome.state == RunState::Stopped);
        }
        publishRows();
        if (session().record) {
            const std::string database = session().database.empty() ? defaultDatabasePath() : session().database;
            keepStepsOf(history, Arm::A, *a, session().machine, database);
            keepStepsOf(history, Arm::B, *b, session().machine, database);
        }
    }
    SessionInfo nothing;
    if (!opened() && !stopAsked())
        if (auto done = open(nothing); !done) return {RunState::Failed, done.error()};
    publishRows();
    return {stopAsked() ? RunState::Stopped : RunState::Finished, {}};
}

}  // namespace stepscope
