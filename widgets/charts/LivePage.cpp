// See LivePage.h: what drives the charts. How page and bar are put together is in LivePageLayout.cpp.
#include "widgets/charts/LivePage.h"

#include <QKeyEvent>
#include <QShowEvent>
#include <algorithm>

#include "core/events/ConfigNumbers.h"
#include "core/events/Schedule.h"
#include "widgets/charts/ChartContent.h"
#include "widgets/charts/ChartView.h"
#include "widgets/charts/ViewRange.h"

namespace stepscope {
namespace {

constexpr int kAnswerEveryMs = 33;
constexpr TimeNs kAnswerAtOnce{700'000'000};  // after the person touched something

// Length of one step along an axis; 0 when nothing tells.
double stepLength(const RunHistory& history, XAxis axis) {
    if (axis == XAxis::Step) return 1;
    const RunPlace last = history.last();
    const double steps = last.step - (history.info() ? static_cast<double>(history.info()->firstStep) : 0.0);
    return steps > 0 ? last.on(axis) / steps : 0;
}

}  // namespace

LivePage::LivePage(QWidget* parent) : QWidget(parent), m_range(new ViewRange(this)) {
    setAccessibleName(tr("Live charts"));
    buildBar();
    buildGrid();
    connect(m_range, &ViewRange::cursorChanged, this, [this] {
        const bool on = m_range->cursor() && m_history && m_history->rows() > 0;
        Q_EMIT cursorStepChanged(on ? m_history->steps().step[m_history->rowAt(m_range->axis(), *m_range->cursor())] : -1);
    });
    m_answering.setInterval(kAnswerEveryMs);
    connect(&m_answering, &QTimer::timeout, this, &LivePage::answer);
    updateExtent();
}

LivePage::~LivePage() = default;

void LivePage::setHistory(std::shared_ptr<RunHistory> history) {
    for (ChartView* chart : m_charts) chart->setFeed(history.get(), &m_planned);
    m_history = std::move(history);
    m_session = nullptr;
    m_range->setCursor(std::nullopt);
    historyChanged();
    hurry();
}

void LivePage::historyChanged() {
    if (m_history && m_history->info() != m_session) {  // another run, or a replay that jumped back
        const bool sameRun = m_session != nullptr && m_history->replay();
        m_session = m_history->info();
        if (!sameRun) m_range->fit();
        offerRates(m_history->started() && m_history->rangeTest());
    }
    updateExtent();
    m_budget.setShare(training() ? RedrawBudget::kTrainingShare : RedrawBudget::kIdleShare);
    invalidate();
}

void LivePage::setPlannedConfig(const RunConfig& config) {
    m_planned = config;
    if (m_history && m_history->started()) return;
    updateExtent();
    invalidate();
}

bool LivePage::training() const {
    if (!m_history || !m_history->started() || m_history->replay()) return false;
    const auto& state = m_history->state();
    return !state || state->state == RunState::Running || state->state == RunState::Preparing;
}

void LivePage::updateExtent() {
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
}

void LivePage::hurry() {
    m_answerUntil = m_clock.now() + kAnswerAtOnce;
    m_budget.hurry(m_answerUntil);
    if (!m_answering.isActive()) m_answering.start();
}

void LivePage::answer() {
    const bool waiting = std::any_of(m_charts.begin(), m_charts.end(), [](const ChartView* chart) { return chart->stale(); });
    if (!waiting || !isVisible() || m_clock.now() > m_answerUntil) return m_answering.stop();
    tick();
}

void LivePage::tick() {
    const TimeNs now = m_clock.now();
    for (ChartView* chart : m_charts) m_budget.spent(now, chart->takePaintCost());
    if (!isVisible() || window()->isMinimized() || !m_budget.allows(now)) return;
    for (std::size_t i = 0; i < kCharts; ++i) {
        ChartView* chart = m_charts[m_next];
        m_next = (m_next + 1) % kCharts;
        if (!chart->stale() || chart->visibleRegion().isEmpty()) continue;
        const TimeNs begin = threadTime();
        chart->redraw();
        m_budget.spent(now, threadTime() - begin);
        return;
    }
}

void LivePage::showStep(std::int64_t step) {
    if (!m_history || m_history->rows() == 0) return;
    const double x = m_history->x(m_range->axis(), m_history->rowAt(XAxis::Step, static_cast<double>(step)));
    m_range->show(x);
    m_range->setCursor(x);
    hurry();
}

void LivePage::moveCursor(int rows) {
    if (!m_history || m_history->rows() == 0) return;
    const XAxis axis = m_range->axis();
    const auto last = static_cast<std::int64_t>(m_history->rows()) - 1;
    const auto row = m_range->cursor() ? static_cast<std::int64_t>(m_history->rowAt(axis, *m_range->cursor())) + rows : last;
    const double x = m_history->x(axis, static_cast<std::size_t>(std::clamp<std::int64_t>(row, 0, last)));
    m_range->show(x);
    m_range->setCursor(x);
}

void LivePage::keyPressEvent(QKeyEvent* event) {
    constexpr double kPan = 0.15, kZoom = 0.7;
    const bool shift = event->modifiers() & Qt::ShiftModifier;
    if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) return QWidget::keyPressEvent(event);
    switch (event->key()) {
        case Qt::Key_F:
            m_range->fit();
            break;
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            m_range->zoom(kZoom, 0.5);
            break;
        case Qt::Key_Minus:
            m_range->zoom(1 / kZoom, 0.5);
            break;
        case Qt::Key_Left:
            shift ? moveCursor(-1) : m_range->pan(-kPan);
            break;
        case Qt::Key_Right:
            shift ? moveCursor(1) : m_range->pan(kPan);
            break;
        case Qt::Key_Escape:
            m_range->setCursor(std::nullopt);
            break;
        default:
            return QWidget::keyPressEvent(event);
    }
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
