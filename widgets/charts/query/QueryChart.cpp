#include "widgets/charts/query/QueryChart.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "core/base/Utf8.h"
#include "widgets/charts/KeepInSight.h"
#include "widgets/charts/Ticks.h"
#include "widgets/style/CsvText.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"
#include "widgets/style/WidgetPicture.h"

namespace stepscope {
namespace {

constexpr int kQueryBar = 14, kQueryBarGap = 6;  // height of a bar, between two rows
constexpr double kQueryDot = 1.6;

QString shownName(const std::string& text) {
    return QString::fromStdString(printable(text)).left(200);
}

// Ticks between two numbers that differ in their last digits only could not be told apart, nor counted.
Scale drawableScale(double low, double high, bool nice) {
    if (const double around = std::max(1.0, 1e-3 * std::abs(low)); !nice && low == high) return {low - around, high + around, false};
    const double least = 1e-9 * std::max(std::abs(low), std::abs(high));
    if (low < high && high - low <= least) return {low - least, high + least, false};
    return nice || !(low < high) ? niceScale(low, high, false, false) : Scale{low, high, false};
}

QString shownNumber(double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15) return QString::fromStdString(format::count(static_cast<std::int64_t>(value)));
    return QString::number(value, 'g', 6);
}

}  // namespace

QueryChart::QueryChart(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName("Chart of the result");
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setPicture({});
    offerPicture(*this, "query", [this] { return asCsv(); });
}

void QueryChart::setPicture(QueryPicture picture) {
    m_picture = std::move(picture);
    m_chosen = -1;
    m_shares.clear();
    double low = 0, high = 0;
    bool any = false;
    for (const double x : m_picture.x) {
        if (std::isnan(x)) continue;
        low = any ? std::min(low, x) : x;
        high = any ? std::max(high, x) : x;
        any = true;
    }
    // The whole width is of data; one place alone stands in the middle.
    m_x = drawableScale(low, high, false);
    m_y = drawableScale(m_picture.low, m_picture.high, true);
    if (m_picture.kind == QueryPicture::Kind::Line)
        for (const auto& line : m_picture.lines) {
            Column& shares = m_shares.emplace_back();
            for (const double value : line.values) shares.append(m_y.toShare(value));
        }
    const bool drawn = m_picture.kind != QueryPicture::Kind::None;
    m_described = drawn ? QString("%1 of %2 rows. %3 Left and Right go from row to row; the table has all of them.")
                              .arg(m_picture.lines.size() == 1 ? QString("One column") : QString("%1 columns").arg(m_picture.lines.size()))
                              .arg(m_picture.lines.front().values.size())
                              .arg(QString::fromStdString(m_picture.note))
                        : QString::fromStdString(m_picture.why);
    setAccessibleDescription(m_described);
    updateGeometry();
    update();
}

QString QueryChart::asCsv() const {
    QStringList cells{QString::fromStdString(m_picture.xName)};
    for (const auto& line : m_picture.lines) cells << QString::fromStdString(line.name);
    CsvText csv(cells);
    const std::size_t rows = m_picture.lines.empty() ? 0 : m_picture.lines.front().values.size();
    for (std::size_t row = 0; row < rows; ++row) {
        cells = {hasBars() ? QString::fromStdString(m_picture.names[row]) : csvNumber(m_picture.x[row])};
        for (const auto& line : m_picture.lines) cells << csvNumber(line.values[row]);
        csv.row(cells);
    }
    return csv.text();
}

double QueryChart::barGroup() const {
    return static_cast<double>(m_picture.lines.size()) * kQueryBar + kQueryBarGap;
}

QSize QueryChart::minimumSizeHint() const {
    const int head = QFontMetrics(smallFont(font())).height() + space(3);
    return hasBars() ? QSize(220, head + static_cast<int>(static_cast<double>(m_picture.names.size()) * barGroup()) + space(2)) : QSize(220, 110);
}

QSize QueryChart::sizeHint() const {
    return hasBars() ? minimumSizeHint() : QSize(480, 240);
}

QRectF QueryChart::plot() const {
    const QFontMetrics small(smallFont(font()));
    const double top = small.height() + space(3);
    if (!hasBars()) return QRectF(rect()).adjusted(small.horizontalAdvance("-0.000 000") + space(2), top, -space(3), -(small.height() + space(2)));
    double names = 0;
    for (const auto& name : m_picture.names) names = std::max<double>(names, small.horizontalAdvance(shownName(name)));
    return QRectF(rect()).adjusted(std::min(names, width() * 0.42) + space(4), top, -space(3), -space(1));
}

QColor QueryChart::colourOf(std::size_t line) const {
    return overlayColour(line, isDark(palette()));
}

QPointF QueryChart::placeIn(const QRectF& area, std::size_t row, std::size_t line) const {
    const double y = m_y.toShare(m_picture.lines[line].values[row]);
    return {area.left() + m_x.toShare(m_picture.x[row]) * area.width(), area.bottom() - y * area.height()};
}

QPointF QueryChart::placeOf(int row, int line) const {
    return placeIn(plot(), static_cast<std::size_t>(row), static_cast<std::size_t>(line));
}

QString QueryChart::readOut(int row) const {
    const auto r = static_cast<std::size_t>(row);
    QStringList parts;
    for (const auto& line : m_picture.lines)
        parts << shownName(line.name) + ' ' + (std::isnan(line.values[r]) ? QString("–") : shownNumber(line.values[r]));
    const QString place = hasBars() ? shownName(m_picture.names[r]) : shownName(m_picture.xName) + ' ' + shownNumber(m_picture.x[r]);
    return place + ": " + parts.join(", ");
}

int QueryChart::rowAt(QPointF place) const {
    const QRectF area = plot();
    if (m_picture.kind == QueryPicture::Kind::None) return -1;
    if (hasBars()) {
        const int row = static_cast<int>(std::floor((place.y() - area.top()) / barGroup()));
        return row >= 0 && row < static_cast<int>(m_picture.names.size()) ? row : -1;
    }
    int best = -1;
    double least = 0;
    for (std::size_t r = 0; r < m_picture.x.size(); ++r) {
        if (std::isnan(m_picture.x[r])) continue;
        double apart = std::abs(area.left() + m_x.toShare(m_picture.x[r]) * area.width() - place.x());
        // Of dots, that at which the mouse points.
        if (m_picture.kind == QueryPicture::Kind::Dots) {
            double nearest = area.height();
            for (std::size_t line = 0; line < m_picture.lines.size(); ++line)
                if (const double y = placeIn(area, r, line).y(); !std::isnan(y)) nearest = std::min(nearest, std::abs(y - place.y()));
            apart += nearest;
        }
        if (best >= 0 && apart >= least) continue;
        best = static_cast<int>(r);
        least = apart;
    }
    return best;
}

void QueryChart::choose(int row) {
    if (row == m_chosen) return;
    m_chosen = row;
    setAccessibleDescription(row >= 0 ? readOut(row) : m_described);
    update();
}

void QueryChart::mouseMoveEvent(QMouseEvent* event) {
    choose(rowAt(event->position()));
}

void QueryChart::leaveEvent(QEvent*) {
    choose(-1);
}

void QueryChart::keyPressEvent(QKeyEvent* event) {
    const bool on = event->key() == Qt::Key_Right || event->key() == Qt::Key_Down, back = event->key() == Qt::Key_Left || event->key() == Qt::Key_Up;
    if (m_picture.kind == QueryPicture::Kind::None || (!on && !back)) return QWidget::keyPressEvent(event);
    const int rows = static_cast<int>(m_picture.lines.front().values.size());
    int row = m_chosen < 0 ? (on ? 0 : rows - 1) : m_chosen + (on ? 1 : -1);
    // Rows without a place are passed over.
    while (!hasBars() && row >= 0 && row < rows && std::isnan(m_picture.x[static_cast<std::size_t>(row)])) row += on ? 1 : -1;
    if (row < 0 || row >= rows) return;
    choose(row);
    if (!hasBars()) return;
    const double high = barGroup();
    keepInSight(*this, QRectF(0, plot().top() + row * high, 1, high).toAlignedRect());
}

void QueryChart::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(event->rect(), palette().color(QPalette::Base));
    if (m_picture.kind == QueryPicture::Kind::None) {
        painter.setPen(mutedText(palette()));
        painter.drawText(QRectF(rect()).adjusted(space(4), space(2), -space(4), -space(2)), Qt::AlignCenter | Qt::TextWordWrap,
                         QString::fromStdString(m_picture.why));
    } else {
        painter.setFont(smallFont(font()));
        paintHead(painter);
        if (hasBars()) {
            paintBars(painter, event->rect());
        } else {
            paintAxes(painter);
            if (m_picture.kind == QueryPicture::Kind::Line)
                paintLines(painter);
            else
                paintDots(painter);
        }
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(hasFocus() ? palette().color(QPalette::Highlight) : palette().color(QPalette::Mid), 1));
    painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
}

// What the colours mean, or the row under the cursor.
void QueryChart::paintHead(QPainter& painter) const {
    const QFontMetrics metrics = painter.fontMetrics();
    const QRectF head(space(2), space(1), width() - space(4), metrics.height());
    painter.setPen(palette().color(QPalette::WindowText));
    if (m_chosen >= 0) {
        painter.drawText(head, Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(readOut(m_chosen), Qt::ElideRight, static_cast<int>(head.width())));
        return;
    }
    double left = head.left();
    for (std::size_t line = 0; line < m_picture.lines.size(); ++line) {
        const QString name = metrics.elidedText(shownName(m_picture.lines[line].name), Qt::ElideRight, static_cast<int>(head.width() / 2));
        const double wide = metrics.horizontalAdvance(name) + 14.0;
        if (left + wide > head.right()) {
            painter.drawText(QPointF(left, head.top() + metrics.ascent()), "…");
            break;
        }
        painter.fillRect(QRectF(left, head.center().y() - 3, 9, 7), colourOf(line));
        painter.drawText(QPointF(left + 13, head.top() + metrics.ascent()), name);
        left += wide + space(3);
    }
}

void QueryChart::paintAxes(QPainter& painter) const {
    const QRectF area = plot();
    const QFontMetrics metrics = painter.fontMetrics();
    const QColor muted = mutedText(palette());
    const AxisTicks up = makeTicks(m_y, Quantity::Number, std::max(2, static_cast<int>(area.height() / 34)));
    for (const Tick& tick : up.ticks) {
        const double y = area.bottom() - m_y.toShare(tick.value) * area.height();
        painter.setPen(QPen(gridColour(palette()), 1));
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
        painter.setPen(muted);
        painter.drawText(QRectF(0, y - metrics.height() / 2.0, area.left() - space(1), metrics.height()), Qt::AlignRight | Qt::AlignVCenter,
                         tick.label);
    }
    const AxisTicks along = makeTicks(m_x, Quantity::Number, std::max(2, static_cast<int>(area.width() / 90)));
    const QString name = shownName(m_picture.xName) + (along.unit.isEmpty() ? QString() : QString(" (%1)").arg(along.unit));
    const double foot = area.bottom() + 2, room = std::min<double>(metrics.horizontalAdvance(name) + space(2), area.width() / 2);
    for (const Tick& tick : along.ticks) {
        const double x = area.left() + m_x.toShare(tick.value) * area.width(), half = metrics.horizontalAdvance(tick.label) / 2.0;
        painter.setPen(QPen(gridColour(palette()), 1));
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
        if (x + half > width() - room) continue;
        painter.setPen(muted);
        painter.drawText(QRectF(x - half - 1, foot, 2 * half + 2, metrics.height()), Qt::AlignCenter, tick.label);
    }
    painter.setPen(muted);
    painter.drawText(QRectF(width() - room, foot, room - space(1), metrics.height()), Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(name, Qt::ElideRight, static_cast<int>(room) - space(1)));
    if (!up.unit.isEmpty()) painter.drawText(QPointF(area.left() + space(1), area.top() + metrics.ascent()), up.unit);
    if (m_chosen < 0) return;
    const double x = area.left() + m_x.toShare(m_picture.x[static_cast<std::size_t>(m_chosen)]) * area.width();
    painter.setPen(QPen(muted, 1, Qt::DashLine));
    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
}

void QueryChart::paintLines(QPainter& painter) const {
    const QRectF area = plot();
    const Places places{m_picture.x.size(), [this](std::size_t row) { return m_picture.x[row]; }};
    for (std::size_t line = 0; line < m_shares.size(); ++line) {
        painter.setPen(QPen(colourOf(line), 1.5, overlayDash(line)));
        painter.setBrush(colourOf(line));
        for (const auto& stretch : decimate(places, m_shares[line], m_x, static_cast<std::size_t>(std::max(1.0, area.width())), false)) {
            QPolygonF points;
            for (const Point& point : stretch)
                points << QPointF(area.left() + m_x.toShare(point.x) * area.width(), area.bottom() - point.y * area.height());
            if (points.size() == 1)
                painter.drawEllipse(points.front(), kQueryDot, kQueryDot);
            else
                painter.drawPolyline(points);
        }
    }
}

// One dot a place of the screen, however many rows lie on it.
void QueryChart::paintDots(QPainter& painter) const {
    const QRectF area = plot();
    const int wide = std::max(1, static_cast<int>(area.width()) + 1), high = std::max(1, static_cast<int>(area.height()) + 1);
    for (std::size_t line = 0; line < m_picture.lines.size(); ++line) {
        std::vector<bool> taken(static_cast<std::size_t>(wide) * static_cast<std::size_t>(high));
        painter.setPen(Qt::NoPen);
        painter.setBrush(colourOf(line));
        for (std::size_t row = 0; row < m_picture.x.size(); ++row) {
            if (std::isnan(m_picture.x[row]) || std::isnan(m_picture.lines[line].values[row])) continue;
            const QPointF place = placeIn(area, row, line);
            const int x = std::clamp(static_cast<int>(place.x() - area.left()), 0, wide - 1),
                      y = std::clamp(static_cast<int>(place.y() - area.top()), 0, high - 1);
            const std::size_t cell = static_cast<std::size_t>(y) * static_cast<std::size_t>(wide) + static_cast<std::size_t>(x);
            if (taken[cell]) continue;
            taken[cell] = true;
            painter.drawEllipse(place, kQueryDot, kQueryDot);
        }
    }
}

void QueryChart::paintBars(QPainter& painter, const QRect& dirty) const {
    const QRectF area = plot();
    const QFontMetrics metrics = painter.fontMetrics();
    const double low = std::min(0.0, m_picture.low), high = std::max(0.0, m_picture.high);
    const double numbers = metrics.horizontalAdvance("-0.000 000");
    // The longest bars leave room for their numbers.
    const double before = low < 0 ? numbers : 0, behind = high > 0 || low >= 0 ? numbers : 0;
    const double wide = std::max(20.0, area.width() - before - behind);
    const double zero = area.left() + before + (high > low ? -low / (high - low) * wide : 0);
    for (std::size_t row = 0; row < m_picture.names.size(); ++row) {
        const double top = area.top() + static_cast<double>(row) * barGroup();
        if (top > dirty.bottom() || top + barGroup() < dirty.top()) continue;
        if (static_cast<int>(row) == m_chosen)
            painter.fillRect(QRectF(1, top, width() - 2, barGroup()),
                             faint(palette().color(QPalette::Highlight), palette().color(QPalette::Base), 0.12));
        painter.setPen(palette().color(QPalette::WindowText));
        const QRectF name(space(2), top, area.left() - space(4), barGroup() - kQueryBarGap);
        painter.drawText(name, Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(shownName(m_picture.names[row]), Qt::ElideMiddle, static_cast<int>(name.width())));
        for (std::size_t line = 0; line < m_picture.lines.size(); ++line) {
            const double value = m_picture.lines[line].values[row], at = top + static_cast<double>(line) * kQueryBar + 1;
            const double length = std::isnan(value) || high <= low ? 0 : std::abs(value) / (high - low) * wide;
            const QRectF bar(value < 0 ? zero - length : zero, at, std::max(length, 1.0), kQueryBar - 2);
            painter.fillRect(bar, colourOf(line));
            painter.setPen(mutedText(palette()));
            const QString number = std::isnan(value) ? QString("–") : shownNumber(value);
            const QRectF beside(value < 0 ? bar.left() - numbers - 4 : bar.right() + 4, at - 1, numbers, kQueryBar);
            painter.drawText(beside, (value < 0 ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter | Qt::TextDontClip, number);
        }
    }
}

}  // namespace stepscope
