#include "widgets/timeline/TimelineView.h"

#include <QEvent>
#include <QHelpEvent>
#include <QTimer>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"
#include "widgets/style/WidgetPicture.h"

namespace stepscope {

namespace {
constexpr int kOverviewHeight = 30, kRulerHeight = 22;
}  // namespace

TimelineView::TimelineView(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName("Timeline");
    setAccessibleDescription("Lanes of what ran when. W and S zoom, A and D move, F shows all, / searches, ? lists the keys.");
    m_moved.start();
    offerPicture(*this, "timeline");
}

int TimelineView::nameWidth() const {
    return std::clamp(width() / 6, 72, 168);
}

QRect TimelineView::lanesRect() const {
    const int top = kOverviewHeight + kRulerHeight;
    return {nameWidth(), top, std::max(1, width() - nameWidth()), std::max(1, height() - top)};
}

void TimelineView::setContent(TimelineContent content) {
    const bool another = content.session != m_content.session;
    const auto before = m_content.lanes;
    m_content = std::move(content);
    if (another) {
        m_shelf.clear();
        m_folded.clear();
        m_marks.clear();
        m_range.reset();
        m_selected.reset();
        m_flows.clear();
        m_losses.clear();
        m_looks.clear();
        m_colours.clear();
        m_shades.clear();
        m_labels.clear();
        m_prefixes.clear();
        m_scroll = 0;
        m_newest.reset();
        m_following = true;
    } else if (m_content.lanes.end != before.end || m_content.lanes.lanes.size() != before.lanes.size()) {
        const auto finest = [this](std::int64_t number) {
            const auto lane = std::ranges::find(m_content.lanes.lanes, number, &TraceLane::lane);
            return lane == m_content.lanes.lanes.end() ? 1 : lane->finest;
        };
        m_shelf.forgetFrom(before.end - (std::int64_t{1} << 30), finest);
    }
    m_missing.clear();
    m_overviewMissing.clear();
    m_overviewImage = {};
    breakCounters();
    m_layout.set(m_content, m_folded);
    if (m_following)
        follow();
    else
        clampView();
    update();
}

void TimelineView::setCounters(std::vector<CounterSeries> counters) {
    m_content.counters = std::move(counters);
    breakCounters();
    m_layout.set(m_content, m_folded);
    clampView();
    update();
}

void TimelineView::setCaptures(std::vector<std::pair<qint64, qint64>> captures) {
    m_content.captures = std::move(captures);
    breakCounters();
    update();
}

void TimelineView::breakCounters() {
    m_breaks.assign(m_content.counters.size(), {});
    if (m_content.captures.size() < 2) return;
    const CaptureSpans captures(m_content.captures.begin(), m_content.captures.end());
    for (std::size_t i = 0; i < m_breaks.size(); ++i) {
        const CounterSeries& series = m_content.counters[i];
        if (!series.ofCaptures) continue;
        std::vector<std::int64_t> times;
        times.reserve(series.points.size());
        for (const auto& point : series.points) times.push_back(point.first);
        m_breaks[i] = gapsBetween(captures, times);
    }
}

void TimelineView::setLosses(std::vector<TraceLoss> losses) {
    m_losses = std::move(losses);
    update();
}

QString TimelineView::lostWords(qint64 lane) const {
    std::int64_t lost = 0, invalid = 0;
    for (const TraceLoss& one : std::ranges::equal_range(m_losses, lane, {}, &TraceLoss::lane)) {
        lost = cappedSum(lost, one.lost);
        invalid = cappedSum(invalid, one.invalid);
    }
    QStringList words;
    if (lost > 0) words << QString("%1 lost").arg(QString::fromStdString(format::count(lost)));
    if (invalid > 0) words << QString("%1 invalid").arg(QString::fromStdString(format::count(invalid)));
    return words.join(", ");
}

void TimelineView::addStyles(const std::vector<LodStyle>& styles) {
    const bool dark = isDark(palette());
    for (const auto& style : styles) {
        const LookClass look = lookOf(style);
        m_looks.push_back({style, QString::fromStdString(style.name), look});
        m_colours.push_back(lookColour(look, dark).rgb());
    }
}

void TimelineView::forgetStyles() {
    m_shelf.clear();
    m_missing.clear();
    m_overviewMissing.clear();
    m_looks.clear();
    m_colours.clear();
    m_shades.clear();
    m_labels.clear();
    m_prefixes.clear();
    m_overviewTiles = 0;
}

void TimelineView::addTiles(const std::vector<LodTilePtr>& tiles) {
    for (const auto& tile : tiles) {
        m_missing.erase({tile->lane, tile->level, tile->index});
        m_overviewMissing.erase({tile->lane, tile->level, tile->index});
        m_shelf.add(tile);
    }
    m_overviewTiles = 0;
    update();
    Q_EMIT tilesAdded();
}

void TimelineView::setRange(const std::optional<std::pair<qint64, qint64>>& range) {
    m_range = range;
    update();
}

void TimelineView::setSelected(const std::optional<TraceSlice>& slice, const std::vector<TraceSlice>& flows) {
    m_selected = slice;
    m_flows = flows;
    update();
}

void TimelineView::clearSelection() {
    m_range.reset();
    Q_EMIT rangeChanged();
    Q_EMIT selectionCleared();
    update();
}

void TimelineView::reveal(const TraceSlice& slice) {
    const double wide = lanesRect().width() * m_nsPerPixel;
    const auto start = static_cast<double>(slice.slice.start), length = static_cast<double>(slice.slice.duration);
    if (length > wide || length < wide / 400) m_nsPerPixel = std::max(kLeastNsPerPixel, std::max(length, 1.0) * 8 / lanesRect().width());
    if (start < m_from || start + length > m_from + lanesRect().width() * m_nsPerPixel)
        m_from = start + length / 2 - lanesRect().width() * m_nsPerPixel / 2;
    if (m_folded.contains(slice.lane) && slice.slice.depth > 0) setFolded(slice.lane, false);
    if (const TimelineRow* row = m_layout.rowOf(slice.lane, slice.slice.depth))
        if (row->y < m_scroll || row->y + row->height > m_scroll + lanesRect().height()) m_scroll = row->y - lanesRect().height() / 3;
    m_following = false;
    changed();
}

void TimelineView::setView(double from, double nsPerPixel) {
    m_from = from;
    m_nsPerPixel = nsPerPixel;
    m_following = false;
    changed();
}

void TimelineView::showNewest(qint64 from, qint64 to) {
    m_newest = {from, to};
    if (m_following) follow();
}

void TimelineView::follow() {
    if (!m_newest || m_newest->first >= m_newest->second || m_newest->first >= m_content.lanes.end || m_newest->second <= m_content.lanes.begin)
        return fit();
    const auto from = static_cast<double>(m_newest->first), length = static_cast<double>(m_newest->second) - from;
    m_nsPerPixel = length * 1.1 / lanesRect().width();
    m_from = from - length * 0.05;
    changed();
    m_following = true;
}

void TimelineView::showSpan(qint64 from, qint64 to) {
    m_newest = {from, to};
    follow();
}

// From the capture that the middle of the view lies in. Where all of it is in sight the middle says nothing, and they are gone through from an end.
bool TimelineView::showCapture(bool forwards) {
    const auto& all = m_content.captures;
    const bool whole = m_nsPerPixel > 0.99 * mostNsPerPixel();
    const qint64 middle = timeAt(lanesRect().left() + lanesRect().width() / 2.0);
    auto next = all.end();
    if (forwards) {
        next = whole ? all.begin() : std::ranges::find_if(all, [&](const auto& one) { return one.first > middle; });
    } else {
        const auto behind = whole ? all.end() : std::ranges::find_if(all, [&](const auto& one) { return one.second > middle; });
        if (behind != all.begin()) next = std::prev(behind);
    }
    if (next == all.end()) return false;
    showSpan(next->first, next->second);
    return true;
}

void TimelineView::fit() {
    m_newest.reset();
    m_nsPerPixel = mostNsPerPixel();
    m_from = static_cast<double>(m_content.lanes.begin) - wholeLength() * 0.01;
    changed();
    m_following = true;
}

void TimelineView::changed() {
    clampView();
    m_moved.restart();
    update();
    Q_EMIT viewChanged();
}

double TimelineView::wholeLength() const {
    return static_cast<double>(std::max<qint64>(1000, m_content.lanes.end - m_content.lanes.begin));
}

double TimelineView::mostNsPerPixel() const {
    return std::max(kLeastNsPerPixel, wholeLength() * 1.02 / lanesRect().width());
}

void TimelineView::clampView() {
    const double length = wholeLength(), least = static_cast<double>(m_content.lanes.begin) - length * 0.01;
    m_nsPerPixel = std::clamp(m_nsPerPixel, kLeastNsPerPixel, mostNsPerPixel());
    // Of what is shorter than the view the begin is at the left.
    const double most = static_cast<double>(m_content.lanes.end) + length * 0.01 - m_nsPerPixel * lanesRect().width();
    m_from = std::clamp(m_from, least - m_slack, std::max(least, most) + m_slack);
    m_scroll = std::clamp(m_scroll, 0, std::max(0, m_layout.height() - lanesRect().height()));
}

void TimelineView::setFolded(qint64 lane, bool folded) {
    if (folded)
        m_folded.insert(lane);
    else
        m_folded.erase(lane);
    m_layout.set(m_content, m_folded);
    changed();
}

qint64 TimelineView::timeAt(double x) const {
    return static_cast<qint64>(m_from + (x - lanesRect().left()) * m_nsPerPixel);
}

double TimelineView::overviewTime(double x) const {
    const auto length = static_cast<double>(std::max<qint64>(1, m_content.lanes.end - m_content.lanes.begin));
    return static_cast<double>(m_content.lanes.begin) + (x - lanesRect().left()) / lanesRect().width() * length;
}

int TimelineView::yOf(qint64 lane, int depth) const {
    const TimelineRow* row = m_layout.rowOf(lane, depth);
    return row == nullptr ? -1 : lanesRect().top() + row->y - m_scroll + row->height / 2;
}

std::vector<LookClass> TimelineView::looks() const {
    std::set<LookClass> some;
    for (const auto& look : m_looks) some.insert(look.look);
    return {some.begin(), some.end()};
}

QString TimelineView::asText() const {
    QString text = QString("%1 to %2\n").arg(exactTimeText(timeAt(lanesRect().left())), exactTimeText(timeAt(width())));
    const bool ranks = !m_content.lanes.lanes.empty() && m_content.lanes.lanes.front().thread.rank != m_content.lanes.lanes.back().thread.rank;
    for (const auto& lane : m_content.lanes.lanes)
        text += QString("%1\t%2 slices\n").arg(laneTitle(lane, ranks), QString::fromStdString(format::count(lane.slices)));
    std::vector<qint64> marks = m_marks;
    std::ranges::sort(marks);
    for (std::size_t i = 0; i < marks.size(); ++i)
        text += QString("mark\t%1%2\n").arg(exactTimeText(marks[i]), i == 0 ? QString() : "\t+" + exactTimeText(marks[i] - marks[i - 1]));
    return text;
}

QStringList TimelineView::markTexts() const {
    std::vector<qint64> marks = m_marks;
    std::ranges::sort(marks);
    QStringList texts;
    for (std::size_t i = 0; i < marks.size(); ++i) {
        texts << exactTimeText(marks[i] - m_content.lanes.begin);
        if (i > 0) texts.back() += QString(", %1 after the mark before").arg(timeText(static_cast<double>(marks[i] - marks[i - 1])));
    }
    return texts;
}

void TimelineView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_overviewImage = {};
    if (m_following)
        follow();
    else
        clampView();
}

void TimelineView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange && event->type() != QEvent::FontChange) return;
    const bool dark = isDark(palette());
    for (std::size_t i = 0; i < m_looks.size(); ++i) m_colours[i] = lookColour(m_looks[i].look, dark).rgb();
    m_shades.clear();
    m_labels.clear();
    m_prefixes.clear();
    m_overviewImage = {};
    update();
}

}  // namespace stepscope
