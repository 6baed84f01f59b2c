// The head with its legend and numbers, the cursor, and what a person selects.
#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/charts/ChartFrame.h"
#include "widgets/charts/HeadLayout.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

TextWidth widthsOf(const QFontMetricsF& metrics) {
    return [&metrics](const QString& text) { return metrics.horizontalAdvance(text); };
}

void paintSwatch(QPainter& painter, const LegendItem& item, const QPointF& left) {
    const QPointF right = left + QPointF(kSwatch, 0);
    const auto line = [&](double width, Qt::PenStyle style) {
        painter.setPen(QPen(item.colour, width, style, Qt::FlatCap));
        painter.drawLine(left, right);
    };
    switch (item.mark) {
        case LegendItem::Mark::None:
            return;
        case LegendItem::Mark::Line:
            return line(1.75, Qt::SolidLine);
        case LegendItem::Mark::Bold:
            return line(2.5, Qt::SolidLine);
        case LegendItem::Mark::Faint:
            return line(1.25, Qt::SolidLine);
        case LegendItem::Mark::Dashed:
            return line(1.75, Qt::DashLine);
        case LegendItem::Mark::Dotted:
            return line(1.75, Qt::DotLine);
        case LegendItem::Mark::Diamond: {
            const QPointF middle = (left + right) / 2;
            painter.setPen(Qt::NoPen);
            painter.setBrush(item.colour);
            painter.drawConvexPolygon(QPolygonF{middle + QPointF(-4, 0), middle + QPointF(0, -4), middle + QPointF(4, 0), middle + QPointF(0, 4)});
            return;
        }
        case LegendItem::Mark::Area:
            painter.fillRect(QRectF(left + QPointF(2, -4), QSizeF(8, 8)), item.colour);
            return;
    }
}

// From `left` on, as far as the head reaches; the last place is an ellipsis where not all of them fit.
void placeItems(const ChartFrame& frame, const std::vector<LegendItem>& items, double left, double baseline, std::vector<HeadPlan::Item>& placed) {
    const QFontMetricsF metrics(frame.labelFont);
    for (const LegendItem& item : items) {
        const double width = itemWidth(item, widthsOf(metrics));
        const bool last = &item == &items.back();
        const double kept = last ? 0 : metrics.horizontalAdvance(QStringLiteral("…"));
        const QRectF box(left, baseline - metrics.ascent(), width, metrics.height());
        if (left + width + kept > frame.head.right() + 1) {
            LegendItem more{.mark = LegendItem::Mark::None, .colour = {}, .name = QStringLiteral("…"), .value = {}};
            if (left + metrics.horizontalAdvance(more.name) <= frame.head.right() + 1) placed.push_back({more, box});
            return;
        }
        placed.push_back({item, box});
        left += width + kItemGap;
    }
}

void paintItem(QPainter& painter, const ChartFrame& frame, const HeadPlan::Item& placed) {
    const LegendItem& item = placed.item;
    const QFontMetricsF metrics(frame.labelFont);
    const double baseline = placed.box.top() + metrics.ascent();
    QFont font = frame.labelFont;
    font.setStrikeOut(item.hidden);
    painter.setFont(font);
    LegendItem swatch = item;
    if (item.hidden) swatch.colour = faint(mutedText(frame.palette), frame.palette.color(QPalette::Base), 0.4);
    paintSwatch(painter, swatch, {placed.box.left(), baseline - metrics.capHeight() / 2});
    double x = placed.box.left() + (item.mark == LegendItem::Mark::None ? 0 : kSwatch + kSwatchGap);
    painter.setPen(mutedText(frame.palette));
    painter.drawText(QPointF(x, baseline), item.name);
    if (item.hidden) return;
    x += metrics.horizontalAdvance(item.name) + kSwatchGap;
    painter.setPen(frame.palette.color(QPalette::Text));
    painter.drawText(QPointF(x, baseline), item.value);
}

}  // namespace

double ChartFrame::headWidth(const QFont& font, const QString& title, const std::vector<LegendItem>& items) {
    const QFontMetricsF metrics(smallFont(tabularFont(font)));
    return space(2) + QFontMetricsF(headFont(font)).horizontalAdvance(title) + metrics.horizontalAdvance(QStringLiteral(" K tok/s")) + space(4) +
           legendWidth(items, widthsOf(metrics));
}

HeadPlan planHead(const ChartFrame& frame, const QString& title, const QString& unit, const std::vector<LegendItem>& items) {
    const QFontMetricsF titleMetrics(frame.titleFont), metrics(frame.labelFont);
    HeadPlan head;
    head.baseline = frame.head.top() + titleMetrics.ascent() + 1;
    head.title = titleMetrics.elidedText(title, Qt::ElideRight, frame.head.width());
    head.unitLeft = frame.head.left() + titleMetrics.horizontalAdvance(head.title) + 6;
    head.unit = metrics.elidedText(unit, Qt::ElideRight, std::max(0.0, frame.head.right() - head.unitLeft));
    const double least = head.unitLeft + metrics.horizontalAdvance(head.unit) + space(4);
    const TextWidth widths = widthsOf(metrics);
    const HeadRows rows = layHead(items, frame.head.right() - least, frame.headRows == 1 ? 0 : frame.head.width(), widths);
    const double left = std::max(least, frame.plot.right() - legendWidth(rows.title, widths));
    placeItems(frame, rows.title, left, head.baseline, head.items);
    placeItems(frame, rows.below, frame.head.left(), head.baseline + metrics.height() + 1, head.items);
    return head;
}

void paintHead(QPainter& painter, const ChartFrame& frame, const HeadPlan& head) {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(frame.titleFont);
    painter.setPen(frame.palette.color(QPalette::Text));
    painter.drawText(QPointF(frame.head.left(), head.baseline), head.title);
    painter.setFont(frame.labelFont);
    painter.setPen(mutedText(frame.palette));
    painter.drawText(QPointF(head.unitLeft, head.baseline), head.unit);
    for (const HeadPlan::Item& item : head.items) paintItem(painter, frame, item);
}

void paintBeyond(QPainter& painter, const ChartFrame& frame, const QString& value) {
    const QFontMetricsF metrics(frame.labelFont);
    const QString text = QStringLiteral("↑ ") + value;
    QColor ground = frame.palette.color(QPalette::Base);
    ground.setAlphaF(0.85F);
    const QRectF box(frame.plot.right() - metrics.horizontalAdvance(text) - 6, frame.plot.top() + 1, metrics.horizontalAdvance(text) + 6,
                     metrics.height());
    painter.fillRect(box, ground);
    painter.setFont(frame.labelFont);
    painter.setPen(mutedText(frame.palette));
    painter.drawText(box, Qt::AlignCenter, text);
}

void paintSelection(QPainter& painter, const ChartFrame& frame, const Scale& x, double from, double to) {
    const double left = std::clamp(x.toShare(from), 0.0, 1.0), right = std::clamp(x.toShare(to), 0.0, 1.0);
    if (!(right > left)) return;
    const QRectF& plot = frame.plot;
    QColor band = accentColour(isDark(frame.palette));
    const QRectF box(plot.left() + left * plot.width(), plot.top(), (right - left) * plot.width(), plot.height());
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(band);
    for (const double edge : {std::round(box.left()), std::round(box.right())})
        painter.drawLine(QPointF(edge, box.top()), QPointF(edge, box.bottom()));
    band.setAlphaF(0.14F);
    painter.fillRect(box, band);
}

void paintRubberBand(QPainter& painter, const ChartFrame& frame, const QRectF& box) {
    QColor band = accentColour(isDark(frame.palette));
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(QPen(band, 1, Qt::DashLine));
    band.setAlphaF(0.1F);
    painter.setBrush(band);
    painter.drawRect(box);
}

void paintCursor(QPainter& painter, const ChartFrame& frame, const ChartAxes& axes, double at, const QString& label,
                 const std::vector<CursorDot>& dots) {
    const double share = axes.x.toShare(at);
    if (!(share >= 0 && share <= 1)) return;
    const QRectF& plot = frame.plot;
    const double x = std::round(plot.left() + share * plot.width());
    const QColor text = frame.palette.color(QPalette::Text), ground = frame.palette.color(QPalette::Base);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(faint(text, ground, 0.55));
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));

    painter.setRenderHint(QPainter::Antialiasing);
    for (const CursorDot& dot : dots) {
        const double dotX = axes.x.toShare(dot.x), dotY = axes.y.toShare(dot.y);
        if (!(dotX >= 0 && dotX <= 1 && dotY >= 0 && dotY <= 1)) continue;
        painter.setPen(QPen(ground, 1));
        painter.setBrush(dot.colour);
        painter.drawEllipse(QPointF(plot.left() + dotX * plot.width(), plot.bottom() - dotY * plot.height()), 3.5, 3.5);
    }

    const QFontMetricsF metrics(frame.labelFont);
    const double width = metrics.horizontalAdvance(label) + 8;
    QRectF box(x - width / 2, plot.bottom() + 1, width, metrics.height() + 2);
    box.moveLeft(std::clamp(box.left(), plot.left(), std::max(plot.left(), plot.right() + space(2) - width)));
    for (const Tick& tick : axes.xTicks.ticks)  // half a number beside the label would be misread
        if (const QRectF covered = xLabelBox(frame, axes.x, tick); covered.intersects(box)) painter.fillRect(covered, ground);
    painter.setPen(Qt::NoPen);
    painter.setBrush(faint(text, ground, 0.85));
    painter.drawRoundedRect(box, 2, 2);
    painter.setFont(frame.labelFont);
    painter.setPen(ground);
    painter.drawText(box, Qt::AlignCenter, label);
}

}  // namespace stepscope
