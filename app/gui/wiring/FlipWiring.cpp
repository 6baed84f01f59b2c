#include "app/gui/wiring/FlipWiring.h"

#include <algorithm>

#include "app/gui/Stage.h"
#include "app/gui/wiring/FlipWords.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/SessionsReader.h"
#include "core/analysis/flips/FlipContext.h"
#include "core/base/Format.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/experiment/ExperimentPanel.h"

namespace stepscope {
namespace {

constexpr std::size_t kStepsTold = 10;  // while they are measured

}  // namespace

FlipWiring::FlipWiring(const Panels& panels, RunController& runs, SessionsReader& reader, Stage& stage, QObject* parent)
    : QObject(parent), m_panels(panels), m_runs(runs), m_stage(stage) {
    connect(&runs, &RunController::engineReady, this, [this, &reader](const EngineAnswer& answer) {
        m_catalogue = answer.catalogue;
        reader.measureFlips(m_runs.workbench()->machine());
        reader.measurePairs(m_runs.workbench()->machine());
    });
    connect(&reader, &SessionsReader::pairsMeasured, this, [this](const std::vector<MeasuredPair>& pairs) { m_pairs = pairs; });
    connect(&runs, &RunController::measured, this, [this, &reader] { reader.measurePairs(m_runs.workbench()->machine()); });
    connect(&reader, &SessionsReader::flipsMeasured, this, [this](const std::vector<MeasuredFlip>& flips) {
        for (const auto& measured : flips)
            if (!m_badges.contains({measured.flip.id, measured.context})) know(measured.flip, measured.context, measured.effect, placeOf(measured));
        showBadges();
    });
    connect(&reader, &SessionsReader::turnsMeasured, this, [this](const std::vector<MeasuredTurns>& turns) {
        for (const auto& measured : turns) know(measured);
        showBadges();
    });
    connect(&panels.experiment, &ExperimentPanel::edited, this, &FlipWiring::showBadges);
    connect(&runs, &RunController::ended, this, [this](const RunSummary& summary) {
        m_ended = summary;
        sumUp();
    });
    connect(&stage.live(), &LiveFeed::grew, this, &FlipWiring::sumUp);
    connect(&stage.live(), &LiveFeed::started, this, [this] {
        m_turns.clear();
        m_ended.reset();
    });
    follow(stage.live());
    follow(stage.replay());
    connect(&stage, &Stage::switched, this, &FlipWiring::forget);
}

void FlipWiring::follow(LiveFeed& feed) {
    connect(&feed, &LiveFeed::started, this, [this, &feed] {
        if (&feed == &m_stage.shown()) forget();
    });
    connect(&feed, &LiveFeed::rewound, this, [this, &feed] {
        if (&feed != &m_stage.shown()) return;
        m_meter.catchUp(*feed.history());
        m_before.reset();
        m_told = false;
        m_lookFrom = 0;
        showReading(/*inPassing=*/false);
    });
    connect(&feed, &LiveFeed::switchApplied, this, [this, &feed](const SwitchApplied& flip) {
        if (&feed != &m_stage.shown()) return;
        // The steps after the former flip end here: what they say already is said now.
        if (const auto former = m_meter.read(*feed.history()); !m_told && former && former->effect.measured()) tellReading(*former);
        m_meter.flipped(*feed.history(), flip);
        m_panels.flipStrip.reopen();
        lookBack(feed, flip);
        // The value that a measurement chose: what it does is known already, and better.
        m_told = m_held || feed.history()->isNewestFlipChosenByTurns();
        m_countTold = -1;
        m_lookFrom = 0;
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
    m_before.reset();
    m_told = true;
    m_panels.flipStrip.hide();
    m_panels.flipStrip.reopen();
}

void FlipWiring::hold(bool held) {
    m_held = held;
    m_told = true;
}

void FlipWiring::askToMeasure() {
    const auto reading = m_meter.read(*m_stage.shown().history());
    if (!reading) return;
    const SwitchApplied& flip = reading->flips.back();
    if (canTakeTurns(*reading)) return Q_EMIT measureRequested(flip.id, flip.from, /*afterFlip=*/true);
    Q_EMIT compareRequested(m_stage.shown().history()->config(), {.differences = {{flip.id, toString(flip.from), toString(flip.to)}}});
}

void FlipWiring::askToMeasureFlip(int flip) {
    const RunHistory& history = *m_stage.shown().history();
    const auto place = static_cast<std::size_t>(flip);
    if (flip < 0 || place >= history.flips().size()) return;
    const SwitchApplied& made = history.flips()[place].flip;
    RunConfig settings = history.config();
    if (!m_stage.replaying() && history.state() && !ended(history.state()->state)) {
        const Value& used = settings.switches[made.id];
        if (used == made.to) return Q_EMIT measureRequested(made.id, made.from, /*afterFlip=*/true);
        if (used == made.from) return Q_EMIT measureRequested(made.id, made.to, /*afterFlip=*/false);
    }
    for (std::size_t later = history.flips().size() - 1; later > place; --later) {
        const SwitchApplied& undone = history.flips()[later].flip;
        settings.switches[undone.id] = undone.from;
    }
    Q_EMIT compareRequested(settings, {.differences = {{made.id, toString(made.from), toString(made.to)}}});
}

bool FlipWiring::canTakeTurns(const FlipReading& reading) const {
    return !m_stage.replaying() && !reading.over;
}

void FlipWiring::offer(FlipStripReading& strip, const FlipReading& reading) {
    const SwitchApplied& flip = reading.flips.back();
    const QString values =
        QString("%1%2 and %3").arg(reading.alone ? QString() : titleOf(flip.id) + ": ").arg(asText(toString(flip.from)), asText(toString(flip.to)));
    if (canTakeTurns(reading)) {
        strip.action = "Measure properly";
        strip.actionHint =
            values + " take turns while the run trains on, until it is known which one is faster, for at most 3 minutes. The faster one stays.";
    } else {
        strip.action = "Ask on the page Compare";
        strip.actionHint =
            values + " take turns there, each with a program of its own and the settings of this run, which are put into the panel on the left.";
    }
}

void FlipWiring::learn(const Measured& asked, const ExperimentJudged& judged, double delta) {
    m_turns.push_back({m_stage.live().history()->flips().size(), measuredVerdict(asked, judged, delta)});
    const std::string context = flipContext(m_stage.live().history()->config(), asked.id);
    knowTurns(asked, judged, delta, context, "In this run.");
    showBadges();
    if (judged.pairs == 0) return;
    MeasuredPair newest = pairOf({.id = asked.id, .from = asked.from, .to = asked.to, .context = context, .delta = delta, .judged = judged});
    const auto known = std::ranges::find_if(m_pairs, [&](const MeasuredPair& pair) { return pair.of(asked.id, context, asked.from, asked.to); });
    if (known == m_pairs.end()) return m_pairs.push_back(std::move(newest));
    newest.add(*known);
    *known = std::move(newest);
}

// A replay shows what was known then, which nobody has kept.
void FlipWiring::lookBack(LiveFeed& feed, const SwitchApplied& flip) {
    m_before.reset();
    if (m_stage.replaying()) return;
    const std::string context = flipContext(feed.history()->config(), flip.id);
    for (const MeasuredPair& pair : m_pairs)
        if (pair.of(flip.id, context, flip.from, flip.to)) m_before = pair;
}

void FlipWiring::know(const MeasuredTurns& measured) {
    // What was learnt since this window is open is newer.
    const auto known = m_badges.find({measured.id, measured.context});
    if (known != m_badges.end() && (known->second.inTurns || !measured.decided())) return;
    const QString place = QString("at step %1").arg(QString::fromStdString(format::count(measured.judged.step)));
    knowTurns({measured.id, measured.from, measured.to, titleOf(measured.id), measured.afterFlip}, measured.judged, measured.delta, measured.context,
              placeOf(measured.sessionName, place, measured.startedUnixMs));
}

void FlipWiring::knowTurns(const Measured& asked, const ExperimentJudged& judged, double delta, const std::string& context, const QString& where) {
    const SwitchInfo* entry = find(asked.id);
    if (entry == nullptr || judged.pairs == 0) return;
    Badge badge{measuredChip(asked, judged, entry->byDefault), measuredSentence(asked, judged, delta, where), false};
    badge.inTurns = !badge.chip.isEmpty();
    Badge& held = m_badges[{asked.id, context}];
    if (badge.inTurns || !held.inTurns) held = std::move(badge);
}

void FlipWiring::showReading(bool inPassing) {
    const RunHistory& history = *m_stage.shown().history();
    if (inPassing && history.rows() < m_lookFrom) return;
    const auto reading = m_meter.read(history);
    if (!reading) {
        // There and back within a few steps: nothing is different.
        m_panels.flipStrip.hide();
        m_told = true;
        return;
    }
    const bool hopeless = reading->effect.stepsBefore < FlipEffect::kFewest;
    // Counting every step aloud would take time from the very steps that are compared.
    const auto count = static_cast<int>(reading->effect.stepsAfter / kStepsTold);
    if (inPassing && !reading->complete && !reading->over && !hopeless && count == m_countTold) return;
    m_countTold = count;
    QStringList titles;
    for (const SwitchApplied& flip : reading->flips) {
        titles << titleOf(flip.id);
    }
    FlipStripReading strip = stripOf(*reading, titles);
    if (m_before && reading->alone) addMeasuredBefore(strip, reading->flips.back(), *m_before);
    offer(strip, *reading);
    m_panels.flipStrip.setReading(strip);
    // Both sides are there; comparisons without a flip may still be missing, and come with every so many steps.
    const bool last = reading->complete && (reading->effect.decided() || !reading->effect.complete());
    if (reading->complete) m_lookFrom = history.rows() + ShamTest::kPlace;
    m_told = last || hopeless || reading->over;
    if (m_told) tellReading(*reading);
}

void FlipWiring::tellReading(const FlipReading& reading) {
    // What a replay shows again was told by the stored sessions already.
    if (m_stage.replaying()) return;
    if (!reading.alone || !reading.effect.measured()) return;
    const SwitchApplied& flip = reading.flips.front();
    know(flip, reading.context, reading.effect, "In this run, " + sinceOf(flip) + '.');
    showBadges();
}

void FlipWiring::know(const SwitchApplied& flip, const std::string& context, const FlipEffect& effect, const QString& where) {
    const SwitchInfo* entry = find(flip.id);
    if (entry == nullptr) return;
    Badge& held = m_badges[{flip.id, context}];
    if (!held.inTurns) held = {chipOf(flip, effect, entry->byDefault), sentenceOf(flip, effect, where), false};
}

void FlipWiring::showBadges() {
    for (const auto& entry : m_catalogue) {
        const auto known = m_badges.find({entry.id, flipContext(m_panels.experiment.config(), entry.id)});
        const Badge badge = known != m_badges.end() ? known->second : Badge{};
        m_panels.experiment.setMeasured(entry.id, badge.chip, badge.sentence);
    }
}

QString FlipWiring::titleOf(const std::string& id) {
    const SwitchInfo* entry = find(id);
    return QString::fromStdString(entry != nullptr ? entry->title : id);
}

// The thread that waits for a run and the events of its last steps arrive in any order.
void FlipWiring::sumUp() {
    const RunHistory& history = *m_stage.live().history();
    if (!m_ended || !history.state() || !ended(history.state()->state) || history.session() != m_ended->session || m_ended->steps == 0) return;
    RunEnd end = endOf(history, *m_ended, verdictsOf(history, m_turns, [this](const std::string& id) { return titleOf(id); }));
    m_ended.reset();
    if (end.strip.heading.isEmpty()) return;
    m_stage.live().log().add({{QDateTime::currentDateTime(), LogLevel::Info, sentenceOf(end), 0}});
    if (m_stage.replaying() || m_held) return;
    // Of the newest flip something may still be asked.
    if (const auto reading = m_meter.read(history); reading && !reading->effect.claimed() && !history.isNewestFlipChosenByTurns())
        offer(end.strip, *reading);
    m_panels.flipStrip.setReading(end.strip);
}

const SwitchInfo* FlipWiring::find(const std::string& id) {
    for (const auto& entry : m_catalogue)
        if (entry.id == id) return &entry;
    return nullptr;
}

}  // namespace stepscope
