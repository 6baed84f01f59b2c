#include "app/gui/Workplace.h"

#include <QFileInfo>

#include "app/gui/process/Application.h"
#include "app/gui/process/StartupTrace.h"
#include "core/events/ConfigKeys.h"
#include "widgets/charts/LivePage.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/TextPage.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/operations/OperationsPage.h"
#include "widgets/panels/sessions/CapturesDialog.h"
#include "widgets/panels/sessions/CheckpointsDialog.h"
#include "widgets/timeline/TimelinePage.h"

namespace stepscope {
namespace {

std::string databaseOf(const Options& options) {
    return options.database.isEmpty() ? defaultDatabasePath() : options.database.toStdString();
}

// Installed beside each other; where they were built each is in a folder of its own.
std::string commandLineOf(const Options& options) {
    if (!options.commandLine.isEmpty()) return options.commandLine.toStdString();
    const QString here = QCoreApplication::applicationDirPath(), built = here + "/../cli/stepscope-cli";
    return (QFileInfo::exists(built) ? QFileInfo(built).canonicalFilePath() : here + "/stepscope-cli").toStdString();
}

// The words that start a process for each run; none: it is trained in this one.
std::vector<std::string> engineOf(const Options& options) {
    if (!options.engineWords.empty()) return options.engineWords;
    if (!options.engine) return {};
    return {commandLineOf(options), "engine"};
}

}  // namespace

Workplace::Workplace(const Options& options)
    : m_options(options),
      m_runs(m_live, engineOf(options), options.elsewhere),
      m_reader(databaseOf(options)),
      m_replay(databaseOf(options), m_replayed),
      m_stage({m_window.experiment(), m_window.livePage(), m_window.transport(), m_window.textPage(), m_window.log()}, m_live, m_replayed),
      m_running({m_window.experiment(), m_window.hints(), m_window.sessions(), m_window.notice(), m_window.runBar()}, m_runs, m_stage,
                databaseOf(options), commandLineOf(options)),
      m_text({m_window.textPage()}, m_runs, m_running, m_stage, databaseOf(options)),
      m_experiment({m_window.experiment(), m_window.hints(), m_window.livePage()}, m_runs, m_live),
      m_files(m_window.experiment(), options.elsewhere),
      m_time(m_window.experiment(), m_window.sessions(), m_runs, m_reader),
      m_flips({m_window.experiment(), m_window.flipStrip()}, m_runs, m_reader, m_stage),
      m_inTurns({m_window.experiment(), m_window.flipStrip()}, m_runs, m_running, m_flips, m_stage),
      m_sessions({m_window.experiment(), m_window.hints(), m_window.livePage(), m_window.sessions(), m_window.pages(), m_window.sessionsPage(),
                  m_window.transport(), m_window.log(), m_window.textPage(), m_window.operationsPage(), m_window.timelinePage()},
                 m_reader, m_replay, m_runs, m_stage, m_running),
      m_overlay({m_window.livePage(), m_window.sessions(), m_window.sessionsPage(), m_window.pages()}, m_reader, m_stage, m_running, m_sessions),
      m_compare({m_window.experiment(), m_window.pages(), m_window.comparePage(), m_window.notice()}, m_runs, m_running, m_reader, m_stage,
                m_measured),
      m_ladder({m_window.experiment(), m_window.pages(), m_window.ladderPage()}, m_runs, m_running, m_reader, m_stage, m_studied),
      m_diagnose({m_window.experiment(), m_window.pages(), m_window.diagnosePage()}, m_runs, m_running, m_reader, m_stage),
      m_inference({m_window.inferencePage()}, m_runs, m_running, m_stage, databaseOf(options)),
      m_capture(m_window, m_runs, m_running, m_live),
      m_operations({m_window.pages(), m_window.operationsPage()}, m_runs, m_running, m_live, m_stage, databaseOf(options)),
      m_timeline({m_window.pages(), m_window.timelinePage(), m_window.operationsPage()}, m_runs, m_running, m_live, m_stage, databaseOf(options)),
      m_panes({m_window.pages(), m_window.timelinePage()}, m_runs, databaseOf(options)),
      m_query({m_window.queryPage()}, m_reader, m_running, m_stage),
      m_exports({m_window.sessions(), &m_window}, m_runs, m_running, databaseOf(options)),
      m_captures({m_window, m_window.sessions()}, databaseOf(options)),
      m_checkpoints({m_window, m_window.sessions()}, m_running, databaseOf(options)),
      m_workers({m_window, m_window.sessions()}, databaseOf(options)),
      m_sideBySide({m_window, m_window.sessions(), m_captures.dialog()}, databaseOf(options)),
      m_import({m_window, m_window.pages(), m_window.operationsPage(), m_window.timelinePage()}, m_running, m_reader, m_sessions),
      m_demo(m_window.sessions(), m_runs, m_running, m_reader),
      m_actions(m_window, m_running, m_sessions, m_capture, m_stage),
      m_departure(m_window, m_runs) {
    connect(&m_flips, &FlipWiring::measureRequested, &m_inTurns, &MeasureWiring::ask);
    connect(&m_window.livePage(), &LivePage::flipMeasureRequested, &m_flips, &FlipWiring::askToMeasureFlip);
    connect(&m_flips, &FlipWiring::compareRequested, &m_compare, &CompareWiring::ask);
    connect(&m_sessions, &SessionsWiring::experimentRequested, &m_compare, [this](qint64 session) { m_compare.open(session); });
    connect(&m_sessions, &SessionsWiring::studyRequested, &m_ladder, &LadderWiring::open);
    connect(&m_ladder, &LadderWiring::guideRequested, &m_actions, &WindowActions::openGuide);
    connect(&m_compare, &CompareWiring::guideRequested, &m_actions, &WindowActions::openGuide);
    connect(&m_diagnose, &DiagnoseWiring::guideRequested, &m_actions, &WindowActions::openGuide);
    connect(&m_inference, &InferenceWiring::guideRequested, &m_actions, &WindowActions::openGuide);
    connect(&m_diagnose, &DiagnoseWiring::testRequested, &m_compare, &CompareWiring::test);
    connect(&m_operations, &OperationsWiring::exportRequested, &m_exports, [this](qint64 session) { m_exports.ask(session, {}); });
    connect(&m_captures, &CapturesWiring::removed, this, [this](qint64 session) {
        if (session != m_stage.shown().history()->session()) return;
        m_operations.shownChanged();
        m_timeline.shownChanged();
    });
    connect(&m_captures.dialog(), &CapturesDialog::showRequested, this, [this](qint64 session, qint64 from, qint64 until) {
        m_captures.dialog().close();
        m_window.pages().setCurrentWidget(&m_window.timelinePage());
        if (session != m_stage.shown().history()->session()) m_sessions.replay(session);
        m_timeline.showSpan(session, from, until);
    });
    connect(&m_checkpoints, &CheckpointsWiring::removed, &m_text, &TextWiring::lookAgain);
    connect(&m_checkpoints, &CheckpointsWiring::removed, &m_inference, &InferenceWiring::lookAgain);
    // What was asked for is seen behind the dialog.
    connect(&m_checkpoints, &CheckpointsWiring::resumeRequested, this, [this](qint64 session, const QString& path, qint64 step) {
        if (m_sessions.resumeFrom(session, path, step)) m_checkpoints.dialog().close();
    });
    connect(&m_checkpoints, &CheckpointsWiring::textRequested, this, [this](qint64 session, const QString& path, qint64 step) {
        m_checkpoints.dialog().close();
        m_window.pages().setCurrentWidget(&m_window.textPage());
        m_sessions.replay(session);
        m_text.writeWith(session, path, step);
    });
    connect(&m_diagnose, &DiagnoseWiring::timed, &m_time, &TimeWiring::take);
    connect(&m_actions, &WindowActions::demoRequested, &m_demo, &DemoWiring::record);
    connect(&m_actions, &WindowActions::importRequested, &m_import, &ImportWiring::choose);
    connect(&m_signals, &QuitSignals::quitRequested, &m_departure, &Departure::leaveAtOnce);
    connect(&m_window.livePage(), &LivePage::said, this, [this](const QString& sentence, bool isError) {
        if (isError) return m_running.say(sentence, true);
        m_stage.shown().log().add({{QDateTime::currentDateTime(), LogLevel::Info, sentence, 0}});
    });
    connect(&m_stage, &Stage::titleChanged, &m_window, &MainWindow::setWindowTitle);
    if (options.elsewhere) {
        m_stage.setMachine(QString::fromStdString(options.elsewhere->host));
        m_sessions.setElsewhere([this](const std::string& folder, auto use) { m_files.withCheckpoint(folder, std::move(use)); });
    }
    connect(&m_experiment, &ExperimentWiring::keep, &m_window, &MainWindow::saveExperiment);
    connect(&m_window, &MainWindow::visibilityChanged, this, [this](bool visible) {
        m_live.setHidden(!visible);
        m_replayed.setHidden(!visible);
        m_reader.setWatching(visible);
        if (visible) m_window.livePage().wake();
    });
    if (const auto* application = qobject_cast<Application*>(QCoreApplication::instance()))
        connect(application, &Application::unexpected, this, [this](const QString& sentence) { m_running.say(sentence, true); });
    if (options.demo)
        // After ExperimentWiring's own answer to engineReady: the panel knows the switches by then.
        connect(&m_runs, &RunController::engineReady, this, &Workplace::startDemo);
}

void Workplace::startDemo(const EngineAnswer& answer) {
    auto demo = presetConfig("tiny-cpu");
    for (const QString& setting : m_options.settings) {
        const auto equals = setting.indexOf('=');
        if (auto done = setKey(*demo, answer.catalogue, setting.left(equals).toStdString(), setting.mid(equals + 1).toStdString()); !done)
            return m_running.say(QString::fromStdString(done.error().sentence), true);
    }
    m_window.experiment().adopt(*demo);
    m_running.run();
}

// The window goes last, and is hidden then: that must not reach what has gone before it.
Workplace::~Workplace() {
    m_window.disconnect(this);
}

void Workplace::open() {
    traceStartup(m_window);
    m_window.restoreLayout(m_options.size);
    m_window.setRemembersExperiment(!m_options.demo);
    m_window.show();
    if (!m_options.screenshot.isEmpty()) m_departure.leaveWithPicture(m_options.screenshot, m_options.afterSeconds);
    m_runs.openEngine(m_window.experiment().config());
    m_reader.purge();
    if (m_options.session > 0) m_sessions.open(m_options.session);
    m_import.import(m_options.files);
}

void Workplace::warn(const QString& sentence) {
    m_stage.shown().log().add({{QDateTime::currentDateTime(), LogLevel::Warning, sentence, 0}});
}

}  // namespace stepscope
