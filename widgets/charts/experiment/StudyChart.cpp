#include "widgets/charts/experiment/StudyChart.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/charts/Ticks.h"
#include "widgets/style/CsvText.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"
#include "widgets/style/WidgetPicture.h"

namespace stepscope {
namespace {

constexpr double kLeastReachOfBars = 0.05;  // of the axis on either side of 1, as a logarithm
constexpr double kWidestBar = 6;            // beyond exp of it an interval's end stands at the edge
constexpr double kNamesShare = 0.38;        // of the width, at most
constexpr int kMostNameLines = 4;
constexpr double kBarRow = 24, kLeastBarRow = 15, kBarDot = 4;

bool hasPlace(double ratio) {
    return std::isfinite(ratio) && ratio > 0;
}

const char* stateOf(StudyBar::Kind kind) {
    switch (kind) {
        case StudyBar::Kind::Waiting:
            return "waiting";
        case StudyBar::Kind::Running:
            return "running";
        case StudyBar::Kind::Measured:
            return "measured";
        case StudyBar::Kind::Out:
            return "out";
        case StudyBar::Kind::Chosen:
            return "chosen";
    }
    return "";
}

}  // namespace

StudyChart::StudyChart(QWidget* parent) : QWidget(parent) {
    setAccessibleName("Chart of the rows");
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    offerPicture(*this, "rows", [this] { return asCsv(); });
    setBars({}, {});
}

void StudyChart::setBars(std::vector<StudyBar> bars, const QString& head) {
    m_bars = std::move(bars);
    m_head = head;
    const auto measured = std::ranges::count_if(m_bars, [](const StudyBar& bar) { return hasPlace(bar.ratio); });
    setAccessibleDescription(
        m_bars.empty()
            ? QString("Nothing has been measured yet.")
            : QString("%1 rows, %2 of them with a figure. The table has them all.").arg(m_bars.size()).arg(static_cast<qlonglong>(measured)));
    updateGeometry();
    update();
}

QString StudyChart::asCsv() const {
    CsvText csv({"Name", "Times as fast", "Low", "High", "State", "Note"});
    const auto figure = [](double ratio) { return hasPlace(ratio) ? csvNumber(ratio) : QString(); };
    for (const StudyBar& bar : m_bars) csv.row({bar.name, figure(bar.ratio), figure(bar.low), figure(bar.high), stateOf(bar.kind), bar.note});
    return csv.text();
}

// Of a name in bold, as what was chosen has it.
QFontMetrics StudyChart::nameMetrics() const {
    QFont bold = font();
    bold.setBold(true);
    return QFontMetrics(bold);
}

int StudyChart::namesWidth() const {
    const QFontMetrics metrics = nameMetrics();
    int names = 0;
    for (const StudyBar& bar : m_bars) names = std::max(names, metrics.horizontalAdvance(bar.name));
    return std::min(names + 2, static_cast<int>(width() * kNamesShare));
}

QStringList StudyChart::nameLines(std::size_t row) const {
    const QFontMetrics metrics = nameMetrics();
    const int most = namesWidth();
    QStringList lines;
    for (const QString& word : m_bars[row].name.split(' ')) {
        const bool first = lines.isEmpty();
        const QString longer = first ? word : lines.back() + ' ' + word;
        if (first || (lines.size() < kMostNameLines && metrics.horizontalAdvance(longer) > most))
            lines << word;
        else
            lines.back() = longer;
    }
    for (QString& line : lines) line = metrics.elidedText(line, Qt::ElideRight, most);
    return lines;
}

double StudyChart::leastHeight(std::size_t row) const {
    return std::max<double>(kLeastBarRow, static_cast<double>(nameLines(row).size()) * fontMetrics().height());
}

double StudyChart::leastHeight() const {
    double all = 0;
    for (std::size_t row = 0; row < m_bars.size(); ++row) all += leastHeight(row);
    return all;
}

double StudyChart::headHeight() const {
    return 2 * QFontMetrics(smallFont(font())).height() + space(2);
}

QSize StudyChart::minimumSizeHint() const {
    return {220, std::max(100, static_cast<int>(std::ceil(leastHeight() + headHeight())) + space(3))};
}

QSize StudyChart::sizeHint() const {
    return {420, std::max(minimumSizeHint().height(), static_cast<int>(static_cast<double>(m_bars.size()) * kBarRow) + 60)};
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
    return QRectF(rect()).adjusted(namesWidth() + space(4), headHeight(), -space(3), -space(1));
}

std::vector<QRectF> StudyChart::rowPlaces() const {
    const QRectF area = plot();
    const double least = leastHeight(), spread = least > 0 ? std::clamp(area.height() / least, 1.0, kBarRow / kLeastBarRow) : 1;
    std::vector<QRectF> places;
    double top = area.top();
    for (std::size_t row = 0; row < m_bars.size(); ++row) {
        places.emplace_back(0, top, width(), leastHeight(row) * spread);
        top = places.back().bottom();
    }
    return places;
}

double StudyChart::placeOf(double ratio) const {
    const QRectF area = plot();
    return area.left() + std::clamp(scale().toShare(ratio), 0.0, 1.0) * area.width();
}

QString StudyChart::readOut(const QPoint& at) const {
    const std::vector<QRectF> places = rowPlaces();
    for (std::size_t row = 0; row < places.size(); ++row)
        if (places[row].contains(at)) return m_bars[row].note.isEmpty() ? m_bars[row].name : m_bars[row].name + '\n' + m_bars[row].note;
    return {};
}

bool StudyChart::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString all = readOut(help->pos()).toHtmlEscaped().replace('\n', "<br>");  // what is stored may be a stranger's
    QToolTip::showText(help->globalPos(), all.isEmpty() ? QString() : "<p>" + all + "</p>", this);
    return true;
}

void StudyChart::resizeEvent(QResizeEvent*) {
    updateGeometry();  // names take other lines
}

void StudyChart::moveEvent(QMoveEvent*) {
    update();  // the head stays in sight
}

void StudyChart::paintBar(QPainter& painter, std::size_t at, const QRectF& row) const {
    const StudyBar& bar = m_bars[at];
    const QColor ink = palette().color(QPalette::WindowText), muted = mutedText(palette()), accent = palette().color(QPalette::Highlight);
    const bool out = bar.kind == StudyBar::Kind::Out, chosen = bar.kind == StudyBar::Kind::Chosen;
    QFont name = font();
    name.setBold(chosen);
    painter.setFont(name);
    painter.setPen(out || bar.kind == StudyBar::Kind::Waiting ? muted : ink);
    const QRectF place(space(2), row.top(), plot().left() - space(3), row.height());
    painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter, nameLines(at).join('\n'));
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

// Lines through the rows first; the numbers stand in a head that stays in sight where the page scrolls.
void StudyChart::paintAxis(QPainter& painter, double bottom) const {
    const QRectF area = plot();
    const Scale axis = scale();
    const QColor muted = mutedText(palette());
    painter.setFont(smallFont(font()));
    const int line = painter.fontMetrics().height();
    const double head = std::max(0, -y());
    std::vector<std::pair<double, QString>> shown{{1, "×1"}};
    double edge = -1e9;
    for (const Tick& tick :
         makeTicks({axis.low, axis.high, axis.high / axis.low > 3}, Quantity::Number, std::max(2, static_cast<int>(area.width() / 70)), 2).ticks) {
        const double at = placeOf(tick.value);
        if (std::abs(at - placeOf(1)) < 26 || at - edge < 34) continue;
        shown.emplace_back(tick.value, "×" + tick.label);
        edge = at;
    }
    for (const auto& [value, text] : shown) {
        const double at = placeOf(value);
        painter.setPen(value == 1 ? QPen(muted, 1, Qt::DashLine) : QPen(gridColour(palette()), 1));
        painter.drawLine(QPointF(at, area.top()), QPointF(at, bottom));
    }
    for (std::size_t i = 0; const QRectF& row : rowPlaces()) paintBar(painter, i++, row);
    painter.fillRect(QRectF(0, head, width(), headHeight() - 1), palette().color(QPalette::Base));
    painter.setFont(smallFont(font()));
    for (const auto& [value, text] : shown) {
        painter.setPen(value == 1 ? palette().color(QPalette::WindowText) : muted);
        // Within the chart, though its value stands at the edge.
        const double left = std::min(placeOf(value) - 30, width() - space(1) - 30.0 - painter.fontMetrics().horizontalAdvance(text) / 2.0);
        painter.drawText(QRectF(left, head + space(1) + line, 60, line), Qt::AlignCenter, text);
    }
}

void StudyChart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    if (!m_bars.empty()) paintAxis(painter, rowPlaces().back().bottom());
    painter.setFont(smallFont(font()));
    painter.setPen(mutedText(palette()));
    const QRect head(space(2), std::max(0, -y()) + space(1), width() - space(4), painter.fontMetrics().height());
    painter.drawText(head, Qt::AlignLeft | Qt::AlignVCenter, painter.fontMetrics().elidedText(m_head, Qt::ElideRight, head.width()));
    if (m_bars.empty()) painter.drawText(QRectF(rect()), Qt::AlignCenter, "Each measurement becomes a row here.");
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(palette().color(QPalette::Mid), 1));
    painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
}

}  // namespace stepscope
