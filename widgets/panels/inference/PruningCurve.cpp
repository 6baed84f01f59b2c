#include "widgets/panels/inference/PruningCurve.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "widgets/style/CsvText.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"
#include "widgets/style/WidgetPicture.h"

namespace stepscope {
namespace {

constexpr int kCurveDot = 3;
// A perplexity may be a thousand times as large, or a per cent larger: equal steps are equal factors.
double heightOf(double change) {
    return std::log1p(std::max(change, -0.99));
}
QString pruningPercent(double share) {
    return QString::number(100 * share, 'g', std::abs(share) >= 1 ? 4 : 3) + " %";
}

}  // namespace

PruningCurve::PruningCurve(QWidget* parent) : QWidget(parent) {
    setAccessibleName("Perplexity by share of zeros");
    setFont(smallFont(font()));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    offerPicture(*this, "pruning", [this] { return asCsv(); });
}

void PruningCurve::setPoints(const std::vector<PrunedPoint>& points) {
    m_points.clear();
    m_most = m_least = 0;
    QStringList said;
    for (const PrunedPoint& point : points) {
        if (!std::isfinite(point.change) || !std::isfinite(point.zeros)) continue;
        m_points.push_back(point);
        m_most = std::max({m_most, point.change, std::isfinite(point.high) ? point.high : point.change});
        m_least = std::min({m_least, point.change, std::isfinite(point.low) ? point.low : point.change});
        said.push_back(point.name + ": " + point.quality);
    }
    setAccessibleDescription(said.join("; "));
    update();
}

QString PruningCurve::asCsv() const {
    CsvText csv({"Name", "Zeros", "Perplexity grows by", "Low", "High"});
    for (const PrunedPoint& point : m_points)
        csv.row({point.name, csvNumber(point.zeros), csvNumber(point.change), csvNumber(point.low), csvNumber(point.high)});
    return csv.text();
}

QSize PruningCurve::sizeHint() const {
    return {320, 11 * fontMetrics().height()};
}
QSize PruningCurve::minimumSizeHint() const {
    return {180, sizeHint().height()};
}

QRectF PruningCurve::plot() const {
    const int left = fontMetrics().horizontalAdvance("100000 %") + space(2), below = 2 * fontMetrics().height() + space(1);
    return QRectF(rect()).adjusted(left, fontMetrics().height() / 2.0, -fontMetrics().horizontalAdvance("100 %"), -below);
}

double PruningCurve::x(double zeros) const {
    return plot().left() + plot().width() * std::clamp(zeros, 0.0, 1.0);
}
double PruningCurve::y(double change) const {
    const double top = std::max(heightOf(m_most), 0.01), bottom = heightOf(m_least);
    return plot().bottom() - plot().height() * (heightOf(change) - bottom) / (top - bottom);
}
QPointF PruningCurve::place(const PrunedPoint& point) const {
    return {x(point.zeros), y(point.change)};
}

void PruningCurve::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool dark = isDark(palette());
    const QRectF plot = this->plot();
    const int line = fontMetrics().height();
    painter.setPen(QPen(gridColour(palette()), 1));
    painter.drawLine(plot.bottomLeft(), plot.topLeft());
    painter.drawLine(QPointF(plot.left(), y(0)), QPointF(plot.right(), y(0)));
    painter.setPen(mutedText(palette()));
    for (const double zeros : {0.0, 0.25, 0.5, 0.75, 1.0})
        painter.drawText(QRectF(x(zeros) - 30, plot.bottom() + space(1), 60, line), Qt::AlignCenter, pruningPercent(zeros));
    painter.drawText(QRectF(plot.left(), plot.bottom() + space(1) + line, plot.width(), line), Qt::AlignCenter, "zeros among the blocks' weights");
    const auto level = [&](double change) {
        painter.drawText(QRectF(0, y(change) - line / 2.0, plot.left() - space(1), line), Qt::AlignRight | Qt::AlignVCenter,
                         (change > 0 ? "+" : "") + pruningPercent(change));
    };
    level(0);
    if (m_points.empty()) {
        painter.drawText(plot, Qt::AlignCenter, "Perplexity was not measured yet");
        return;
    }
    if (y(0) - y(m_most) > line) level(m_most);
    const QColor colour = seriesColour(SeriesRole::Validation, dark);
    painter.setPen(QPen(colour, 1.5));
    QPainterPath path(QPointF(x(0), y(0)));
    for (const PrunedPoint& point : m_points)
        if (!point.pattern) path.lineTo(place(point));
    painter.drawPath(path);
    for (const PrunedPoint& point : m_points) {
        const QPointF at = place(point);
        painter.setPen(QPen(colour, 1));
        if (std::isfinite(point.low) && std::isfinite(point.high)) painter.drawLine(QPointF(at.x(), y(point.low)), QPointF(at.x(), y(point.high)));
        if (point.pattern) {
            // A square, with its name: no meaning by colour alone.
            painter.setBrush(palette().color(QPalette::Window));
            painter.drawRect(QRectF(at.x() - kCurveDot, at.y() - kCurveDot, 2 * kCurveDot, 2 * kCurveDot));
            painter.setPen(palette().color(QPalette::WindowText));
            painter.drawText(QRectF(at.x() - 60, at.y() - line / 2.0, 60 - 2 * kCurveDot, line), Qt::AlignRight | Qt::AlignVCenter, point.name);
        } else {
            painter.setBrush(colour);
            painter.drawEllipse(at, kCurveDot, kCurveDot);
        }
    }
}

}  // namespace stepscope
