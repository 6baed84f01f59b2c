#include "app/gui/wiring/ExperimentWiring.h"

#include <QSettings>
#include <utility>

#include "app/gui/wiring/EditAnswer.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunController.h"
#include "app/workbench/WeightsLook.h"
#include "core/events/ConfigKeys.h"
#include "widgets/charts/LivePage.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/run/HintStrip.h"

namespace stepscope {

namespace {
constexpr int kKeepMs = 500;  // after the last edit
}

ExperimentWiring::ExperimentWiring(const Panels& panels, RunController& runs, LiveFeed& live, QObject* parent)
    : QObject(parent), m_panels(panels), m_runs(runs), m_live(live) {
    ExperimentPanel& panel = panels.experiment;
    if (runs.elsewhere()) m_engine.emplace(runs.elsewhere()->command);
    connect(&runs, &RunController::engineReady, this, &ExperimentWiring::engineReady);
    connect(&panel, &ExperimentPanel::edited, this, &ExperimentWiring::ask);
    connect(&panel, &ExperimentPanel::flipRequested, this, [this](const QString& id, const Value& value) {
        m_runs.send(Flip{id.toStdString(), value});
    });
    connect(&live, &LiveFeed::started, this, &ExperimentWiring::runStarted);
    connect(&live, &LiveFeed::switchApplied, this, &ExperimentWiring::applied);
    connect(&live, &LiveFeed::switchRefused, this, [this](const SwitchRefused& refused) {
        // Of a measurement the strip asks for agreement; nothing was flipped, so nothing goes back.
        if (refused.subject.kind != Subject::Kind::Loss) m_panels.experiment.refused(refused.id, refused.why);
    });
    connect(&runs, &RunController::phaseChanged, this, [this] {
        if (m_runs.training() && m_runs.phase() == RunController::Phase::Starting) m_panels.experiment.setPreparing();
        if (m_runs.phase() == RunController::Phase::None) m_panels.experiment.setRunning(nullptr);
    });
    panels.livePage.setPlannedConfig(panel.config());
    // Whatever ends the program: the settings are there again.
    m_keep.setSingleShot(true);
    m_keep.setInterval(kKeepMs);
    connect(&m_keep, &QTimer::timeout, this, &ExperimentWiring::keep);
    connect(&panel, &ExperimentPanel::edited, &m_keep, qOverload<>(&QTimer::start));
    connect(&runs, &RunController::phaseChanged, this, [this] {
        if (m_runs.phase() == RunController::Phase::Starting) Q_EMIT keep();
    });
}

ExperimentWiring::~ExperimentWiring() {
    ++m_newest;
}  // what the thread is at is wanted no more

void ExperimentWiring::engineReady(const EngineAnswer& answer) {
    ExperimentPanel& panel = m_panels.experiment;
    panel.setCatalogue(answer.catalogue);
    panel.setCores(m_runs.workbench()->machine().cores);
    panel.restore(QSettings());
    panel.setChoice(answer.choice);
}

void ExperimentWiring::ask(const RunConfig& config) {
    m_panels.livePage.setPlannedConfig(config);
    if (m_runs.workbench() == nullptr) return;
    const auto possible = checkConfig(config);
    m_panels.experiment.setProblem(possible ? QString() : QString::fromStdString(possible.error().sentence));
    if (std::exchange(m_shownData, config.data) != config.data) m_panels.experiment.setDataProblem({});
    if (std::exchange(m_shownValidation, config.validation) != config.validation) m_panels.experiment.setValidationProblem({});
    if (std::exchange(m_shownWeights, config.init) != config.init) m_panels.experiment.setWeightsLook({}, {}, {});
    const std::uint64_t edit = ++m_newest;
    m_thread.post([this, edit, config, workbench = m_runs.workbench()] {
        const auto wanted = [this, edit] { return edit == m_newest; };
        if (!wanted()) return;
        auto found = answerEdit(*workbench, config, wanted);
        if (!found) return;
        const bool possible = found->problem.isEmpty();
        const auto unreadable = m_data.known(config.data);  // of a file elsewhere nothing, for none is looked at here
        answer(this, [this, wanted, found = std::move(*found), unreadable] {
            if (!wanted()) return;
            show(found);
            if (unreadable) m_panels.experiment.setDataProblem(QString::fromStdString(*unreadable));
        });
        lookAtWeightsOf(config, edit);
        if (possible && !unreadable) lookAt(m_data, config.data, edit, &ExperimentPanel::setDataProblem);
        if (possible && config.validation != "split") lookAt(m_validation, config.validation, edit, &ExperimentPanel::setValidationProblem);
    });
}

// Heads of files; told when they are chosen, and anew with every edit of the model. On the thread.
void ExperimentWiring::lookAtWeightsOf(const RunConfig& config, std::uint64_t edit) {
    if (config.init == kRandomWeights) return;
    const auto look = lookOf(config, [this, edit] { return edit == m_newest; });
    if (!look) return;
    answer(this, [this, edit, look = *look] {
        if (edit == m_newest)
            m_panels.experiment.setWeightsLook(QString::fromStdString(look.found), QString::fromStdString(look.problem), look.shaped);
    });
}

// Nothing when it is wanted no more.
std::optional<WeightsLook> ExperimentWiring::lookOf(const RunConfig& config, const std::function<bool()>& wanted) {
    if (!m_engine) return lookAtWeights(config.init, config);
    auto told = m_engine->look({config}, wanted);
    if (!told) return WeightsLook{.found = {}, .problem = told.error().sentence, .shaped = {}};
    if (!*told) return std::nullopt;
    return WeightsLook{std::move((*told)->found), std::move((*told)->problem), std::move((*told)->shaped)};
}

std::optional<std::string> ExperimentWiring::problemOf(DataCheck& check, const std::string& data, const std::function<bool()>& wanted) {
    if (!m_engine) return check.problemOf(data, wanted);
    auto told = m_engine->check({.data = data, .validation = &check == &m_validation}, wanted);
    if (!told) return told.error().sentence;
    return *told ? std::move((*told)->problem) : std::nullopt;
}

// A file of many gigabytes is on its way from the disk for minutes: verdicts and forecast do not wait for it. On the thread.
void ExperimentWiring::lookAt(DataCheck& check, const std::string& data, std::uint64_t edit, void (ExperimentPanel::*say)(const QString& sentence)) {
    const auto wanted = [this, edit] { return edit == m_newest; };
    const auto unreadable = problemOf(check, data, wanted);
    if (!unreadable) return;
    answer(this, [this, wanted, say, sentence = QString::fromStdString(*unreadable)] {
        if (wanted()) (m_panels.experiment.*say)(sentence);
    });
}

void ExperimentWiring::show(const EditAnswer& found) {
    ExperimentPanel& panel = m_panels.experiment;
    panel.setCatalogue(found.catalogue);
    panel.setProblem(found.problem);
    if (found.forecast) panel.setForecast(*found.forecast);
    for (const auto& [id, sentence] : found.memory) panel.setMemory(id, sentence);
}

// A run of a few steps may have ended before its events are drained.
void ExperimentWiring::runStarted() {
    if (m_runs.training() && m_live.history()->info()) m_panels.experiment.setRunning(&m_live.history()->config());
}

void ExperimentWiring::applied(const SwitchApplied& flip) {
    m_panels.experiment.applied(flip.id, flip.to);
    m_panels.hints.learnt(HintStrip::Flip);
}

}  // namespace stepscope
