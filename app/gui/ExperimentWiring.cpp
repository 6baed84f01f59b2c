// See ExperimentWiring.h.
#include "app/gui/ExperimentWiring.h"

#include "app/gui/LiveFeed.h"
#include "app/gui/MainWindow.h"
#include "app/gui/RunController.h"
#include "widgets/charts/LivePage.h"
#include "widgets/panels/ExperimentPanel.h"
#include "widgets/panels/HintStrip.h"

#include <QSettings>

namespace stepscope {
namespace {

MemoryForecast forecastOf(const Workbench::Estimate& from) {
    return {from.parameters, from.weights, from.gradients, from.moments, from.activations, from.logits, from.total, from.available};
}

}  // namespace

ExperimentWiring::ExperimentWiring(MainWindow& window, RunController& runs, LiveFeed& live, QObject* parent)
    : QObject(parent), m_window(window), m_runs(runs), m_live(live) {
    ExperimentPanel& panel = window.experiment();
    connect(&runs, &RunController::engineReady, this, &ExperimentWiring::engineReady);
    connect(&panel, &ExperimentPanel::edited, this, &ExperimentWiring::answerEdit);
    connect(&panel, &ExperimentPanel::flipRequested, this, [this](const QString& id, const Value& value) {
        m_runs.send(Flip{id.toStdString(), value});
    });
    connect(&live, &LiveFeed::started, this, &ExperimentWiring::runStarted);
    connect(&live, &LiveFeed::switchApplied, this, &ExperimentWiring::applied);
    connect(&live, &LiveFeed::switchRefused, this, [this](const SwitchRefused& refused) { m_window.experiment().refused(refused.id, refused.why); });
    connect(&live, &LiveFeed::grew, this, &ExperimentWiring::showChips);
    connect(&runs, &RunController::ended, this, [this] { m_window.experiment().setRunning(nullptr); });
    window.livePage().setPlannedConfig(panel.config());
}

void ExperimentWiring::engineReady() {
    ExperimentPanel& panel = m_window.experiment();
    panel.setCatalogue(m_runs.workbench()->switches(panel.config()));
    panel.restore(QSettings());
    panel.setChoice(choosePreset(m_runs.workbench()->machine()));
    restoreChips();
}

void ExperimentWiring::answerEdit(const RunConfig& config) {
    m_window.livePage().setPlannedConfig(config);
    const Workbench* workbench = m_runs.workbench();
    if (workbench == nullptr) return;
    ExperimentPanel& panel = m_window.experiment();
    panel.setCatalogue(workbench->switches(config));
    const auto complete = workbench->complete(panel.config());
    panel.setProblem(complete ? QString() : QString::fromStdString(complete.error().sentence));
    if (complete) panel.setForecast(forecastOf(workbench->estimate(*complete)));
}

void ExperimentWiring::runStarted() {
    m_meter.forget();
    if (m_live.history()->info()) m_window.experiment().setRunning(&m_live.history()->info()->config);
}

void ExperimentWiring::applied(const SwitchApplied& flip) {
    m_window.experiment().applied(flip.id, flip.to);
    m_window.hints().learnt(HintStrip::Flip);
    if (m_runs.workbench() == nullptr) return;
    for (const auto& entry : m_runs.workbench()->switches(m_live.history()->config()))
        if (entry.id == flip.id) m_meter.flipped(*m_live.history(), flip, entry.byDefault);
}

void ExperimentWiring::showChips() {
    for (const auto& chip : m_meter.finished(*m_live.history())) {
        m_window.experiment().setChip(chip.id, chip.text, chip.tooltip);
        QSettings().setValue("chips/" + QString::fromStdString(chip.id), QStringList{chip.text, chip.tooltip});
    }
}

void ExperimentWiring::restoreChips() {
    QSettings settings;
    settings.beginGroup("chips");
    for (const QString& id : settings.childKeys()) {
        const QStringList stored = settings.value(id).toStringList();
        if (stored.size() == 2) m_window.experiment().setChip(id.toStdString(), stored[0], stored[1]);
    }
}

}  // namespace stepscope
