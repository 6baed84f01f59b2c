#include "widgets/panels/run/ScrubBar.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/panels/ToneLabel.h"

namespace stepscope {
namespace {
constexpr double kMargin = 8;
}

ScrubBar::ScrubBar(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName("Place in the replayed session");
}

double ScrubBar::fractionAt(double x) const {
    return nearestStop((x - kMargin) / std::max(1.0, width() - 2 * kMargin));
}
double ScrubBar::nearestStop(double fraction) const {
    const double within = std::clamp(fraction, 0.0, 1.0);
    return m_stops > 0 ? std::round(within * m_stops) / m_stops : within;
}
double ScrubBar::xOf(double fraction) const {
    return kMargin + fraction * (width() - 2 * kMargin);
}

void ScrubBar::setPosition(double fraction) {
    if (m_dragging || fraction == m_position) return;
    m_position = std::clamp(fraction, 0.0, 1.0);
    update();
}

void ScrubBar::setMarks(std::vector<ScrubMark> marks) {
    m_marks = std::move(marks);
    update();
}

void ScrubBar::setStops(int count) {
    m_stops = std::max(0, count);
}

void ScrubBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double middle = height() / 2.0;
    const QColor accent = palette().color(QPalette::Highlight);
    painter.setPen(QPen(palette().color(QPalette::Mid), 3, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(QPointF(kMargin, middle), QPointF(width() - kMargin, middle));
    painter.setPen(QPen(accent, 3, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(QPointF(kMargin, middle), QPointF(xOf(m_position), middle));

    const QColor ink = toneColour(Tone::Muted);
    for (const auto& mark : m_marks) {
        const double x = xOf(mark.fraction);
        painter.setPen(QPen(ink, 1.2));
        painter.setBrush(palette().color(QPalette::Window));
        if (mark.shape == ScrubMark::Shape::Tick)
            painter.drawLine(QPointF(x, 3), QPointF(x, height() - 3));
        else if (mark.shape == ScrubMark::Shape::Square)
            painter.drawRect(QRectF(x - 3, middle - 3, 6, 6));
        else
            painter.drawPolygon(QPolygonF{{x, middle - 4}, {x + 4, middle}, {x, middle + 4}, {x - 4, middle}});
    }
    painter.setPen(QPen(hasFocus() ? palette().color(QPalette::WindowText) : accent, 1.4));
    painter.setBrush(accent);
    painter.drawEllipse(QPointF(xOf(m_position), middle), 6, 6);
}

void ScrubBar::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    m_dragging = true;
    m_position = fractionAt(event->position().x());
    update();
    Q_EMIT moved(m_position);
}

void ScrubBar::mouseMoveEvent(QMouseEvent* event) {
    if (!m_dragging) return;
    m_position = fractionAt(event->position().x());
    update();
    Q_EMIT moved(m_position);
}

void ScrubBar::mouseReleaseEvent(QMouseEvent* event) {
    if (!m_dragging || event->button() != Qt::LeftButton) return;
    m_dragging = false;
    Q_EMIT released(m_position);
}

void ScrubBar::keyPressEvent(QKeyEvent* event) {
    const double little = m_stops > 0 ? 1.0 / m_stops : 0.01, much = std::max(little, 0.1);
    double to = m_position;
    switch (event->key()) {
        case Qt::Key_Left:
            to -= little;
            break;
        case Qt::Key_Right:
            to += little;
            break;
        case Qt::Key_PageUp:
            to -= much;
            break;
        case Qt::Key_PageDown:
            to += much;
            break;
        case Qt::Key_Home:
            to = 0;
            break;
        case Qt::Key_End:
            to = 1;
            break;
        default:
            return QWidget::keyPressEvent(event);
    }
    setPosition(nearestStop(to));
    Q_EMIT released(m_position);
}

bool ScrubBar::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const ScrubMark* nearest = nullptr;
    for (const auto& mark : m_marks)
        if (std::abs(xOf(mark.fraction) - help->pos().x()) < 6) nearest = &mark;
    if (nearest != nullptr)
        QToolTip::showText(help->globalPos(), nearest->label, this);
    else if (!toolTip().isEmpty())
        QToolTip::showText(help->globalPos(), toolTip(), this);
    else
        QToolTip::hideText();
    return true;
}

}  // namespace stepscope
