// ChartCanvas: the lines, areas and dots of one chart, drawn by Qt Charts into any painter. Coordinates are shares of the
// plot (0..1 from left to right and from bottom to top), because linear, logarithmic, step and time axes are all made by
// Scale: so Qt's own axes never lay out again. The only class that sees QtCharts. GUI thread.
#pragma once
#include <QColor>
#include <QGraphicsScene>
#include <QRectF>
#include <Qt>
#include <deque>
#include <memory>
#include <vector>

#include "core/analysis/Decimate.h"

class QAbstractSeries;
class QAreaSeries;
class QChart;
class QLineSeries;
class QPainter;
class QScatterSeries;
class QValueAxis;

namespace stepscope {

struct LineStyle {
    QColor colour;
    double width = 1.5;
    Qt::PenStyle dash = Qt::SolidLine;
};

class ChartCanvas {
public:
    using Shape = std::size_t;

    ChartCanvas();
    ~ChartCanvas();

    // Later shapes are drawn over earlier ones of the same kind. An empty shape draws nothing.
    Shape addLine();
    Shape addArea();
    Shape addDots();
    void setLine(Shape shape, const std::vector<Line>& runs, const LineStyle& style);
    // lower empty: down to the bottom of the plot.
    void setArea(Shape shape, const Line& upper, const Line& lower, const QColor& fill);
    void setDots(Shape shape, const Line& points, const QColor& colour);

    void render(QPainter& painter, const QRectF& plot);

private:
    struct Runs {
        std::vector<QLineSeries*> series;  // one a stretch without gaps; spare ones are hidden
    };
    struct Area {
        QAreaSeries* series = nullptr;
        QLineSeries* upper = nullptr;
        QLineSeries* lower = nullptr;
    };
    void attach(QAbstractSeries* series);

    QGraphicsScene m_scene;
    QChart* m_chart = nullptr;  // owned by the scene
    QValueAxis* m_x = nullptr;
    QValueAxis* m_y = nullptr;
    std::vector<Runs> m_lines;
    std::vector<Area> m_areas;
    std::deque<std::unique_ptr<QLineSeries>> m_areaEdges;  // an area series does not own its edges
    std::vector<QScatterSeries*> m_dots;
};

}  // namespace stepscope
