#include "app/gui/measuring/LadderWiring.h"

#include <QDateTime>
#include <QFileDialog>
#include <QTabWidget>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "app/gui/Stage.h"
#include "app/gui/measuring/StoredStudy.h"
#include "app/gui/measuring/StudyFeed.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/LogSentences.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "app/gui/wiring/SessionsReader.h"
#include "app/workbench/experiments/ExperimentReports.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/compare/CompareTypes.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/ladder/LadderForm.h"
#include "widgets/panels/ladder/LadderPage.h"

namespace stepscope {
namespace {

constexpr int kLookSoonMs = 150, kFollowMs = 2000;
constexpr int kMostReasons = 5;  // told one by one
const char* kLadderChapter = "ladders.md";

}  // namespace

LadderWiring::LadderWiring(const Panels& panels, RunController& runs, RunWiring& running, SessionsReader& reader, Stage& stage, StudyFeed& feed,
                           QObject* parent)
    : QObject(parent), m_panels(panels), m_runs(runs), m_running(running), m_reader(reader), m_feed(feed), m_page(panels.page) {
    m_live.history = m_storedView.history = std::make_shared<const StudyHistory>();
    m_soon.setSingleShot(true);
    m_soon.setInterval(kLookSoonMs);
    m_follow.setSingleShot(true);
    m_follow.setInterval(kFollowMs);
    connect(&m_follow, &QTimer::timeout, this, [this] {
        if (m_stored == 0 || !m_storedView.goesOn) return;
        if (!m_page.isVisible()) return m_follow.start();
        read(m_stored);
    });
    std::vector<LadderChoice> ladders;
    for (const std::string& name : builtInLadders())
        if (const auto ladder = loadLadder(name)) ladders.push_back({name, ladderWords(*ladder)});
    m_page.form().setLadders(ladders);
    connect(&m_soon, &QTimer::timeout, this, &LadderWiring::look);
    connect(&m_page, &LadderPage::edited, this, &LadderWiring::lookSoon);
    connect(&m_page, &LadderPage::edited, &m_running, &RunWiring::forgetMended);
    connect(&m_page, &LadderPage::fileRequested, this, [this] {
        const QString path = QFileDialog::getOpenFileName(&m_page, "A ladder of your own", {}, "YAML (*.yaml *.yml);;All files (*)");
        if (!path.isEmpty()) openFile(path);
    });
    connect(&m_page, &LadderPage::measureRequested, this, &LadderWiring::measure);
    connect(&m_page, &LadderPage::resumeRequested, this, &LadderWiring::resume);
    connect(&m_page, &LadderPage::useRequested, this, &LadderWiring::use);
    connect(&m_page, &LadderPage::reportRequested, this, &LadderWiring::report);
    connect(&m_page, &LadderPage::earlierRequested, this, &LadderWiring::open);
    connect(&feed, &StudyFeed::began, this, &LadderWiring::lookForEarlier);
    connect(&m_page, &LadderPage::guideRequested, this, [this] { Q_EMIT guideRequested(kLadderChapter); });
    connect(&m_page, &LadderPage::stopRequested, this, [this] {
        if (!m_mine) return;
        m_runs.stop();
        refreshLive();
    });
    connect(&panels.experiment, &ExperimentPanel::edited, this, &LadderWiring::lookSoon);
    connect(&runs, &RunController::engineReady, this, &LadderWiring::lookSoon);
    connect(&runs, &RunController::phaseChanged, this, &LadderWiring::showBusy);
    connect(&runs, &RunController::takenChanged, this, &LadderWiring::showBusy);
    connect(&runs, &RunController::studied, this, &LadderWiring::ended);
    connect(&runs, &RunController::studied, &reader, &SessionsReader::refresh);
    connect(&runs, &RunController::studyFailed, this, &LadderWiring::failed);
    connect(&feed, &StudyFeed::grew, this, &LadderWiring::refreshLive);
    connect(&feed, &StudyFeed::began, &reader, &SessionsReader::refresh);
    connect(&feed, &StudyFeed::said, this, [this, &stage](const Event& event) {
        if (const auto* line = std::get_if<LogLine>(&event)) m_running.hearOfStorage(*line);
        if (auto line = logSentence(event, QDateTime::currentMSecsSinceEpoch())) {
            line->when = QDateTime::currentDateTime();
            line->step = 0;  // its steps are on no chart
            stage.live().log().add({*line});
        }
    });
    // Named at the start, before the list said what it is: it is no run to replay.
    connect(&stage.replay(), &LiveFeed::started, this, [this, &stage] {
        const auto& info = stage.replay().history()->info();
        if (!info || (info->kind != SessionKind::Ladder && info->kind != SessionKind::Tune)) return;
        const std::int64_t session = stage.replay().history()->session();
        Q_EMIT m_running.returnToLive();
        open(session);
    });
    showBusy();
}

LadderWiring::~LadderWiring() {
    ++m_newest;  // what the thread is at is wanted no more
}

void LadderWiring::showBusy() {
    m_page.setBusy(m_runs.workbench() == nullptr || m_runs.elsewhere() ? LadderBusy::NoEngine
                   : m_runs.measuring()                                ? LadderBusy::Measuring
                   : m_runs.busy()                                     ? LadderBusy::Training
                   : !m_runs.taken().isEmpty()                         ? LadderBusy::Taken
                                                                       : LadderBusy::Free,
                   m_runs.taken());
}

void LadderWiring::lookSoon() {
    m_ladder.reset();
    m_pressed = false;
    ++m_newest;
    m_soon.start();
}

void LadderWiring::look() {
    if (m_runs.workbench() == nullptr) return;
    showBusy();
    if (m_runs.elsewhere()) return m_page.setForecast(m_runs.whyNotMeasured(), true);
    const LadderQuestion question = m_page.form().question();
    const RunConfig settings = m_panels.experiment.config();
    if (m_panels.experiment.hasProblem()) return m_page.setForecast("The settings at the left: " + m_panels.experiment.problem(), true);
    const std::uint64_t number = m_newest;
    if (question.search) {
        const double minutes = question.minutes > 0 ? question.minutes : 5;
        if (minutes * 60 < kShortestTune)
            return m_page.setForecast(QString("A search takes at least %1 s: give it %2 min or more.")
                                          .arg(kShortestTune)
                                          .arg(std::ceil(kShortestTune / 60 * 10) / 10),  // the field has one digit behind the point
                                      true);
        const QString said = QString(
                                 "Measures for %1 min, in rounds; the last fifth, or third where steps are slow, measures what won once more beside "
                                 "the present settings.")
                                 .arg(minutes, 0, 'g', 3);
        m_page.setForecast(said, false);
        m_thread.post([this, number, said, request = searchOf(question, settings), workbench = m_runs.workbench()]() mutable {
            if (number != m_newest) return;
            auto complete = workbench->complete(request.config);
            if (!complete) return;  // it is said when it is measured
            request.config = std::move(*complete);
            const QString before = askedBefore(earlierRows(request.database, tuneQuestion(request, workbench->machine()), 0));
            if (before.isEmpty()) return;
            answer(this, [this, number, said, before] {
                if (number == m_newest) m_page.setForecast(said + before, false);
            });
        });
        return;
    }
    m_thread.post([this, number, question, settings, workbench = m_runs.workbench(), database = m_reader.database()] {
        if (number != m_newest) return;
        LadderRequest request{.config = settings, .leaveOneOut = question.leaveOneOut, .pairs = question.pairs, .database = database};
        request.budgetSeconds = question.minutes * 60;
        request.delta = question.delta;
        request.seed = question.seed;
        QString said;
        bool problem = false;
        if (auto ladder = loadLadder(question.ladder); !ladder) {
            said = asText(ladder.error().sentence);
            problem = true;
        } else {
            request.ladder = std::move(*ladder);
            if (const auto forecast = workbench->forecast(request); !forecast) {
                said = asText(forecast.error().sentence);
                problem = true;
            } else {
                int left = 0;
                QString reasons;
                for (const StudyRow& row : forecast->rows)
                    if (row.role == study::kRung && row.state == study::kSkipped && ++left <= kMostReasons)
                        reasons += QString(" %1: %2").arg(asText(row.name), asText(row.why));
                said = asText(forecastWords(*forecast, question.minutes > 0)) + ".";
                if (left > 0)
                    said += QString(" Not measured here:%1%2")
                                .arg(reasons, left > kMostReasons ? QString(" And %1 more.").arg(left - kMostReasons) : QString());
                if (const auto bottom = ladderBottom(*workbench, request))
                    said += askedBefore(earlierRows(database, ladderQuestion(request, *bottom, workbench->machine()), 0));
                problem = forecast->legs == 0;
            }
        }
        answer(this, [this, number, said, problem, request = std::move(request)] {
            if (number != m_newest) return;
            m_ladder = problem ? std::nullopt : std::optional(request);
            m_page.setForecast(said, problem);
            if (std::exchange(m_pressed, false) && m_ladder) measure();
        });
    });
}

void LadderWiring::begin() {
    m_live = {};
    m_feed.begin();
    m_live.history = m_feed.history();
    m_live.live = true;
    m_live.doing = "it begins";
    m_stored = 0;
    m_mine = true;
    m_panels.pages.setCurrentWidget(&m_page);
    show();
}

void LadderWiring::measure() {
    if (m_runs.busy() || m_runs.workbench() == nullptr) return;
    const LadderQuestion question = m_page.form().question();
    if (!question.search) {
        m_pressed = !m_ladder;
        if (!m_ladder) return m_page.setForecast("Looking at what would be measured; it begins then.", false);
        begin();
        return m_runs.study([request = *m_ladder](Workbench& workbench, EventSink& sink) { return workbench.startLadder(request, sink); }, m_feed);
    }
    begin();
    m_runs.study([request = searchOf(question, m_panels.experiment.config())](Workbench& workbench,
                                                                              EventSink& sink) { return workbench.startTune(request, sink); },
                 m_feed);
}

TuneRequest LadderWiring::searchOf(const LadderQuestion& question, const RunConfig& settings) const {
    TuneRequest request{.config = settings, .sizes = question.sizes, .delta = question.delta, .seed = question.seed, .database = m_reader.database()};
    if (question.minutes > 0) request.budgetSeconds = question.minutes * 60;
    if (question.memoryGb > 0) request.memory = Bytes{static_cast<std::int64_t>(question.memoryGb * 1e9)};
    return request;
}

void LadderWiring::resume() {
    if (m_runs.busy() || m_runs.workbench() == nullptr || m_stored == 0) return;
    const std::int64_t session = m_stored;
    // Rows that had no time are measured in the time that is set now; what was stopped keeps its own.
    std::optional<double> anew;
    if (waitsForBudget(*m_storedView.history)) {
        const LadderQuestion question = m_page.form().question();
        // No minutes are what the field says of them: as many as a ladder needs, or those of a search that is chosen above.
        anew = question.minutes > 0 ? std::clamp(question.minutes * 60, kShortestBudget, kLongestBudget)
               : question.search    ? TuneRequest{}.budgetSeconds
                                    : 0.0;
    }
    begin();
    m_runs.study(
        [session, anew, database = m_reader.database()](Workbench& workbench, EventSink& sink) -> Result<std::unique_ptr<Run>> {
            auto request = resumedLadder(database, session, workbench.machine());
            if (!request) return request.error();
            request->database = database;
            if (anew) request->budgetSeconds = *anew;
            return workbench.startLadder(std::move(*request), sink);
        },
        m_feed);
}

void LadderWiring::use() {
    const LadderView& shown = m_stored != 0 ? m_storedView : m_live;
    if (m_runs.workbench() == nullptr) return;
    m_thread.post([this, history = shown.history, workbench = m_runs.workbench(), settings = m_panels.experiment.config()] {
        auto config = studySettings(*history, workbench->switches(settings));
        answer(this, [this, config = std::move(config), search = history->began() && history->began()->kind != "ladder",
                      recommended = history->recommended() != nullptr] {
            if (!config) return m_running.say(asText(config.error().sentence), true);
            m_panels.experiment.adopt(*config);
            m_running.say(!search       ? "The settings of the top of the ladder are in the panel on the left."
                          : recommended ? "The settings that are recommended are in the panel on the left."
                                        : "The settings that it began with, the fastest that were found, are in the panel on the left.",
                          false);
        });
    });
}

void LadderWiring::report(const QString& path) {
    if (m_runs.workbench() == nullptr) return m_running.say(RunController::kReportWaits, true);
    const LadderView& shown = m_stored != 0 ? m_storedView : m_live;
    const std::int64_t session = m_stored != 0 ? m_stored : m_feed.session();
    m_thread.post([this, path, session, history = shown.history, database = m_reader.database(), workbench = m_runs.workbench()] {
        if (!history->began()) return;
        StoredReport live;  // of one that was not recorded
        SessionInfo here;
        here.machine = workbench->machine();
        live.study = *history;
        live.studyFacts = studyFacts(*workbench, *history->began(), here);
        const auto stored = session != 0 ? storedReport(*workbench, database, session) : Result<StoredReport>(std::move(live));
        const Status written = stored ? exportReport(*stored, path.toStdString()) : Status(stored.error());
        answer(this,
               [this, path, written] { m_running.say(written ? "The report is in " + path + "." : asText(written.error().sentence), !written); });
    });
}

void LadderWiring::refreshLive() {
    if (!m_mine) return;
    m_live.history = m_feed.history();
    m_live.stopping = m_runs.phase() == RunController::Phase::Stopping;
    m_live.elapsed = m_feed.elapsed();
    m_live.doing = m_feed.doing();
    m_live.title = m_feed.name();
    if (m_stored == 0) show();
}

void LadderWiring::lookForEarlier() {
    if (!m_feed.history()->began()) return;
    const std::int64_t session = m_feed.session();
    m_thread.post([this, session, question = m_feed.history()->began()->question, database = m_reader.database()] {
        answer(this, [this, session, found = earlierRows(database, question, session)] {
            if (m_feed.session() != session) return;
            m_live.earlier = found.rows;
            m_live.earlierCount = found.count;
            if (m_stored == 0) show();
        });
    });
}

void LadderWiring::ended(const RunSummary& summary) {
    m_feed.end();
    m_mine = false;
    m_live.history = m_feed.history();
    m_live.live = m_live.stopping = false;
    m_live.title = m_feed.name();
    m_live.source = m_feed.session() > 0 ? QString("session %1").arg(m_feed.session()) : QString();
    m_live.doing = summary.state == RunState::Stopped ? QString("stopped") : QString();
    m_live.failed = summary.state == RunState::Failed || summary.state == RunState::Interrupted ? asText(summary.why) : QString();
    m_live.canUse = studyUsable(*m_live.history);
    if (!m_live.failed.isEmpty()) m_running.say(m_live.failed, true);
    // What was stopped, or had no time for all of its rows, is gone on with as what it is now: stored.
    const bool goesOn = summary.state == RunState::Stopped || (summary.state == RunState::Finished && waitsForBudget(*m_live.history));
    if (goesOn && m_feed.session() > 0) return open(m_feed.session());
    if (m_stored == 0) show();
}

void LadderWiring::failed(const QString& sentence) {
    m_feed.end();
    m_mine = false;
    m_live.live = m_live.stopping = false;
    m_live.doing = {};
    m_live.failed = sentence;
    m_running.sayOfSettings(sentence);
    if (m_stored == 0) show();
}

void LadderWiring::show() {
    m_page.setView(m_stored != 0 ? m_storedView : m_live);
    showBusy();
}

void LadderWiring::openFile(const QString& path) {
    m_page.form().setFile(path);
}

void LadderWiring::open(qint64 session) {
    m_panels.pages.setCurrentWidget(&m_page);
    if (m_mine && m_feed.session() == session && session != 0) {
        m_stored = 0;
        return show();
    }
    m_storedView = {};
    m_storedView.history = std::make_shared<const StudyHistory>();
    m_storedView.title = QString("session %1").arg(session);
    m_storedView.doing = "reading it";
    m_stored = session;
    show();
    read(session);
}

void LadderWiring::read(qint64 session) {
    m_thread.post([this, session, database = m_reader.database()] {
        answer(this, [this, session, found = storedStudy(database, session)] {
            if (m_stored != session) return;
            if (!found) {
                m_running.say(asText(found.error().sentence), true);
                m_stored = 0;
                return show();
            }
            m_storedView = *found;
            if (m_storedView.goesOn) m_follow.start();
            show();
        });
    });
}

}  // namespace stepscope
