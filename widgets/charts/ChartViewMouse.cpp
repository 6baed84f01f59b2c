// See ChartView.h: what the mouse does on a chart.
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "widgets/charts/ChartView.h"
#include "widgets/charts/ViewRange.h"

namespace stepscope {

double ChartView::shareAt(double pixel) const {
    const QRectF plot = this->plot();
    return std::clamp((pixel - plot.left()) / std::max(1.0, plot.width()), 0.0, 1.0);
}

void ChartView::wheelEvent(QWheelEvent* event) {
    constexpr double kZoomANotch = 0.8;
    const QPoint delta = event->angleDelta();
    if (std::abs(delta.x()) > std::abs(delta.y())) {
        m_range->pan(-delta.x() / 1200.0);
    } else {
        m_range->zoom(std::pow(kZoomANotch, delta.y() / 120.0), shareAt(event->position().x()));
    }
    Q_EMIT touched();
    event->accept();
}

void ChartView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
    m_dragFrom = event->position().x();
    setCursor(Qt::ClosedHandCursor);
}

void ChartView::mouseMoveEvent(QMouseEvent* event) {
    const double x = event->position().x();
    if (m_dragFrom) {
        m_range->pan((*m_dragFrom - x) / std::max(1.0, plot().width()));
        m_dragFrom = x;
        Q_EMIT touched();
        return;
    }
    const QRectF plot = this->plot();
    const bool inside = x >= plot.left() && x <= plot.right();
    m_range->setCursor(inside ? std::optional(m_range->scale().fromShare(shareAt(x))) : std::nullopt);
}

void ChartView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return QWidget::mouseReleaseEvent(event);
    m_dragFrom.reset();
    unsetCursor();
}

void ChartView::mouseDoubleClickEvent(QMouseEvent*) {
    m_range->fit();
    Q_EMIT touched();
}

void ChartView::leaveEvent(QEvent*) {
    m_range->setCursor(std::nullopt);
}

void ChartView::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}

void ChartView::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

bool ChartView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    QStringList lines;
    if (m_history != nullptr && plot().contains(help->pos()))
        for (const Marker* marker : markersNear(frame(), m_range->scale(), m_range->axis(), m_history->markers(), help->pos().x()))
            lines += QString::fromStdString(marker->detail);
    constexpr qsizetype kMostLines = 6;
    if (lines.size() > kMostLines) lines = lines.mid(0, kMostLines) << tr("… and %1 more").arg(lines.size() - kMostLines);
    if (lines.isEmpty() && help->pos().y() < frame().head.bottom()) lines += m_content->help();
    if (lines.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(help->globalPos(),
                           QStringLiteral("<p>") + lines.join('\n').toHtmlEscaped().replace('\n', QStringLiteral("<br>")) + QStringLiteral("</p>"),
                           this);
    return true;
}

}  // namespace stepscope
