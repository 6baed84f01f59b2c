#include "app/gui/wiring/SessionsWiring.h"

#include <QTabWidget>

#include "app/gui/Stage.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/Readings.h"
#include "app/gui/wiring/ReplayController.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "app/gui/wiring/SessionsReader.h"
#include "core/base/Format.h"
#include "widgets/charts/LivePage.h"
#include "widgets/panels/LogPanel.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/run/HintStrip.h"
#include "widgets/panels/run/TransportBar.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPage.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {
constexpr qint64 kLiveRowMs = 1000;
}

SessionsWiring::SessionsWiring(const Panels& panels, SessionsReader& reader, ReplayController& replay, RunController& runs, Stage& stage,
                               RunWiring& running, QObject* parent)
    : QObject(parent), m_panels(panels), m_reader(reader), m_replay(replay), m_runs(runs), m_stage(stage), m_running(running) {
    connectPanel();
    connectTransport();
    connect(&reader, &SessionsReader::listed, this, &SessionsWiring::show);
    connect(&reader, &SessionsReader::unavailable, &panels.sessions, &SessionsPanel::setUnavailable);
    connect(&reader, &SessionsReader::failed, this, [this](const QString& sentence) { m_running.say(sentence, true); });
    connect(&reader, &SessionsReader::told, this, [this](const QString& sentence) { m_running.say(sentence, false); });
    connect(&reader, &SessionsReader::removed, this, [this](qint64 session, const QString& name) {
        m_panels.sessions.offerUndo(session, name);
        if (m_panels.sessions.visibleRegion().isEmpty())
            m_running.say("Deleted “" + name + "”. The panel Sessions (Ctrl+Shift+B) offers to undo it.", false);
    });
    connect(&runs, &RunController::ended, &reader, &SessionsReader::refresh);
    connect(&stage.live(), &LiveFeed::started, &reader, &SessionsReader::refresh);
    connect(&stage.live(), &LiveFeed::stateChanged, this, &SessionsWiring::showLiveRow);
    m_sinceLiveRow.start();
    connect(&stage.live(), &LiveFeed::grew, this, [this] {
        if (m_sinceLiveRow.elapsed() >= kLiveRowMs) showLiveRow();
    });
    connect(&running, &RunWiring::returnToLive, this, &SessionsWiring::returnToLive);
    connect(&panels.log, &LogPanel::jumpToStep, this, &SessionsWiring::jump);
}

void SessionsWiring::connectPanel() {
    SessionsPanel& panel = m_panels.sessions;
    connect(&panel, &SessionsPanel::replayRequested, this, [this](qint64 session) {
        const QWidget* now = m_panels.pages.currentWidget();
        const bool showsReplays = now == &m_panels.text || now == &m_panels.operations || now == &m_panels.timeline;
        if (showsReplays) return replay(session);  // these fill with what is replayed
        open(session);
    });
    connect(&panel, &SessionsPanel::renameRequested, &m_reader, &SessionsReader::rename);
    connect(&panel, &SessionsPanel::annotateRequested, &m_reader, &SessionsReader::annotate);
    connect(&panel, &SessionsPanel::deleteRequested, &m_reader, &SessionsReader::remove);
    connect(&panel, &SessionsPanel::restoreRequested, &m_reader, &SessionsReader::restore);
    connect(&panel, &SessionsPanel::loadRequested, this, &SessionsWiring::load);
    connect(&panel, &SessionsPanel::measurementsRequested, this, &SessionsWiring::experimentRequested);
    connect(&panel, &SessionsPanel::compareRequested, this, [this](const std::vector<std::int64_t>& sessions) {
        m_panels.sessionsPage.choose(sessions);
        m_panels.pages.setCurrentWidget(&m_panels.sessionsPage);
    });
    SessionsPage& page = m_panels.sessionsPage;
    connect(&page, &SessionsPage::replayRequested, this, &SessionsWiring::open);
    connect(&page, &SessionsPage::loadRequested, this, &SessionsWiring::load);
    connect(&page, &SessionsPage::runAgainRequested, this, [this](qint64 session) { runAgain(session, false); });
    connect(&page, &SessionsPage::deleteRequested, &m_reader, &SessionsReader::remove);
    connect(&page, &SessionsPage::exportRequested, &m_reader, &SessionsReader::writeTable);
    connect(&panel, &SessionsPanel::runAgainRequested, this, [this](qint64 session) { runAgain(session, false); });
    connect(&panel, &SessionsPanel::resumeRequested, this, [this](qint64 session) { runAgain(session, true); });
}

void SessionsWiring::connectTransport() {
    connect(&m_stage, &Stage::started, this, [this] {
        if (!m_toSay.isEmpty() && m_stage.replaying() && m_stage.shown().history()->session() == m_toSayOf)
            m_running.say(std::exchange(m_toSay, {}), false);
    });
    TransportBar& bar = m_panels.transport;
    connect(&bar, &TransportBar::playRequested, &m_replay, &ReplayController::play);
    connect(&bar, &TransportBar::pauseRequested, &m_replay, &ReplayController::pause);
    connect(&bar, &TransportBar::seekRequested, &m_replay, &ReplayController::seek);
    connect(&bar, &TransportBar::endRequested, &m_replay, &ReplayController::seekEnd);
    connect(&bar, &TransportBar::speedChanged, &m_replay, &ReplayController::setSpeed);
    connect(&bar, &TransportBar::closeRequested, this, &SessionsWiring::returnToLive);
    connect(&m_replay, &ReplayController::moved, this, [this](const Replayer::Position& at) {
        m_panels.transport.setPlace({at.at, at.end, at.step, at.lastStep, at.playing, at.atEnd});
        showMarks(at.end);
    });
    connect(&m_replay, &ReplayController::failed, this, [this](const QString& sentence) {
        returnToLive();
        m_running.say(sentence, true);
    });
}

// What is no run has a page of its own. Whether this is.
bool SessionsWiring::shownElsewhere(qint64 session) {
    const SessionRow* row = m_panels.sessions.model().find(session);
    if (row == nullptr || row->kind == SessionKind::Run || row->kind == SessionKind::Trace) return false;
    if (row->kind == SessionKind::Experiment)
        Q_EMIT experimentRequested(session);
    else
        Q_EMIT studyRequested(session);
    return true;
}

// Replays are seen in the charts; an imported trace without steps has nothing for them.
void SessionsWiring::showPage(qint64 session) {
    const SessionRow* row = m_panels.sessions.model().find(session);
    m_pageOf = row == nullptr ? session : 0;
    const bool trace = row != nullptr && row->kind == SessionKind::Trace && row->steps == 0;
    m_panels.pages.setCurrentWidget(trace ? &m_panels.operations : static_cast<QWidget*>(&m_panels.livePage));
}

void SessionsWiring::open(qint64 session) {
    if (shownElsewhere(session)) return;
    showPage(session);
    replay(session);
}

void SessionsWiring::replay(qint64 session, const QString& sentence) {
    const auto sayHere = [&] {
        if (!sentence.isEmpty()) m_running.say(sentence, false);
    };
    if (shownElsewhere(session)) return sayHere();
    const bool isLive = m_runs.training() && m_stage.live().history()->session() == session;
    if (isLive) {
        returnToLive();
        return sayHere();
    }
    m_toSay = sentence;
    m_toSayOf = session;
    m_marks = 0;
    m_panels.transport.setMarks({});
    m_replay.close();
    m_stage.showReplay();
    m_replay.setSpeed(m_panels.transport.speed());
    m_replay.open(session);
    const SessionRow* row = m_panels.sessions.model().find(session);
    m_replay.setFollowing(row != nullptr && !ended(row->state));
    m_panels.sessions.setReplayed(session);
    m_panels.hints.learnt(HintStrip::Replay);
}

void SessionsWiring::returnToLive() {
    m_replay.close();
    m_stage.showLive();
    m_panels.sessions.setReplayed(0);
}

void SessionsWiring::show(const std::vector<SessionRow>& rows) {
    std::vector<SessionRow> marked = rows;
    for (auto& row : marked) row.here = m_runs.training() && row.id != 0 && row.id == m_stage.live().history()->session();
    m_panels.sessions.setRows(std::move(marked));
    const SessionRow* replayed = m_panels.sessions.model().find(m_replay.session());
    m_replay.setFollowing(replayed != nullptr && !ended(replayed->state));
    if (replayed != nullptr && replayed->id == m_pageOf) {
        m_pageOf = 0;
        if (replayed->kind == SessionKind::Trace) showPage(replayed->id);
    }
    showLiveRow();
}

// Between two readings of the database the live row is brought up to date from the window's own figures.
void SessionsWiring::showLiveRow() {
    m_sinceLiveRow.start();
    const RunHistory& live = *m_stage.live().history();
    if (!m_runs.training() || !live.state() || live.session() == 0) return;
    const RunNumbers numbers = live.numbers();
    m_panels.sessions.model().setLive(live.session(), live.state()->state, numbers.step, numbers.stepMsMedian, numbers.loss);
}

void SessionsWiring::showMarks(TimeNs end) {
    const RunHistory& history = *m_stage.replay().history();
    if (history.markers().size() <= m_marks) return;
    m_marks = history.markers().size();
    m_panels.transport.setMarks(scrubMarks(history, end));
}

void SessionsWiring::runAgain(qint64 session, bool resume) {
    if (shownElsewhere(session)) return;  // its page repeats it
    if (!mayStart()) return;
    if (!resume)
        return m_reader.withInfo(session, [this](const SessionInfo& info) {
            if (!info.config) return m_running.say("This session was not run here: it has no settings to run again with.", true);
            startFrom(*info.config, {});
        });
    if (m_elsewhere) return resumeElsewhere(session);
    m_reader.withCheckpoint(session, {}, [this, session](const SessionInfo& info, RunConfig config) {
        returnToLive();  // whose log the new run's is
        askForMoreSteps(session, info, config);
        startFrom(config, std::to_string(session));
    });
}

// Its checkpoints lie where it was trained.
void SessionsWiring::resumeElsewhere(qint64 session) {
    if (m_running.offersToTakeUp(session)) return;  // it would be trained twice
    m_reader.withStoredCheckpoint(session, [this, session](const SessionInfo& info, const std::string& folder) {
        m_elsewhere(folder, [this, session, info, folder](const Result<RunConfig>& found) {
            if (!found) return m_running.say(QString::fromStdString(found.error().sentence), true);
            RunConfig config = *found;
            askForMoreSteps(session, info, config);
            startFrom(config, folder);
        });
    });
}

// Whether nothing else is in progress; else it is said.
bool SessionsWiring::mayStart() {
    if (!m_runs.busy()) return true;
    m_running.say(m_runs.measuring() ? "An experiment is being measured; stop it before starting a run."
                                     : "A run is in progress; stop it before starting another.",
                  true);
    return false;
}

// From one in the middle of a run its remaining steps are made; from the last one, as of the newest, as many again.
bool SessionsWiring::resumeFrom(qint64 session, const QString& path, qint64 step) {
    if (!mayStart()) return false;
    if (m_runs.elsewhere()) {
        m_running.say(QString("This checkpoint lies on this machine, and runs are trained on %1: copy it there and go on with stepscope-cli train "
                              "--resume, or start stepscope without that engine.")
                          .arg(QString::fromStdString(m_runs.elsewhere()->host)),
                      true);
        return false;
    }
    m_reader.withCheckpoint(session, path.toStdString(), [this, session, path, step](const SessionInfo& info, RunConfig config) {
        if (step >= config.steps) askForMoreSteps(session, info, config);
        startFrom(config, path.toStdString());
    });
    return true;
}

// Into the panel, and no further: a run in progress goes on as it is.
void SessionsWiring::load(qint64 session) {
    m_reader.withInfo(session, [this, session](const SessionInfo& info) {
        if (!info.config) return m_running.say(QString("Session %1 was not run here, so it has no settings.").arg(session), true);
        m_panels.experiment.adopt(*info.config);
        m_running.say(QString("The settings of “%1” are in the panel on the left.").arg(QString::fromStdString(info.name)), false);
    });
}

void SessionsWiring::startFrom(const RunConfig& config, const std::string& resume) {
    if (m_runs.busy()) return;  // pressed twice
    returnToLive();
    m_panels.experiment.adopt(config);
    RunRequest request;
    request.config = m_panels.experiment.config();
    request.resume = resume;
    m_running.start(std::move(request));
}

// Who resumes a run that made all its steps wants more of them: as many again.
void SessionsWiring::askForMoreSteps(qint64 session, const SessionInfo& info, RunConfig& config) {
    const SessionRow* row = m_panels.sessions.model().find(session);
    if (row == nullptr || row->steps < config.steps) return;
    config.steps += std::max<std::int64_t>(1, config.steps - info.firstStep);
    m_running.say(QString("All %1 steps of “%2” were made; the resumed run goes on to %3.")
                      .arg(QString::fromStdString(format::count(row->steps)), row->name, QString::fromStdString(format::count(config.steps))),
                  false);
}

void SessionsWiring::jump(qint64 step) {
    if (m_stage.replaying() && step > m_stage.replay().history()->numbers(1).step) m_replay.seekStep(step);
    m_panels.pages.setCurrentWidget(&m_panels.livePage);
    m_panels.livePage.showStep(step);
}

}  // namespace stepscope
