#include "widgets/panels/compare/MemoryBars.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/style/CsvText.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"
#include "widgets/style/WidgetPicture.h"

namespace stepscope {
namespace {

QString memoryBytes(double bytes) {
    return QString::fromStdString(format::bytes(bytes));
}

const char* sideName(int side) {
    return side == 0 ? "A" : "B";
}

}  // namespace

MemoryBars::MemoryBars(QWidget* parent) : QWidget(parent) {
    setFont(smallFont(font()));
    setAccessibleName("Memory of both sides at its highest point");
    offerPicture(*this, "memory-of-both", [this] { return asCsv(); });
    hide();
}

void MemoryBars::setSides(const SideMemory& a, const SideMemory& b) {
    m_sides = {a, b};
    m_segments.clear();
    m_most = 0;
    for (const int side : {0, 1}) {
        const SideMemory& one = m_sides[static_cast<std::size_t>(side)];
        double at = 0;
        for (const auto& part : one.parts) {
            if (!(part.bytes > 0) || !std::isfinite(part.bytes)) continue;
            m_segments.push_back(
                {side, part.kind,
                 QString("%1: %2 %3, %4").arg(sideName(side), part.kind, memoryBytes(part.bytes), one.seen ? "captured" : "predicted"), at,
                 at + part.bytes});
            at += part.bytes;
        }
        m_most = std::max({m_most, at, std::isfinite(one.measured) ? one.measured : 0.0});
    }
    setAccessibleDescription(asText());
    setVisible(m_most > 0);
    updateGeometry();
    update();
}

QString MemoryBars::figure(int side) const {
    const SideMemory& one = m_sides[static_cast<std::size_t>(side)];
    if (std::isfinite(one.measured)) return "measured " + memoryBytes(one.measured);
    double all = 0;
    for (const auto& part : one.parts) all += part.bytes;
    return all > 0 ? "predicted " + memoryBytes(all) : QString("unknown");
}

QString MemoryBars::asText() const {
    QStringList lines;
    for (const int side : {0, 1}) {
        QStringList parts;
        for (const auto& part : m_sides[static_cast<std::size_t>(side)].parts) parts << part.kind + ' ' + memoryBytes(part.bytes);
        const bool seen = m_sides[static_cast<std::size_t>(side)].seen;
        lines << QString("%1: %2%3")
                     .arg(sideName(side), figure(side),
                          parts.isEmpty() ? QString() : (seen ? ", captured of " : ", predicted of ") + parts.join(", "));
    }
    return lines.join('\n');
}

QString MemoryBars::asCsv() const {
    CsvText csv({"Side", "Kind", "Bytes", "Known by"});
    for (const Segment& one : m_segments)
        csv.row({sideName(one.side), one.kind, csvNumber(one.to - one.from),
                 m_sides[static_cast<std::size_t>(one.side)].seen ? "capture" : "prediction"});
    for (const int side : {0, 1})
        if (const double measured = m_sides[static_cast<std::size_t>(side)].measured; std::isfinite(measured))
            csv.row({sideName(side), "all", csvNumber(measured), "measurement"});
    return csv.text();
}

QString MemoryBars::heading() const {
    const bool a = m_sides[0].seen, b = m_sides[1].seen;
    const char* kinds = a && b ? "by kind as captured"
                        : a    ? "by kind, of A as captured, of B as predicted"
                        : b    ? "by kind, of A as predicted, of B as captured"
                               : "by kind as predicted";
    return QString("Memory at its highest point: %1, a mark where it was measured").arg(kinds);
}

int MemoryBars::rowHeight() const {
    return fontMetrics().height() + space(2);
}
int MemoryBars::namesWidth() const {
    return fontMetrics().horizontalAdvance("A") + space(2);
}
int MemoryBars::figuresWidth() const {
    return std::max(fontMetrics().horizontalAdvance(figure(0)), fontMetrics().horizontalAdvance(figure(1))) + space(2);
}

QSize MemoryBars::sizeHint() const {
    return {460, 3 * rowHeight()};
}
QSize MemoryBars::minimumSizeHint() const {
    return {namesWidth() + figuresWidth() + 100, sizeHint().height()};
}

double MemoryBars::x(double bytes) const {
    const double left = namesWidth(), right = std::max(left + 1, static_cast<double>(width() - figuresWidth()));
    return left + (right - left) * (m_most > 0 ? bytes / m_most : 0);
}

QRectF MemoryBars::rowOf(int side) const {
    return {0, static_cast<double>((side + 1) * rowHeight()), static_cast<double>(width()), static_cast<double>(rowHeight())};
}

QRectF MemoryBars::placeOf(const Segment& segment) const {
    const QRectF row = rowOf(segment.side);
    return {x(segment.from), row.top() + 2, std::max(1.0, x(segment.to) - x(segment.from)), row.height() - 4};
}

double MemoryBars::markOf(int side) const {
    const double measured = m_sides[static_cast<std::size_t>(side)].measured;
    return std::isfinite(measured) ? x(measured) : kUnknown;
}

void MemoryBars::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setFont(font());
    const bool dark = isDark(palette());
    const QColor ground = palette().color(QPalette::Window), text = palette().color(QPalette::Text);
    painter.setPen(mutedText(palette()));
    painter.drawText(QRectF(0, 0, width(), rowHeight()), Qt::AlignLeft | Qt::AlignVCenter,
                     fontMetrics().elidedText(heading(), Qt::ElideRight, width()));
    for (const int side : {0, 1}) {
        const QRectF row = rowOf(side);
        painter.setPen(text);
        painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter, sideName(side));
        painter.drawText(row, Qt::AlignRight | Qt::AlignVCenter, figure(side));
        const QColor colour = seriesColour(side == 0 ? SeriesRole::A : SeriesRole::B, dark);
        int number = 0;
        for (const Segment& one : m_segments) {
            if (one.side != side) continue;
            const QRectF place = placeOf(one);
            // Neighbours differ, and the name says the rest.
            painter.fillRect(place, faint(colour, ground, number++ % 2 == 0 ? 0.55 : 0.3));
            painter.setPen(text);
            if (fontMetrics().horizontalAdvance(one.kind) + 6 < place.width()) painter.drawText(place, Qt::AlignCenter, one.kind);
        }
        if (const double mark = markOf(side); std::isfinite(mark)) {
            painter.setPen(QPen(text, 2));
            painter.drawLine(QPointF(mark, row.top() + 1), QPointF(mark, row.bottom() - 1));
        }
    }
}

bool MemoryBars::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto under = std::ranges::find_if(m_segments, [&](const Segment& one) { return placeOf(one).contains(help->pos()); });
    if (under != m_segments.end())
        QToolTip::showText(help->globalPos(), under->tip, this);
    else
        QToolTip::showText(help->globalPos(), asText(), this);
    return true;
}

}  // namespace stepscope
