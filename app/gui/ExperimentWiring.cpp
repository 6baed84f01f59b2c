// See ExperimentWiring.h.
#include "app/gui/ExperimentWiring.h"

#include "app/gui/LiveFeed.h"
#include "app/gui/MainWindow.h"
#include "app/gui/RunController.h"
#include "app/workbench/PresetChoice.h"
#include "core/base/Format.h"
#include "widgets/charts/LivePage.h"
#include "widgets/panels/ExperimentPanel.h"
#include "widgets/panels/HintStrip.h"

#include <QSettings>

namespace stepscope {
namespace {

MemoryForecast forecastOf(const Workbench::Estimate& from) {
    return {from.parameters, from.weights, from.gradients, from.moments, from.activations, from.logits, from.total, from.available};
}

// What the other values of a switch would need, as predicted; nothing where the prediction is the same for all.
QString memoryOf(const Workbench& workbench, const RunConfig& config, const SwitchInfo& entry, Bytes now) {
    std::vector<Value> others;
    if (const auto* choices = std::get_if<Choices>(&entry.values)) {
        for (const auto& word : choices->words) others.emplace_back(word);
    } else if (const auto* whole = std::get_if<IntegerRange>(&entry.values)) {
        const auto* used = std::get_if<std::int64_t>(&config.switches.at(entry.id));
        if (used != nullptr && *used > 0 && *used <= whole->most / 2) others.emplace_back(2 * *used);
    }
    QStringList parts;
    for (const Value& other : others) {
        RunConfig asked = config;
        asked.switches[entry.id] = other;
        const auto complete = workbench.complete(std::move(asked));
        if (!complete) continue;  // cannot be used here
        const Bytes total = workbench.estimate(*complete).total;
        if (total == now) continue;
        parts << QString::fromStdString(toString(other) + " " + (total > now ? "+" : "\u2212") +
                                        format::bytes({std::abs(total.count - now.count)}));
    }
    return parts.isEmpty() ? QString() : "Predicted memory against now: " + parts.join(", ") + ".";
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
    connect(&runs, &RunController::ended, this, [this] { m_window.experiment().setRunning(nullptr); });
    window.livePage().setPlannedConfig(panel.config());
}

void ExperimentWiring::engineReady() {
    ExperimentPanel& panel = m_window.experiment();
    panel.setCatalogue(m_runs.workbench()->switches(panel.config()));
    panel.restore(QSettings());
    panel.setChoice(choosePreset(*m_runs.workbench()));
}

void ExperimentWiring::answerEdit(const RunConfig& config) {
    m_window.livePage().setPlannedConfig(config);
    const Workbench* workbench = m_runs.workbench();
    if (workbench == nullptr) return;
    ExperimentPanel& panel = m_window.experiment();
    panel.setCatalogue(workbench->switches(config));
    const auto complete = workbench->complete(panel.config());
    panel.setProblem(complete ? QString() : QString::fromStdString(complete.error().sentence));
    if (!complete) return;
    const Workbench::Estimate now = workbench->estimate(*complete);
    panel.setForecast(forecastOf(now));
    for (const auto& entry : workbench->switches(*complete)) panel.setMemory(entry.id, memoryOf(*workbench, *complete, entry, now.total));
}

void ExperimentWiring::runStarted() {
    if (m_live.history()->info()) m_window.experiment().setRunning(&m_live.history()->info()->config);
}

void ExperimentWiring::applied(const SwitchApplied& flip) {
    m_window.experiment().applied(flip.id, flip.to);
    m_window.hints().learnt(HintStrip::Flip);
}

}  // namespace stepscope
