#include "app/gui/captured/PanesWiring.h"

#include <QTabWidget>
#include <algorithm>

#include "app/gui/wiring/RunController.h"
#include "app/workbench/diagnose/RoofChoice.h"
#include "core/analysis/panes/RangePanes.h"
#include "sessions/Captures.h"
#include "sessions/DeviceShapes.h"
#include "sessions/Samples.h"
#include "sessions/SessionTrace.h"
#include "sessions/Slices.h"
#include "widgets/timeline/TimelinePage.h"
#include "widgets/timeline/TimelineView.h"
#include "widgets/timeline/panes/FlameView.h"
#include "widgets/timeline/panes/PaneStrip.h"

namespace stepscope {
namespace {

constexpr int kSettledMs = 150, kSlowMs = 200;

struct PredictedMemory {
    std::map<std::string, std::int64_t> kinds;
    bool onDevice = false;
};
// Of the settings that the run began with; what was flipped later is not in it.
PredictedMemory predictedMemory(const SessionInfo& session, const Workbench& workbench) {
    PredictedMemory predicted;
    if (session.kind != SessionKind::Run || !session.config) return predicted;
    const auto complete = workbench.complete(*session.config);
    if (!complete) return predicted;
    const Workbench::Estimate needed = workbench.estimate(*complete);
    predicted.onDevice = !needed.room.empty();
    for (std::size_t kind = 0; kind < kMemoryKinds; ++kind)
        if (needed.byKind[kind].count > 0) predicted.kinds[toString(static_cast<MemoryKind>(kind))] = needed.byKind[kind].count;
    return predicted;
}

}  // namespace

struct PanesWiring::Opened {
    qint64 session = 0, slices = 0;
    std::uint64_t number = 0;  // of the reading in hand
    std::unique_ptr<SessionTrace> trace;
    std::unique_ptr<PanesReader> reader;
    QString note, counterNote;
    std::vector<StoredCapture> captures;
    SessionInfo info;
    bool othersAreWhole = false;  // of a run of several workers: more is recorded of each than operations
    GpuShapes shapes;
    OperationCounters counters;
    std::optional<PredictedMemory> predicted;  // none: not asked yet, as the engine was starting
};

PanesWiring::PanesWiring(const Panels& panels, RunController& runs, std::string database, QObject* parent)
    : QObject(parent), m_panels(panels), m_runs(runs), m_database(std::move(database)), m_opened(std::make_shared<Opened>()) {
    m_settled.setSingleShot(true);
    m_settled.setInterval(kSettledMs);
    m_slow.setSingleShot(true);
    m_slow.setInterval(kSlowMs);
    TimelinePage& page = m_panels.page;
    connect(&m_settled, &QTimer::timeout, this, &PanesWiring::read);
    connect(&m_slow, &QTimer::timeout, this, [this] { m_panels.page.panes().setReading(true); });
    connect(&page, &TimelinePage::contentChanged, this, [this] {
        forgetOther();
        soon();
    });
    connect(&page.view(), &TimelineView::viewChanged, this, [this] {
        if (!m_panels.page.isLed()) soon();
    });
    connect(&page.view(), &TimelineView::sumsWanted, this, &PanesWiring::soon);
    connect(&page.view(), &TimelineView::selectionCleared, this, &PanesWiring::soon);
    connect(&page.panes(), &PaneStrip::openChanged, this, &PanesWiring::soon);
    connect(&page.panes().flame(), &FlamePane::turnWanted, this, &PanesWiring::soon);
    connect(&panels.pages, &QTabWidget::currentChanged, this, &PanesWiring::soon);
    connect(&page.panes(), &PaneStrip::stopWanted, this, [this] {
        ++m_reading;
        m_asked.reset();
        m_slow.stop();
        m_panels.page.panes().setReading(false);
        const bool some = m_panels.page.panes().view().panes != nullptr;
        m_panels.page.panes().setProblem(
            QString("This range was not read to its end%1. Move the timeline to read again.").arg(some ? "; the panes show the one before" : ""));
    });
}

PanesWiring::~PanesWiring() {
    ++m_reading;
}

void PanesWiring::soon() {
    m_settled.start();
}

// Figures of one session never stand below the lanes of another, neither while those are being read nor where they cannot be.
void PanesWiring::forgetOther() {
    const qint64 session = m_panels.page.view().content().session;
    if (session == m_session) return;
    m_session = session;
    ++m_reading;
    m_asked.reset();
    m_slow.stop();
    m_panels.page.panes().setReading(false);
    m_panels.page.panes().setView({});
}

std::optional<PanesWiring::Range> PanesWiring::range(QString& words) const {
    const TimelineView& view = m_panels.page.view();
    const TimelineContent& content = view.content();
    if (content.lanes.lanes.empty() || content.session <= 0) return std::nullopt;
    Range range{.session = content.session};
    for (const auto& lane : content.lanes.lanes) range.slices = cappedSum(range.slices, lane.slices);
    const bool selected = view.range().has_value();
    const auto seenFrom = static_cast<qint64>(view.from());
    const auto seenTo = static_cast<qint64>(view.from() + view.nsPerPixel() * view.lanesRect().width());
    range.from = std::max<qint64>(content.lanes.begin, selected ? view.range()->first : seenFrom);
    range.to = std::min<qint64>(content.lanes.end, selected ? view.range()->second : seenTo);
    if (range.to <= range.from || (range.from <= content.lanes.begin && range.to >= content.lanes.end)) {
        range.from = range.to = 0;
        words = QString("all of it, %1").arg(paneTime(content.lanes.end - content.lanes.begin));
    } else {
        words = QString(selected ? "what is selected, %1" : "what is seen, %1").arg(paneTime(range.to - range.from));
    }
    return range;
}

void PanesWiring::read() {
    PaneStrip& strip = m_panels.page.panes();
    if (m_panels.pages.currentWidget() != &m_panels.page || !strip.isOpen()) return;
    QString words;
    auto wanted = range(words);
    if (!wanted) return;
    // What is turned already, or is being, serves everybody.
    wanted->turned = true;
    if (wanted == m_asked) return;
    wanted->turned = strip.current() == PaneStrip::Flame && strip.flame().drawsTurned();
    if (wanted == m_asked) return;
    m_asked = wanted;
    const std::uint64_t number = ++m_reading;
    m_slow.start();
    const auto workbench = m_runs.workbench();
    const std::optional<Machine> here = workbench != nullptr ? std::optional(workbench->machine()) : std::nullopt;
    m_thread.post([this, opened = m_opened, wanted = *wanted, words, number, here, workbench] {
        if (number != m_reading) return;
        opened->number = number;
        PanesView view{.panes = nullptr, .range = words, .note = {}};
        const Status done = [&]() -> Status {
            if (opened->session != wanted.session || opened->slices != wanted.slices || !opened->reader) {
                opened->reader.reset();
                auto trace = SessionTrace::open(m_database, wanted.session);
                if (!trace) return trace.error();
                opened->trace = std::move(*trace);
                auto stored = SessionReader::open(m_database);
                if (!stored) return stored.error();
                auto shapes = deviceShapes(**stored, wanted.session);
                if (!shapes) return shapes.error();
                const auto notes = captureNotes(**stored, wanted.session);
                opened->note = notes && !notes->empty() ? QString::fromStdString(notes->front()) : QString();
                auto about = counterNote(**stored, wanted.session);
                if (!about) return about.error();
                opened->counterNote = QString::fromStdString(*about);
                auto captures = storedCaptures(m_database, wanted.session);
                if (!captures) return captures.error();
                opened->captures = std::move(captures->captures);
                auto info = (*stored)->info(wanted.session);
                if (!info) return info.error();
                opened->info = std::move(*info);
                const auto whole = othersHaveMemory(**stored, wanted.session);
                if (!whole) return whole.error();
                opened->othersAreWhole = *whole;
                opened->shapes = *shapes;
                opened->counters = {};
                if (opened->session != wanted.session) opened->predicted.reset();
                const auto counted = forEachSampleBlock(**stored, wanted.session, [&](const SampleBlock& block) -> Status {
                    opened->counters.add(block);
                    return {};
                });
                if (!counted) return counted;
                auto reader = std::make_unique<PanesReader>(*opened->trace, std::move(*shapes),
                                                            [this, raw = opened.get()] { return raw->number == m_reading; });
                if (auto good = reader->open(); !good) return good;
                opened->reader = std::move(reader);
                opened->session = wanted.session;
                opened->slices = wanted.slices;
            }
            auto panes = opened->reader->read(wanted.from, wanted.to);
            if (!panes) return panes.error();
            if (wanted.turned) panes->turnFlame();
            view.panes = std::make_shared<const RangePanes>(std::move(*panes));
            view.note = opened->note;
            view.counterNote = opened->counterNote;
            view.counters = opened->counters;
            const SlowestSteps among = slowestAmong(opened->captures, view.panes->from, view.panes->to);
            view.slowest = QString::fromStdString(slowestSentence(among));
            view.onlySlowest = among == SlowestSteps::All;
            for (const StoredCapture& one : opened->captures)
                if (one.until > one.from) view.captures.emplace_back(one.from.ns, one.until.ns);
            if (opened->info.kind == SessionKind::Run && view.panes->severalRanks && !opened->othersAreWhole)
                view.others = QString::fromStdString(otherWorkersSentence(view.panes->devices));
            if (!opened->predicted && workbench != nullptr) opened->predicted = predictedMemory(opened->info, *workbench);
            if (opened->predicted) {
                view.predictedMemory = opened->predicted->kinds;
                view.predictedOnDevice = opened->predicted->onDevice;
            }
            view.roof = roofOf(opened->info, view.panes->devices, opened->shapes, gpuWorkOf(*view.panes), here ? &*here : nullptr);
            return {};
        }();
        answer(this, [this, number, done, view] {
            if (number != m_reading) return;
            m_slow.stop();
            PaneStrip& shown = m_panels.page.panes();
            shown.setReading(false);
            if (done) return shown.setView(view);
            m_asked.reset();
            shown.setProblem(QString::fromStdString(done.error().sentence));
        });
    });
}

}  // namespace stepscope
