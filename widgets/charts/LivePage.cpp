// What drives the charts. The bar is in LivePageBar.cpp, the grid in LivePageLayout.cpp, keys and menu in LivePageKeys.cpp, the
// tables over the charts in LivePageTables.cpp.
#include "widgets/charts/LivePage.h"

#include <QShowEvent>
#include <algorithm>
#include <utility>

#include "core/analysis/overlay/RunsOverlay.h"
#include "core/events/ConfigNumbers.h"
#include "core/events/Schedule.h"
#include "widgets/charts/ChartContent.h"

namespace stepscope {
namespace {

constexpr int kTickMs = 33;
constexpr int kAnswerEveryMs = 8;             // while a person waits: all charts within a few frames of the display
constexpr TimeNs kAnswerAtOnce{700'000'000};  // after the person touched something

// Length of one step along an axis; 0 when nothing tells.
double stepLength(const RunHistory& history, XAxis axis) {
    if (axis == XAxis::Step) return 1;
    const RunPlace last = history.last();
    const double steps = last.step - (history.info() ? static_cast<double>(history.info()->firstStep) : 0.0);
    return steps > 0 ? last.on(axis) / steps : 0;
}

bool isSeen(const ChartView* chart) {
    return !chart->visibleRegion().isEmpty();
}

}  // namespace

LivePage::LivePage(QWidget* parent) : QWidget(parent), m_range(new ViewRange(this)) {
    setAccessibleName(tr("Live charts"));
    buildBar();
    buildGrid();
    buildTables();
    m_range->setRows([this](double x) -> std::optional<std::size_t> {
        if (m_overlay || !m_history || m_history->rows() == 0) return std::nullopt;
        return m_history->rowAt(m_range->axis(), x);
    });
    connect(m_range, &ViewRange::cursorChanged, this, [this] {
        const auto row = m_range->cursorRow();
        Q_EMIT cursorStepChanged(row ? m_history->steps().step[*row] : -1);
    });
    connect(m_range, &ViewRange::changed, this, &LivePage::wake);
    m_timer.setInterval(kTickMs);
    connect(&m_timer, &QTimer::timeout, this, &LivePage::tick);
    updateExtent();
}

LivePage::~LivePage() = default;

void LivePage::setHistory(std::shared_ptr<RunHistory> history) {
    if (m_overlay) {  // shown when the overlay is closed
        m_history = std::move(history);
        m_budget.setShare(training() ? RedrawBudget::kTrainingShare : RedrawBudget::kIdleShare);
        return;
    }
    clearSelection();
    for (ChartView* chart : m_charts) chart->setFeed(history.get(), &m_planned);
    m_history = std::move(history);
    m_session = nullptr;
    m_range->setCursor(std::nullopt);
    historyChanged();
    hurry();
}

void LivePage::historyChanged() {
    if (m_overlay) return m_budget.setShare(training() ? RedrawBudget::kTrainingShare : RedrawBudget::kIdleShare);
    if (m_history && m_history->info() != m_session) {  // another run, or a replay that jumped back
        const bool sameRun = m_session != nullptr && m_history->replay();
        m_session = m_history->info();
        clearSelection();
        if (!sameRun) fit();
        offerRates(m_history->started() && m_history->rangeTest());
    }
    updateExtent();
    m_budget.setShare(training() ? RedrawBudget::kTrainingShare : RedrawBudget::kIdleShare);
    fillFlips();
    invalidate();
}

void LivePage::setPlannedConfig(const RunConfig& config) {
    m_planned = config;
    if (m_overlay || (m_history && m_history->started())) return;
    updateExtent();
    invalidate();
}

bool LivePage::training() const {
    if (!m_history || !m_history->started() || m_history->replay()) return false;
    const auto& state = m_history->state();
    return !state || state->state == RunState::Running || state->state == RunState::Preparing;
}

void LivePage::updateExtent() {
    offerEnergy();
    if (m_overlay) return m_range->setExtent(overlayExtent());
    const XAxis axis = m_range->axis();
    Extent extent;
    if (!m_history || !m_history->started()) {
        const double length = axis == XAxis::Step ? 1 : axis == XAxis::Tokens ? batchShape(m_planned).tokens() : 0;
        extent.planned = static_cast<double>(m_planned.steps) * length;
        if (extent.planned > 0) extent.unit = extent.planned / static_cast<double>(std::max<std::int64_t>(1, m_planned.steps));
        extent.leastPositive = extent.unit;
    } else {
        const RunPlace last = m_history->last();
        const double length = stepLength(*m_history, axis);
        const bool finished = m_history->state() && ended(m_history->state()->state);
        extent.first = axis == XAxis::Step ? static_cast<double>(m_history->info()->firstStep) : 0;
        extent.last = last.on(axis);
        extent.unit = length > 0 ? length : 1;
        extent.leastPositive = m_history->rows() > 0 ? std::max(m_history->x(axis, 0), extent.unit * 1e-3) : extent.unit;
        extent.growing = !finished;
        if (axis == XAxis::LearningRate) {
            extent.first = extent.leastPositive = m_history->rows() > 0 ? m_history->x(axis, 0) : learningRate(m_history->config(), 1);
            extent.unit = extent.first * 0.01;  // its steps are equal factors, not equal lengths
            if (!finished) extent.planned = m_history->config().lr;
        } else if (!finished && length > 0)
            extent.planned = extent.last + (static_cast<double>(m_history->config().steps) - last.step) * length;
    }
    m_range->setExtent(extent);
}

void LivePage::invalidate() {
    for (ChartView* chart : m_charts) chart->invalidate();
    wake();
}

void LivePage::hurry() {
    m_answerUntil = m_clock.now() + kAnswerAtOnce;
    m_budget.hurry(m_answerUntil);
    wake();
    if (m_timer.isActive()) m_timer.setInterval(kAnswerEveryMs);
}

void LivePage::wake() {
    if (m_timer.isActive() || !isVisible() || window()->isMinimized()) return;
    // What arrives after a rest is drawn at once: it has waited for the feed's clock already, and would wait for a second one.
    m_timer.start(std::max(0, kTickMs - static_cast<int>((m_clock.now() - m_ticked).milliseconds())));
}

bool LivePage::hasToDraw() const {
    const View wanted = m_range->view();
    return m_round || m_range->shown() != wanted || std::any_of(m_charts.begin(), m_charts.end(), [&](const ChartView* chart) {
               return isSeen(chart) && (chart->stale() || !chart->isDrawnFor(wanted));
           });
}

void LivePage::tick() {
    const TimeNs now = m_clock.now();
    m_ticked = now;
    for (ChartView* chart : m_charts) m_budget.spent(now, chart->takePaintCost());
    if (!isVisible() || window()->isMinimized()) return m_timer.stop();
    const int pace = now < m_answerUntil ? kAnswerEveryMs : kTickMs;
    if (m_timer.isActive() && m_timer.interval() != pace) m_timer.setInterval(pace);
    if (!m_budget.allows(now)) return;  // looking for what to draw costs too
    const bool sparing = now >= m_answerUntil && training() && m_history->measuring();
    if (sparing && !mayDrawWhileMeasuring(now)) return;
    m_range->settleCursor();
    drawNext(now, sparing);
    if (!hasToDraw()) m_timer.stop();
}

// The window must not take time from steps that are being compared. A person who zooms is answered all the same.
bool LivePage::mayDrawWhileMeasuring(TimeNs now) {
    if ((now - m_secondBegan).seconds() >= 1) {
        m_secondBegan = now;
        m_inSecond.fill(false);
    }
    for (std::size_t i = 0; i < kCharts; ++i)
        if (!m_inSecond[i] && isSeen(m_charts[i])) return true;
    return false;
}

// sparing: no chart that was drawn in this second already.
void LivePage::drawNext(TimeNs now, bool sparing) {
    // A view that changes again meanwhile waits for the next round: a hand that keeps moving still sees charts.
    if (!m_round && m_range->shown() != m_range->view()) m_round = m_range->view();
    const View view = m_round.value_or(m_range->view());
    const auto waits = [&](const ChartView* chart) { return isSeen(chart) && (!chart->isDrawnFor(view) || (!m_round && chart->stale())); };
    for (std::size_t i = 0; i < kCharts; ++i) {
        const std::size_t place = std::exchange(m_next, (m_next + 1) % kCharts);
        ChartView* chart = m_charts[place];
        if (!waits(chart) || (sparing && m_inSecond[place])) continue;
        m_inSecond[place] = true;
        const TimeNs begin = threadTime();
        chart->redraw(view);
        m_budget.spent(now, threadTime() - begin);
        if (!m_round) chart->show();
        break;
    }
    if (!m_round || std::any_of(m_charts.begin(), m_charts.end(), waits)) return;
    m_range->setShown(view);
    m_round.reset();
    for (ChartView* chart : m_charts)
        if (chart->isDrawnFor(view)) chart->show();
}

void LivePage::showStep(std::int64_t step) {
    if (m_overlay || !m_history || m_history->rows() == 0) return;
    const double x = m_history->x(m_range->axis(), m_history->rowAt(XAxis::Step, static_cast<double>(step)));
    m_range->show(x);
    m_range->setCursor(x);
    hurry();
}

void LivePage::fit() {
    for (ChartView* chart : m_charts) chart->fitY();
    m_range->fit();
    hurry();
}

void LivePage::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange && event->type() != QEvent::FontChange && event->type() != QEvent::StyleChange) return;
    if (m_charts[kCharts - 1] == nullptr) return;
    styleBar();
    invalidate();
    hurry();
}

void LivePage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    invalidate();
    hurry();
}

}  // namespace stepscope
