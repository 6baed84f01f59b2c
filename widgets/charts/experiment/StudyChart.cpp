#include "widgets/charts/experiment/StudyChart.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/charts/Ticks.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

constexpr double kLeastReachOfBars = 0.05;  // of the axis on either side of 1, as a logarithm
constexpr double kWidestBar = 6;            // beyond exp of it an interval's end stands at the edge
constexpr double kBarRow = 24, kLeastBarRow = 15, kBarDot = 4;

bool hasPlace(double ratio) {
    return std::isfinite(ratio) && ratio > 0;
}

}  // namespace

StudyChart::StudyChart(QWidget* parent) : QWidget(parent) {
    setAccessibleName("Chart of the rows");
    setAccessibleDescription("Nothing has been measured yet.");
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void StudyChart::setBars(std::vector<StudyBar> bars, const QString& head) {
    m_bars = std::move(bars);
    m_head = head;
    const auto measured = std::ranges::count_if(m_bars, [](const StudyBar& bar) { return hasPlace(bar.ratio); });
    setAccessibleDescription(
        QString("%1 rows, %2 of them with a figure. The table has them all.").arg(m_bars.size()).arg(static_cast<qlonglong>(measured)));
    updateGeometry();
    update();
}

QSize StudyChart::minimumSizeHint() const {
    return {220, std::max(100, static_cast<int>(static_cast<double>(m_bars.size()) * kLeastBarRow) + 60)};
}

QSize StudyChart::sizeHint() const {
    return {420, static_cast<int>(static_cast<double>(m_bars.size()) * kBarRow) + 60};
}

Scale StudyChart::scale() const {
    double low = 0, high = 0;
    for (const StudyBar& bar : m_bars)
        for (const double ratio : {bar.ratio, bar.low, bar.high}) {
            if (!hasPlace(bar.ratio) || !hasPlace(ratio)) continue;
            const double at = std::clamp(std::log(ratio), -kWidestBar, kWidestBar);
            low = std::min(low, at);
            high = std::max(high, at);
        }
    // One interval that says nothing yet does not squeeze the others.
    double least = 0, most = 0;
    for (const StudyBar& bar : m_bars)
        if (hasPlace(bar.ratio)) least = std::min(least, std::log(bar.ratio)), most = std::max(most, std::log(bar.ratio));
    low = std::max(low, least - 0.7);
    high = std::min(high, most + 0.7);
    return {std::exp(std::min(-kLeastReachOfBars, low * 1.1)), std::exp(std::max(kLeastReachOfBars, high * 1.1)), true};
}

QRectF StudyChart::plot() const {
    const QFontMetrics metrics(font()), small(smallFont(font()));
    double names = 0;
    for (const StudyBar& bar : m_bars) names = std::max<double>(names, metrics.horizontalAdvance(bar.name));
    names = std::min(names, width() * 0.38);
    return QRectF(rect()).adjusted(names + space(4), small.height() + space(2), -space(3), -(small.height() + space(2)));
}

double StudyChart::rowHeight() const {
    return m_bars.empty() ? kBarRow : std::clamp(plot().height() / static_cast<double>(m_bars.size()), kLeastBarRow, kBarRow);
}

double StudyChart::placeOf(double ratio) const {
    const QRectF area = plot();
    return area.left() + std::clamp(scale().toShare(ratio), 0.0, 1.0) * area.width();
}

void StudyChart::paintBar(QPainter& painter, const StudyBar& bar, const QRectF& row) const {
    const QColor ink = palette().color(QPalette::WindowText), muted = mutedText(palette()), accent = palette().color(QPalette::Highlight);
    const bool out = bar.kind == StudyBar::Kind::Out, chosen = bar.kind == StudyBar::Kind::Chosen;
    QFont name = font();
    name.setBold(chosen);
    painter.setFont(name);
    painter.setPen(out || bar.kind == StudyBar::Kind::Waiting ? muted : ink);
    const QRectF place(space(2), row.top(), plot().left() - space(4), row.height());
    painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(bar.name, Qt::ElideMiddle, static_cast<int>(place.width())));
    const double middle = row.center().y();
    if (!hasPlace(bar.ratio)) {
        painter.setFont(smallFont(font()));
        painter.setPen(muted);
        painter.drawText(QRectF(plot().left() + space(1), row.top(), plot().width() - space(2), row.height()), Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(bar.note, Qt::ElideRight, static_cast<int>(plot().width()) - space(2)));
        return;
    }
    const QColor line = out ? muted : chosen ? accent : ink;
    if (hasPlace(bar.low) && hasPlace(bar.high)) {
        painter.setPen(QPen(line, chosen ? 2.4 : 1.6));
        painter.drawLine(QPointF(placeOf(bar.low), middle), QPointF(placeOf(bar.high), middle));
        for (const double end : {bar.low, bar.high}) painter.drawLine(QPointF(placeOf(end), middle - 4), QPointF(placeOf(end), middle + 4));
    }
    // Hollow while it is measured, and where it is out.
    painter.setPen(QPen(line, 1.6));
    painter.setBrush(out || bar.kind == StudyBar::Kind::Running ? palette().color(QPalette::Base) : line);
    painter.drawEllipse(QPointF(placeOf(bar.ratio), middle), kBarDot, kBarDot);
}

void StudyChart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    const QRectF area = plot();
    const double height = rowHeight(), bottom = std::min(area.bottom(), area.top() + height * static_cast<double>(m_bars.size()));
    painter.setFont(smallFont(font()));
    const QColor muted = mutedText(palette());
    painter.setPen(muted);
    const QRect head(space(2), space(1), width() - space(4), painter.fontMetrics().height());
    painter.drawText(head, Qt::AlignLeft | Qt::AlignVCenter, painter.fontMetrics().elidedText(m_head, Qt::ElideRight, head.width()));
    if (m_bars.empty()) {
        painter.drawText(QRectF(rect()), Qt::AlignCenter, "Each measurement becomes a row here.");
    } else {
        const Scale axis = scale();
        const AxisTicks ticks =
            makeTicks({axis.low, axis.high, axis.high / axis.low > 3}, Quantity::Number, std::max(2, static_cast<int>(area.width() / 70)), 2);
        double edge = -1e9;
        const auto label = [&](double value, const QString& text, bool one) {
            const double at = placeOf(value);
            painter.setPen(one ? QPen(muted, 1, Qt::DashLine) : QPen(gridColour(palette()), 1));
            painter.drawLine(QPointF(at, area.top()), QPointF(at, bottom));
            painter.setPen(one ? palette().color(QPalette::WindowText) : muted);
            // Within the chart, though its value stands at the edge.
            const double left = std::min(at - 30, width() - space(1) - 30.0 - painter.fontMetrics().horizontalAdvance(text) / 2.0);
            painter.drawText(QRectF(left, bottom + 1, 60, painter.fontMetrics().height()), Qt::AlignCenter, text);
        };
        for (const Tick& tick : ticks.ticks) {
            const double at = placeOf(tick.value);
            const bool near = std::abs(at - placeOf(1)) < 26 || at - edge < 34;
            if (near) continue;
            label(tick.value, "×" + tick.label, false);
            edge = at;
        }
        label(1, "×1", true);
        for (std::size_t i = 0; i < m_bars.size(); ++i) {
            const QRectF row(0, area.top() + height * static_cast<double>(i), width(), height);
            if (row.bottom() > area.bottom() + 1) break;
            paintBar(painter, m_bars[i], row);
        }
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(palette().color(QPalette::Mid), 1));
    painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
}

}  // namespace stepscope
