// The picture of the pane Roofline: axes, roof, dots, names, legend; what mouse and keys do on it.
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QTransform>
#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/style/CsvText.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"
#include "widgets/style/WidgetPicture.h"
#include "widgets/timeline/panes/RooflinePane.h"

namespace stepscope {
namespace {

constexpr double kLeastRadius = 3.5, kWidestRadius = 13, kReach = 8;
constexpr double kMargin = 0.12;  // of an axis, at either end, in powers of ten
constexpr int kMostDotNames = 8;
constexpr double kNameStep = 13;  // further away from its dot, where nearer there is no room
constexpr int kNameSteps = 5;
constexpr std::size_t kFewestMarks = 3;
// Beyond these a figure is no machine's.
constexpr double kLeastPower = -9, kMostPower = 21;

struct Ceiling {
    QString name;
    double flops = 0;
};

// One for each number format that something here computes in; where nothing does, of all that are known.
std::vector<Ceiling> ceilings(const std::vector<RooflineDot>& dots, const Roof& roof) {
    std::vector<Ceiling> all;
    for (const char* type : {"Float", "BFloat16", "Half"}) {
        const bool used = dots.empty() || std::ranges::any_of(dots, [&](const RooflineDot& dot) {
                              return dot.type.empty() || std::string_view(formatOf(dot.type)) == formatOf(type);
                          });
        if (used && roof.flopsOf(type) > 0) all.push_back({QString::fromLatin1(formatOf(type)), roof.flopsOf(type)});
    }
    return all;
}

double power(double value) {
    return std::clamp(std::log10(std::max(value, 1e-9)), kLeastPower, kMostPower);
}

// So many times a power of ten as few letters: "0.1", "20", "100 G".
QString axisWords(int times, int powerOfTen) {
    static constexpr const char* kPrefixes[] = {"", " K", " M", " G", " T", " P"};
    if (powerOfTen < 3 || powerOfTen >= 18) return QString::number(times * std::pow(10.0, powerOfTen), 'g', 6);
    return QString::number(times * std::pow(10.0, powerOfTen % 3)) + kPrefixes[powerOfTen / 3];
}

QString rateWords(double value, const char* unit) {
    return paneText(format::rate(value, unit));
}

}  // namespace

std::vector<RooflineView::AxisMark> RooflineView::marksOf(Span span) {
    std::vector<AxisMark> marks;
    const auto fill = [&](std::initializer_list<int> each) {
        marks.clear();
        for (int at = static_cast<int>(std::floor(span.from)); at <= span.to; ++at)
            for (const int times : each) {
                const double place = at + std::log10(static_cast<double>(times));
                if (place >= span.from && place <= span.to) marks.push_back({std::pow(10.0, place), axisWords(times, at)});
            }
    };
    fill({1});
    // One number says nothing of an axis.
    if (marks.size() < kFewestMarks) fill({1, 2, 5});
    return marks;
}

RooflineView::RooflineView(QWidget* parent) : QWidget(parent) {
    setFont(smallFont(font()));
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName("Roofline: FLOP per second over FLOP per byte");
    offerPicture(*this, "roofline", [this] { return asCsv(); });
}

void RooflineView::setDots(std::vector<RooflineDot> dots, const Roof& roof) {
    m_dots = std::move(dots);
    m_roof = roof;
    m_selected = m_hovered = -1;
    double left = 1e9, right = -1e9, low = 1e9, high = -1e9;
    const auto take = [&](double intensity, double flops) {
        left = std::min(left, power(intensity));
        right = std::max(right, power(intensity));
        low = std::min(low, power(flops));
        high = std::max(high, power(flops));
    };
    for (const RooflineDot& dot : m_dots) take(dot.intensity, dot.flopsPerSecond);
    // The bend of the roof is in sight, and of memory's roof as much as dots reach.
    if (m_roof.known())
        for (const Ceiling& one : ceilings(m_dots, m_roof)) take(one.flops / m_roof.bytesPerSecond, one.flops);
    describe();
    if (left > right) left = -1, right = 2, low = 6, high = 12;
    m_across = {left - kMargin - 0.2, std::max(right, left + 1) + kMargin + 0.3};
    m_up = {low - 0.5, std::max(high, low + 1) + kMargin + 0.2};
    update();
}

QString RooflineView::asCsv() const {
    CsvText csv({"Name", "Layer", "Role", "Phase", "Type", "Calls", "Time (ms)", "FLOP a byte", "FLOP/s", "B/s", "Share (%)", "Bound by"});
    for (const RooflineDot& dot : m_dots)
        csv.row({paneText(dot.name), dot.layer < 0 ? QString() : QString::number(dot.layer), paneText(dot.role), paneText(dot.phase),
                 paneText(dot.type), QString::number(dot.calls), csvMilliseconds(dot.time.ns), csvNumber(dot.intensity),
                 csvNumber(dot.flopsPerSecond), csvNumber(dot.bytesPerSecond), csvNumber(100 * dot.share),
                 dot.bounded.by == Bound::Unknown ? QString() : QString(toString(dot.bounded.by))});
    return csv.text();
}

QRectF RooflineView::area() const {
    const int line = fontMetrics().height();
    return QRectF(rect()).adjusted(fontMetrics().horizontalAdvance("FLOP/s") + 12, line + 6, -10, -(2 * line + 4));
}

double RooflineView::x(double intensity) const {
    const QRectF all = area();
    return all.left() + all.width() * (power(intensity) - m_across.from) / (m_across.to - m_across.from);
}

double RooflineView::y(double flops) const {
    const QRectF all = area();
    return all.bottom() - all.height() * (power(flops) - m_up.from) / (m_up.to - m_up.from);
}

QPointF RooflineView::positionOf(const RooflineDot& dot) const {
    return {x(dot.intensity), y(dot.flopsPerSecond)};
}

double RooflineView::radiusOf(const RooflineDot& dot) const {
    return kLeastRadius + (kWidestRadius - kLeastRadius) * std::sqrt(std::clamp(dot.share, 0.0, 1.0));
}

LookClass RooflineView::lookOfDot(const RooflineDot& dot) const {
    return lookOf({dot.name, dot.role, dot.kind});
}

int RooflineView::dotAt(const QPointF& at) const {
    int best = -1;
    double nearest = 1e9;
    // The last are drawn first: of two that lie over each other the smaller one is in front.
    for (std::size_t i = 0; i < m_dots.size(); ++i) {
        const QPointF away = positionOf(m_dots[i]) - at;
        const double distance = std::hypot(away.x(), away.y());
        if (distance > std::max(radiusOf(m_dots[i]), kReach) || distance > nearest) continue;
        nearest = distance;
        best = static_cast<int>(i);
    }
    return best;
}

void RooflineView::select(int dot) {
    m_selected = dot >= 0 && dot < static_cast<int>(m_dots.size()) ? dot : -1;
    describe();
    update();
}

// The dot that is chosen, else what there is to go through.
void RooflineView::describe() {
    setAccessibleDescription(m_selected >= 0
                                 ? facts(m_selected).replace('\n', ", ")
                                 : QString("%1 dots. Left and Right go from dot to dot, from the one with most of the time on; Enter shows "
                                           "the longest slice of it in the timeline.")
                                       .arg(m_dots.size()));
}

QString RooflineView::facts(int dot) const {
    const RooflineDot& one = m_dots.at(static_cast<std::size_t>(dot));
    QString text =
        QString("%1\n%2, %3 of the time, %4 calls\n%5 at %6 FLOP a byte, %7")
            .arg(paneText(one.name), paneTime(one.time.ns), panePercent(one.share), paneCount(one.calls), rateWords(one.flopsPerSecond, "FLOP/s"),
                 paneText(format::significant(one.intensity)), rateWords(one.bytesPerSecond, "B/s"));
    if (one.threads > 1) text += QString("\non %1 threads at once").arg(one.threads);
    QStringList where;
    if (!one.role.empty()) where << paneText(one.role);
    if (!one.phase.empty()) where << paneText(one.phase);
    if (!one.type.empty()) where << QString::fromLatin1(formatOf(one.type));
    if (!where.isEmpty()) text += "\nmostly " + where.join(", ");
    if (one.bounded.by != Bound::Unknown)
        text += QString("\n%1 of the roof above it; bound by %2").arg(panePercent(one.bounded.share), QString(toString(one.bounded.by)));
    return text;
}

void RooflineView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    painter.setRenderHint(QPainter::Antialiasing);
    drawAxes(painter);
    drawRoof(painter);
    drawDots(painter);
    drawLegend(painter);
    if (!hasFocus() || m_selected >= 0) return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(accentColour(isDark(palette())));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void RooflineView::drawAxes(QPainter& painter) {
    const QRectF all = area();
    const int line = fontMetrics().height();
    const QColor grid = gridColour(palette()), words = mutedText(palette());
    double lastEnd = -1e9;
    for (const AxisMark& mark : marksOf(m_across)) {
        const double where = x(mark.value);
        painter.setPen(QPen(grid, 1));
        painter.drawLine(QPointF(where, all.top()), QPointF(where, all.bottom()));
        const QString& text = mark.text;
        const double wide = fontMetrics().horizontalAdvance(text);
        if (where - wide / 2 < lastEnd + 8) continue;
        lastEnd = where + wide / 2;
        painter.setPen(words);
        painter.drawText(QRectF(where - wide, all.bottom() + 2, 2 * wide, line), Qt::AlignCenter, text);
    }
    double lastTop = 1e9;
    for (const AxisMark& mark : marksOf(m_up)) {
        const double where = y(mark.value);
        painter.setPen(QPen(grid, 1));
        painter.drawLine(QPointF(all.left(), where), QPointF(all.right(), where));
        if (where + line / 2.0 > lastTop - 1) continue;
        lastTop = where - line / 2.0;
        painter.setPen(words);
        painter.drawText(QRectF(0, where - line / 2.0, all.left() - 6, line), Qt::AlignRight | Qt::AlignVCenter, mark.text);
    }
    painter.setPen(words);
    painter.drawText(QRectF(0, 1, all.left() - 6, line), Qt::AlignRight | Qt::AlignVCenter, "FLOP/s");
    painter.drawText(QRectF(all.left(), all.bottom() + 2 + line, all.width(), line), Qt::AlignCenter, "FLOP a byte that is read or written");
}

void RooflineView::drawRoof(QPainter& painter) {
    m_words.clear();
    if (!m_roof.known()) return;
    const QRectF all = area();
    const int line = fontMetrics().height();
    const QColor colour = palette().color(QPalette::WindowText);
    const auto tops = ceilings(m_dots, m_roof);
    painter.save();
    painter.setClipRect(all);
    double highest = 0;
    for (std::size_t i = 0; i < tops.size(); ++i) {
        const double flops = tops[i].flops, ridge = flops / m_roof.bytesPerSecond;
        highest = std::max(highest, flops);
        painter.setPen(QPen(colour, 1.5, i == 0 ? Qt::SolidLine : Qt::DashLine));
        painter.drawLine(QPointF(x(ridge), y(flops)), QPointF(all.right(), y(flops)));
        painter.setPen(mutedText(palette()));
        const QString name = QString("%1, %2").arg(tops[i].name, rateWords(flops, "FLOP/s"));
        const double wide = fontMetrics().horizontalAdvance(name) + 4;
        m_words.emplace_back(all.right() - wide, y(flops) - line - 1, wide, line);
        painter.drawText(m_words.back(), Qt::AlignLeft | Qt::AlignVCenter, name);
    }
    // Memory's, up to the highest of them; where no arithmetic is known, as far as there is room.
    if (highest <= 0) highest = std::pow(10.0, m_up.to);
    const double from = std::pow(10.0, m_across.from), ridge = highest / m_roof.bytesPerSecond;
    const QPointF low(x(from), y(from * m_roof.bytesPerSecond)), high(x(ridge), y(highest));
    painter.setPen(QPen(colour, 1.5));
    painter.drawLine(low, high);
    const QString text = QString("memory, %1").arg(rateWords(m_roof.bytesPerSecond, "B/s"));
    // Along the line, above it, where only what a cache serves has a dot.
    const double slope = high.x() > low.x() ? (high.y() - low.y()) / (high.x() - low.x()) : 0;
    double begin = low.x();
    if (slope < 0 && low.y() > all.bottom()) begin = low.x() + (all.bottom() - low.y()) / slope;
    const double angle = std::atan(slope), wide = fontMetrics().horizontalAdvance(text);
    // Where no dot is: first come, from where the line comes into sight.
    const double length = (high.x() - begin) / std::max(0.05, std::cos(angle));
    for (double along = 26; along + wide < length; along += 24) {
        const double left = begin + along * std::cos(angle);
        const QRectF where(0, -line - 1, wide + 4, line);
        const QTransform turned = QTransform().translate(left, low.y() + slope * (left - low.x())).rotate(angle * 180 / 3.14159265358979);
        const QRectF lies = turned.mapRect(where);
        if (std::ranges::any_of(m_dots, [&](const RooflineDot& dot) { return lies.adjusted(-8, -8, 8, 8).contains(positionOf(dot)); })) continue;
        painter.setTransform(turned, true);
        painter.setPen(mutedText(palette()));
        painter.drawText(where, Qt::AlignLeft | Qt::AlignVCenter, text);
        m_words.push_back(lies);
        break;
    }
    painter.restore();
}

void RooflineView::drawDots(QPainter& painter) {
    const bool dark = isDark(palette());
    const QColor ground = palette().color(QPalette::Base), ink = palette().color(QPalette::WindowText);
    for (std::size_t i = 0; i < m_dots.size(); ++i) {
        const RooflineDot& dot = m_dots[i];
        const bool marked = static_cast<int>(i) == m_selected || static_cast<int>(i) == m_hovered;
        painter.setBrush(lookColour(lookOfDot(dot), dark));
        painter.setPen(QPen(marked ? ink : ground, marked ? 2 : 1));
        painter.drawEllipse(positionOf(dot), radiusOf(dot), radiusOf(dot));
    }
    painter.setBrush(Qt::NoBrush);
    m_named.clear();
    // Names of those with most of the time, where they do not lie over each other or a dot.
    std::vector<QRectF> taken = m_words;
    for (const RooflineDot& dot : m_dots) {
        const QPointF at = positionOf(dot);
        taken.emplace_back(at.x() - radiusOf(dot), at.y() - radiusOf(dot), 2 * radiusOf(dot), 2 * radiusOf(dot));
    }
    const int line = fontMetrics().height();
    const QRectF all = area();
    painter.setPen(palette().color(QPalette::WindowText));
    for (std::size_t i = 0; i < std::min<std::size_t>(m_dots.size(), kMostDotNames); ++i) {
        const QString name = fontMetrics().elidedText(paneText(m_dots[i].name), Qt::ElideMiddle, 170);
        const double wide = fontMetrics().horizontalAdvance(name) + 2, away = radiusOf(m_dots[i]) + 3;
        const QPointF at = positionOf(m_dots[i]);
        const auto fits = [&](const QRectF& where) {
            return all.contains(where) && std::ranges::none_of(taken, [&](const QRectF& other) { return other.intersects(where); });
        };
        // Beside it, below, above, then towards the corners; further away with a line to its dot.
        bool placed = false;
        for (int step = 0; step < kNameSteps && !placed; ++step) {
            const double far = away + step * kNameStep;
            for (const QPointF& corner : {QPointF(at.x() + far, at.y() - line / 2.0), QPointF(at.x() - far - wide, at.y() - line / 2.0),
                                          QPointF(at.x() - wide / 2, at.y() + far), QPointF(at.x() - wide / 2, at.y() - far - line),
                                          QPointF(at.x() + far, at.y() - far - line), QPointF(at.x() + far, at.y() + far),
                                          QPointF(at.x() - far - wide, at.y() - far - line), QPointF(at.x() - far - wide, at.y() + far)}) {
                const QRectF where(corner, QSizeF(wide, line));
                if (!fits(where)) continue;
                if (step > 0) {
                    painter.setPen(QPen(mutedText(palette()), 1));
                    painter.drawLine(at, {std::clamp(at.x(), where.left(), where.right()), std::clamp(at.y(), where.top(), where.bottom())});
                    painter.setPen(palette().color(QPalette::WindowText));
                }
                painter.drawText(where, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, name);  // at half pixels an underscore lies on the edge
                taken.push_back(where);
                m_named.insert(static_cast<int>(i));
                placed = true;
                break;
            }
        }
    }
}

void RooflineView::drawLegend(QPainter& painter) {
    std::vector<LookClass> looks;
    for (const RooflineDot& dot : m_dots)
        if (const LookClass look = lookOfDot(dot); std::ranges::find(looks, look) == looks.end()) looks.push_back(look);
    const int line = fontMetrics().height();
    double left = area().left();
    for (const LookClass look : looks) {
        const QString name = lookName(look);
        const double wide = 14 + fontMetrics().horizontalAdvance(name) + 12;
        if (left + wide > width()) break;
        painter.fillRect(QRectF(left, line / 2.0 - 3, 9, 9), lookColour(look, isDark(palette())));
        painter.setPen(mutedText(palette()));
        painter.drawText(QRectF(left + 14, 1, wide, line), Qt::AlignLeft | Qt::AlignVCenter, name);
        left += wide;
    }
}

void RooflineView::mousePressEvent(QMouseEvent* event) {
    const int dot = dotAt(event->position());
    if (event->button() != Qt::LeftButton || dot < 0) return QWidget::mousePressEvent(event);
    select(dot);
    Q_EMIT dotChosen(dot);
}

void RooflineView::mouseMoveEvent(QMouseEvent* event) {
    const int dot = dotAt(event->position());
    if (dot == m_hovered) return;
    m_hovered = dot;
    setCursor(dot >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    update();
}

void RooflineView::leaveEvent(QEvent*) {
    m_hovered = -1;
    update();
}

// From the one with most of the time to the one with least.
void RooflineView::keyPressEvent(QKeyEvent* event) {
    const int last = static_cast<int>(m_dots.size()) - 1;
    if (last >= 0 && (event->key() == Qt::Key_Right || event->key() == Qt::Key_Left))
        return select(std::clamp(event->key() == Qt::Key_Right ? m_selected + 1 : m_selected - 1, 0, last));
    if (m_selected >= 0 && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter))
        Q_EMIT dotChosen(m_selected);
    else
        QWidget::keyPressEvent(event);
}

bool RooflineView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    if (const int dot = dotAt(help->pos()); dot >= 0)
        QToolTip::showText(help->globalPos(), paneTip(facts(dot)), this);
    else
        QToolTip::hideText();
    return true;
}

}  // namespace stepscope
