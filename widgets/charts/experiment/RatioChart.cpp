#include "widgets/charts/experiment/RatioChart.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/charts/Ticks.h"
#include "widgets/style/CsvText.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"
#include "widgets/style/WidgetPicture.h"

namespace stepscope {
namespace {

constexpr double kDot = 3.2, kReach = 14;  // radius; how near the mouse must be
constexpr double kLeastReach = 0.02;       // of the axis on either side of 1, as a logarithm
constexpr double kFar = 0.08;              // from here on, when all pairs lie beyond it, the other side of 1 needs little room
constexpr std::size_t kFewestPlaces = 8;   // of pairs along the axis

bool shown(double ratio) {
    return std::isfinite(ratio) && ratio > 0;
}

QString percent(double ratio) {
    const double apart = ratio >= 1 ? ratio - 1 : 1 / ratio - 1;
    return QString::number(apart * 100, 'f', apart < 0.1 ? 2 : 1) + " %";
}

}  // namespace

RatioChart::RatioChart(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName("Pairs");
    offerPicture(*this, "pairs", [this] { return asCsv(); });
    setPairs({}, m_delta);
}

void RatioChart::setPairs(std::vector<RatioPair> pairs, double delta) {
    m_pairs = std::move(pairs);
    m_delta = delta;
    if (m_chosen >= static_cast<int>(m_pairs.size())) m_chosen = -1;
    const auto left = std::ranges::count_if(m_pairs, &RatioPair::left);
    m_described =
        m_pairs.empty()
            ? QString("No pair has been measured yet.")
            : QString("%1 pairs, %2 of them left out. Left and Right go from pair to pair.").arg(m_pairs.size()).arg(static_cast<qlonglong>(left));
    describe();
    update();
}

QString RatioChart::asCsv() const {
    CsvText csv({"Pair", "A / B", "Low", "High", "Left out", "Made anew"});
    const auto figure = [](double ratio) { return shown(ratio) ? csvNumber(ratio) : QString(); };
    for (const RatioPair& pair : m_pairs)
        csv.row({QString::number(pair.number + 1), figure(pair.ratio), figure(pair.low), figure(pair.high), pair.left ? "1" : "0",
                 QString::number(pair.rebuild)});
    return csv.text();
}

Scale RatioChart::scale() const {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    const auto see = [&](double ratio) {
        if (!shown(ratio)) return;
        low = std::min(low, std::log(ratio));
        high = std::max(high, std::log(ratio));
    };
    // What other programs did to a pair does not squeeze the others; such a dot stands at the edge.
    for (const RatioPair& pair : m_pairs)
        if (!pair.left) see(pair.ratio);
    // Early intervals are wide; only the newest must be seen whole.
    if (!m_pairs.empty() && shown(m_pairs.back().low) && shown(m_pairs.back().high)) see(m_pairs.back().low), see(m_pairs.back().high);
    if (low > high) low = high = 0;
    const double zone = std::log1p(m_delta);
    const double reach = std::max({kLeastReach, 1.6 * zone, 1.12 * std::max(std::abs(low), std::abs(high))});
    double down = reach, up = reach;
    const double little = std::max(1.6 * zone, 0.15 * reach);
    if (low > kFar) down = little;
    if (high < -kFar) up = little;
    return {std::exp(-down), std::exp(up), true};
}

QRectF RatioChart::plot() const {
    const QFontMetrics metrics(smallFont(font()));
    const double left = metrics.horizontalAdvance("0.975") + space(3), head = metrics.height() + space(2), foot = metrics.height() + space(2);
    return QRectF(rect()).adjusted(left, head, -space(2), -foot);
}

double RatioChart::x(double pair) const {
    const QRectF area = plot();
    const auto places = static_cast<double>(std::max(kFewestPlaces, m_pairs.size()));
    return area.left() + (pair + 0.5) / places * area.width();
}

double RatioChart::y(double ratio) const {
    const QRectF area = plot();
    return area.bottom() - std::clamp(scale().toShare(ratio), 0.0, 1.0) * area.height();
}

QPointF RatioChart::placeOf(std::size_t pair) const {
    return {x(static_cast<double>(pair)), y(m_pairs[pair].ratio)};
}

QString RatioChart::readOut(std::size_t pair) const {
    const RatioPair& at = m_pairs[pair];
    QString said = QString("pair %1: ").arg(at.number + 1);
    if (!shown(at.ratio))
        said += "no times";
    else if (std::abs(at.ratio - 1) < 5e-5)
        said += "no difference";
    else
        said += QString("%1 %2 faster").arg(at.ratio > 1 ? "B" : "A", percent(at.ratio));
    return at.left ? said + ", left out: other programs used the machine" : said;
}

void RatioChart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    paintGround(painter);
    paintInterval(painter);
    paintDots(painter);
    paintHead(painter);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(hasFocus() ? palette().color(QPalette::Highlight) : palette().color(QPalette::Mid), 1));
    painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
}

// Rebuilds as bands, what counts as equal, the axis.
void RatioChart::paintGround(QPainter& painter) const {
    const QRectF area = plot();
    const QColor ground = palette().color(QPalette::Base), muted = mutedText(palette());
    for (std::size_t i = 0; i < m_pairs.size(); ++i) {
        if (m_pairs[i].rebuild % 2 == 0) continue;
        const double from = x(static_cast<double>(i) - 0.5), to = x(static_cast<double>(i) + 0.5);
        painter.fillRect(QRectF(from, area.top(), to - from, area.height()), faint(muted, ground, 0.09));
    }
    const double top = y(1 + m_delta), bottom = y(1 / (1 + m_delta));
    painter.fillRect(QRectF(area.left(), top, area.width(), bottom - top),
                     faint(seriesColour(SeriesRole::Throughput, isDark(palette())), ground, 0.2));

    painter.setFont(smallFont(font()));
    const Scale axis = scale();
    const int most = std::max(2, static_cast<int>(area.height() / 34));
    // Over less than a factor of two, evenly spaced numbers are the readable ones, wherever the logarithm puts them.
    const AxisTicks ticks = makeTicks({axis.low, axis.high, axis.high / axis.low > 3}, Quantity::Number, most, 2);
    for (const Tick& tick : ticks.ticks) {
        const double at = y(tick.value);
        if (std::abs(tick.value - 1) > 1e-9) {
            painter.setPen(QPen(gridColour(palette()), 1));
            painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at));
        }
        if (std::abs(at - y(1)) < painter.fontMetrics().height() * 0.9) continue;  // the 1 is there
        painter.setPen(muted);
        painter.drawText(QRectF(0, at - 10, area.left() - space(1), 20), Qt::AlignRight | Qt::AlignVCenter, tick.label);
    }
    painter.setPen(QPen(muted, 1, Qt::DashLine));
    painter.drawLine(QPointF(area.left(), y(1)), QPointF(area.right(), y(1)));
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(QRectF(0, y(1) - 10, area.left() - space(1), 20), Qt::AlignRight | Qt::AlignVCenter, "1");

    painter.setPen(muted);
    const QRectF foot(area.left(), area.bottom() + 2, area.width(), painter.fontMetrics().height() + 2);
    if (m_pairs.empty()) {
        painter.drawText(foot, Qt::AlignLeft | Qt::AlignVCenter, "pairs");
        // Above the line at 1 and its band, not on them.
        painter.drawText(QRectF(area.left(), area.top(), area.width(), std::max(0.0, top - area.top())), Qt::AlignCenter,
                         "Each pair of measurements becomes a dot here.");
        return;
    }
    painter.drawText(foot, Qt::AlignLeft | Qt::AlignVCenter, "pair 1");
    painter.drawText(QRectF(x(static_cast<double>(m_pairs.size()) - 1) - 60, foot.top(), 120, foot.height()).intersected(QRectF(foot)),
                     Qt::AlignHCenter | Qt::AlignVCenter, m_pairs.size() < 5 ? QString() : QString::number(m_pairs.back().number + 1));
}

// What the pairs said after each of them, from the first that said anything: it narrows.
void RatioChart::paintInterval(QPainter& painter) const {
    const QColor ground = palette().color(QPalette::Base), accent = palette().color(QPalette::Highlight);
    QPolygonF upper, lower;
    for (std::size_t i = 0; i < m_pairs.size(); ++i) {
        if (!shown(m_pairs[i].low) || !shown(m_pairs[i].high)) continue;
        upper << QPointF(x(static_cast<double>(i)), y(m_pairs[i].high));
        lower.prepend(QPointF(x(static_cast<double>(i)), y(m_pairs[i].low)));
    }
    if (upper.size() < 2) return;
    QColor band = accent;
    band.setAlphaF(0.16F);
    painter.setPen(Qt::NoPen);
    painter.setBrush(band);
    painter.drawPolygon(upper + lower);
    painter.setPen(QPen(faint(accent, ground, 0.75), 1.3));
    painter.drawPolyline(upper);
    painter.drawPolyline(lower);
}

void RatioChart::paintDots(QPainter& painter) const {
    const QColor ink = palette().color(QPalette::WindowText), ground = palette().color(QPalette::Base);
    const double width = plot().width() / static_cast<double>(std::max(kFewestPlaces, m_pairs.size()));
    const double radius = std::clamp(width * 0.7, 1.4, kDot);
    for (std::size_t i = 0; i < m_pairs.size(); ++i) {
        if (!shown(m_pairs[i].ratio)) continue;
        const bool chosen = static_cast<int>(i) == m_chosen;
        painter.setPen(QPen(m_pairs[i].left ? mutedText(palette()) : chosen ? ink : faint(ink, ground, 0.72), 1.2));
        painter.setBrush(m_pairs[i].left ? QBrush(ground) : QBrush(faint(ink, ground, chosen ? 1 : 0.72)));
        painter.drawEllipse(placeOf(i), chosen ? radius + 2 : radius, chosen ? radius + 2 : radius);
    }
}

// The dot that is looked at, or what the axis and the colours mean.
void RatioChart::paintHead(QPainter& painter) const {
    painter.setFont(smallFont(font()));
    const QFontMetrics metrics = painter.fontMetrics();
    const QRect head(space(2), space(1), width() - space(4), metrics.height());
    painter.setPen(m_chosen >= 0 ? palette().color(QPalette::WindowText) : mutedText(palette()));
    const QString what =
        m_chosen >= 0 ? readOut(static_cast<std::size_t>(m_chosen)) : QString("time of A ÷ time of B, per token: above 1, B is faster");
    painter.drawText(head, Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(what, Qt::ElideRight, head.width()));
    const QRectF area = plot();
    painter.setPen(mutedText(palette()));
    // Names in the plot only where no dot is near.
    const QString equal = QString("equal within ±%1 %").arg(m_delta * 100, 0, 'g', 3);
    const double height = y(1 / (1 + m_delta)) - y(1 + m_delta);
    if (height > metrics.height())
        painter.drawText(QRectF(area.left() + space(1), y(1 + m_delta), area.width(), metrics.height()), Qt::AlignLeft | Qt::AlignVCenter, equal);
    else if (!m_pairs.empty())
        painter.drawText(QRectF(area.left(), area.bottom() + 2, area.width(), metrics.height() + 2), Qt::AlignRight | Qt::AlignVCenter,
                         m_pairs.size() < 5 ? "green: " + equal : QString());
}

void RatioChart::choose(int pair) {
    if (pair == m_chosen) return;
    m_chosen = pair;
    describe();
    update();
}

// The pair that is looked at, else what there is to go through.
void RatioChart::describe() {
    setAccessibleDescription(m_chosen >= 0 ? readOut(static_cast<std::size_t>(m_chosen)) : m_described);
}

void RatioChart::mouseMoveEvent(QMouseEvent* event) {
    int nearest = -1;
    double best = kReach * kReach;
    for (std::size_t i = 0; i < m_pairs.size(); ++i) {
        if (!shown(m_pairs[i].ratio)) continue;
        const QPointF apart = placeOf(i) - event->position();
        if (const double square = QPointF::dotProduct(apart, apart); square < best) best = square, nearest = static_cast<int>(i);
    }
    choose(nearest);
}

void RatioChart::leaveEvent(QEvent*) {
    choose(-1);
}

void RatioChart::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    choose(-1);
}

void RatioChart::keyPressEvent(QKeyEvent* event) {
    const int last = static_cast<int>(m_pairs.size()) - 1;
    const int key = event->key();
    if (last < 0 || (key != Qt::Key_Left && key != Qt::Key_Right && key != Qt::Key_Home && key != Qt::Key_End)) return QWidget::keyPressEvent(event);
    if (key == Qt::Key_Home) return choose(0);
    if (key == Qt::Key_End || m_chosen < 0) return choose(last);
    choose(std::clamp(m_chosen + (key == Qt::Key_Left ? -1 : 1), 0, last));
}

}  // namespace stepscope
