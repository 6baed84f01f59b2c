// ChartFrame: everything of a chart that is not data: where head, plot and labels lie, and how grid, tick labels, head,
// markers, cursor and the empty sentence are painted. Called by ChartView; holds no state but geometry. GUI thread.
#pragma once
#include <QFont>
#include <QPalette>
#include <QRectF>
#include <QSize>
#include <optional>
#include <vector>

#include "core/analysis/RunHistory.h"
#include "widgets/charts/ChartContent.h"
#include "widgets/charts/Ticks.h"

class QPainter;

namespace stepscope {

struct ChartFrame {
    QRectF head, markerLane, plot;  // from top to bottom; the lane holds the labels of markers, so that they cover no data
    int headRows = 2;
    QFont titleFont, labelFont;
    QPalette palette;

    static ChartFrame of(QSize size, const QFont& font, const QPalette& palette, int headRows, int markerRows);
    static double headWidth(const QFont& font, const QString& title, const std::vector<LegendItem>& items);  // for one row
};

// Where the words of the head stand; what cannot be seen whole is elided, what has no place at all is said by a last "…".
struct HeadPlan {
    struct Item {
        LegendItem item;
        QRectF box;
    };
    QString title, unit;  // as they fit
    double unitLeft = 0, baseline = 0;
    std::vector<Item> items;
};
HeadPlan planHead(const ChartFrame& frame, const QString& title, const QString& unit, const std::vector<LegendItem>& items);

struct ChartAxes {
    Scale x, y;
    Quantity xQuantity = Quantity::Count;
    AxisTicks xTicks, yTicks;
    std::optional<RightAxis> right;
    AxisTicks rightTicks;
};

// Where the label of a tick of x stands.
QRectF xLabelBox(const ChartFrame& frame, const Scale& x, const Tick& tick);
// Ticks of all axes, as many as have room.
ChartAxes makeAxes(const ChartFrame& frame, const Scale& x, Quantity xQuantity, const Scale& y, Quantity yQuantity, std::optional<RightAxis> right);

void paintAxes(QPainter& painter, const ChartFrame& frame, const ChartAxes& axes);
void paintRightAxis(QPainter& painter, const ChartFrame& frame, const ChartAxes& axes);  // over the data
void paintHead(QPainter& painter, const ChartFrame& frame, const HeadPlan& head);
// "↑ 1 240 ms" in the upper right corner: values reach beyond the axis.
void paintBeyond(QPainter& painter, const ChartFrame& frame, const QString& value);
// Labels of flips; where not all of them fit, flags with their numbers.
void paintMarkers(QPainter& painter, const ChartFrame& frame, const Scale& x, XAxis axis, const Markers& markers);
// Which of two values each step had while they took turns: along the foot of the plot, A in its blue, B in its vermilion upon it, what does not count
// fainter.
void paintTurns(QPainter& painter, const ChartFrame& frame, const Scale& x, XAxis axis, const RunHistory& history);
void paintCursor(QPainter& painter, const ChartFrame& frame, const ChartAxes& axes, double at, const QString& label,
                 const std::vector<CursorDot>& dots);
// A stretch that is or was selected, from one edge of the chart to the other.
void paintSelection(QPainter& painter, const ChartFrame& frame, const Scale& x, double from, double to);
void paintRubberBand(QPainter& painter, const ChartFrame& frame, const QRectF& box);
void paintEmpty(QPainter& painter, const ChartFrame& frame, const QString& why);

// Markers within a few pixels of a place along x, for the tool tip.
MarkerRange markersNear(const ChartFrame& frame, const Scale& x, XAxis axis, const Markers& markers, double pixel);

}  // namespace stepscope
