#include "app/gui/captured/TimelineWiring.h"

#include <QTabWidget>
#include <QTimer>
#include <algorithm>
#include <utility>

#include "app/gui/Stage.h"
#include "app/gui/captured/OpenedTrace.h"
#include "app/gui/captured/TraceCounters.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "core/trace/TraceIndex.h"
#include "sessions/Captures.h"
#include "sessions/SessionTrace.h"
#include "widgets/panels/operations/OperationsPage.h"
#include "widgets/timeline/TimelinePage.h"
#include "widgets/timeline/panes/PaneStrip.h"

namespace stepscope {
namespace {

constexpr int kTimelineStoredMs = 300, kTimelineLooks = 40;
constexpr std::size_t kTilesAtOnce = 24;

}  // namespace

struct TimelineWiring::Opened : OpenedTrace {};

TimelineWiring::TimelineWiring(const Panels& panels, RunController& runs, RunWiring& running, LiveFeed& live, Stage& stage, std::string database,
                               QObject* parent)
    : QObject(parent), m_panels(panels), m_stage(stage), m_database(std::move(database)) {
    TimelinePage& page = m_panels.page;
    TimelineView& view = page.view();
    connect(&page, &TimelinePage::captureRequested, this, [this, &runs](int steps) {
        m_panels.page.setWaiting(true);
        m_awaitsOne = true;
        runs.send(Capture{.steps = steps});
    });
    // A replay is of another session than the one that would be captured.
    const auto showReady = [this, &running] { m_panels.page.setReady(running.takesCommands() && !m_stage.replaying()); };
    connect(&running, &RunWiring::takesCommandsChanged, this, showReady);
    connect(&stage, &Stage::switched, this, showReady);
    showReady();
    connect(&live, &LiveFeed::captured, this, [this](const CaptureDone& done) {
        m_panels.page.setWaiting(false);
        // What somebody has asked for here is shown: of all of a long run it is not a pixel.
        if (std::exchange(m_awaitsOne, false)) m_newest = {done.at.ns - done.duration.ns, done.at.ns};
        m_looks = kTimelineLooks;
        QTimer::singleShot(kTimelineStoredMs, this, &TimelineWiring::shownChanged);
    });
    connect(&live, &LiveFeed::logged, this, [this](const LogLine& line) {
        if (line.subject.kind != Subject::Kind::Capture) return;
        m_panels.page.setWaiting(false);
        m_awaitsOne = false;
    });
    connect(&live, &LiveFeed::started, this, [this] {
        m_awaitsOne = false;
        m_newest.reset();
    });
    connect(&stage, &Stage::started, this, &TimelineWiring::shownChanged);
    connect(&stage, &Stage::switched, this, &TimelineWiring::shownChanged);
    connect(&panels.pages, &QTabWidget::currentChanged, this, &TimelineWiring::openIfSeen);
    connect(&panels.operations, &OperationsPage::showInTimeline, this, [this](const QString& name) {
        m_searched = name;
        m_panels.pages.setCurrentWidget(&m_panels.page);
        if (!m_stale && m_opened) m_panels.page.searchFor(std::exchange(m_searched, {}));
    });
    connect(&view, &TimelineView::tilesWanted, this, &TimelineWiring::want);
    connect(&view, &TimelineView::sliceWanted, this, [this](qint64 lane, int depth, qint64 time, qint64 near) {
        struct Answer {
            std::optional<TraceSlice> slice;
            KinAnswer kin;
            std::vector<TraceSlice> flows;
        };
        ask(
            [=](TraceIndex& index) -> Result<Answer> {
                auto slice = index.at(lane, depth, time, near);
                if (!slice) return slice.error();
                Answer answer{std::move(*slice), {}, {}};
                if (!answer.slice) return answer;
                auto kin = index.kin(answer.slice->name, answer.slice->slice.kind);
                auto flows = index.flows(*answer.slice);
                if (kin) answer.kin = std::move(*kin);
                if (flows) answer.flows = std::move(*flows);
                return answer;
            },
            [this](const Answer& answer) {
                if (answer.slice)
                    m_panels.page.setSlice(*answer.slice, answer.kin, answer.flows);
                else
                    m_panels.page.clearSelection();
            });
    });
    connect(&view, &TimelineView::sumsWanted, this, [this](qint64 from, qint64 to) {
        ask([=](TraceIndex& index) { return index.sums(from, to); },
            [this, from, to](const RangeSums& sums) { m_panels.page.setSums(from, to, sums); });
    });
    connect(&page.panes(), &PaneStrip::sliceWanted, this, [this](qint64 lane, int depth, qint64 start) {
        ask([=](TraceIndex& index) { return index.at(lane, depth, start, 0); },
            [this](const std::optional<TraceSlice>& slice) {
                if (!slice) return;
                m_panels.page.showFromPane(*slice);
                Q_EMIT m_panels.page.view().sliceWanted(slice->lane, slice->slice.depth, slice->slice.start, 0);
            });
    });
    connect(&page, &TimelinePage::findWanted, this, [this](const QString& words, const TracePlace& from, bool forwards) {
        ask([words = words.toStdString(), from, forwards](TraceIndex& index) { return index.find(words, from, forwards); },
            [this, forwards](const std::optional<TraceSlice>& slice) {
                m_panels.page.setFound(slice, forwards);
                if (slice) Q_EMIT m_panels.page.view().sliceWanted(slice->lane, slice->slice.depth, slice->slice.start, 0);
            });
    });
}

TimelineWiring::~TimelineWiring() {
    ++m_reading;
    ++m_asked;
}

void TimelineWiring::shownChanged() {
    m_stale = true;
    openIfSeen();
}

void TimelineWiring::showSpan(std::int64_t session, std::int64_t from, std::int64_t until) {
    m_span = {.session = session, .from = from, .until = until};
    if (!m_stale) showWantedSpan();
}

void TimelineWiring::showWantedSpan() {
    const TimelineContent& shown = m_panels.page.view().content();
    if (!m_span || shown.session != m_span->session || shown.lanes.end <= m_span->from) return;
    m_panels.page.view().showSpan(m_span->from, m_span->until);
    m_span.reset();
}

void TimelineWiring::openIfSeen() {
    if (m_stale && m_panels.pages.currentWidget() == &m_panels.page) open();
}

void TimelineWiring::open() {
    m_stale = false;
    const std::uint64_t number = ++m_reading;
    m_wanted.clear();
    const std::int64_t session = m_stage.shown().history()->session();
    if (session <= 0) return m_panels.page.setNothing(0);
    auto opened = std::make_shared<Opened>();
    opened->number = number;
    m_opened = opened;
    m_panels.page.setLoading(m_panels.page.view().content().session == session ? QString() : QString("Reading what was captured."));
    m_thread.post([this, opened, session]() mutable {
        const auto goesOn = [this, number = opened->number] { return number == m_reading; };
        TimelineContent content{.session = session, .lanes = {}, .counters = {}};
        auto lanes = opened->open(m_database, session, goesOn);
        const Status done = lanes ? Status() : Status(lanes.error());
        if (lanes) content.lanes = std::move(*lanes);
        answer(this, [this, number = opened->number, done, content = std::move(content)]() mutable {
            if (number != m_reading) return;
            if (!done) return m_panels.page.setProblem(QString::fromStdString(done.error().sentence));
            std::int64_t slices = 0;
            for (const auto& lane : content.lanes.lanes) slices = cappedSum(slices, lane.slices);
            const bool late = !m_stage.replaying() && (slices == m_awaitedSlices || !content.lanes.whole);
            const bool again = late && m_looks-- > 0;
            if (again) QTimer::singleShot(kTimelineStoredMs, this, &TimelineWiring::shownChanged);
            if (!late) m_looks = 0;
            m_awaitedSlices = slices;
            if (content.lanes.lanes.empty()) return m_panels.page.setNothing(content.session);
            const TimelineContent& shown = m_panels.page.view().content();
            if (shown.session == content.session) {  // until newer ones are there
                content.counters = shown.counters;
                content.captures = shown.captures;
            }
            if (!again) readCaptures(content.session);
            if (!again) readCounters(content.session, content.lanes);
            m_panels.page.view().forgetStyles();
            m_panels.page.setContent(std::move(content));
            if (m_newest && !m_stage.replaying() && m_panels.page.view().content().lanes.end > m_newest->first) {
                m_panels.page.view().showNewest(m_newest->first, m_newest->second);
                m_newest.reset();
            }
            showWantedSpan();
            if (!m_searched.isEmpty()) m_panels.page.searchFor(std::exchange(m_searched, {}));
        });
    });
}

// Where they lie, for whoever steps from one to the next; a few rows, so before the counters.
void TimelineWiring::readCaptures(std::int64_t session) {
    m_counting.post([this, number = m_reading.load(), session] {
        if (number != m_reading) return;
        const auto stored = storedCaptures(m_database, session);
        if (!stored) return;  // the lanes say what cannot be read
        std::vector<std::pair<qint64, qint64>> captures;
        for (const StoredCapture& one : stored->captures)
            if (one.until > one.from) captures.emplace_back(one.from.ns, one.until.ns);
        std::ranges::sort(captures);
        answer(this, [this, number, captures] {
            if (number == m_reading) m_panels.page.view().setCaptures(captures);
        });
    });
}

// On a thread of their own, as lanes and tiles do not wait for them: a long run was measured for long, and queues are told by every slice.
void TimelineWiring::readCounters(std::int64_t session, const TraceLanes& lanes) {
    m_counting.post([this, number = m_reading.load(), session, lanes] {
        TraceCounters counters;
        const Status done = traceCounters(
            m_database, session, lanes, [&] { return number == m_reading; }, counters);
        answer(this, [this, number, done, counters = std::move(counters)]() mutable {
            if (number != m_reading) return;
            if (done)
                m_panels.page.setCounters(std::move(counters.series), counters.missing);
            else
                m_panels.page.setUnread(QString::fromStdString(done.error().sentence));
            readLosses();
        });
    });
}

// Behind what is looked at first.
void TimelineWiring::readLosses() {
    m_thread.post([this, opened = m_opened] {
        if (!opened->index || opened->number != m_reading) return;
        auto losses = std::make_shared<const Result<std::vector<TraceLoss>>>(opened->index->losses());
        answer(this, [this, number = opened->number, losses] {
            if (number != m_reading) return;
            if (!*losses) return m_panels.page.setUnread(QString::fromStdString(losses->error().sentence));
            m_panels.page.setLosses(**losses);
        });
    });
}

template <class Ask, class Tell>
void TimelineWiring::ask(Ask what, Tell tell) {
    if (!m_opened) return;
    const std::uint64_t question = ++m_asked;
    m_thread.post([this, opened = m_opened, question, what, tell] {
        if (!opened->index || opened->number != m_reading || question != m_asked) return;
        // By pointer: g++ 12 takes the other alternative of a variant that is moved for one that was never set.
        auto found = std::make_shared<const decltype(what(*opened->index))>(what(*opened->index));
        answer(this, [this, number = opened->number, question, found, tell] {
            if (number != m_reading || question != m_asked) return;
            if (*found)
                tell(**found);
            else if (found->error().code != ErrorCode::Cancelled)
                m_panels.page.setUnread(QString::fromStdString(found->error().sentence));
        });
    });
}

void TimelineWiring::want(const std::vector<TilePlace>& places) {
    m_wanted = places;
    readTiles();
}

// A handful at a time, always of what is wanted by now: what was scrolled past is never read.
void TimelineWiring::readTiles() {
    if (m_readingTiles || m_wanted.empty() || !m_opened) return;
    m_readingTiles = true;
    const std::size_t count = std::min(kTilesAtOnce, m_wanted.size());
    std::vector<TilePlace> some(m_wanted.begin(), m_wanted.begin() + static_cast<std::ptrdiff_t>(count));
    m_wanted.erase(m_wanted.begin(), m_wanted.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::sort(some);
    m_thread.post([this, opened = m_opened, some = std::move(some), known = m_panels.page.view().styles()] {
        std::vector<LodTilePtr> tiles;
        QString problem;
        for (std::size_t i = 0; i < some.size() && opened->index;) {
            std::size_t end = i + 1;
            while (end < some.size() && some[end].lane == some[i].lane && some[end].level == some[i].level &&
                   some[end].index == some[end - 1].index + 1)
                ++end;
            auto read = opened->index->tiles(some[i].lane, some[i].level, some[i].index, some[end - 1].index);
            if (read)
                tiles.insert(tiles.end(), read->begin(), read->end());
            else if (read.error().code != ErrorCode::Cancelled)
                problem = QString::fromStdString(read.error().sentence);
            i = end;
        }
        auto styles = opened->index ? opened->index->stylesFrom(known) : std::vector<LodStyle>();
        answer(this, [this, number = opened->number, tiles = std::move(tiles), styles = std::move(styles), problem] {
            m_readingTiles = false;
            if (number != m_reading) return readTiles();
            if (!problem.isEmpty()) return m_panels.page.setProblem(problem);
            m_panels.page.view().addStyles(styles);
            m_panels.page.addTiles(tiles);
            readTiles();
        });
    });
}

}  // namespace stepscope
