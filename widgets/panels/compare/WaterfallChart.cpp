#include "widgets/panels/compare/WaterfallChart.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/charts/KeepInSight.h"
#include "widgets/style/CsvText.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"
#include "widgets/style/WidgetPicture.h"

namespace stepscope {
namespace {

constexpr double kSmall = 0.01;  // of the longer step: differences below are drawn together

QString waterfallMs(double ms) {
    return QString::fromStdString(format::milliseconds(ms));
}
QString waterfallDifference(double ms) {
    return QString::fromStdString(signedMilliseconds(ms));
}

}  // namespace

WaterfallChart::WaterfallChart(QWidget* parent) : QWidget(parent) {
    setAccessibleName("Why, by kind of work");
    setFocusPolicy(Qt::StrongFocus);
    setFont(smallFont(font()));
    offerPicture(*this, "why", [this] { return asCsv(); });
}

void WaterfallChart::setResult(const WaterfallResult& result) {
    m_bars.clear();
    m_chosen = -1;
    QString said;
    if (!result.classes.empty()) {
        m_bars.push_back(
            {.name = "A", .to = result.measuredA, .whole = true, .tip = QString("A step of A takes %1").arg(waterfallMs(result.measuredA))});
        std::vector<const ClassDifference*> shown;
        const double longer = std::max(result.measuredA, result.measuredB);
        double at = result.measuredA, rest = 0;
        for (const auto& one : result.classes) {
            if (std::abs(one.difference()) < kSmall * longer)
                rest += one.difference();
            else
                shown.push_back(&one);
        }
        std::ranges::sort(shown, std::greater<>(), [](const auto* one) { return std::abs(one->difference()); });
        for (const auto* one : shown) {
            const QString interval = std::isfinite(one->low)
                                         ? QString(", 95 % interval %1 to %2").arg(waterfallDifference(one->low), waterfallDifference(one->high))
                                         : QString();
            m_bars.push_back(
                {.name = toString(one->kind),
                 .from = at,
                 .to = at + one->difference(),
                 .low = at + one->low,
                 .high = at + one->high,
                 .tip = QString("%1: %2 with A, %3 with B%4").arg(toString(one->kind), waterfallMs(one->a), waterfallMs(one->b), interval)});
            at += one->difference();
        }
        if (shown.size() < result.classes.size()) {
            m_bars.push_back({.name = "all else", .from = at, .to = at + rest, .tip = "Kinds of work that differ by less than 1 % of a step each"});
            at += rest;
        }
        const QString open = std::isfinite(result.open)
                                 ? QString("; the pairs and the captured steps leave %1 either way open").arg(waterfallMs(result.open))
                                 : QString();
        m_bars.push_back(
            {.name = "not explained",
             .from = at,
             .to = result.measuredB,
             .low = at + result.apart - result.open,
             .high = at + result.apart + result.open,
             .tip = "What was measured less what was captured: a capture slows one side more than the other, or the machine changed" + open});
        m_bars.push_back(
            {.name = "B", .to = result.measuredB, .whole = true, .tip = QString("A step of B takes %1").arg(waterfallMs(result.measuredB))});
        said = QString::fromStdString(waterfallSentence(result)) + " Up and Down go from bar to bar.";
    }
    setAccessibleDescription(said);
    updateGeometry();
    update();
}

QString WaterfallChart::asCsv() const {
    CsvText csv({"Name", "From (ms)", "To (ms)", "Low (ms)", "High (ms)"});
    for (const Bar& bar : m_bars) csv.row({bar.name, csvNumber(bar.from), csvNumber(bar.to), csvNumber(bar.low), csvNumber(bar.high)});
    return csv.text();
}

int WaterfallChart::rowHeight() const {
    return fontMetrics().height() + space(2);
}
int WaterfallChart::namesWidth() const {
    int widest = fontMetrics().horizontalAdvance("host and waiting");
    for (const Bar& bar : m_bars) widest = std::max(widest, fontMetrics().horizontalAdvance(bar.name));
    return widest + space(2);
}
int WaterfallChart::figuresWidth() const {
    return fontMetrics().horizontalAdvance(QString(QChar(0x2212)) + "000.0 ms") + space(2);
}

QSize WaterfallChart::sizeHint() const {
    return {460, static_cast<int>(m_bars.size()) * rowHeight() + space(1)};
}
QSize WaterfallChart::minimumSizeHint() const {
    return {namesWidth() + figuresWidth() + 100, sizeHint().height()};
}

double WaterfallChart::x(double ms) const {
    double low = 0, high = 0;
    for (const Bar& bar : m_bars) {
        low = std::min({low, bar.from, bar.to});
        high = std::max({high, bar.from, bar.to});
        if (std::isfinite(bar.high)) high = std::max(high, bar.high);
        if (std::isfinite(bar.low)) low = std::min(low, bar.low);
    }
    const double left = namesWidth(), right = width() - figuresWidth();
    return high > low ? left + (right - left) * (ms - low) / (high - low) : left;
}

QRectF WaterfallChart::barPlace(std::size_t bar) const {
    const Bar& one = m_bars.at(bar);
    const double left = x(std::min(one.from, one.to)), right = x(std::max(one.from, one.to));
    return {left, static_cast<double>(bar) * rowHeight() + space(1), std::max(1.0, right - left), static_cast<double>(rowHeight() - space(1))};
}

void WaterfallChart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setFont(font());
    const bool dark = isDark(palette());
    const QColor a = seriesColour(SeriesRole::A, dark), b = seriesColour(SeriesRole::B, dark);
    const QColor less = seriesColour(SeriesRole::Throughput, dark), more = seriesColour(SeriesRole::Clip, dark),
                 unsure = seriesColour(SeriesRole::Idle, dark);
    for (std::size_t i = 0; i < m_bars.size(); ++i) {
        const Bar& bar = m_bars[i];
        const QRectF place = barPlace(i), row(0, place.top() - space(1) / 2.0, width(), rowHeight());
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(QRectF(0, row.top(), namesWidth() - space(1), row.height()), Qt::AlignLeft | Qt::AlignVCenter, bar.name);
        const double difference = bar.to - bar.from;
        const QColor colour = bar.whole ? (i == 0 ? a : b) : bar.name == "not explained" ? unsure : difference < 0 ? less : more;
        painter.fillRect(place, colour);
        if (i + 1 < m_bars.size()) {  // where the next one begins
            painter.setPen(QPen(gridColour(palette()), 1));
            painter.drawLine(QPointF(x(bar.to), place.bottom()), QPointF(x(bar.to), place.bottom() + space(1)));
        }
        if (std::isfinite(bar.low) && std::isfinite(bar.high) && !bar.whole) {
            painter.setPen(QPen(palette().color(QPalette::Text), 1));
            const double middle = place.center().y();
            painter.drawLine(QPointF(x(bar.low), middle), QPointF(x(bar.high), middle));
            for (const double end : {bar.low, bar.high}) painter.drawLine(QPointF(x(end), middle - 3), QPointF(x(end), middle + 3));
        }
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(QRectF(width() - figuresWidth(), row.top(), figuresWidth(), row.height()), Qt::AlignRight | Qt::AlignVCenter,
                         bar.whole ? waterfallMs(bar.to) : waterfallDifference(difference));
    }
    if (!hasFocus()) return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(accentColour(dark));
    const double top = m_chosen < 0 ? 0 : barPlace(static_cast<std::size_t>(m_chosen)).top() - space(1) / 2.0;
    painter.drawRect(QRectF(0.5, top + 0.5, width() - 1.0, (m_chosen < 0 ? height() : rowHeight()) - 1.0));
}

void WaterfallChart::keyPressEvent(QKeyEvent* event) {
    const int last = static_cast<int>(m_bars.size()) - 1;
    const bool on = event->key() == Qt::Key_Down || event->key() == Qt::Key_Right, back = event->key() == Qt::Key_Up || event->key() == Qt::Key_Left;
    if (last < 0 || (!on && !back)) return QWidget::keyPressEvent(event);
    m_chosen = m_chosen < 0 ? (on ? 0 : last) : std::clamp(m_chosen + (on ? 1 : -1), 0, last);
    const Bar& bar = m_bars[static_cast<std::size_t>(m_chosen)];
    setAccessibleDescription(
        bar.whole || bar.tip.startsWith(bar.name) ? bar.tip : QString("%1: %2. %3").arg(bar.name, waterfallDifference(bar.to - bar.from), bar.tip));
    keepInSight(*this, QRectF(0, barPlace(static_cast<std::size_t>(m_chosen)).top(), 1, rowHeight()).toAlignedRect());
    update();
}

bool WaterfallChart::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto row = static_cast<std::size_t>(std::max(0, help->pos().y()) / std::max(1, rowHeight()));
    if (row < m_bars.size())
        QToolTip::showText(help->globalPos(), m_bars[row].tip, this);
    else
        QToolTip::hideText();
    return true;
}

}  // namespace stepscope
