#include "widgets/timeline/LockedTimelines.h"

#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>

#include "widgets/panels/ToneLabel.h"
#include "widgets/style/Metrics.h"
#include "widgets/timeline/TimelineLegend.h"

namespace stepscope {
namespace {

constexpr double kAround = 0.25;  // of the longer place, that is seen on either side of it
constexpr int kLeastHeight = 150;

}  // namespace

LockedTimelines::LockedTimelines(QWidget* parent) : QWidget(parent) {
    setAccessibleName("Captured steps of both sides");
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(1));
    m_sentence = sentenceLabel(Tone::Muted);
    layout->addWidget(m_sentence);
    m_a = new TimelineView;
    m_b = new TimelineView;
    m_a->setAccessibleName("Timeline of A");
    m_b->setAccessibleName("Timeline of B");
    for (TimelineView* view : {m_a, m_b}) {
        view->setMinimumHeight(kLeastHeight);
        layout->addWidget(view, 1);  // a dialog's room is theirs, not the sentence's
    }
    m_legend = new TimelineLegend;
    layout->addWidget(m_legend);
    for (TimelineView* view : {m_a, m_b}) connect(view, &TimelineView::tilesAdded, this, &LockedTimelines::showLegend);
    connect(m_a, &TimelineView::rangeChanged, this, [this] { mirrorRange(*m_a, *m_b, m_offset); });
    connect(m_b, &TimelineView::rangeChanged, this, [this] { mirrorRange(*m_b, *m_a, -m_offset); });
    connect(m_a, &TimelineView::viewChanged, this, [this] { follow(*m_a, *m_b, m_offset); });
    connect(m_b, &TimelineView::viewChanged, this, [this] { follow(*m_b, *m_a, -m_offset); });
}

// What one of them may not show, at the ends of its capture, holds that one back alone.
void LockedTimelines::follow(TimelineView& moved, TimelineView& other, double offset) {
    if (m_following) return;
    m_following = true;
    m_led = &moved;
    other.setView(moved.from() + offset, moved.nsPerPixel());
    m_following = false;
}

// The same part of the step on the other side's clock.
void LockedTimelines::mirrorRange(const TimelineView& from, TimelineView& to, double offset) {
    const auto range = from.range();
    const auto apart = static_cast<qint64>(offset);
    to.setRange(range ? std::optional(std::pair(cappedSum(range->first, apart), cappedSum(range->second, apart))) : std::nullopt);
}

void LockedTimelines::showSides(bool shown) {
    for (QWidget* part : {static_cast<QWidget*>(m_a), static_cast<QWidget*>(m_b), static_cast<QWidget*>(m_legend)}) part->setVisible(shown);
}

void LockedTimelines::showLegend() {
    std::vector<LookClass> looks = m_a->looks();
    std::ranges::copy(m_b->looks(), std::back_inserter(looks));
    std::ranges::sort(looks);
    const auto again = std::ranges::unique(looks);
    looks.erase(again.begin(), again.end());
    m_legend->setLooks(std::move(looks));
}

void LockedTimelines::setContent(const TimelineContent& content) {
    m_led = nullptr;
    m_following = true;
    for (const std::int64_t rank : {0, 1}) {
        TimelineContent own{.session = content.session, .lanes = content.lanes, .counters = {}};
        std::erase_if(own.lanes.lanes, [&](const TraceLane& lane) { return lane.thread.rank != rank; });
        (rank == 0 ? m_a : m_b)->setContent(std::move(own));
    }
    m_following = false;
}

void LockedTimelines::setSides(TimelineContent a, TimelineContent b, qint64 originA, qint64 originB) {
    for (TimelineView* view : {m_a, m_b}) view->setRange({});  // was of what stood upon each other before
    m_following = true;
    // Locked at what is chosen near an edge, one side shows what lies before its own.
    const double slack = static_cast<double>(a.lanes.end) - static_cast<double>(a.lanes.begin);
    for (TimelineView* view : {m_a, m_b}) view->setSlack(slack);
    m_a->setContent(std::move(a));
    m_b->setContent(std::move(b));
    m_following = false;
    showSides(true);
    m_originA = originA;
    m_originB = originB;
    choose({}, {}, true);
    // How wide they are is known when they have their place.
    QTimer::singleShot(0, this, [this] {
        m_a->fit();
        lockAt(m_originA, m_originB, true);
    });
}

void LockedTimelines::lockAt(qint64 a, qint64 b, bool followA) {
    m_offset = static_cast<double>(b) - static_cast<double>(a);
    if (followA)
        follow(*m_a, *m_b, m_offset);
    else
        follow(*m_b, *m_a, -m_offset);
}

void LockedTimelines::choose(const std::optional<TraceSlice>& a, const std::optional<TraceSlice>& b, bool inA) {
    m_a->setSelected(a);
    m_b->setSelected(b);
    if (!a || !b) return lockAt(m_originA, m_originB, inA);
    // Its row may be out of sight; how far it is zoomed is told by the side that was clicked.
    m_following = true;
    (inA ? m_b : m_a)->reveal(inA ? *b : *a);
    m_following = false;
    lockAt(a->slice.start, b->slice.start, inA);
}

// A wider view of the one would be held back by the narrower one of the other, that has not been laid out yet. The one that was moved last stays
// where it is: the other may be held back at an end of what it shows.
void LockedTimelines::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    QTimer::singleShot(0, this, [this, led = m_led] {
        if (led == m_a) follow(*m_a, *m_b, m_offset);
        if (led == m_b) follow(*m_b, *m_a, -m_offset);
    });
}

void LockedTimelines::say(const QString& sentence) {
    m_sentence->setText(sentence);
}

void LockedTimelines::setSentence(const QString& sentence) {
    m_sentence->setText(sentence);
    showSides(sentence.isEmpty());
    m_sentence->setVisible(true);
}

void LockedTimelines::showPlace(const QString& name, qint64 fromA, qint64 untilA, qint64 fromB, qint64 untilB) {
    const bool hasA = untilA > fromA, hasB = untilB > fromB;
    showSides(true);
    if (!hasA && !hasB) return m_sentence->setText(QString("Nothing was captured of “%1”.").arg(name));
    if (hasA && hasB) m_offset = static_cast<double>(fromB) - static_cast<double>(fromA);
    // How wide they are is known when they have their place.
    QTimer::singleShot(0, this, [=, this] {
        const auto longest = static_cast<double>(std::max(hasA ? untilA - fromA : 0, hasB ? untilB - fromB : 0));
        TimelineView& leads = hasA ? *m_a : *m_b;
        const double perPixel = longest * (1 + 2 * kAround) / std::max(1, leads.lanesRect().width());
        leads.setView(static_cast<double>(hasA ? fromA : fromB) - kAround * longest, perPixel);
        m_sentence->setText(!hasA   ? QString("“%1”: B below; in A there is nothing of it.").arg(name)
                            : !hasB ? QString("“%1”: A above; in B there is nothing of it.").arg(name)
                                    : QString("“%1” of the newest captured step: A above, B below, locked together.").arg(name));
    });
}

QString LockedTimelines::sentence() const {
    return m_sentence->text();
}

}  // namespace stepscope
