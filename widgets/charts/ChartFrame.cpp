// Geometry, grid, tick labels and the sentence of an empty chart.
#include "widgets/charts/ChartFrame.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

constexpr double kLabelGap = 4;        // between a label and its axis
constexpr double kBetweenLabels = 10;  // along x
constexpr double kPixelsAYTick = 26;
constexpr double kPixelsARightTick = 40;  // fewer: they stand in the plot

QString widestYLabel() {
    return QStringLiteral("0\u202F000");
}

bool fits(const ChartFrame& frame, const Scale& scale, const std::vector<Tick>& ticks) {
    double right = -1e9;
    for (const Tick& tick : ticks) {
        const QRectF box = xLabelBox(frame, scale, tick);
        if (box.left() < right + kBetweenLabels) return false;
        right = box.right();
    }
    return true;
}

}  // namespace

QRectF xLabelBox(const ChartFrame& frame, const Scale& x, const Tick& tick) {
    const QFontMetricsF metrics(frame.labelFont);
    const double width = metrics.horizontalAdvance(tick.label);
    const double at = std::round(frame.plot.left() + x.toShare(tick.value) * frame.plot.width());
    const double left = std::clamp(at - width / 2, frame.plot.left() - kLabelGap, std::max(frame.plot.left(), frame.plot.right() + space(2) - width));
    return {left, frame.plot.bottom() + kLabelGap - 1, width, metrics.height()};
}

ChartFrame ChartFrame::of(QSize size, const QFont& font, const QPalette& palette, int headRows, int markerRows) {
    ChartFrame frame;
    frame.headRows = headRows;
    frame.palette = palette;
    frame.titleFont = headFont(font);
    frame.labelFont = smallFont(tabularFont(font));
    const QFontMetricsF title(frame.titleFont), label(frame.labelFont);
    const double headHeight = title.height() + (headRows > 1 ? label.height() : 0) + space(1);
    const double gutter = std::ceil(label.horizontalAdvance(widestYLabel()) + kLabelGap + space(1));
    frame.head = QRectF(space(1), 0, size.width() - space(2), headHeight);
    const double laneHeight = markerRows * std::floor(label.height());
    frame.markerLane = QRectF(gutter, headHeight, size.width() - space(3) - gutter, laneHeight);
    frame.plot = QRectF(QPointF(gutter, headHeight + laneHeight + 1),
                        QPointF(size.width() - space(3), size.height() - std::ceil(label.height()) - kLabelGap + 1))
                     .toAlignedRect();
    return frame;
}

ChartAxes makeAxes(const ChartFrame& frame, const Scale& x, Quantity xQuantity, const Scale& y, Quantity yQuantity, std::optional<RightAxis> right) {
    ChartAxes axes{x, y, xQuantity, {}, {}, right, {}};
    for (int most = std::max(2, static_cast<int>(frame.plot.width() / 45)); most >= 2; --most) {
        axes.xTicks = makeTicks(x, xQuantity, most);
        if (fits(frame, x, axes.xTicks.ticks)) break;
    }
    const double labels = frame.plot.height() / QFontMetricsF(frame.labelFont).height();
    axes.yTicks = makeTicks(y, yQuantity, static_cast<int>(frame.plot.height() / kPixelsAYTick), labels >= 3.2 ? 3 : 2);
    if (right) axes.rightTicks = makeTicks(right->scale, right->quantity, std::max(2, static_cast<int>(frame.plot.height() / kPixelsARightTick)));
    if (right && !right->unit.isEmpty()) axes.rightTicks.unit = right->unit;
    return axes;
}

void paintAxes(QPainter& painter, const ChartFrame& frame, const ChartAxes& axes) {
    const QRectF& plot = frame.plot;
    const QFontMetricsF metrics(frame.labelFont);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setFont(frame.labelFont);
    const QColor grid = gridColour(frame.palette), text = mutedText(frame.palette);

    double roof = 1e9;  // the last label's top: the next must end above it
    for (const Tick& tick : axes.yTicks.ticks) {
        const double y = std::round(plot.bottom() - axes.y.toShare(tick.value) * plot.height());
        painter.setPen(grid);
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
        const double baseline = std::clamp(y + metrics.capHeight() / 2, plot.top() + metrics.capHeight(), plot.bottom() + metrics.capHeight() / 2);
        if (baseline > roof) continue;
        roof = baseline - metrics.height();
        painter.setPen(text);
        painter.drawText(QPointF(plot.left() - kLabelGap - metrics.horizontalAdvance(tick.label), baseline), tick.label);
    }

    const double baseline = plot.bottom() + kLabelGap - 1 + metrics.ascent();
    double firstLeft = plot.left(), right = -1e9;
    for (const Tick& tick : axes.xTicks.ticks) {
        const double x = std::round(plot.left() + axes.x.toShare(tick.value) * plot.width());
        painter.setPen(grid);
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
        const QRectF box = xLabelBox(frame, axes.x, tick);
        if (box.left() < right + kLabelGap) continue;
        right = box.right();
        firstLeft = std::min(firstLeft, box.left());
        painter.setPen(text);
        painter.drawText(QPointF(box.left(), baseline), tick.label);
    }
    // The unit of x stands in the corner under the labels of y, where nothing else can be.
    painter.setPen(text);
    const double unitWidth = metrics.horizontalAdvance(axes.xTicks.unit);
    painter.drawText(QPointF(std::max(2.0, firstLeft - kLabelGap - 2 - unitWidth), baseline), axes.xTicks.unit);
    painter.setPen(faint(text, frame.palette.color(QPalette::Base), 0.45));
    painter.drawLine(plot.bottomLeft(), plot.bottomRight());
}

void paintRightAxis(QPainter& painter, const ChartFrame& frame, const ChartAxes& axes) {
    if (!axes.right) return;
    const QFontMetricsF metrics(frame.labelFont);
    QColor ground = frame.palette.color(QPalette::Base);
    ground.setAlphaF(0.75F);  // a line below a label is still seen
    painter.setFont(frame.labelFont);
    bool unitSaid = axes.rightTicks.unit.isEmpty();
    // From the top, whose label has the unit.
    for (const Tick& tick : std::views::reverse(axes.rightTicks.ticks)) {
        const double y = frame.plot.bottom() - axes.right->scale.toShare(tick.value) * frame.plot.height();
        if (y - metrics.height() / 2 < frame.plot.top() || y + metrics.height() / 2 > frame.plot.bottom()) continue;
        const QString label = std::exchange(unitSaid, true) ? tick.label : tick.label + QStringLiteral("\u202F") + axes.rightTicks.unit;
        const double width = metrics.horizontalAdvance(label);
        const QRectF box(frame.plot.right() - width - kLabelGap, y - metrics.height() / 2, width + kLabelGap, metrics.height());
        painter.fillRect(box, ground);
        painter.setPen(axes.right->colour);
        painter.drawText(box, Qt::AlignCenter, label);
    }
}

void paintEmpty(QPainter& painter, const ChartFrame& frame, const QString& why) {
    const QRectF room = frame.plot.adjusted(space(1), 0, -space(1), 0);
    const QFontMetricsF metrics(frame.labelFont);
    // No sentence ends in the middle without saying so.
    QString text = why;
    QStringList words = why.split(' ');
    while (words.size() > 1 && metrics.boundingRect(room, Qt::AlignCenter | Qt::TextWordWrap, text).height() > room.height()) {
        words.removeLast();
        text = words.join(' ') + QStringLiteral(" …");
    }
    painter.setFont(frame.labelFont);
    painter.setPen(mutedText(frame.palette));
    painter.drawText(room, Qt::AlignCenter | Qt::TextWordWrap, text);
}

}  // namespace stepscope
