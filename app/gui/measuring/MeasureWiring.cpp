#include "app/gui/measuring/MeasureWiring.h"

#include <utility>

#include "app/gui/Stage.h"
#include "app/gui/wiring/FlipWiring.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "core/analysis/PairedVerdict.h"
#include "core/analysis/flips/FlipContext.h"
#include "core/events/Event.h"
#include "widgets/panels/experiment/ExperimentPanel.h"

namespace stepscope {
namespace {

constexpr qint64 kShowEveryMs = 1000;

}  // namespace

MeasureWiring::MeasureWiring(const Panels& panels, RunController& runs, RunWiring& running, FlipWiring& flips, Stage& stage, QObject* parent)
    : QObject(parent), m_panels(panels), m_runs(runs), m_running(running), m_flips(flips), m_stage(stage) {
    connect(&panels.flipStrip, &FlipStrip::actionRequested, this, &MeasureWiring::act);
    connect(&panels.experiment, &ExperimentPanel::measureRequested, this,
            [this](const QString& id, const Value& value) { ask(id.toStdString(), value, /*afterFlip=*/false); });
    connect(&stage.live(), &LiveFeed::switchRefused, this, &MeasureWiring::refused);
    connect(&stage.live(), &LiveFeed::experimented, this, &MeasureWiring::take);
    connect(&stage.live(), &LiveFeed::sampled, this, [this](const DeviceSample& sample) {
        if (m_begun) m_history.add(sample);
    });
    connect(&stage.live(), &LiveFeed::started, this, &MeasureWiring::release);
    connect(&stage.live(), &LiveFeed::switchApplied, this, [this](const SwitchApplied& flip) {
        if (m_decided && flip.id == m_decided->asked.id && flip.to == m_decided->asked.to) settle(/*changed=*/true);
        m_decided.reset();  // of another flip the strip is from now on
        // Whoever flips something else instead of answering has not agreed.
        if (m_asked && !m_begun && m_mayAgree) release();
    });
    connect(&stage.live(), &LiveFeed::grew, this, [this] {
        if (m_decided && m_stage.live().history()->rows() > m_decided->rows) settle(/*changed=*/false);
    });
    // The last event of a run: whatever of the measurement was still to come has come, or never will.
    connect(&stage.live(), &LiveFeed::stateChanged, this, [this](const StateChanged& change) {
        if (!ended(change.state)) return;
        if (m_decided) settle(/*changed=*/false);
        release();
    });
    connect(&stage, &Stage::switched, this, [this] {
        if (m_begun) show(measuredStrip(*m_asked, m_history));
    });
}

void MeasureWiring::ask(const std::string& id, const Value& value, bool afterFlip) {
    const RunHistory& history = *m_stage.live().history();
    const auto used = history.config().switches.find(id);
    if (!m_running.takesCommands() || used == history.config().switches.end())
        return m_running.say("Nothing runs that could be measured; the page Compare measures without a run.", false);
    if (m_begun) return m_running.say("Another value is being measured; stop that first.", false);
    // The run answers at its next step: what it says then is of what was asked first.
    if (m_asked && !m_mayAgree) return m_running.say("Another value is about to be measured; the run begins that at its next step.", false);
    m_asked = Measured{id, used->second, value, m_flips.titleOf(id), afterFlip};
    send(/*lossMayMove=*/false);
}

void MeasureWiring::send(bool lossMayMove) {
    m_mayAgree = false;
    m_decided.reset();
    m_flips.hold(true);
    m_panels.flipStrip.reopen();
    show(askedStrip(*m_asked));
    m_runs.send(Measure{.id = m_asked->id, .value = m_asked->to, .lossMayMove = lossMayMove});
}

void MeasureWiring::act() {
    if (!m_asked || m_stage.replaying()) return m_flips.askToMeasure();  // a replay's strip is of its own flips
    if (m_begun) return m_runs.send(StopMeasuring{});
    if (m_mayAgree) send(/*lossMayMove=*/true);
}

void MeasureWiring::refused(const SwitchRefused& refusal) {
    if (!m_asked || m_begun || refusal.id != m_asked->id || refusal.value != m_asked->to) return;
    m_mayAgree = refusal.subject.kind == Subject::Kind::Loss;
    show(refusedStrip(*m_asked, QString::fromStdString(refusal.why), m_mayAgree));
    m_flips.hold(false);
    if (!m_mayAgree) m_asked.reset();
}

void MeasureWiring::take(const Event& event) {
    if (!m_asked) return;  // asked by a script, or by the command line
    if (std::holds_alternative<ExperimentBegan>(event)) {
        m_history = {};
        m_begun = true;
        m_shown.invalidate();
    }
    if (!m_begun) return;
    m_history.add(event);
    const auto* judged = std::get_if<ExperimentJudged>(&event);
    const bool over = judged != nullptr && judged->over;
    if (!over && m_shown.isValid() && m_shown.elapsed() < kShowEveryMs) return;
    m_shown.start();
    show(measuredStrip(*m_asked, m_history));
    if (!over) return;
    m_flips.learn(*m_asked, *judged, m_history.began()->delta);
    const bool faster = judged->pairs > 0 && judged->outcome == toString(PairedOutcome::Faster);
    Decided decided{*m_asked, m_stage.live().history()->rows()};
    release();
    if (faster) m_decided = std::move(decided);
}

void MeasureWiring::settle(bool changed) {
    const Measured asked = std::exchange(m_decided, std::nullopt)->asked;
    show(measuredStrip(asked, m_history, changed));
}

void MeasureWiring::show(const FlipStripReading& reading) {
    if (!m_stage.replaying()) m_panels.flipStrip.setReading(reading);
}

void MeasureWiring::release() {
    m_asked.reset();
    m_begun = m_mayAgree = false;
    m_decided.reset();
    m_flips.hold(false);
}

}  // namespace stepscope
