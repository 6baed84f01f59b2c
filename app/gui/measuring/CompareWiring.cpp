#include "app/gui/measuring/CompareWiring.h"

#include <QDateTime>
#include <QTabWidget>
#include <utility>

#include "app/gui/Stage.h"
#include "app/gui/measuring/ExperimentFeed.h"
#include "app/gui/measuring/StoredExperiment.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "app/gui/wiring/SessionsReader.h"
#include "app/workbench/experiments/ExperimentQuestion.h"
#include "app/workbench/experiments/ExperimentReports.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/compare/CompareForm.h"
#include "widgets/panels/compare/ComparePage.h"
#include "widgets/panels/compare/CompareResult.h"
#include "widgets/panels/compare/WhyPane.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/run/NoticeBar.h"

namespace stepscope {
namespace {

constexpr int kSoonMs = 120;
const char* kChapter = "measuring.md";

}  // namespace

CompareWiring::CompareWiring(const Panels& panels, RunController& runs, RunWiring& running, SessionsReader& reader, Stage& stage,
                             ExperimentFeed& feed, QObject* parent)
    : QObject(parent),
      m_panels(panels),
      m_runs(runs),
      m_running(running),
      m_reader(reader),
      m_stage(stage),
      m_feed(feed),
      m_page(panels.page),
      m_places(*panels.page.result().timelines(), reader.database()) {
    m_live.history = m_storedView.history = std::make_shared<const ExperimentHistory>();
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMs);
    connect(&m_soon, &QTimer::timeout, this, &CompareWiring::look);
    connectForm();
    connectResult();
    connect(&panels.experiment, &ExperimentPanel::edited, this, &CompareWiring::lookSoon);
    connect(&runs, &RunController::engineReady, this, [this] {
        showBusy();
        lookSoon();
    });
    connect(&runs, &RunController::phaseChanged, this, [this] {
        showBusy();
        if (m_waiting && !m_runs.busy()) QMetaObject::invokeMethod(this, &CompareWiring::measureWhenFree, Qt::QueuedConnection);
    });
    connect(&runs, &RunController::measured, this, &CompareWiring::ended);
    connect(&runs, &RunController::measureFailed, this, &CompareWiring::failed);
    connect(&runs, &RunController::measured, &reader, &SessionsReader::refresh);
    connect(&feed, &ExperimentFeed::grew, this, &CompareWiring::refreshLive);
    connect(&feed, &ExperimentFeed::began, &reader, &SessionsReader::refresh);
    connect(&feed, &ExperimentFeed::began, this, &CompareWiring::lookForEarlier);
    connect(&feed, &ExperimentFeed::said, this, [this](const Event& event) {
        if (const auto* line = std::get_if<LogLine>(&event)) m_running.hearOfStorage(*line);
        if (std::holds_alternative<StateChanged>(event)) return;  // its sentences are of a run and its steps
        if (auto line = m_sentences.of(event, QDateTime::currentMSecsSinceEpoch())) {
            line->when = QDateTime::currentDateTime();
            line->step = 0;  // its steps are on no chart
            m_stage.live().log().add({*line});
        }
    });
    connect(&stage.replay(), &LiveFeed::started, this, [this] {
        const auto& info = m_stage.replay().history()->info();
        if (!info || info->kind != SessionKind::Experiment) return;
        const std::int64_t session = m_stage.replay().history()->session();
        Q_EMIT m_running.returnToLive();
        open(session);
    });
    // Another program's experiment is followed as the list is: as often, and only while somebody looks.
    connect(&reader, &SessionsReader::listed, this, [this] {
        if (m_stored != 0 && m_storedGoesOn && !m_page.asking()) read();
    });
    connect(&runs, &RunController::takenChanged, this, &CompareWiring::showBusy);
    showBusy();
}

CompareWiring::~CompareWiring() {
    ++m_newest;  // what the thread is at is wanted no more
}

void CompareWiring::connectForm() {
    CompareForm& form = m_page.form();
    connect(&form, &CompareForm::edited, this, &CompareWiring::lookSoon);
    connect(&form, &CompareForm::edited, &m_running, &RunWiring::forgetMended);
    connect(&form, &CompareForm::measureRequested, this, &CompareWiring::measureReady);
    connect(&form, &CompareForm::stopRunRequested, this, [this] {
        m_waiting = true;
        m_runs.stop();
        showBusy();
    });
    connect(&form, &CompareForm::waitRequested, this, [this](bool waits) {
        m_waiting = waits;
        showBusy();
    });
    connect(&form, &CompareForm::showRequested, this, &CompareWiring::showLive);
    connect(&form, &CompareForm::earlierRequested, this, &CompareWiring::open);
    connect(&form, &CompareForm::guideRequested, this, [this] { Q_EMIT guideRequested(kChapter); });
}

void CompareWiring::connectResult() {
    CompareResult& result = m_page.result();
    connect(&result, &CompareResult::stopRequested, this, [this] {
        m_runs.stop();
        refreshLive();
    });
    connect(&result, &CompareResult::repeatRequested, this, &CompareWiring::repeat);
    connect(&result, &CompareResult::reportRequested, this, &CompareWiring::report);
    connect(&result, &CompareResult::useRequested, this, &CompareWiring::useB);
    connect(&result, &CompareResult::presetRequested, this, &CompareWiring::askOnPreset);
    connect(&result, &CompareResult::earlierRequested, this, &CompareWiring::open);
    connect(&result, &CompareResult::experimentChosen, this, [this](qint64 number) {
        if (m_stored == 0) return;
        m_number = number;
        read();
    });
    connect(result.reasons(), &WhyPane::placeChosen, this,
            [this](const PlaceDifference& place) { m_places.show(m_stored != 0 ? m_stored : m_feed.session(), place); });
    connect(&result, &CompareResult::guideRequested, this, [this] { Q_EMIT guideRequested(kChapter); });
}

void CompareWiring::showBusy() {
    const CompareBusy busy = m_runs.workbench() == nullptr || m_runs.elsewhere() ? CompareBusy::NoEngine
                             : m_runs.measuring()                                ? CompareBusy::Measuring
                             : m_runs.busy()                                     ? (m_waiting ? CompareBusy::Waiting : CompareBusy::Training)
                             : !m_runs.taken().isEmpty()                         ? CompareBusy::Taken
                                                                                 : CompareBusy::Free;
    m_page.setBusy(busy, busy == CompareBusy::Taken ? m_runs.taken() : m_runs.whyNotMeasured());
}

// What is looked at just now is of an earlier question: its answer would measure that one where a person has asked for this one.
void CompareWiring::lookSoon() {
    ++m_newest;
    m_looking = true;
    m_ready.reset();
    m_soon.start();
}

void CompareWiring::test(const CompareQuestion& question) {
    fill(question);
    m_wanted = true;
}

void CompareWiring::ask(const RunConfig& settings, const CompareQuestion& question) {
    m_panels.experiment.adopt(settings);
    fill(question);
    m_running.say("The settings of that run are in the panel on the left, and its two values on the page Compare.", false);
}

void CompareWiring::fill(const CompareQuestion& question) {
    m_panels.pages.setCurrentWidget(&m_page);
    m_page.ask();
    m_asked = question;
    lookSoon();
    m_wanted = false;
}

void CompareWiring::look() {
    if (m_runs.workbench() == nullptr) return;
    showBusy();
    const RunConfig& settings = m_panels.experiment.config();
    const std::uint64_t number = ++m_newest;
    m_thread.post([this, number, settings, workbench = m_runs.workbench(), database = m_reader.database()] {
        if (number != m_newest) return;
        const SwitchCatalogue catalogue = workbench->switches(settings);
        answer(this, [this, number, settings, catalogue] {
            if (number != m_newest) return;
            // Rows take up what the panel says before they are looked at.
            m_page.form().setSettings(settings, catalogue);
            // Its rows know the switches by now; the form says that it was edited, and is looked at anew.
            if (const auto asked = std::exchange(m_asked, std::nullopt)) return m_page.form().setQuestion(*asked);
            const CompareQuestion question = m_page.form().question();
            m_thread.post([this, number, settings, question, workbench = m_runs.workbench(), database = m_reader.database()] {
                if (number != m_newest) return;
                answer(this, [this, number, checked = checkQuestion(*workbench, settings, question, database)] {
                    if (number != m_newest) return;
                    CompareCheck check = checked.check;
                    if (check.possible() && m_panels.experiment.hasProblem())
                        check.problem = "The settings at the left: " + m_panels.experiment.problem();
                    m_ready = check.possible() ? checked.request : std::nullopt;
                    m_looking = m_soon.isActive();
                    m_page.form().setCheck(check);
                    if (m_ready && std::exchange(m_wanted, false)) measure(*m_ready);
                    m_wanted = m_wanted && m_looking;
                });
            });
        });
    });
}

// The newest edit may still be looked at: then as soon as it was.
void CompareWiring::measureReady() {
    if (m_ready)
        measure(*m_ready);
    else
        m_wanted = m_looking;
}

void CompareWiring::measureWhenFree() {
    if (!std::exchange(m_waiting, false) || m_runs.busy()) return;
    showBusy();
    if (m_ready || m_looking)
        measureReady();
    else
        m_running.say("The run has ended, but the question of the page Compare cannot be measured as it stands.", true);
}

void CompareWiring::measure(ExperimentRequest request) {
    if (m_runs.busy() || m_runs.workbench() == nullptr) return;
    m_panels.notice.hide();
    m_live = viewOf(request);
    m_live.whyNoEnergy = asText(m_runs.workbench()->machine().whyNoProcessorEnergy);
    m_live.earlier = {};
    m_began = QDateTime::currentMSecsSinceEpoch();
    m_feed.begin();
    m_live.history = m_feed.history();
    m_stored = 0;
    m_places.hide();
    m_runs.measure(std::move(request), m_feed);
    m_page.showView(m_live);
    m_panels.pages.setCurrentWidget(&m_page);
}

void CompareWiring::refreshLive() {
    if (!m_runs.measuring()) return;
    m_live.history = m_feed.history();
    m_live.live = true;
    m_live.stopping = m_runs.phase() == RunController::Phase::Stopping;
    m_live.elapsed = m_feed.elapsed();
    m_live.doing = m_feed.doing();
    if (!m_feed.name().isEmpty()) m_live.title = m_feed.name();
    m_live.stage = !m_feed.history()->began() || m_feed.history()->blocks().empty() ? CompareView::Stage::Data
                   : m_feed.piloting()                                              ? CompareView::Stage::Pilot
                                                                                    : CompareView::Stage::Pairs;
    if (m_feed.history()->began() && m_feed.history()->blocks().empty()) m_live.stage = CompareView::Stage::Pilot;
    m_live.canUse = m_feed.history()->began().has_value();
    if (m_stored == 0) m_page.updateView(m_live);
}

void CompareWiring::showLive() {
    m_places.hide();
    m_stored = 0;
    m_page.showView(m_live);
}

void CompareWiring::ended(const RunSummary& summary) {
    m_feed.end();
    m_live.history = m_feed.history();
    m_live.live = m_live.stopping = false;
    m_live.stage = summary.state == RunState::Failed ? CompareView::Stage::Failed : CompareView::Stage::Over;
    m_live.doing = asText(summary.why);
    m_live.canUse = m_feed.history()->began().has_value();
    if (!m_feed.name().isEmpty()) m_live.title = m_feed.name();
    m_live.source = m_feed.session() > 0 ? QString("session %1").arg(m_feed.session()) : QString();
    if (!summary.why.empty() && summary.state != RunState::Stopped) {
        m_panels.notice.say(NoticeBar::Kind::Error, asText(summary.why));
        if (m_feed.history()->blocks().empty()) m_running.isOfSettings();
    }
    if (m_stored == 0) m_page.updateView(m_live);
    predictMemory();
    lookForEarlier();
    lookSoon();  // this answer is an earlier one from now on
}

void CompareWiring::predictMemory() {
    m_thread.post([this, view = m_live, workbench = m_runs.workbench()]() mutable {
        if (workbench == nullptr) return;
        tellMemory(view, *workbench);
        answer(this, [this, history = view.history, a = view.memoryA, b = view.memoryB] {
            if (m_live.history != history) return;  // another one is measured by now
            m_live.memoryA = a;
            m_live.memoryB = b;
            if (m_stored == 0) m_page.updateView(m_live);
        });
    });
}

void CompareWiring::failed(const QString& sentence) {
    m_feed.end();
    m_live.live = m_live.stopping = false;
    m_live.stage = CompareView::Stage::Failed;
    m_live.doing = sentence;
    m_running.sayOfSettings(sentence);
    if (m_stored == 0) m_page.updateView(m_live);
}

void CompareWiring::lookForEarlier() {
    const auto& began = m_feed.history()->began();
    if (!began) return;
    m_thread.post(
        [this, database = m_reader.database(), asked = *began, session = m_feed.session(), before = m_began, workbench = m_runs.workbench()] {
            const std::string& question = asked.question;
            CompareView told;
            tellForetold(told, database, question, before);
            answer(this, [this, session, before, told,
                          found = earlierOf(database, question, session, workbench != nullptr ? turnedQuestion(asked, workbench->machine()) : "")] {
                if (session != m_feed.session() || before != m_began) return;
                m_live.foretold = told.foretold;
                m_live.foretoldBasis = told.foretoldBasis;
                m_live.earlier = found.rows;
                m_live.earlierCount = found.count;
                if (m_stored == 0) m_page.updateView(m_live);
            });
        });
}

void CompareWiring::repeat() {
    const CompareView& shown = m_stored != 0 ? m_storedView : m_live;
    auto request = requestAgain(*shown.history, m_reader.database());
    if (!request) return m_running.say(asText(request.error().sentence), true);
    measure(std::move(*request));
}

void CompareWiring::useB() {
    const CompareView& shown = m_stored != 0 ? m_storedView : m_live;
    auto request = requestAgain(*shown.history, m_reader.database());
    if (!request) return m_running.say(asText(request.error().sentence), true);
    m_panels.experiment.adopt(request->b);
    m_running.say("The settings of side B are in the panel on the left.", false);
}

// The data and the device stay, they are not the preset's business; what both began with was of the other model.
void CompareWiring::askOnPreset(const QString& preset) {
    const CompareView& shown = m_stored != 0 ? m_storedView : m_live;
    auto request = requestAgain(*shown.history, m_reader.database());
    if (!request) return m_running.say(asText(request.error().sentence), true);
    auto config = presetConfig(preset.toStdString());
    if (!config) return m_running.say(asText(config.error().sentence), true);
    config->data = request->a.data;
    placeAs(request->a, *config);
    CompareQuestion question{.budgetSeconds = request->budgetSeconds, .delta = request->delta, .seed = request->seed};
    question.lossSeconds = request->lossSeconds;
    for (const DifferingKey& key : differingKeys(request->a, request->b)) question.differences.push_back({key.key, key.a, key.b});
    m_panels.experiment.adopt(*config);
    fill(question);
}

void CompareWiring::report(const QString& path) {
    if (m_runs.workbench() == nullptr) return m_running.say(RunController::kReportWaits, true);
    const CompareView& shown = m_stored != 0 ? m_storedView : m_live;
    if (!shown.history->began()) return m_running.say("There is nothing to report yet: it is not known what is asked.", true);
    const std::int64_t session = m_stored != 0 ? m_stored : m_feed.session(), number = m_stored != 0 ? m_storedView.number : 0;
    m_thread.post([this, path, session, number, history = shown.history, database = m_reader.database(), workbench = m_runs.workbench()] {
        SessionInfo here;  // of one that is not recorded
        here.machine = workbench->machine();
        StoredReport live;
        live.history = *history;
        live.facts = reportFacts(*workbench, *history->began(), here);
        const auto stored = session != 0 ? storedReport(*workbench, database, session, number) : Result<StoredReport>(std::move(live));
        const Status written = stored ? exportReport(*stored, path.toStdString()) : Status(stored.error());
        answer(this,
               [this, path, written] { m_running.say(written ? "The report is in " + path + "." : asText(written.error().sentence), !written); });
    });
}

void CompareWiring::open(qint64 session, qint64 number) {
    m_panels.pages.setCurrentWidget(&m_page);
    if (m_feed.session() == session && session != 0) return showLive();
    m_storedView = {};
    m_storedView.history = std::make_shared<const ExperimentHistory>();
    m_storedView.title = QString("session %1").arg(session);
    m_storedView.doing = "reading it";
    m_storedGoesOn = false;
    m_stored = session;
    m_number = number;
    m_places.hide();
    m_page.showView(m_storedView);
    read();
}

void CompareWiring::read() {
    m_thread.post([this, session = m_stored, number = m_number, database = m_reader.database(), workbench = m_runs.workbench()] {
        auto stored = storedView(database, session, number);
        if (stored && workbench != nullptr) tellMemory(stored->view, *workbench);
        answer(this, [this, session, number, found = std::move(stored)] {
            if (m_stored != session || m_number != number) return;
            if (found) {
                m_storedGoesOn = found->goesOn;
                showStored(found->view);
            } else {
                m_running.say(asText(found.error().sentence), true);
                m_stored = 0;
                m_page.ask();
            }
        });
    });
}

void CompareWiring::showStored(CompareView view) {
    m_storedView = std::move(view);
    m_page.updateView(m_storedView);
}

}  // namespace stepscope
