// Stored runs laid over each other in the charts of the page Live. The charts draw other contents then (OverlayContent); a bar stands above them and
// the table of runs below. The history, live or replayed, goes on filling behind and is not asked.
#include <QButtonGroup>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/analysis/overlay/RunsOverlay.h"
#include "widgets/charts/LivePage.h"
#include "widgets/charts/overlay/OverlayContent.h"
#include "widgets/charts/overlay/OverlayTable.h"
#include "widgets/charts/overlay/ValuesAtCursor.h"
#include "widgets/panels/overlay/OverlayPane.h"
#include "widgets/panels/overlay/RunsTable.h"

namespace stepscope {

OverlayPane& LivePage::overlayPane() {
    if (m_pane != nullptr) return *m_pane;
    m_pane = new OverlayPane(this);
    static_cast<QVBoxLayout*>(layout())->insertWidget(0, &m_pane->head());
    m_split->addWidget(&m_pane->table());
    m_split->setStretchFactor(0, 1);
    m_pane->head().hide();
    m_pane->table().hide();
    m_values = new ValuesAtCursor(this);
    connect(m_pane, &OverlayPane::closeRequested, this, &LivePage::overlayCloseWanted);
    connect(m_pane, &OverlayPane::groupRequested, this, [this](const QString& key) {
        if (!m_overlay) return;
        m_overlay->groupBy(key.toStdString());
        overlayChanged();
    });
    RunsTable& table = m_pane->table();
    connect(&table, &RunsTable::hideWanted, this, [this](qint64 session, bool hidden) {
        if (!m_overlay) return;
        m_overlay->setHidden(session, hidden);
        // The table is in the middle of changing its own box.
        QMetaObject::invokeMethod(this, &LivePage::overlayChanged, Qt::QueuedConnection);
        Q_EMIT overlayHidingChanged();
    });
    connect(&table, &RunsTable::chosen, this, [this](qint64 session) {
        if (!m_overlay) return;
        const OverlayLine* line = m_overlay->lineOf(session);
        m_overlay->choose(line != nullptr ? line->series : std::string());
        for (ChartView* chart : m_charts) chart->update();
    });
    return *m_pane;
}

void LivePage::setOverlay(std::shared_ptr<RunsOverlay> overlay) {
    const std::shared_ptr<RunsOverlay> before = m_overlay;  // the charts look at it until they are told
    const bool was = before != nullptr, is = overlay != nullptr;
    if (!was && !is) return;
    OverlayPane& pane = overlayPane();
    clearSelection();
    m_flips->close();
    m_values->hide();
    m_range->setCursor(std::nullopt);
    m_overlay = std::move(overlay);
    for (std::size_t i = 0; i < kCharts; ++i) {
        m_charts[i]->setFeed(is ? nullptr : m_history.get(), &m_planned);
        m_charts[i]->setOverlay(m_overlay.get(), is ? makeOverlayContent(static_cast<RunMetric>(i)) : nullptr);
    }
    pane.head().setVisible(is);
    pane.table().setVisible(is);
    m_follow->setEnabled(!is);
    for (QAbstractButton* tool : m_tools->buttons())
        if (m_tools->id(tool) == static_cast<int>(ChartView::Tool::Select)) tool->setEnabled(!is);
    if (is && m_tools->checkedId() == static_cast<int>(ChartView::Tool::Select)) m_tools->button(static_cast<int>(ChartView::Tool::Move))->click();
    m_flipsButton->setText(tr("Flips"));
    m_flipsButton->setEnabled(false);
    m_marks = 0;  // the button is set anew by the next look at the history
    if (is) {
        offerRates(false);
        pane.begin();
        const int high = height(), table = std::min(pane.table().heightFor(m_overlay->slots().size()), std::clamp(high / 4, 96, 240));
        m_split->setSizes({high - table, table});
        overlayChanged();
        fit();
    } else {
        m_session = nullptr;
        historyChanged();
        fit();
    }
}

void LivePage::overlayChanged() {
    if (!m_overlay) return;
    m_pane->show(*m_overlay);
    updateExtent();
    fitHeads();
    invalidate();
    hurry();
}

Extent LivePage::overlayExtent() const {
    const XAxis axis = m_range->axis();
    Extent extent;
    if (m_overlay->read() == 0) return extent;
    const double length = m_overlay->stepLength(axis), first = m_overlay->first(axis);
    extent.first = axis == XAxis::Step ? std::max(0.0, first - length) : 0;
    extent.last = m_overlay->last(axis);
    extent.unit = length > 0 ? length : 1;
    extent.leastPositive = std::max(first, extent.unit * 1e-3);
    return extent;
}

void LivePage::connectOverlay(ChartView& chart) {
    connect(&chart, &ChartView::hideWanted, this, [this](const QString& series, bool hidden) {
        if (!m_overlay) return;
        m_overlay->setLineHidden(series.toStdString(), hidden);
        overlayChanged();
        Q_EMIT overlayHidingChanged();
    });
    connect(&chart, &ChartView::pointed, this, [this, &chart](QPointF place) { pointAt(chart, place); });
    connect(&chart, &ChartView::pointedAway, this, [this] {
        m_values->hide();
        if (!m_overlay) return;
        m_overlay->point({});
        for (ChartView* each : m_charts) each->update();
    });
}

void LivePage::pointAt(ChartView& chart, QPointF place) {
    if (!m_overlay) return;
    const std::string near = chart.seriesNear(place).toStdString();
    m_overlay->point(near);
    const OverlayLine* emphasised = m_overlay->emphasised();
    for (ChartView* each : m_charts) each->update();
    if (!m_range->cursor() || !chart.plot().contains(place)) return m_values->hide();
    const double x = *m_range->cursor();
    m_values->show(readOut(x, quantityOf(m_range->axis())), chart.valuesAt(x), chart.content().quantity(),
                   emphasised != nullptr ? QString::fromStdString(emphasised->series) : QString(), chart.mapTo(this, place.toPoint()));
}

}  // namespace stepscope
