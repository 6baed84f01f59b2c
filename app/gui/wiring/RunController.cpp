#include "app/gui/wiring/RunController.h"

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "app/gui/wiring/LiveFeed.h"
#include "app/workbench/PresetChoice.h"

namespace stepscope {
RunController::RunController(LiveFeed& feed, std::vector<std::string> engine, std::optional<EngineElsewhere> elsewhere, QObject* parent)
    : QObject(parent), m_feed(feed), m_engine(std::move(engine)), m_elsewhere(std::move(elsewhere)) {}

RunController::~RunController() {
    m_leaving = true;                // for a run that the thread has just begun and nobody here has heard of
    if (m_run) m_run->send(Stop{});  // the thread waits for the run's end and is joined after this
}

QString RunController::whyNotMeasured() const {
    if (!m_elsewhere) return {};
    return QString(
               "Runs are trained on %1, and this would be measured on this machine: ask stepscope-cli there, or start the window without that "
               "engine.")
        .arg(QString::fromStdString(m_elsewhere->host));
}

bool RunController::isAboutStorage(const Subject& subject) const {
    return m_request.record && m_request.resume.empty() && m_request.engineTakenUp.empty() && subject.kind == Subject::Kind::Database;
}

void RunController::openEngine(const RunConfig& shown) {
    m_thread.post([this, shown] {
        std::shared_ptr<Workbench> made;
        EngineAnswer found;
        QString problem;
        try {
            auto engine = m_elsewhere ? Workbench::create(m_elsewhere->machine) : Workbench::create();
            found = {engine->switches(shown), choosePreset(*engine)};
            made = std::move(engine);
        } catch (const std::exception& cause) {
            problem = QString("The engine could not start: %1.").arg(cause.what());
        }
        answer(this, [this, made, found = std::move(found), problem] {
            if (made == nullptr) return Q_EMIT engineFailed(problem);
            m_workbench = made;
            Q_EMIT engineReady(found);
        });
    });
}

void RunController::setPhase(Phase phase) {
    if (phase == m_phase) return;
    m_phase = phase;
    Q_EMIT phaseChanged();
}

void RunController::setTaken(const QString& why) {
    if (why == m_taken) return;
    m_taken = why;
    Q_EMIT takenChanged();
}

void RunController::start(RunRequest request) {
    if (busy() || m_workbench == nullptr) return;
    m_request = std::move(request);
    m_request.engine = m_engine;
    m_request.engineElsewhere = m_elsewhere.has_value();
    m_stopWhenStarted = m_measuring = false;
    m_early.clear();
    setPhase(Phase::Starting);
    m_thread.post([this, workbench = m_workbench, wanted = m_request] {
        auto started = workbench->start(wanted, m_feed);
        if (!started) {
            answer(this, [this, error = started.error()] {
                setPhase(Phase::None);
                Q_EMIT startFailed(QString::fromStdString(error.sentence), isAboutStorage(error.subject));
            });
            return;
        }
        std::shared_ptr<Run> run = std::move(*started);
        if (m_leaving) run->send(Stop{});
        answer(this, [this, run] { becomeLive(run); });
        const RunSummary summary = run->wait();
        answer(this, [this, summary] {
            m_run.reset();
            setPhase(Phase::None);
            Q_EMIT ended(summary);
        });
    });
}

void RunController::measure(ExperimentRequest request, EventSink& sink) {
    carryOut(
        "Compare", [wanted = std::move(request)](Workbench& workbench, EventSink& into) { return workbench.startExperiment(wanted, into); }, sink,
        &RunController::measureFailed, &RunController::measured);
}

void RunController::study(StudyStart start, EventSink& sink) {
    carryOut("Ladder", std::move(start), sink, &RunController::studyFailed, &RunController::studied);
}

void RunController::carryOut(const QString& page, StudyStart start, EventSink& sink, void (RunController::*failed)(const QString&),
                             void (RunController::*done)(const RunSummary&)) {
    if (busy() || m_workbench == nullptr) return;
    if (const QString why = m_elsewhere ? whyNotMeasured() : m_taken; !why.isEmpty()) return Q_EMIT(this->*failed)(why);
    m_stopWhenStarted = false;
    m_measuring = true;
    m_measuredOn = page;
    m_early.clear();
    setPhase(Phase::Starting);
    m_thread.post([this, workbench = m_workbench, start = std::move(start), &sink, failed, done] {
        auto started = start(*workbench, sink);
        if (!started) {
            answer(this, [this, failed, sentence = QString::fromStdString(started.error().sentence)] {
                setPhase(Phase::None);
                Q_EMIT(this->*failed)(sentence);
            });
            return;
        }
        std::shared_ptr<Run> run = std::move(*started);
        if (m_leaving) run->send(Stop{});
        answer(this, [this, run] { becomeLive(run); });
        const RunSummary summary = run->wait();
        answer(this, [this, done, summary] {
            m_run.reset();
            setPhase(Phase::None);
            Q_EMIT(this->*done)(summary);
        });
    });
}

void RunController::beside(std::function<void(Workbench& workbench)> work) {
    if (m_workbench == nullptr) return;
    m_thread.post([workbench = m_workbench, work = std::move(work)] { work(*workbench); });
}

void RunController::becomeLive(std::shared_ptr<Run> run) {
    m_run = std::move(run);
    for (Command& command : std::exchange(m_early, {})) m_run->send(std::move(command));
    setPhase(Phase::Live);
    if (m_stopWhenStarted) stop();
}

void RunController::send(Command command) {
    if (m_run)
        m_run->send(std::move(command));
    else if (m_phase == Phase::Starting)
        m_early.push_back(std::move(command));  // its first events may be here before it is
}

RunController::Left RunController::keepAndStop() {
    constexpr int kLongestMs = 300'000, kPollMs = 10;
    m_leaving = true;
    if (m_run == nullptr) return Left::NoRun;
    m_run->send(SaveCheckpoint{});
    m_run->send(Stop{});
    for (int waited = 0; !m_run->done() && waited < kLongestMs; waited += kPollMs) std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
    if (!m_run->done()) return Left::NotKept;
    const RunSummary summary = m_run->wait();
    return summary.keptStep >= 0 && summary.keptStep == summary.steps ? Left::Kept : Left::NotKept;
}

void RunController::stop() {
    if (m_phase == Phase::Starting) m_stopWhenStarted = true;
    if (m_run == nullptr) return;
    m_run->send(Stop{});
    setPhase(Phase::Stopping);
}

}  // namespace stepscope
