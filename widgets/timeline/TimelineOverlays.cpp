// What lies over the lanes of a timeline: the range that is selected, marks, the slice that is selected with arrows to its kin, the cursor.
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"
#include "widgets/timeline/TimelineView.h"

namespace stepscope {

// At the upper edge of a lane, over its slices and clear of their letters: from there to there something of it is missing.
void TimelineView::drawLosses(QPainter& painter) {
    constexpr double kLeastWide = 5, kHigh = 3;
    const QRect lanes = lanesRect();
    const QColor colour = warningColour(isDark(palette()));
    for (const TimelineRow& row : m_layout.rows()) {
        const int top = lanes.top() + row.y - m_scroll;
        if (top > lanes.bottom()) break;
        if (row.kind != TimelineRow::Kind::Lane || row.depth != 0 || top + row.height < lanes.top()) continue;
        const auto lane = m_content.lanes.lanes[static_cast<std::size_t>(row.place)].lane;
        for (const TraceLoss& one : std::ranges::equal_range(m_losses, lane, {}, &TraceLoss::lane)) {
            const double left = std::clamp<double>(xOf(one.from), lanes.left() - kLeastWide, lanes.right() + 1);
            const double right = std::clamp<double>(std::max(left + kLeastWide, xOf(one.to)), lanes.left(), lanes.right() + 1);
            painter.fillRect(QRectF(left, top, right - left, kHigh), colour);
        }
    }
}

// In the ruler, over its numbers, from the line of the mark on. One that has no room beside the one before it stands behind that.
void TimelineView::drawMarks(QPainter& painter) {
    const QRect lanes = lanesRect();
    std::vector<qint64> marks = m_marks;
    std::ranges::sort(marks);
    const QStringList texts = markTexts();
    painter.setFont(smallFont(font()));
    const QFontMetrics metrics(painter.font());
    double free = lanes.left();
    for (std::size_t i = 0; i < marks.size(); ++i) {
        const double x = xOf(marks[i]);
        if (x < lanes.left() || x > lanes.right()) continue;
        const QString& text = texts[static_cast<qsizetype>(i)];
        const double wide = metrics.horizontalAdvance(text) + 6;
        // Of the last ones in sight the text goes to the left as far as there is room.
        const double left = std::max(free, std::min(x, lanes.right() + 1 - wide));
        const QRectF tag(left, lanes.top() - 21, wide, 19);
        painter.fillRect(tag, palette().window());
        painter.setPen(warningColour(isDark(palette())));
        painter.drawText(tag, Qt::AlignCenter, text);
        painter.drawLine(QPointF(x, lanes.top() - 3), QPointF(x, lanes.top() - 1));
        free = left + wide + 2;
    }
}

void TimelineView::drawOverlays(QPainter& painter) {
    const QRect lanes = lanesRect();
    const QColor accent = accentColour(isDark(palette()));
    painter.setClipRect(lanes);
    if (!m_losses.empty()) drawLosses(painter);
    if (m_range) {
        const double a = std::max<double>(lanes.left() - 2, xOf(m_range->first)), b = std::min<double>(lanes.right() + 2, xOf(m_range->second));
        QColor tint = accent;
        tint.setAlpha(40);
        painter.fillRect(QRectF(a, lanes.top(), b - a, lanes.height()), tint);
        painter.setPen(accent);
        painter.drawLine(QPointF(a, lanes.top()), QPointF(a, lanes.bottom()));
        painter.drawLine(QPointF(b, lanes.top()), QPointF(b, lanes.bottom()));
    }
    for (const qint64 mark : m_marks) {
        const double x = xOf(mark);
        if (x < lanes.left() || x > lanes.right()) continue;
        painter.setPen(QPen(warningColour(isDark(palette())), 1, Qt::DashLine));
        painter.drawLine(QPointF(x, lanes.top()), QPointF(x, lanes.bottom()));
    }
    if (m_selected) {
        const auto box = [&](const TraceSlice& slice) {
            const TimelineRow* row = m_layout.rowOf(slice.lane, slice.slice.depth);
            if (row == nullptr) return QRectF();
            const double left = std::clamp<double>(xOf(slice.slice.start), lanes.left() - 10, lanes.right() + 10);
            const double right = std::clamp<double>(xOf(slice.slice.start + slice.slice.duration), lanes.left() - 10, lanes.right() + 10);
            return QRectF(left, lanes.top() + row->y - m_scroll, std::max(2.0, right - left), row->height);
        };
        painter.setRenderHint(QPainter::Antialiasing);
        const QRectF one = box(*m_selected);
        painter.setPen(QPen(palette().color(QPalette::WindowText), 2));
        painter.drawRect(one.adjusted(0.5, 0.5, -0.5, -0.5));
        for (const auto& other : m_flows) {
            const QRectF end = box(other);
            const bool ahead = other.slice.start >= m_selected->slice.start;
            const QRectF &a = ahead ? one : end, &b = ahead ? end : one;
            const QPointF from(a.right(), a.center().y()), to(b.left(), b.center().y());
            QPainterPath path(from);
            const double bend = std::max(24.0, std::fabs(to.x() - from.x()) / 3);
            path.cubicTo(from + QPointF(bend, 0), to - QPointF(bend, 0), to);
            painter.setPen(QPen(palette().color(QPalette::Base), 3.5));
            painter.drawPath(path);
            painter.setPen(QPen(accent, 1.5));
            painter.drawPath(path);
            QPainterPath head;
            head.moveTo(to);
            head.lineTo(to + QPointF(-7, -4));
            head.lineTo(to + QPointF(-7, 4));
            painter.fillPath(head, accent);
            painter.drawRect(end.adjusted(0.5, 0.5, -0.5, -0.5));
        }
        painter.setRenderHint(QPainter::Antialiasing, false);
    }
    if (m_cursor >= lanes.left() && m_drag != Drag::Overview) {
        QColor line = palette().color(QPalette::WindowText);
        line.setAlpha(70);
        painter.setPen(line);
        painter.drawLine(QPointF(m_cursor, lanes.top()), QPointF(m_cursor, lanes.bottom()));
    }
    painter.setClipping(false);
    if (!m_marks.empty()) drawMarks(painter);
    if (hasFocus()) {
        painter.setPen(accent);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

}  // namespace stepscope
