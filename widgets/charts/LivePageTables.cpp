// The tables over the charts of the page Live: what the steps of a selected range were like, and what each flip of the session did.
#include <QToolButton>
#include <algorithm>
#include <functional>
#include <optional>

#include "core/analysis/JudgedSentence.h"
#include "core/analysis/Statistics.h"
#include "core/analysis/flips/FlipsOfRun.h"
#include "core/base/Format.h"
#include "widgets/charts/ChartContent.h"
#include "widgets/charts/LivePage.h"
#include "widgets/charts/overlay/OverlayTable.h"

namespace stepscope {

// One row of the statistics. Taken from every step of the range, not from what is drawn of them.
struct LivePage::Metric {
    QString name;
    Quantity quantity;
    std::function<double(const StepColumns& steps, std::size_t row)> of;
};

namespace {

QString phaseName(Phase phase) {
    return QString::fromUtf8(toString(phase));
}

QString count(std::size_t number) {
    return QString::fromStdString(format::count(static_cast<std::int64_t>(number)));
}

// "64.5 → 52.6 ms": the unit once.
QString change(const Change& change, Quantity quantity) {
    if (!std::isfinite(change.before.median) || !std::isfinite(change.after.median)) return QStringLiteral("–");
    return readOut(change.before.median, quantity) + QStringLiteral(" → ") + readOut(change.after.median, quantity);
}

QString percent(const Change& change) {
    if (!std::isfinite(change.ratio())) return {};
    const double pct = 100 * (change.ratio() - 1);
    return (pct < 0 ? QStringLiteral("−") : QStringLiteral("+")) + QString::number(std::abs(pct), 'f', std::abs(pct) < 10 ? 1 : 0) +
           QStringLiteral("\u202F%");
}

// What stands beside the medians of one flip, as in the strip: where the verdict claims nothing, neither does a per cent.
struct Percents {
    QString stepTime, throughput, memory;
};
Percents percentsOf(const FlipEffect& effect) {
    Percents said;
    if (!effect.measured()) return said;
    if (effect.claimed()) said.throughput = percent(effect.tokensPerSecond);
    if (effect.claimed() && !effect.ofThroughput()) said.stepTime = percent(effect.ms);
    if (effect.memory.exact && effect.memory.conclusive()) said.memory = percent(effect.memory);
    return said;
}

// Of two values that took turns more is known than of the steps before and after one flip.
QString verdictOf(const RunFlip& flip, const std::optional<JudgedTurns>& turns) {
    if (turns) return QObject::tr("measured in turns: %1").arg(QString::fromStdString(judgedWords(turns->judged, turns->delta)));
    if (!flip.effect.measured())
        return QObject::tr("too few steps: %1 before, %2 after").arg(count(flip.effect.stepsBefore), count(flip.effect.stepsAfter));
    if (!flip.effect.machineChange.empty()) return QObject::tr("the machine changed: %1").arg(QString::fromStdString(flip.effect.machineChange));
    QString verdict = !flip.effect.claimed() ? QObject::tr("inconclusive: %1").arg(QString::fromStdString(flip.effect.doubt(flip.effect.told())))
                      : flip.effect.faster() ? QObject::tr("faster")
                                             : QObject::tr("slower");
    if (!flip.alone()) verdict += QObject::tr(" (%1 to %2 together)").arg(flip.first + 1).arg(flip.last + 1);
    return verdict;
}

}  // namespace

const std::vector<LivePage::Metric>& LivePage::metrics() {
    static const auto phase = [](Phase which) {
        return Metric{phaseName(which), Quantity::Milliseconds,
                      [which](const StepColumns& steps, std::size_t row) { return steps.phaseMs[static_cast<std::size_t>(which)][row]; }};
    };
    static const std::vector<Metric> all{
        {tr("step time"), Quantity::Milliseconds, [](const StepColumns& steps, std::size_t row) { return steps.stepMs[row]; }},
        {tr("throughput"), Quantity::TokenRate, [](const StepColumns& steps, std::size_t row) { return steps.tokensPerSecond[row]; }},
        phase(Phase::Forward),
        phase(Phase::Backward),
        phase(Phase::Optimizer),
        {tr("loss"), Quantity::Number, [](const StepColumns& steps, std::size_t row) { return steps.loss[row]; }},
        {tr("gradient norm"), Quantity::Number, [](const StepColumns& steps, std::size_t row) { return steps.gradientNorm[row]; }},
        {tr("tensor memory"), Quantity::Bytes,
         [](const StepColumns& steps, std::size_t row) { return memoryOf(steps.peakBytes[row], steps.residentBytes[row]); }},
        {tr("page faults"), Quantity::Events, [](const StepColumns& steps, std::size_t row) { return steps.pageFaults[row]; }},
    };
    return all;
}

void LivePage::buildTables() {
    m_statistics = new OverlayTable(tr("Statistics of the selected steps"), this);
    m_statistics->setColumns(
        {tr("of each step"), tr("steps"), tr("mean"), tr("median"), tr("lower quartile"), tr("upper quartile"), tr("least"), tr("most")});
    m_flips = new OverlayTable(tr("Flips of this session"), this);
    m_flips->setColumns(
        {tr("flip"), tr("from step"), tr("step time"), tr("change"), tr("throughput"), tr("tensor memory"), tr("to decide it"), tr("verdict")});
    m_flips->setActions(6, tr("The two values take turns until it is known which one is faster: in the run while it trains, else on the page Compare "
                              "(M on the chosen row)"));
    connect(m_flips, &OverlayTable::rowActivated, this, [this](int row) {
        if (row >= 0 && static_cast<std::size_t>(row) < m_listed.size()) showStep(m_listed[static_cast<std::size_t>(row)].step);
    });
    connect(m_flips, &OverlayTable::actionRequested, this, [this](int row) {
        if (row >= 0 && static_cast<std::size_t>(row) < m_listed.size())
            Q_EMIT flipMeasureRequested(static_cast<int>(m_listed[static_cast<std::size_t>(row)].flip));
    });
    m_measuring.setInterval(0);
    connect(&m_measuring, &QTimer::timeout, this, &LivePage::measureNext);
    connect(m_range, &ViewRange::selectionChanged, this, [this] {
        if (!m_range->selection()) clearSelection();
    });
}

void LivePage::select(std::size_t begin, std::size_t end) {
    if (m_overlay || !m_history || begin >= end || end > m_history->rows()) return clearSelection();
    m_selected = Selected{begin, end};
    const XAxis axis = m_range->axis();
    m_range->setSelection(Stretch{m_history->x(axis, begin), m_history->x(axis, end - 1)});
    const StepColumns& steps = m_history->steps();
    const double seconds = steps.seconds[end - 1] - (begin > 0 ? steps.seconds[begin - 1] : 0);
    QString title =
        tr("Steps %1 to %2: %3")
            .arg(count(static_cast<std::size_t>(steps.step[begin])), count(static_cast<std::size_t>(steps.step[end - 1])), count(end - begin));
    if (m_history->knowsTimes()) title += tr(" in %1").arg(readOut(seconds, Quantity::Seconds));
    if (const double disturbed = steps.disturbed.sum(begin, end); disturbed > 0) title += tr(", %1 of them disturbed").arg(disturbed);
    m_statistics->setTitle(title);
    m_statistics->setRows({});
    m_measuring.start();
    m_statistics->open();
    hurry();
}

// A million steps take some milliseconds a metric: the window answers between them.
void LivePage::measureNext() {
    if (!m_selected || !m_history || m_selected->end > m_history->rows() || m_selected->measured >= metrics().size()) return m_measuring.stop();
    const Metric& metric = metrics()[m_selected->measured++];
    std::vector<double> values;
    values.reserve(m_selected->end - m_selected->begin);
    for (std::size_t row = m_selected->begin; row < m_selected->end; ++row) values.push_back(metric.of(m_history->steps(), row));
    const Summary summary = summarise(std::move(values));
    if (summary.count == 0) return;
    const auto number = [&](double value) { return readOut(value, metric.quantity); };
    m_statistics->addRow({metric.name, count(summary.count), number(summary.mean), number(summary.median), number(summary.lowerQuartile),
                          number(summary.upperQuartile), number(summary.low), number(summary.high)});
}

void LivePage::clearSelection() {
    m_selected.reset();
    m_measuring.stop();
    m_range->setSelection(std::nullopt);
    if (m_statistics != nullptr) m_statistics->close();
}

// Keys: from here, up to here.
void LivePage::markSelectionEdge(bool begin) {
    if (m_overlay || !m_history || m_history->rows() == 0) return;
    const XAxis axis = m_range->axis();
    const std::size_t last = m_history->rows() - 1, row = m_range->cursor() ? m_history->rowAt(axis, *m_range->cursor()) : begin ? 0 : last;
    const std::size_t from = begin ? row : m_selected ? m_selected->begin : 0;
    const std::size_t to = begin ? (m_selected ? m_selected->end - 1 : last) : row;
    QWidget* focus = focusWidget();
    select(std::min(from, to), std::max(from, to) + 1);
    if (focus != nullptr) focus->setFocus();  // the keys go on moving the cursor
}

// As the strip beside the log does: who may still be asked at a step boundary.
bool LivePage::canTakeTurns() const {
    return m_history && !m_history->replay() && m_history->state() && !ended(m_history->state()->state);
}

void LivePage::showFlips() {
    m_flips->open();
    m_flipsFilled = {};
    fillFlips();
}

void LivePage::fillFlips() {
    constexpr TimeNs kEvery{500'000'000};
    const std::size_t marks = m_history ? m_history->markers().size() : 0;
    if (marks != m_marks) {
        m_marks = marks;
        const std::size_t number = m_history ? m_history->markers().count(Marker::Kind::Switch) : 0;
        m_flipsButton->setText(number > 0 ? tr("Flips (%1)").arg(count(number)) : tr("Flips"));
        m_flipsButton->setEnabled(number > 0);
        m_flipsFilled = {};
    }
    const TimeNs now = m_clock.now();
    if (!m_flips->isVisible() || (m_flipsFilled.ns > 0 && (now - m_flipsFilled).ns < kEvery.ns)) return;
    // What it says is of steps, of samples of the machine and of marks, which begin it anew above: without new ones it is the same.
    const FlipsSeen seen =
        m_history ? FlipsSeen{m_history->session(), m_history->rows(), m_history->device().place.size(), canTakeTurns()} : FlipsSeen{};
    const bool first = m_flipsFilled.ns == 0;
    m_flipsFilled = now;
    if (!first && seen == m_flipsSeen) return;
    m_flipsSeen = seen;
    std::vector<QStringList> rows;
    m_listed.clear();
    const QString measure = canTakeTurns() ? tr("Measure properly") : tr("Ask on the page Compare");
    NewestFlips newest;
    if (m_history) {
        newest = newestFlips(*m_history, kMostFlips);
        for (const RunFlip& flip : newest.flips) {
            const Marker& marker = m_history->markers()[flip.marker];
            const bool measured = flip.effect.measured();
            const Percents said = percentsOf(flip.effect);
            const auto turns = m_history->turnsOfFlip(marker.flip);
            const SwitchApplied& made = m_history->flips()[marker.flip].flip;
            // Of several together nobody knows which did it, however sure it is that they did.
            const bool open = !turns && !(measured && flip.effect.claimed() && flip.alone()) && made.from != made.to;
            m_listed.push_back({static_cast<std::int64_t>(marker.place.step) + 1, marker.flip});
            rows.push_back({QStringLiteral("%1  %2").arg(flip.number + 1).arg(QString::fromStdString(marker.label)),
                            count(static_cast<std::size_t>(marker.place.step) + 1),
                            measured ? change(flip.effect.ms, Quantity::Milliseconds) : QString(), said.stepTime, said.throughput, said.memory,
                            open ? measure : QString(), verdictOf(flip, turns)});
        }
    }
    const std::size_t older = newest.all - newest.flips.size();
    m_flips->setTitle(older == 0 ? tr("Flips of this session: up to 20 steps before and after each")
                                 : tr("Flips of this session: the newest %1; %2 older ones are not shown. Up to 20 steps before and after each")
                                       .arg(count(newest.flips.size()), count(older)));
    m_flips->setRows(rows);
}

}  // namespace stepscope
