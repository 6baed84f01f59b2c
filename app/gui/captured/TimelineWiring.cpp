#include "app/gui/captured/TimelineWiring.h"

#include <QTabWidget>
#include <QTimer>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "app/gui/Stage.h"
#include "app/gui/captured/OpenedTrace.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "core/analysis/panes/RangePanes.h"
#include "core/trace/TraceIndex.h"
#include "sessions/Samples.h"
#include "sessions/SessionTrace.h"
#include "sessions/Slices.h"
#include "widgets/panels/operations/OperationsPage.h"
#include "widgets/timeline/TimelinePage.h"
#include "widgets/timeline/panes/PaneStrip.h"

namespace stepscope {
namespace {

constexpr int kTimelineStoredMs = 300, kTimelineLooks = 40;
constexpr std::size_t kTilesAtOnce = 24;

// What was measured of the machine while the session ran. Events are read page by page; most are steps.
Status deviceCounters(SessionReader& reader, std::int64_t session, const std::function<bool()>& goesOn, std::vector<CounterSeries>& into) {
    constexpr std::int64_t kPage = 20'000;
    std::vector<CounterSeries> all{{"CPU", "%", {}}, {"memory", "GB", {}}, {"GPU", "%", {}}, {"GPU memory", "GB", {}}, {"GPU power", "W", {}}};
    for (std::int64_t from = 0;; from += kPage) {
        if (!goesOn()) return makeError(ErrorCode::Cancelled, "Something else is shown now.");
        const auto events = reader.events(session, from, kPage);
        if (!events) return events.error();
        for (const Event& event : *events)
            if (const auto* sample = std::get_if<DeviceSample>(&event)) {
                const std::array<double, 5> values{sample->cpuPct, static_cast<double>(sample->residentBytes) * 1e-9, sample->gpuPct,
                                                   sample->gpuMemoryBytes * 1e-9, sample->gpuPowerW};
                for (std::size_t i = 0; i < values.size(); ++i)
                    if (std::isfinite(values[i])) all[i].add(sample->at.ns, values[i]);
            }
        if (static_cast<std::int64_t>(events->size()) < kPage) break;
    }
    for (auto& series : all)
        if (!series.points.empty()) into.push_back(std::move(series));
    return {};
}

Status sampleCounters(SessionReader& reader, std::int64_t session, std::vector<CounterSeries>& into) {
    std::map<std::pair<std::int64_t, std::string>, std::size_t> places;
    return forEachSampleBlock(reader, session, [&](const SampleBlock& block) -> Status {
        if (block.name == kCountedOperations) return {};  // sums, not a course
        for (const Sample& sample : block.samples) {
            const SampleSeries& series = block.series[sample.series];
            const auto [found, added] = places.try_emplace({block.lane, series.name}, into.size());
            if (added) into.push_back({QString::fromStdString(series.name), QString::fromStdString(series.unit), {}});
            into[found->second].add(sample.at, sample.value);
        }
        return {};
    });
}

// How many works of each stream were launched and had not begun. Each slice is read for it, so of captures that are too large for that there is none.
Status queueCounters(SessionReader& reader, std::int64_t session, const TraceLanes& lanes, const std::function<bool()>& goesOn,
                     std::vector<CounterSeries>& into) {
    std::int64_t slices = 0;
    bool devices = false, severalRanks = false;
    for (const TraceLane& lane : lanes.lanes) {
        slices = cappedSum(slices, lane.slices);
        devices = devices || lane.thread.device >= 0;
        severalRanks = severalRanks || lane.thread.rank != lanes.lanes.front().thread.rank;
    }
    if (!devices || slices > PanesReader::kMostSlices) return {};
    std::map<std::int64_t, DeviceSummary> ranks;
    const auto done = forEachSliceBlock(reader, session, [&](const SliceBlock& block) -> Status {
        if (!goesOn()) return makeError(ErrorCode::Cancelled, "Something else is shown now.");
        ranks[block.thread.rank].add(block);
        return {};
    });
    if (!done) return done;
    for (const TraceLane& lane : lanes.lanes) {
        if (lane.thread.device < 0) continue;
        const auto points = ranks[lane.thread.rank].queue(lane.thread.device, lane.thread.thread);
        if (points.empty()) continue;
        CounterSeries series{QString("queue of %1").arg(QString::fromStdString(laneWords(lane.thread, severalRanks))), QString("works"), {}};
        for (const QueuePoint& point : points) series.add(point.at.ns, static_cast<double>(point.length));
        into.push_back(std::move(series));
    }
    return {};
}

}  // namespace

struct TimelineWiring::Opened : OpenedTrace {};

TimelineWiring::TimelineWiring(const Panels& panels, RunController& runs, RunWiring& running, LiveFeed& live, Stage& stage, std::string database,
                               QObject* parent)
    : QObject(parent), m_panels(panels), m_stage(stage), m_database(std::move(database)) {
    TimelinePage& page = m_panels.page;
    TimelineView& view = page.view();
    connect(&page, &TimelinePage::captureRequested, this, [this, &runs](int steps) {
        m_panels.page.setWaiting(true);
        runs.send(Capture{.steps = steps});
    });
    connect(&running, &RunWiring::takesCommandsChanged, &page, &TimelinePage::setReady);
    page.setReady(running.takesCommands());
    connect(&live, &LiveFeed::captured, this, [this] {
        m_panels.page.setWaiting(false);
        m_looks = kTimelineLooks;
        QTimer::singleShot(kTimelineStoredMs, this, &TimelineWiring::shownChanged);
    });
    connect(&live, &LiveFeed::logged, this, [this](const LogLine& line) {
        if (line.level == LogLevel::Warning) m_panels.page.setWaiting(false);
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
        const Status done = [&]() -> Status {
            auto lanes = opened->open(m_database, session, goesOn);
            if (!lanes) return lanes.error();
            content.lanes = std::move(*lanes);
            auto reader = SessionReader::open(m_database);
            if (!reader) return reader.error();
            if (auto read = deviceCounters(**reader, session, goesOn, content.counters); !read) return read;
            if (auto read = sampleCounters(**reader, session, content.counters); !read) return read;
            return queueCounters(**reader, session, content.lanes, goesOn, content.counters);
        }();
        answer(this, [this, number = opened->number, done, content = std::move(content)]() mutable {
            if (number != m_reading) return;
            if (!done) return m_panels.page.setProblem(QString::fromStdString(done.error().sentence));
            std::int64_t slices = 0;
            for (const auto& lane : content.lanes.lanes) slices = cappedSum(slices, lane.slices);
            const bool late = !m_stage.replaying() && (slices == m_awaitedSlices || !content.lanes.whole);
            if (late && m_looks-- > 0) QTimer::singleShot(kTimelineStoredMs, this, &TimelineWiring::shownChanged);
            if (!late) m_looks = 0;
            m_awaitedSlices = slices;
            if (content.lanes.lanes.empty()) return m_panels.page.setNothing(content.session);
            m_panels.page.view().forgetStyles();
            m_panels.page.setContent(std::move(content));
            if (!m_searched.isEmpty()) m_panels.page.searchFor(std::exchange(m_searched, {}));
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
                m_panels.page.setProblem(QString::fromStdString(found->error().sentence));
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
