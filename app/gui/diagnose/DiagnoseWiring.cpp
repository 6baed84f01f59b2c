#include "app/gui/diagnose/DiagnoseWiring.h"

#include <QTabWidget>
#include <memory>
#include <utility>

#include "app/gui/Stage.h"
#include "app/gui/diagnose/DiagnoseWords.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "app/gui/wiring/SessionsReader.h"
#include "app/workbench/experiments/ExperimentReports.h"
#include "core/analysis/LrRange.h"
#include "core/events/ConfigKeys.h"
#include "widgets/panels/diagnose/DiagnosePage.h"
#include "widgets/panels/experiment/ExperimentPanel.h"

namespace stepscope {
namespace {

constexpr double kLookSeconds = 10, kBatchSeconds = 60;
constexpr double kLossSeconds = 60;  // of training, where what is learnt is the question
const char* kAdviceChapter = "advice.md";

constexpr std::size_t kPredictionsTold = 12;  // the newest

// A look, and what was predicted on this machine and measured since.
struct FoundByLook {
    Diagnosis found;
    std::vector<std::string> foretold;
};

// Settings of which a look would find the same.
bool sameSettings(RunConfig a, RunConfig b) {
    a.preset = b.preset = "";
    return a == b;
}

}  // namespace

DiagnoseWiring::DiagnoseWiring(const Panels& panels, RunController& runs, RunWiring& running, SessionsReader& reader, Stage& stage, QObject* parent)
    : QObject(parent), m_panels(panels), m_runs(runs), m_running(running), m_reader(reader), m_stage(stage) {
    DiagnosePage& page = panels.page;
    connect(&page, &DiagnosePage::lookRequested, this, &DiagnoseWiring::look);
    connect(&page, &DiagnosePage::batchRequested, this, &DiagnoseWiring::findBatch);
    connect(&page, &DiagnosePage::rateRequested, this, &DiagnoseWiring::findRate);
    connect(&page, &DiagnosePage::useRequested, this, [this] { use(m_view.key, m_view.value); });
    connect(&page, &DiagnosePage::useRateRequested, this, [this] { use("lr", m_view.rate); });
    // However the range test was started: by the button here, or by its schedule.
    connect(&stage.live(), &LiveFeed::stateChanged, this, [this](const StateChanged& change) {
        if (ended(change.state) && m_stage.live().history()->rangeTest()) rangeEnded();
    });
    connect(&page, &DiagnosePage::testRequested, this, &DiagnoseWiring::test);
    connect(&page, &DiagnosePage::stopRequested, this, [this] { m_cancel = true; });
    connect(&page, &DiagnosePage::guideRequested, this, [this] { Q_EMIT guideRequested(kAdviceChapter); });
    connect(&panels.experiment, &ExperimentPanel::edited, this, &DiagnoseWiring::edited);
    connect(&runs, &RunController::engineReady, this, &DiagnoseWiring::showBusy);
    // A run that begins is not kept waiting for longer than the step that is being timed.
    connect(&runs, &RunController::phaseChanged, this, [this] {
        if (m_runs.busy()) m_cancel = true;
        showBusy();
    });
    page.setElsewhere(m_runs.whyNotMeasured());
    showBusy();
}

DiagnoseWiring::~DiagnoseWiring() {
    m_cancel = true;
    ++m_number;
}

void DiagnoseWiring::showBusy() {
    m_panels.page.setBusy(m_runs.workbench() == nullptr ? DiagnoseBusy::NoEngine
                          : m_runs.busy()               ? DiagnoseBusy::Training
                          : m_looking                   ? DiagnoseBusy::Looking
                                                        : DiagnoseBusy::Free);
}

RunConfig DiagnoseWiring::settings() const {
    return m_panels.experiment.config();
}

void DiagnoseWiring::edited() {
    // What could not be looked at was of settings that are gone, and so is all that was found before them.
    if (m_view.stage == DiagnoseView::Stage::Failed && !m_looking && !sameSettings(m_looked, settings())) {
        m_view.stage = DiagnoseView::Stage::Empty;
        m_view.doing.clear();
        m_view.facts.clear();
        m_view.advice.clear();
        m_panels.page.setView(m_view);
    }
    const bool stale = (m_view.stage == DiagnoseView::Stage::Found || !m_view.batches.empty()) && !sameSettings(m_looked, settings());
    if (std::exchange(m_view.stale, stale) != stale) m_panels.page.setView(m_view);
}

void DiagnoseWiring::begin(const QString& doing) {
    m_looking = true;
    m_cancel = false;
    m_view.doing = doing;
    m_view.stale = false;
    m_looked = settings();
    ++m_number;
    m_panels.page.setView(m_view);
    showBusy();
}

void DiagnoseWiring::say(std::uint64_t number, const QString& doing) {
    answer(this, [this, number, doing] {
        if (number != m_number || !m_looking) return;
        m_view.doing = doing;
        m_panels.page.setView(m_view);
    });
}

// work(complete settings, progress) on the thread; show(what it found) here, unless a newer look began.
template <class Work, class Show>
void DiagnoseWiring::ask(Work work, Show show) {
    if (m_looking || m_runs.busy() || m_runs.workbench() == nullptr || m_runs.elsewhere()) return;
    begin("reading the settings");
    m_thread.post([this, number = m_number, config = settings(), workbench = m_runs.workbench(), work, show] {
        const auto complete = workbench->complete(config);
        const auto progress = [this, number](const std::string& what) { say(number, QString::fromStdString(what)); };
        using Found = decltype(work(*workbench, config, progress));
        // Shared: g++ 12 takes the other alternative of a moved variant for one that was never set.
        const auto found = std::make_shared<const Found>(complete ? work(*workbench, *complete, progress) : Found(complete.error()));
        answer(this, [this, number, show, found] {
            if (number != m_number) return;
            m_looking = false;
            if (*found)
                show(**found);
            else
                failed(found->error());
            m_panels.page.setView(m_view);
            showBusy();
            edited();
        });
    });
}

void DiagnoseWiring::failed(const Error& error) {
    if (error.code != ErrorCode::Cancelled) m_view.stage = DiagnoseView::Stage::Failed;
    m_view.doing = QString::fromStdString(error.sentence);
}

void DiagnoseWiring::look() {
    // A run of these very settings that is looked at tells of its loss and its gradients.
    const auto& shown = m_stage.shown().history();
    const std::int64_t session =
        shown->info() && shown->info()->kind == SessionKind::Run && shown->info()->config && sameSettings(shown->config(), settings())
            ? shown->session()
            : 0;
    ask(
        [this, session, database = m_reader.database()](const Workbench& workbench, const RunConfig& config,
                                                        const LookProgress& progress) -> Result<FoundByLook> {
            auto found = diagnose(workbench.machine(), {.config = config, .database = database, .session = session, .mostSeconds = kLookSeconds},
                                  progress, m_cancel);
            if (!found) return found.error();
            auto foretold = foretoldLines(database, kPredictionsTold);
            return FoundByLook{std::move(*found), foretold ? std::move(*foretold) : std::vector<std::string>()};
        },
        [this](const FoundByLook& look) {
            const Diagnosis& found = look.found;
            m_view.stage = DiagnoseView::Stage::Found;
            m_view.facts = factsOf(found);
            if (auto foretold = foretoldFact(look.foretold)) m_view.facts.push_back(std::move(*foretold));
            m_view.advice = found.advice;
            m_view.timed = found.timing.has_value();
            if (found.estimate && sameSettings(m_looked, settings())) Q_EMIT timed(*found.estimate);
        });
}

void DiagnoseWiring::findBatch() {
    ask(
        [this](const Workbench& workbench, const RunConfig& config, const LookProgress& progress) {
            return stepscope::findBatch(workbench.machine(), {.config = config, .budgetSeconds = kBatchSeconds}, progress, m_cancel);
        },
        [this](const BatchSearch& found) {
            if (m_view.stage == DiagnoseView::Stage::Failed) m_view.stage = DiagnoseView::Stage::Empty;
            showBatches(found, m_view);
        });
}

// As `lr-range` does it, but on the page Live, where the curve is drawn and the rate it suggests is marked.
void DiagnoseWiring::findRate() {
    if (m_looking || m_runs.busy() || m_runs.workbench() == nullptr) return;
    if (!m_runs.taken().isEmpty()) return m_running.say(m_runs.taken(), false);
    if (m_stage.replaying()) Q_EMIT m_running.returnToLive();
    RunConfig config = settings();
    config.schedule = "range-test";
    config.minLr = 1e-6;
    config.lr = 1;
    config.steps = 200;
    onlySteps(config);
    RunRequest request;
    request.config = std::move(config);
    request.name = "learning rate range test";
    m_panels.pages.setCurrentIndex(0);
    m_running.say("A range test: the rate rises from 1e-6 to 1 over 200 steps; where the loss falls most steeply is marked at its end.", false);
    m_running.start(std::move(request));
}

// What the chart marks, offered where it can be taken over.
void DiagnoseWiring::rangeEnded() {
    const RunHistory& history = *m_stage.live().history();
    std::vector<LrRangePoint> points;
    for (std::size_t row = 0; row < history.rows(); ++row) points.push_back({history.steps().learningRate[row], history.steps().loss[row]});
    const auto range = readLrRange(points);
    m_view.rateSentence = QString::fromStdString(sentenceOf(range));
    m_view.rate = range ? QString::number(range->suggestion, 'g', 2) : QString();
    m_panels.page.setView(m_view);
    if (range)
        m_running.say(QString("The range test suggests lr %1; “Use it” on the page Diagnose puts it into the settings.").arg(m_view.rate), false);
}

void DiagnoseWiring::use(const QString& wantedKey, const QString& wantedValue) {
    RunConfig config = settings();
    if (wantedKey.isEmpty() || wantedValue.isEmpty() || m_runs.workbench() == nullptr) return;
    m_thread.post([this, config, key = wantedKey.toStdString(), value = wantedValue.toStdString(), workbench = m_runs.workbench()]() mutable {
        const Status done = setKey(config, workbench->switches(config), key, value);
        answer(this, [this, done, config = std::move(config), key, value] {
            if (!done) return m_running.say(QString::fromStdString(done.error().sentence), true);
            m_panels.experiment.adopt(config);
            m_running.say(QString("%1=%2 is in the panel on the left.").arg(QString::fromStdString(key), QString::fromStdString(value)), false);
        });
    });
}

void DiagnoseWiring::test(int advice) {
    if (advice < 0 || static_cast<std::size_t>(advice) >= m_view.advice.size() || m_runs.busy() || m_looking) return;
    const Advice& chosen = m_view.advice[static_cast<std::size_t>(advice)];
    if (!chosen.inSteps) return use(QString::fromStdString(chosen.key), QString::fromStdString(chosen.value));
    CompareQuestion question;
    question.same = chosen.besideItself;
    if (chosen.learns) question.lossSeconds = kLossSeconds;
    if (!chosen.besideItself) question.differences.push_back({chosen.key, chosen.from, chosen.value});
    Q_EMIT testRequested(question);
}

}  // namespace stepscope
