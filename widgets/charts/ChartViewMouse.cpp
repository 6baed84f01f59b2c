// What the mouse does on a chart.
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "widgets/charts/ChartView.h"

namespace stepscope {
namespace {

constexpr double kClick = 4;  // pixels: a drag shorter than this is none

}  // namespace

double ChartView::shareAt(double pixel) const {
    const QRectF plot = this->plot();
    return std::clamp((pixel - plot.left()) / std::max(1.0, plot.width()), 0.0, 1.0);
}

double ChartView::shareAtY(double pixel) const {
    const QRectF plot = this->plot();
    return std::clamp((plot.bottom() - pixel) / std::max(1.0, plot.height()), 0.0, 1.0);
}

double ChartView::placeAt(double pixel) const {
    return m_front.axes.x.fromShare(shareAt(pixel));
}

void ChartView::wheelEvent(QWheelEvent* event) {
    constexpr double kZoomANotch = 0.8;
    const QPoint delta = event->angleDelta();
    const double factor = std::pow(kZoomANotch, delta.y() / 120.0);
    const bool beside = event->position().x() < plot().left();
    if (std::abs(delta.x()) > std::abs(delta.y()))
        m_range->pan(-delta.x() / 1200.0);
    else if (beside || (event->modifiers() & Qt::ControlModifier) != 0)
        zoomY(factor, shareAtY(event->position().y()));
    else  // around the place that the person sees there, which may still be that of the view before
        m_range->zoom(factor, std::clamp(m_range->scale().toShare(placeAt(event->position().x())), 0.0, 1.0));
    Q_EMIT touched();
    event->accept();
}

ChartView::Drag ChartView::dragAt(QPointF place, Qt::KeyboardModifiers modifiers) const {
    const ChartFrame frame = this->frame();
    if (place.y() < frame.plot.top()) return Drag::None;
    if (place.x() < frame.plot.left()) return Drag::PanY;
    if ((modifiers & Qt::ShiftModifier) != 0) return Drag::Box;
    if ((modifiers & Qt::ControlModifier) != 0) return Drag::Select;
    return m_tool == Tool::Box ? Drag::Box : m_tool == Tool::Select ? Drag::Select : Drag::Pan;
}

const LegendItem* ChartView::itemAt(const HeadPlan& head, QPointF place) const {
    for (const HeadPlan::Item& item : head.items)
        if (!item.item.series.isEmpty() && item.box.adjusted(-2, -1, 4, 1).contains(place)) return &item.item;
    return nullptr;
}

QRectF ChartView::titleArea() const {
    const ChartFrame frame = this->frame();
    const HeadPlan plan = head(frame);
    double right = frame.head.right();
    for (const HeadPlan::Item& item : plan.items)
        if (item.box.top() < plan.baseline) right = std::min(right, item.box.left() - 4);
    return {frame.head.left(), frame.head.top(), right - frame.head.left(), plan.baseline + 3 - frame.head.top()};
}

QRectF ChartView::legendBox(const QString& series) const {
    for (const HeadPlan::Item& item : head(frame()).items)
        if (item.item.series == series) return item.box;
    return {};
}

void ChartView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
    const ChartFrame frame = this->frame();
    const QPointF place = event->position();
    if (frame.markerLane.contains(place) && m_history != nullptr && !m_history->markers().empty()) return Q_EMIT flipsWanted();
    if (place.y() < frame.head.bottom()) {
        if (const HeadPlan plan = head(frame); const LegendItem* item = itemAt(plan, place)) {
            if (m_overlay != nullptr)
                Q_EMIT hideWanted(item->series, !item->hidden);
            else
                setHidden(item->series, !item->hidden);
            Q_EMIT touched();
        }
        return;
    }
    m_drag = dragAt(place, event->modifiers());
    m_dragFrom = m_dragTo = place;
    if (m_drag == Drag::Pan || m_drag == Drag::PanY) setCursor(Qt::ClosedHandCursor);
}

void ChartView::pointAt(QPointF place) {
    const ChartFrame frame = this->frame();
    const QRectF& plot = frame.plot;
    const bool inside = place.x() >= plot.left() && place.x() <= plot.right();
    // The picture may still be along the axis before.
    if (m_front.view && m_front.view->axis != m_range->axis()) return;
    m_range->setCursor(inside ? std::optional(placeAt(place.x())) : std::nullopt);
    if (m_overlay != nullptr) Q_EMIT pointed(place);
    const bool clickable = titleArea().contains(place) || (place.y() < frame.head.bottom() && itemAt(head(frame), place) != nullptr);
    const Drag would = dragAt(place, Qt::NoModifier);
    setCursor(clickable                                     ? Qt::PointingHandCursor
              : would == Drag::Box || would == Drag::Select ? Qt::CrossCursor
              : would == Drag::PanY                         ? Qt::SizeVerCursor
                                                            : Qt::ArrowCursor);
}

void ChartView::mouseMoveEvent(QMouseEvent* event) {
    const QPointF place = event->position(), moved = place - m_dragTo;
    switch (m_drag) {
        case Drag::None:
            return pointAt(place);
        case Drag::Pan:
            m_range->pan(-moved.x() / std::max(1.0, plot().width()));
            Q_EMIT touched();
            break;
        case Drag::PanY:
            panY(moved.y() / std::max(1.0, plot().height()));
            Q_EMIT touched();
            break;
        case Drag::Box:
            update();
            break;
        case Drag::Select:
            if (std::abs(place.x() - m_dragFrom.x()) >= kClick) m_range->setSelection(Stretch{placeAt(m_dragFrom.x()), placeAt(place.x())});
            break;
    }
    m_dragTo = place;
}

void ChartView::finishDrag(QPointF place) {
    const QRectF plot = this->plot();
    const auto within = [&](QPointF at) {
        return QPointF(std::clamp(at.x(), plot.left(), plot.right()), std::clamp(at.y(), plot.top(), plot.bottom()));
    };
    const QRectF box = QRectF(within(m_dragFrom), within(place)).normalized();
    if (m_drag == Drag::Select) {
        if (std::abs(place.x() - m_dragFrom.x()) < kClick) return m_range->setSelection(std::nullopt);
        Q_EMIT selected(placeAt(box.left()), placeAt(box.right()));
    }
    if (m_drag != Drag::Box || box.width() < kClick) return update();
    // A flat box asks for its steps only.
    if (box.height() >= 2 * kClick && m_front.whyEmpty.isEmpty()) {
        const Scale y = m_front.axes.y;
        const Scale wanted{y.fromShare(shareAtY(box.bottom())), y.fromShare(shareAtY(box.top())), y.logarithmic};
        if (canFollow(wanted, y)) m_y = wanted;
        invalidate();
    }
    m_range->showOnly(placeAt(box.left()), placeAt(box.right()));
    Q_EMIT touched();
    update();
}

void ChartView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return QWidget::mouseReleaseEvent(event);
    finishDrag(event->position());
    m_drag = Drag::None;
    unsetCursor();
}

void ChartView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const ChartFrame frame = this->frame();
    if (event->position().y() < frame.head.bottom()) {
        if (const HeadPlan plan = head(frame); itemAt(plan, event->position()) != nullptr) return mousePressEvent(event);
        return Q_EMIT enlargeWanted();
    }
    if (event->position().y() < frame.plot.top()) return;
    fitY();
    if (event->position().x() >= frame.plot.left()) m_range->fit();
    Q_EMIT touched();
}

void ChartView::contextMenuEvent(QContextMenuEvent* event) {
    Q_EMIT menuWanted(event->reason() == QContextMenuEvent::Mouse ? event->globalPos() : mapToGlobal(plot().center().toPoint()));
    event->accept();
}

void ChartView::leaveEvent(QEvent*) {
    if (m_overlay != nullptr) Q_EMIT pointedAway();
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
    const ChartFrame frame = this->frame();
    QStringList lines;
    if (m_front.view && help->pos().y() >= frame.markerLane.top()) {
        constexpr std::size_t kMostLines = 6;
        const auto [begin, end] = markersNear(frame, m_front.view->x, m_front.view->axis, markers(), help->pos().x());
        for (std::size_t index = begin; index < std::min(end, begin + kMostLines); ++index) {
            const Marker& marker = markers()[index];
            lines += QString::fromStdString(m_overlay == nullptr && m_history != nullptr ? m_history->detailOf(marker) : marker.detail);
        }
        if (end - begin > kMostLines) lines += tr("… and %1 more").arg(end - begin - kMostLines);
    }
    if (lines.isEmpty() && help->pos().y() < frame.head.bottom()) {
        const HeadPlan plan = head(frame);
        if (const LegendItem* item = itemAt(plan, help->pos()))
            lines += (item->hidden ? tr("%1: hidden. A click shows it again.") : tr("%1: a click hides it.")).arg(item->name);
        else
            lines += m_content->help() + m_content->helpHere(request()) + tr(" Double click: this chart alone.");
    }
    if (lines.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(help->globalPos(),
                           QStringLiteral("<p>") + lines.join('\n').toHtmlEscaped().replace('\n', QStringLiteral("<br>")) + QStringLiteral("</p>"),
                           this);
    return true;
}

}  // namespace stepscope
