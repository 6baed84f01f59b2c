#include "app/gui/wiring/RunWiring.h"

#include <QPointer>
#include <algorithm>
#include <cstring>
#include <utility>

#include "app/gui/Stage.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/Readings.h"
#include "app/gui/wiring/RunController.h"
#include "app/workbench/engine/EngineWords.h"
#include "core/base/Format.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/run/HintStrip.h"
#include "widgets/panels/run/RunBar.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

constexpr int kReadingMs = 200;            // digits that change more often cannot be read,
constexpr int kMeasuringReadingMs = 1000;  //   and drawing them takes time from steps that are being compared
constexpr int kLongestHost = 24;           // characters that the bar has room for

// What a run that broke off leaves behind, and what can be done now.
QString keptWords(std::int64_t step) {
    return QString(" What was recorded up to step %1 is kept among the sessions; Run starts a new run.")
        .arg(QString::fromStdString(format::count(step)));
}

}  // namespace

RunWiring::RunWiring(const Panels& panels, RunController& runs, Stage& stage, std::string database, std::string workerProgram, QObject* parent)
    : QObject(parent), m_panels(panels), m_runs(runs), m_stage(stage), m_database(std::move(database)), m_workerProgram(std::move(workerProgram)) {
    m_soon.setSingleShot(true);
    connect(&m_soon, &QTimer::timeout, this, &RunWiring::showReading);
    connect(&panels.runBar, &RunBar::runRequested, this, &RunWiring::run);
    connect(&panels.runBar, &RunBar::pauseRequested, this, [this] { m_runs.send(Pause{}); });
    connect(&panels.runBar, &RunBar::stopRequested, this, &RunWiring::stop);
    connect(&runs, &RunController::engineReady, this, [this] {
        const auto& elsewhere = m_runs.elsewhere();
        if (elsewhere) sayOfElsewhere(*elsewhere);
        showReading();
    });
    connect(&runs, &RunController::engineFailed, this, [this](const QString& sentence) {
        m_engineProblem = sentence;
        say(sentence, true);
    });
    connect(&runs, &RunController::phaseChanged, this, &RunWiring::showReading);
    connect(&runs, &RunController::takenChanged, this, &RunWiring::showReading);
    connect(&runs, &RunController::startFailed, this, &RunWiring::startFailed);
    connect(&panels.experiment, &ExperimentPanel::edited, this, &RunWiring::forgetMended);
    // Who answers an edit may do so later than this is told of it.
    connect(&panels.experiment, &ExperimentPanel::problemChanged, this, &RunWiring::forgetMended);
    connect(&panels.notice, &NoticeBar::acted, this, &RunWiring::act);
    connect(&stage, &Stage::grew, this, &RunWiring::showReadingSoon);
    connect(&stage, &Stage::switched, this, &RunWiring::showReading);
    connect(&stage, &Stage::started, this, &RunWiring::showReading);
    // How a replayed session ended is known from the list.
    connect(&panels.sessions.model(), &QAbstractItemModel::modelReset, this, &RunWiring::showReadingSoon);
    connect(&panels.sessions.model(), &QAbstractItemModel::dataChanged, this, &RunWiring::showReadingSoon);
    connect(&stage.live(), &LiveFeed::started, this, [this] {
        m_began = true;
        const RunHistory& begun = *m_stage.live().history();
        if (begun.info() && begun.info()->config) m_seed = begun.info()->config->seed;
        if (m_left && m_left->session == begun.session()) m_left.reset();
    });
    connect(&stage.live(), &LiveFeed::stateChanged, this, &RunWiring::liveStateChanged);
    connect(&stage.live(), &LiveFeed::logged, this, &RunWiring::hearOfStorage);
    showReading();
}

void RunWiring::run() {
    if (m_runs.workbench() == nullptr) return;
    if (m_stage.replaying()) {
        Q_EMIT returnToLive();
        if (m_runs.busy()) return;
    }
    if (m_runs.measuring()) return say("An experiment is being measured, and a run would disturb it; stop it first, or wait for its end.", false);
    if (m_runs.phase() == RunController::Phase::Live) {
        if (m_liveState == RunState::Paused) m_runs.send(Resume{});
        return;
    }
    if (m_panels.experiment.hasProblem()) return sayOfSettings(m_panels.experiment.problem());
    m_panels.hints.learnt(HintStrip::Run);
    RunRequest request;
    request.config = m_panels.experiment.config();
    start(std::move(request));
}

void RunWiring::runOrPause() {
    const bool going = m_runs.training() && m_runs.phase() == RunController::Phase::Live && m_liveState == RunState::Running && !m_stage.replaying();
    if (going)
        m_runs.send(Pause{});
    else
        run();
}

void RunWiring::start(RunRequest request) {
    if (!m_runs.taken().isEmpty()) return say(m_runs.taken(), false);
    m_panels.notice.hide();
    request.database = m_database;
    request.localWorkers = m_panels.experiment.workers();
    request.workerProgram = m_workerProgram;
    m_liveState = RunState::Preparing;
    m_seed = request.config.seed;
    m_heldUp = m_began = m_refused = false;
    m_runs.start(std::move(request));
}

void RunWiring::stop() {
    m_runs.stop();
}

void RunWiring::validate() {
    m_runs.send(ValidateNow{});
}
void RunWiring::saveCheckpoint() {
    m_runs.send(SaveCheckpoint{});
}
void RunWiring::drawOtherBatches() {
    m_runs.send(Reseed{++m_seed});
}

bool RunWiring::takesCommands() const {
    return m_runs.training() && m_runs.phase() == RunController::Phase::Live && (m_liveState == RunState::Running || m_liveState == RunState::Paused);
}

void RunWiring::say(const QString& sentence, bool isError) {
    if (isError) m_panels.notice.say(NoticeBar::Kind::Error, sentence);
    m_stage.shown().log().add({{QDateTime::currentDateTime(), isError ? LogLevel::Error : LogLevel::Info, sentence, 0}});
    showReading();
}

void RunWiring::takeBack(const QString& sentence) {
    if (m_panels.notice.saying() != 0 && m_panels.notice.sentence() == sentence) m_panels.notice.hide();
}

void RunWiring::sayOfElsewhere(const EngineElsewhere& elsewhere) {
    say(QString::fromStdString("Runs are trained on " + machineWords(elsewhere.host, elsewhere.machine) + '.'), false);
    std::vector<std::string> engines;
    for (const std::string& one : elsewhere.going) {
        engines.push_back(one.substr(0, one.find_first_of(":,")));
        const QString what = QString::fromStdString(one), engine = QString::fromStdString(engines.back());
        const bool over = one.compare(engines.back().size(), std::strlen(kHasEnded), kHasEnded) == 0;
        if (over)
            say(QString(
                    "There an engine has trained for a window that has gone, and not all that it said has been fetched: %1. It is recorded there; on "
                    "that machine \"stepscope-cli engine --forget %2\" removes what it said.")
                    .arg(what, engine),
                false);
        else
            say(QString("There an engine trains already, begun by another window or by one that has gone: %1. It is recorded there; on that machine "
                        "\"stepscope-cli engine --stop %2\" stops it.")
                    .arg(what, engine),
                false);
    }
    std::erase_if(engines, [&elsewhere](const std::string& engine) { return attachWords(elsewhere.command, engine).empty(); });
    if (!engines.empty()) lookForLeftSession(std::move(engines));
}

// Stored sessions are read on the engine's thread, which may outlive this.
void RunWiring::lookForLeftSession(std::vector<std::string> engines) {
    m_runs.beside([runs = &m_runs, self = QPointer<RunWiring>(this), engines = std::move(engines), database = m_database](Workbench&) {
        for (const std::string& engine : engines)
            if (const auto left = sessionOfEngine(database, engine))
                return answer(runs, [self, engine, left = *left] {
                    if (self == nullptr) return;
                    self->m_leftEngine = engine;
                    self->m_left = left;
                    self->offerToTakeUp();
                });
    });
}

// One of them; the next window offers the next.
void RunWiring::offerToTakeUp() {
    if (m_runs.busy()) return;
    m_panels.notice.say(NoticeBar::Kind::Note,
                        QString("The run of session %1, “%2”, was left behind by a window that was killed; %3 trained it on, or still does.")
                            .arg(m_left->session)
                            .arg(QString::fromStdString(m_left->name), QString::fromStdString(m_runs.elsewhere()->host)),
                        "Go on with it here");
    m_offersTakingUp = true;
}

bool RunWiring::offersToTakeUp(std::int64_t session) {
    if (!m_left || m_left->session != session) return false;
    offerToTakeUp();
    return true;
}

void RunWiring::takeUp() {
    if (m_runs.busy() || !m_left) return say("A run is in progress; stop it before taking up another.", true);
    if (m_stage.replaying()) {
        Q_EMIT returnToLive();
        if (m_runs.busy()) return;
    }
    m_panels.experiment.adopt(m_left->config);
    RunRequest request;
    request.config = m_left->config;
    request.engineTakenUp = m_leftEngine;
    request.sessionTakenUp = m_left->session;
    start(std::move(request));
}

void RunWiring::act() {
    if (m_offersTakingUp)
        takeUp();
    else
        runWithoutRecording();
}

void RunWiring::startFailed(const QString& sentence, bool database) {
    m_refused = true;
    sayOfSettings(sentence);
    if (database) offerToRunWithoutRecording(sentence);
}

void RunWiring::sayOfSettings(const QString& sentence) {
    say(sentence, true);
    isOfSettings();
}

void RunWiring::isOfSettings() {
    m_aboutSettings = m_panels.notice.saying();
}

void RunWiring::forgetMended() {
    if (m_aboutSettings == 0 || m_panels.experiment.hasProblem()) return;
    if (m_panels.notice.saying() == std::exchange(m_aboutSettings, 0)) m_panels.notice.hide();
}

// Training without a record is offered, never done silently.
void RunWiring::offerToRunWithoutRecording(const QString& sentence) {
    m_panels.notice.say(NoticeBar::Kind::Error, sentence + " Without it nothing would be recorded.", "Run without recording");
    m_offersTakingUp = false;
}

// A checkpoint lies in its session's folder, and such a run has none: each would be a loss that the log complains of.
void RunWiring::runWithoutRecording() {
    RunRequest request = m_runs.request();
    request.record = false;
    if (const std::int64_t every = std::exchange(request.config.checkpointEvery, 0); every > 0)
        say(QString("This run makes no session to keep checkpoints in, so it saves none, although Checkpoint every is %1.").arg(every), false);
    start(std::move(request));
}

void RunWiring::liveStateChanged(const StateChanged& change) {
    // The engine opens the database as the last of its preparations. A later sentence may name a checkpoint, which lies beside the database.
    const bool preparing = std::exchange(m_liveState, change.state) == RunState::Preparing;
    if (ended(change.state) && !m_began && change.step == 0) m_refused = true;  // the end of a former run may arrive as late as this
    if (change.state == RunState::Failed) {
        const QString sentence = QString::fromStdString(change.why);
        if (preparing && m_runs.isAboutStorage(change.subject)) {
            offerToRunWithoutRecording(sentence);
        } else {
            m_panels.notice.say(NoticeBar::Kind::Error, change.step > 0 && m_runs.request().record ? sentence + keptWords(change.step) : sentence);
            if (preparing) isOfSettings();
        }
    }
    const bool heldUp = isHeldUp(change);
    // What the recorder has said of it names the file and what to do.
    if (heldUp && (m_notStored == 0 || m_panels.notice.saying() != m_notStored))
        sayNotStored(NoticeBar::Kind::Warning, change.why);
    else if (!heldUp && m_heldUp)
        forgetNotStored();  // it goes on by itself when what held it up is over
    m_heldUp = heldUp;
    showReading();
}

void RunWiring::hearOfStorage(const LogLine& line) {
    if (line.subject.kind != Subject::Kind::Database) return;
    if (line.level == LogLevel::Error)
        sayNotStored(NoticeBar::Kind::Error, line.text);
    else if (line.level == LogLevel::Info)
        forgetNotStored();
}

void RunWiring::sayNotStored(NoticeBar::Kind kind, const std::string& sentence) {
    m_panels.notice.say(kind, QString::fromStdString(sentence));
    m_notStored = m_panels.notice.saying();
}

// What somebody else has said since stays.
void RunWiring::forgetNotStored() {
    if (const int said = std::exchange(m_notStored, 0); said != 0 && m_panels.notice.saying() == said) m_panels.notice.hide();
}

void RunWiring::showReadingSoon() {
    if (!m_soon.isActive()) m_soon.start(m_stage.live().history()->measuring() ? kMeasuringReadingMs : kReadingMs);
}

void RunWiring::showReading() {
    m_soon.stop();
    const RunHistory& shown = *m_stage.shown().history();
    const SessionRow* row = shown.replay() ? m_panels.sessions.model().find(shown.session()) : nullptr;
    RunReading reading = readingOf(shown, m_runs.phase(), m_liveState, row != nullptr ? std::optional(row->state) : std::nullopt);
    reading.engine = m_runs.workbench() != nullptr ? RunReading::Engine::Ready
                     : m_engineProblem.isEmpty()   ? RunReading::Engine::Starting
                                                   : RunReading::Engine::Failed;
    if (reading.engine == RunReading::Engine::Failed) reading.note = "no engine";
    if (m_runs.elsewhere()) reading.host = QString::fromStdString(m_runs.elsewhere()->host).left(kLongestHost);
    reading.replay = m_stage.replaying();
    reading.heldUp = m_heldUp;
    reading.taken = m_runs.taken();
    reading.measuring = m_runs.measuring();
    reading.measuredOn = m_runs.measuredOn();
    if (reading.measuring && !reading.replay) reading.state = RunState::Running;
    reading.refused = m_refused && !m_runs.busy() && !m_stage.replaying();
    // Of an experiment its page tells; a run that was not started has none, and those of the one before it are not its own; what was sampled in a run
    // that has ended is no more.
    if ((!reading.replay && reading.measuring) || reading.refused)
        reading.tokensPerSecond = reading.msPerStep = reading.loss = reading.smoothedLoss = reading.cpuPct = reading.gpuPct = kUnknown;
    if (!reading.replay && !m_runs.busy()) reading.cpuPct = reading.gpuPct = kUnknown;
    m_panels.runBar.setReading(reading);
    tellWhatCanBeAsked(reading.canStop());
}

void RunWiring::tellWhatCanBeAsked(bool canStop) {
    if (canStop != m_canStop) {
        m_canStop = canStop;
        Q_EMIT canStopChanged(canStop);
    }
    if (takesCommands() != m_takesCommands) {
        m_takesCommands = takesCommands();
        Q_EMIT takesCommandsChanged(m_takesCommands);
    }
}

}  // namespace stepscope
