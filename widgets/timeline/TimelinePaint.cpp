// How a timeline is painted. The slices of a row are written as lines of pixels into an image as large as that row, which stays in the processor's
// cache, and are copied from there: a screen of 3840 by 2160 full of rows is then little more than one pass over its memory. Only labels, rulers and
// what lies over the rows go through QPainter.
#include <QPainter>
#include <QPainterPath>
#include <QTimer>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"
#include "widgets/timeline/TimelineView.h"
#include "widgets/timeline/TimelineWords.h"

namespace stepscope {
namespace {

constexpr int kOverviewRows = 30, kLeastLabel = 30, kMostLabels = 1500;
constexpr qint64 kStillAfterMs = 60, kLabelsWhileMovingNs = 2'500'000;

std::uint32_t mixed(std::uint32_t a, std::uint32_t b, double share) {
    const auto part = [&](int shift) {
        const double x = (a >> shift) & 0xff, y = (b >> shift) & 0xff;
        return static_cast<std::uint32_t>(x + (y - x) * share) << shift;
    };
    return 0xff000000U | part(16) | part(8) | part(0);
}

}  // namespace

std::uint32_t TimelineView::colourOf(std::uint32_t style) const {
    return style < m_colours.size() ? m_colours[style] : 0xff808080U;
}

void TimelineView::paintEvent(QPaintEvent*) {
    m_shelf.frame();
    const double ratio = devicePixelRatioF();
    QPainter painter(this);
    const QRect lanes = lanesRect();
    drawLanes(painter, ratio);
    painter.fillRect(QRect(0, 0, width(), lanes.top()), palette().window());
    painter.fillRect(QRect(0, lanes.top(), lanes.left(), lanes.height()), palette().window());
    drawOverview(painter);
    drawRuler(painter);
    drawNames(painter);
    drawOverlays(painter);
    wantMissing();
}

// Sixteen strengths of each colour over the ground, and of each the darker pixel of its hatching.
void TimelineView::shade() {
    const auto ground = palette().color(QPalette::Base).rgb() | 0xff000000U;
    for (std::size_t i = m_shades.size(); i < m_colours.size(); ++i) {
        auto& shades = m_shades.emplace_back();
        for (std::size_t strength = 0; strength < 16; ++strength) {
            shades[strength] = mixed(ground, m_colours[i], 0.3 + 0.6 * static_cast<double>(strength) / 15);
            shades[16 + strength] = mixed(shades[strength], ground, 0.35);
        }
    }
}

void TimelineView::drawLanes(QPainter& painter, double ratio) {
    const QRect lanes = lanesRect();
    const QSize size(static_cast<int>(std::ceil(lanes.width() * ratio)), static_cast<int>(std::ceil(TimelineLayout::kBar * ratio)));
    if (m_strip.size() != size) m_strip = QImage(size, QImage::Format_RGB32);
    m_strip.setDevicePixelRatio(ratio);
    shade();
    painter.save();
    painter.setClipRect(lanes);
    painter.translate(lanes.topLeft());
    const QBrush ground = palette().brush(QPalette::Base);
    int filled = 0;  // what is drawn of the height; between the rows that is the ground
    const auto fillTo = [&](int y) {
        if (y > filled) painter.fillRect(0, filled, lanes.width(), y - filled, ground);
        filled = std::max(filled, y);
    };
    const PixelSpan span{m_from, m_nsPerPixel / ratio, size.width()};
    const TileLookup lookup = [this](const TilePlace& place) { return m_shelf.find(place); };
    std::set<TilePlace> missing;
    std::vector<std::pair<const TimelineRow*, std::vector<RowPicture::Bar>>> labelled;
    int lastLane = -1;
    for (const TimelineRow& row : m_layout.rows()) {
        const int top = row.y - m_scroll;
        if (top >= lanes.height()) break;
        if (row.kind != TimelineRow::Kind::Lane || top + row.height <= 0) continue;
        const TraceLane& lane = m_content.lanes.lanes[static_cast<std::size_t>(row.place)];
        composeRow(lookup, spanOf(lane), row.depth, span, m_picture, row.place != lastLane ? &missing : nullptr);
        lastLane = row.place;
        fillTo(top);
        if (m_picture.bars.empty() && m_picture.columns.empty()) continue;
        drawRow(m_picture, span.nsPerPixel);
        painter.drawImage(QPoint(0, top), m_strip);
        filled = std::max(filled, top + row.height);
        std::vector<RowPicture::Bar> wide;
        for (const auto& bar : m_picture.bars)
            if (bar.right - bar.left >= kLeastLabel * ratio && bar.right > 0) wide.push_back(bar);
        if (!wide.empty()) labelled.emplace_back(&row, std::move(wide));
    }
    fillTo(lanes.height());
    m_missing = std::move(missing);
    painter.setFont(smallFont(font()));
    // Letters take longest: while the view moves only as many as there is time for, and all of them once it stands still.
    QElapsedTimer spent;
    spent.start();
    const bool still = m_moved.elapsed() >= kStillAfterMs;
    bool all = true;
    for (const auto& [row, bars] : labelled) {
        if (!still && spent.nsecsElapsed() > kLabelsWhileMovingNs) {
            all = false;
            break;
        }
        drawLabels(painter, *row, bars, ratio, row->y - m_scroll);
    }
    if (!all) QTimer::singleShot(kStillAfterMs + 20, this, qOverload<>(&QWidget::update));
    for (const TimelineRow& row : m_layout.rows())
        if (row.kind == TimelineRow::Kind::Counter && row.y - m_scroll < lanes.height() && row.y + row.height > m_scroll)
            drawCounter(painter, row, row.y - m_scroll);
    painter.restore();
}

void TimelineView::drawRow(const RowPicture& picture, double perPixel) {
    const auto width = static_cast<std::size_t>(m_strip.width());
    const auto ground = palette().color(QPalette::Base).rgb() | 0xff000000U;
    m_plain.assign(width, ground);
    m_hatched.assign(width, ground);
    const double strengths = 15 / perPixel;
    for (std::size_t x = 0; x < picture.columns.size(); ++x) {
        const RowPicture::Column& column = picture.columns[x];
        if (!column.some() || column.style >= m_shades.size()) continue;
        // The fuller a pixel the stronger; hatched, because it is not one slice.
        const auto strength = static_cast<std::size_t>(std::min(15.0, column.covered * strengths));
        m_plain[x] = m_shades[column.style][strength];
        m_hatched[x] = m_shades[column.style][16 + strength];
    }
    for (const auto& bar : picture.bars) {
        const auto left = static_cast<std::size_t>(std::max(0.0, bar.left));
        const auto right = std::min(width, std::max(left + 1, static_cast<std::size_t>(std::max(0.0, std::min(bar.right, 1e9)))));
        if (left >= right || bar.right <= 0) continue;
        const std::uint32_t colour = colourOf(bar.slice.style);
        for (auto* line : {&m_plain, &m_hatched}) {
            std::fill(line->begin() + static_cast<std::ptrdiff_t>(left), line->begin() + static_cast<std::ptrdiff_t>(right), colour);
            if (right - left > 2) (*line)[right - 1] = bar.slice.style < m_shades.size() ? m_shades[bar.slice.style][0] : ground;
        }
    }
    for (std::size_t phase = 0; phase < 4; ++phase) {
        const std::vector<std::uint32_t>* line = &m_plain;
        if (!picture.columns.empty()) {
            m_line = m_plain;
            for (std::size_t x = phase; x < width; x += 4) m_line[x] = m_hatched[x];
            line = &m_line;
        }
        for (int y = static_cast<int>(phase); y < m_strip.height(); y += 4) std::memcpy(m_strip.scanLine(y), line->data(), width * 4);
    }
}

const QStaticText& TimelineView::label(std::uint32_t style, int width) {
    const QFontMetrics metrics(smallFont(font()));
    const QString& name = m_looks[style].name;
    auto& prefixes = m_prefixes[style];
    if (prefixes.empty()) {
        const int most = std::min<int>(static_cast<int>(name.size()), 80);
        for (int i = 1; i <= most; ++i) prefixes.push_back(metrics.horizontalAdvance(name, i));
        if (prefixes.empty()) prefixes.push_back(0);
    }
    int letters = static_cast<int>(std::ranges::upper_bound(prefixes, width) - prefixes.begin());
    const bool whole = letters >= name.size();
    if (!whole) letters = static_cast<int>(std::ranges::upper_bound(prefixes, width - metrics.horizontalAdvance(QChar(0x2026))) - prefixes.begin());
    if (m_labels.size() > 20'000) m_labels.clear();
    QStaticText& text = m_labels[(static_cast<std::uint64_t>(style) << 16) | static_cast<std::uint64_t>(whole ? 0xffff : letters)];
    if (text.text().isEmpty()) {
        text.setText(whole ? name : letters < 2 ? QString() : name.left(letters) + QChar(0x2026));
        text.setTextFormat(Qt::PlainText);
        text.setPerformanceHint(QStaticText::AggressiveCaching);
    }
    return text;
}

void TimelineView::drawLabels(QPainter& painter, const TimelineRow& row, const std::vector<RowPicture::Bar>& bars, double ratio, int top) {
    const QFontMetrics metrics(painter.font());
    const double y = top + (row.height - metrics.height()) / 2.0;
    int drawn = 0;
    for (const auto& bar : bars) {
        const double left = std::max(0.0, bar.left / ratio), right = std::min<double>(bar.right / ratio, lanesRect().width());
        if (right - left < kLeastLabel || bar.slice.style >= m_looks.size() || ++drawn > kMostLabels) continue;
        const QStaticText& text = label(bar.slice.style, static_cast<int>(right - left) - 8);
        if (text.text().isEmpty()) continue;
        const QColor colour = QColor::fromRgb(colourOf(bar.slice.style));
        const double light = 0.299 * colour.red() + 0.587 * colour.green() + 0.114 * colour.blue();
        painter.setPen(light > 125 ? QColor(0x111417) : QColor(0xffffff));
        painter.drawStaticText(QPointF(left + 4, y), text);
    }
}

void TimelineView::drawCounter(QPainter& painter, const TimelineRow& row, int top) {
    const CounterSeries& series = m_content.counters[static_cast<std::size_t>(row.place)];
    if (series.points.empty()) return;
    const int wide = lanesRect().width();
    const double from = m_from, to = m_from + wide * m_nsPerPixel;
    double least = 0, most = 0;
    for (const auto& point : series.points) {
        least = std::min(least, point.second);
        most = std::max(most, point.second);
    }
    // Of halves: of any two doubles there is then a difference.
    const double span = most > least ? std::max(most / 2 - least / 2, std::numeric_limits<double>::min()) : 1;
    auto point = std::ranges::lower_bound(series.points, static_cast<qint64>(from), {}, &std::pair<qint64, double>::first);
    if (point != series.points.begin()) --point;
    QPainterPath path;
    const double floor = top + row.height - 1;
    const auto xAt = [&](qint64 time) { return std::clamp((static_cast<double>(time) - m_from) / m_nsPerPixel, -4.0, wide + 4.0); };
    // No point lies within a break: it is between two of them, or behind the last one.
    const CaptureSpans& breaks = m_breaks[static_cast<std::size_t>(row.place)];
    auto gap = breaks.end();
    if (point != series.points.end()) gap = std::ranges::find_if(breaks, [at = point->first](const auto& one) { return one.second > at; });
    bool first = true;
    double lastX = 0, lastY = floor;
    for (; point != series.points.end() && static_cast<double>(point->first) < to; ++point) {
        const double x = xAt(point->first);
        const double value = std::isnan(point->second) ? 0 : point->second;
        const double y = floor - (row.height - 4) * (value / 2 - least / 2) / span;
        bool broken = false;
        for (; gap != breaks.end() && gap->second <= point->first; ++gap) {
            // Of what is less than a pixel long one is seen.
            if (!first && !broken) path.lineTo(std::max(xAt(gap->first), std::min(lastX + 1, x - 1)), lastY);
            broken = true;
        }
        if (first || broken)
            path.moveTo(x, y);
        else if (x - lastX >= 0.5 || std::fabs(y - lastY) > 2) {
            path.lineTo(x, lastY);
            path.lineTo(x, y);
        } else
            continue;
        first = false;
        lastX = x;
        lastY = y;
    }
    if (first) return;
    // It may go on behind the last slice.
    const double end = std::min<double>(wide, (static_cast<double>(m_content.lanes.end) - m_from) / m_nsPerPixel);
    path.lineTo(std::max(lastX, gap == breaks.end() ? end : std::min(end, xAt(gap->first))), lastY);
    painter.setPen(QPen(gridColour(palette()), 1));
    painter.drawLine(QPointF(0, floor), QPointF(wide, floor));
    painter.setPen(QPen(accentColour(isDark(palette())), 1.5));
    painter.drawPath(path);
}

void TimelineView::drawNames(QPainter& painter) {
    const QRect lanes = lanesRect();
    painter.setClipRect(QRect(0, lanes.top(), lanes.left(), lanes.height()));
    const auto& all = m_content.lanes.lanes;
    const bool ranks = !all.empty() && all.front().thread.rank != all.back().thread.rank;
    painter.setFont(smallFont(font()));
    const QFontMetrics metrics(painter.font());
    const int room = lanes.left() - 24;
    for (const TimelineRow& row : m_layout.rows()) {
        if (row.depth != 0) continue;
        // The name of a lane whose first rows are scrolled out of sight stays at the top as long as the lane is seen.
        int y = lanes.top() + row.y - m_scroll;
        if (row.end - m_scroll <= 0 || y >= height()) continue;
        y = std::max(y, std::min(lanes.top(), lanes.top() + row.end - m_scroll - row.height));
        painter.setPen(palette().color(QPalette::WindowText));
        if (row.kind == TimelineRow::Kind::Counter) {
            const CounterSeries& series = m_content.counters[static_cast<std::size_t>(row.place)];
            painter.drawText(QRect(18, y, room, 18), Qt::AlignVCenter, metrics.elidedText(series.name, Qt::ElideRight, room));
            painter.setPen(mutedText(palette()));
            painter.drawText(QRect(18, y + 18, room, 18), Qt::AlignVCenter, metrics.elidedText(series.range(), Qt::ElideRight, room));
            continue;
        }
        const TraceLane& lane = all[static_cast<std::size_t>(row.place)];
        if (lane.depths > 1) {
            const double x = 10, middle = y + row.height / 2.0;
            const bool folded = m_folded.contains(lane.lane);
            QPainterPath arrow;
            arrow.moveTo(folded ? x - 2 : x - 4, folded ? middle - 4 : middle - 2);
            arrow.lineTo(folded ? x + 3 : x, folded ? middle : middle + 3);
            arrow.lineTo(folded ? x - 2 : x + 4, folded ? middle + 4 : middle - 2);
            painter.setRenderHint(QPainter::Antialiasing);
            painter.fillPath(arrow, mutedText(palette()));
            painter.setRenderHint(QPainter::Antialiasing, false);
        }
        painter.drawText(QRect(18, y, room, row.height), Qt::AlignVCenter, metrics.elidedText(laneTitle(lane, ranks), Qt::ElideRight, room));
    }
    painter.setClipping(false);
}

void TimelineView::drawRuler(QPainter& painter) {
    const QRect lanes = lanesRect();
    painter.setFont(smallFont(font()));
    const QFontMetrics metrics(painter.font());
    const double wanted = 110 * m_nsPerPixel;
    double step = std::pow(10, std::floor(std::log10(wanted)));
    for (const double by : {2.0, 2.5, 2.0})
        if (step < wanted) step *= by;
    const double origin = static_cast<double>(m_content.lanes.begin);
    const double unit = step >= 1e9 ? 1e9 : step >= 1e6 ? 1e6 : step >= 1e3 ? 1e3 : 1;
    const QString name = unit == 1e9 ? "s" : unit == 1e6 ? "ms" : unit == 1e3 ? "µs" : "ns";
    const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(step / unit) - 1e-9)));
    painter.fillRect(QRect(lanes.left(), lanes.top() - 1, lanes.width(), 1), palette().color(QPalette::Mid));
    // Counted, never added up: far from the origin a step may be less than what two doubles differ by, and a sum would stand still.
    const double first = std::floor((m_from - origin) / step), seen = lanes.width() * m_nsPerPixel;
    const int ticks = std::min(lanes.width(), static_cast<int>(seen / step) + 2);
    for (int i = 0; i < ticks; ++i) {
        const double at = (first + i) * step;
        const double x = lanes.left() + (at + origin - m_from) / m_nsPerPixel;
        if (x < lanes.left()) continue;
        painter.setPen(palette().color(QPalette::Mid));
        painter.drawLine(QPointF(x, lanes.top() - 6), QPointF(x, lanes.top() - 1));
        const QString text = rulerText(at / unit, digits) + ' ' + name;
        if (x + 4 + metrics.horizontalAdvance(text) > width()) continue;
        painter.setPen(mutedText(palette()));
        painter.drawText(QPointF(x + 4, lanes.top() - 8), text);
    }
    painter.setPen(mutedText(palette()));
    painter.drawText(QRect(8, lanes.top() - 22, lanes.left() - 12, 20), Qt::AlignVCenter,
                     metrics.elidedText(timeText(lanes.width() * m_nsPerPixel) + " seen", Qt::ElideRight, lanes.left() - 12));
}

void TimelineView::drawOverview(QPainter& painter) {
    const QRect lanes = lanesRect();
    const QRect strip(lanes.left(), 4, lanes.width(), kOverviewRows - 8);
    const double length = static_cast<double>(std::max<qint64>(1, m_content.lanes.end - m_content.lanes.begin));
    const std::size_t count = std::min<std::size_t>(m_content.lanes.lanes.size(), 11);
    // Not with each tile that arrives while the view moves: it is a picture of all of it.
    const bool old = m_overviewTiles == 0;
    const bool due = !m_overviewDrawn.isValid() || m_overviewDrawn.elapsed() > 200 || m_moved.elapsed() >= kStillAfterMs;
    if (old && !due) QTimer::singleShot(kStillAfterMs + 20, this, qOverload<>(&QWidget::update));  // nothing else may ask for it
    if (m_overviewImage.width() != strip.width() || (old && due)) {
        m_overviewMissing.clear();
        m_overviewDrawn.restart();
        m_overviewTiles = 1;
        m_overviewImage = QImage(strip.size(), QImage::Format_RGB32);
        m_overviewImage.fill(palette().color(QPalette::Base));
        const PixelSpan span{static_cast<double>(m_content.lanes.begin), length / strip.width(), strip.width()};
        const TileLookup lookup = [this](const TilePlace& place) { return m_shelf.find(place); };
        const auto ground = palette().color(QPalette::Base).rgb() | 0xff000000U;
        RowPicture picture;
        auto* pixels = reinterpret_cast<std::uint32_t*>(m_overviewImage.bits());
        for (std::size_t i = 0; i < count; ++i) {
            const TraceLane& lane = m_content.lanes.lanes[i];
            const int top = static_cast<int>(i) * strip.height() / static_cast<int>(count);
            const int bottom = static_cast<int>(i + 1) * strip.height() / static_cast<int>(count) - (count > 6 ? 0 : 1);
            for (const int depth : {0, 1, 2}) {
                composeRow(lookup, spanOf(lane), depth, span, picture, depth == 0 ? &m_overviewMissing : nullptr);
                const auto put = [&](int x, std::uint32_t colour) {
                    if (x < 0 || x >= strip.width()) return;
                    for (int y = top; y < bottom; ++y) pixels[y * strip.width() + x] = colour;
                };
                for (std::size_t x = 0; x < picture.columns.size(); ++x)
                    if (picture.columns[x].some())
                        put(static_cast<int>(x), mixed(ground, colourOf(picture.columns[x].style),
                                                       0.25 + 0.7 * std::min(1.0, picture.columns[x].covered / span.nsPerPixel)));
                for (const auto& bar : picture.bars)
                    for (int x = std::max(0, static_cast<int>(bar.left)); x < std::min<double>(bar.right, strip.width()); ++x)
                        put(x, colourOf(bar.slice.style));
            }
        }
    }
    // Also where it was not drawn anew: what the lanes want is asked for in place of what was wanted before.
    m_missing.insert(m_overviewMissing.begin(), m_overviewMissing.end());
    painter.drawImage(strip.topLeft(), m_overviewImage);
    const double begin = static_cast<double>(m_content.lanes.begin);
    // Of captures that lie minutes apart each is less than a pixel: a line below it that can be seen and aimed at.
    if (m_content.captures.size() > 1)
        for (const auto& [from, to] : m_content.captures) {
            const double at = strip.left() + (static_cast<double>(from) - begin) / length * strip.width();
            const double wide = std::max(4.0, static_cast<double>(to - from) / length * strip.width());
            painter.fillRect(QRectF(std::clamp(at, static_cast<double>(strip.left()), strip.right() - 3.0), strip.bottom() - 2, wide, 3),
                             accentColour(isDark(palette())));
        }
    const double left = strip.left() + std::clamp((m_from - begin) / length, 0.0, 1.0) * strip.width();
    const double right = strip.left() + std::clamp((m_from + lanes.width() * m_nsPerPixel - begin) / length, 0.0, 1.0) * strip.width();
    QColor veil = palette().color(QPalette::Window);
    veil.setAlpha(165);
    painter.fillRect(QRectF(strip.left(), strip.top(), left - strip.left(), strip.height()), veil);
    painter.fillRect(QRectF(right, strip.top(), strip.right() + 1 - right, strip.height()), veil);
    painter.setPen(accentColour(isDark(palette())));
    painter.drawRect(QRectF(left, strip.top() - 1, std::max(2.0, right - left - 1), strip.height() + 1));
    painter.setFont(smallFont(font()));
    painter.setPen(mutedText(palette()));
    painter.drawText(QRect(8, strip.top(), lanes.left() - 12, strip.height()), Qt::AlignVCenter, "overview");
}

// From the event loop: whoever answers may call back into the view.
void TimelineView::wantMissing() {
    if (m_missing.empty()) return;
    QMetaObject::invokeMethod(
        this,
        [this] {
            std::vector<TilePlace> places(m_missing.begin(), m_missing.end());
            // Coarse levels first, of a level those in the middle of the view.
            std::ranges::stable_sort(places, std::ranges::greater{}, [](const TilePlace& place) { return place.level == 0 ? -1 : place.level; });
            if (!places.empty()) Q_EMIT tilesWanted(places);
        },
        Qt::QueuedConnection);
}

}  // namespace stepscope
