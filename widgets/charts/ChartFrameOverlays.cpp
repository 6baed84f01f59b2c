// See ChartFrame.h: the head with its legend and numbers, markers, and the cursor.
#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/charts/ChartFrame.h"
#include "widgets/charts/HeadLayout.h"
#include "widgets/charts/MarkerLayout.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

constexpr double kMarkerReach = 5;

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

void paintLegend(QPainter& painter, const ChartFrame& frame, const std::vector<LegendItem>& items, double left, double baseline) {
    const QFontMetricsF metrics(frame.labelFont);
    painter.setFont(frame.labelFont);
    for (const LegendItem& item : items) {
        const double width = itemWidth(item, widthsOf(metrics));
        if (left + width > frame.head.right()) return;
        paintSwatch(painter, item, {left, baseline - metrics.capHeight() / 2});
        double x = left + (item.mark == LegendItem::Mark::None ? 0 : kSwatch + kSwatchGap);
        painter.setPen(mutedText(frame.palette));
        painter.drawText(QPointF(x, baseline), item.name);
        x += metrics.horizontalAdvance(item.name) + kSwatchGap;
        painter.setPen(frame.palette.color(QPalette::Text));
        painter.drawText(QPointF(x, baseline), item.value);
        left += width + kItemGap;
    }
}

}  // namespace

double ChartFrame::headWidth(const QFont& font, const QString& title, const std::vector<LegendItem>& items) {
    const QFontMetricsF metrics(smallFont(tabularFont(font)));
    return space(2) + QFontMetricsF(headFont(font)).horizontalAdvance(title) + metrics.horizontalAdvance(QStringLiteral(" K tok/s")) + space(4) +
           legendWidth(items, widthsOf(metrics));
}

void paintHead(QPainter& painter, const ChartFrame& frame, const QString& title, const QString& unit, const std::vector<LegendItem>& items) {
    painter.setRenderHint(QPainter::Antialiasing);
    const QFontMetricsF titleMetrics(frame.titleFont), metrics(frame.labelFont);
    const double baseline = frame.head.top() + titleMetrics.ascent() + 1;
    painter.setFont(frame.titleFont);
    painter.setPen(frame.palette.color(QPalette::Text));
    painter.drawText(QPointF(frame.head.left(), baseline), title);
    const double unitLeft = frame.head.left() + titleMetrics.horizontalAdvance(title) + 6;
    painter.setFont(frame.labelFont);
    painter.setPen(mutedText(frame.palette));
    painter.drawText(QPointF(unitLeft, baseline), unit);
    const double least = unitLeft + metrics.horizontalAdvance(unit) + space(4);
    const TextWidth widths = widthsOf(metrics);
    const HeadRows rows = layHead(items, frame.head.right() - least, frame.headRows == 1 ? 0 : frame.head.width(), widths);
    paintLegend(painter, frame, rows.title, std::max(least, frame.plot.right() - legendWidth(rows.title, widths)), baseline);
    paintLegend(painter, frame, rows.below, frame.head.left(), baseline + metrics.height() + 1);
}

void paintMarkers(QPainter& painter, const ChartFrame& frame, const Scale& x, XAxis axis, const std::vector<Marker>& markers) {
    const QFontMetricsF metrics(frame.labelFont);
    const QRectF& plot = frame.plot;
    const QColor strong = frame.palette.color(QPalette::Text), quiet = mutedText(frame.palette), ground = frame.palette.color(QPalette::Base);
    painter.setRenderHint(QPainter::Antialiasing, false);

    std::vector<QString> labels;
    std::vector<MarkerRequest> requests;
    std::vector<int> more;  // flips at the same place beyond the first
    double notch = -1;
    for (const Marker& marker : markers) {
        const double share = x.toShare(marker.place.on(axis));
        if (!(share >= 0 && share <= 1)) continue;
        const double at = std::round(share * plot.width());
        const bool flip = marker.kind == Marker::Kind::Switch;
        if (marker.kind == Marker::Kind::Validation) {  // many: only a notch in the axis
            if (at == notch) continue;
            notch = at;
            painter.setPen(quiet);
            painter.drawLine(QPointF(plot.left() + at, plot.bottom() - 3), QPointF(plot.left() + at, plot.bottom()));
        } else if (flip && !requests.empty() && requests.back().important && requests.back().x == at) {
            ++more.back();
        } else {
            labels.push_back(QString::fromStdString(marker.label));
            requests.push_back({at, 0, flip || marker.kind == Marker::Kind::Suggestion});
            more.push_back(0);
        }
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (more[i] > 0) labels[i] += QStringLiteral(" +%1").arg(more[i]);
        requests[i].labelWidth = metrics.horizontalAdvance(labels[i]) + 2;
    }
    painter.setFont(frame.labelFont);
    const double rowHeight = std::floor(metrics.height());
    const auto rows = static_cast<int>(frame.markerLane.height() / rowHeight);
    const auto placed = placeMarkers(requests, plot.width(), rows);
    for (const PlacedMarker& marker : placed) {
        const bool flip = requests[marker.request].important;
        painter.setPen(QPen(flip ? faint(strong, ground, 0.7) : faint(quiet, ground, 0.7), 1, flip ? Qt::DashLine : Qt::DotLine));
        // Up to its label, unless another label is in the way.
        const bool blocked = std::any_of(placed.begin(), placed.end(), [&](const PlacedMarker& other) {
            return other.row > marker.row && marker.x >= other.labelLeft && marker.x <= other.labelLeft + other.labelWidth;
        });
        const double top = marker.row < 0 || blocked ? plot.top() : frame.markerLane.top() + marker.row * rowHeight + 2;
        painter.drawLine(QPointF(plot.left() + marker.x, top), QPointF(plot.left() + marker.x, plot.bottom()));
        if (marker.row < 0) continue;
        const QRectF box(plot.left() + marker.labelLeft, frame.markerLane.top() + marker.row * rowHeight, marker.labelWidth, rowHeight);
        painter.setPen(flip ? strong : quiet);
        painter.drawText(box, Qt::AlignVCenter | Qt::AlignLeft, metrics.elidedText(labels[marker.request], Qt::ElideRight, marker.labelWidth));
    }
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

std::vector<const Marker*> markersNear(const ChartFrame& frame, const Scale& x, XAxis axis, const std::vector<Marker>& markers, double pixel) {
    std::vector<const Marker*> near;
    for (const Marker& marker : markers) {
        const double at = frame.plot.left() + x.toShare(marker.place.on(axis)) * frame.plot.width();
        if (std::abs(at - pixel) <= kMarkerReach) near.push_back(&marker);
    }
    return near;
}

}  // namespace stepscope
