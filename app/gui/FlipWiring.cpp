#include "app/gui/FlipWiring.h"

#include "app/gui/FlipWords.h"
#include "app/gui/LiveFeed.h"
#include "app/gui/MainWindow.h"
#include "app/gui/RunController.h"
#include "app/gui/SessionsReader.h"
#include "app/gui/Stage.h"
#include "widgets/panels/ExperimentPanel.h"

namespace stepscope {
namespace {

constexpr std::size_t kStepsTold = 10;  // while they are measured

}  // namespace

FlipWiring::FlipWiring(MainWindow& window, RunController& runs, SessionsReader& reader, Stage& stage, QObject* parent)
    : QObject(parent), m_window(window), m_runs(runs), m_stage(stage) {
    connect(&runs, &RunController::engineReady, this, [this, &reader](const EngineAnswer& answer) {
        m_catalogue = answer.catalogue;
        reader.measureFlips(m_runs.workbench()->machine());
    });
    connect(&reader, &SessionsReader::flipsMeasured, this, [this](const std::vector<MeasuredFlip>& flips) {
        for (const auto& measured : flips) tellSwitch(measured.flip, measured.effect, placeOf(measured));
    });
    follow(stage.live());
    follow(stage.replay());
    connect(&stage, &Stage::switched, this, &FlipWiring::forget);
}

void FlipWiring::follow(LiveFeed& feed) {
    connect(&feed, &LiveFeed::started, this, [this, &feed] {
        if (&feed == &m_stage.shown()) forget();
    });
    connect(&feed, &LiveFeed::switchApplied, this, [this, &feed](const SwitchApplied& flip) {
        if (&feed != &m_stage.shown()) return;
        // The steps after the former flip end here: what they say already is said now.
        if (const auto former = m_meter.read(*feed.history()); !m_told && former && former->effect.measured()) tellReading(*former);
        m_meter.flipped(*feed.history(), flip);
        m_told = false;
        m_countTold = -1;
    });
    connect(&feed, &LiveFeed::grew, this, [this, &feed] {
        if (!m_told && &feed == &m_stage.shown()) showReading(/*inPassing=*/!m_stage.replaying());
    });
    // A run that is paused or ends in between shows as far as it came.
    connect(&feed, &LiveFeed::stateChanged, this, [this, &feed] {
        if (!m_told && &feed == &m_stage.shown()) showReading(/*inPassing=*/false);
    });
}

void FlipWiring::forget() {
    m_meter.forget();
    m_told = true;
    m_window.flipStrip().hide();
}

void FlipWiring::showReading(bool inPassing) {
    const RunHistory& history = *m_stage.shown().history();
    const auto reading = m_meter.read(history);
    if (!reading) {
        // There and back within a few steps: nothing is different.
        m_window.flipStrip().hide();
        m_told = true;
        return;
    }
    const bool hopeless = reading->effect.stepsBefore < FlipEffect::kFewest;
    // Counting every step aloud would take time from the very steps that are compared.
    const auto count = static_cast<int>(reading->effect.stepsAfter / kStepsTold);
    if (inPassing && !reading->complete && !hopeless && count == m_countTold) return;
    m_countTold = count;
    QStringList titles;
    for (const SwitchApplied& flip : reading->flips) {
        const SwitchInfo* entry = find(flip.id);
        titles << QString::fromStdString(entry != nullptr ? entry->title : flip.id);
    }
    m_window.flipStrip().setReading(stripOf(*reading, titles));
    m_told = reading->complete || hopeless;
    if (reading->complete && !hopeless) tellReading(*reading);
}

void FlipWiring::tellReading(const FlipReading& reading) {
    // What a replay shows again was told by the stored sessions already.
    if (!reading.alone || m_stage.replaying()) return;
    const SwitchApplied& flip = reading.flips.front();
    tellSwitch(flip, reading.effect, "In this run, " + sinceOf(flip) + '.');
}

void FlipWiring::tellSwitch(const SwitchApplied& flip, const FlipEffect& effect, const QString& where) {
    const SwitchInfo* entry = find(flip.id);
    if (entry == nullptr) return;
    const QString sentence = sentenceOf(flip, effect, where);
    m_window.experiment().setMeasured(flip.id, chipOf(flip, effect, entry->byDefault), sentence);
}

const SwitchInfo* FlipWiring::find(const std::string& id) {
    for (const auto& entry : m_catalogue)
        if (entry.id == id) return &entry;
    return nullptr;
}

}  // namespace stepscope
