#include "widgets/charts/ChartCanvas.h"

#include <QAreaSeries>
#include <QChart>
#include <QGraphicsLayout>
#include <QLegend>
#include <QLineSeries>
#include <QPainter>
#include <QScatterSeries>
#include <QValueAxis>

namespace stepscope {
namespace {

constexpr double kDotSize = 9;

QList<QPointF> toPoints(const Line& line) {
    QList<QPointF> points;
    points.reserve(static_cast<qsizetype>(line.size()));
    for (const Point& point : line) points.append({point.x, point.y});
    return points;
}

// A lone value is drawn as a short dash: a line of one point would be nothing.
QList<QPointF> toVisiblePoints(const Line& line) {
    constexpr double kHalfDash = 0.004;
    if (line.size() == 1) return {{line[0].x - kHalfDash, line[0].y}, {line[0].x + kHalfDash, line[0].y}};
    return toPoints(line);
}

void setShown(QAbstractSeries* series, bool shown) {
    if (series->isVisible() != shown) series->setVisible(shown);
}

}  // namespace

ChartCanvas::ChartCanvas() : m_chart(new QChart), m_x(new QValueAxis), m_y(new QValueAxis) {
    m_scene.setItemIndexMethod(QGraphicsScene::NoIndex);
    m_scene.addItem(m_chart);
    m_chart->setAnimationOptions(QChart::NoAnimation);
    m_chart->setBackgroundVisible(false);
    m_chart->setPlotAreaBackgroundVisible(false);
    m_chart->legend()->hide();
    m_chart->setMargins({});
    m_chart->layout()->setContentsMargins(0, 0, 0, 0);
    m_chart->setMinimumSize(0, 0);
    for (QValueAxis* axis : {m_x, m_y}) {
        axis->setRange(0, 1);
        axis->setVisible(false);
    }
    m_chart->addAxis(m_x, Qt::AlignBottom);
    m_chart->addAxis(m_y, Qt::AlignLeft);
}

// The chart and the series it owns go first; the edges of its areas after.
ChartCanvas::~ChartCanvas() {
    m_scene.clear();
}

void ChartCanvas::attach(QAbstractSeries* series) {
    m_chart->addSeries(series);
    series->attachAxis(m_x);
    series->attachAxis(m_y);
    series->setVisible(false);
}

ChartCanvas::Shape ChartCanvas::addLine() {
    attach(m_lines.emplace_back().series.emplace_back(new QLineSeries));  // at once: it fixes what is drawn over what
    return m_lines.size() - 1;
}

ChartCanvas::Shape ChartCanvas::addArea() {
    Area area;
    area.upper = m_areaEdges.emplace_back(std::make_unique<QLineSeries>()).get();
    area.lower = m_areaEdges.emplace_back(std::make_unique<QLineSeries>()).get();
    area.series = new QAreaSeries(area.upper);
    area.series->setPen(Qt::NoPen);
    attach(area.series);
    m_areas.push_back(area);
    return m_areas.size() - 1;
}

ChartCanvas::Shape ChartCanvas::addDots() {
    auto* dots = new QScatterSeries;
    dots->setMarkerShape(QScatterSeries::MarkerShapeRotatedRectangle);
    dots->setMarkerSize(kDotSize);
    dots->setPen(Qt::NoPen);
    attach(dots);
    m_dots.push_back(dots);
    return m_dots.size() - 1;
}

void ChartCanvas::setLine(Shape shape, const std::vector<Line>& runs, const LineStyle& style) {
    auto& pool = m_lines[shape].series;
    while (pool.size() < runs.size()) {
        attach(pool.emplace_back(new QLineSeries));
    }
    QPen pen(style.colour, style.width, style.dash, Qt::FlatCap, Qt::BevelJoin);
    for (std::size_t i = 0; i < pool.size(); ++i) {
        setShown(pool[i], i < runs.size());
        if (i >= runs.size()) continue;
        if (pool[i]->pen() != pen) pool[i]->setPen(pen);
        pool[i]->replace(toVisiblePoints(runs[i]));
    }
}

void ChartCanvas::setArea(Shape shape, const Line& upper, const Line& lower, const QColor& fill) {
    const Area& area = m_areas[shape];
    setShown(area.series, !upper.empty());
    if (upper.empty()) return;
    if (area.series->brush().color() != fill || area.series->brush().style() != Qt::SolidPattern) area.series->setBrush(fill);
    QLineSeries* const wanted = lower.empty() ? nullptr : area.lower;
    if (area.series->lowerSeries() != wanted) area.series->setLowerSeries(wanted);
    if (wanted != nullptr) area.lower->replace(toPoints(lower));
    area.upper->replace(toPoints(upper));
}

void ChartCanvas::setDots(Shape shape, const Line& points, const QColor& colour) {
    QScatterSeries* dots = m_dots[shape];
    setShown(dots, !points.empty());
    if (points.empty()) return;
    if (dots->color() != colour) dots->setColor(colour);
    dots->replace(toPoints(points));
}

void ChartCanvas::render(QPainter& painter, const QRectF& plot) {
    const QRectF place(QPointF(0, 0), plot.size());
    if (m_chart->size() != plot.size() || m_scene.sceneRect() != place) {
        m_scene.setSceneRect(place);
        m_chart->resize(plot.size());
        m_chart->setPlotArea(place);
    }
    painter.setRenderHint(QPainter::Antialiasing);
    m_scene.render(&painter, plot, place, Qt::IgnoreAspectRatio);
}

}  // namespace stepscope
