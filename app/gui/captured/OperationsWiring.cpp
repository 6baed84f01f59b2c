#include "app/gui/captured/OperationsWiring.h"

#include <QTabWidget>
#include <QTimer>
#include <functional>
#include <set>

#include "app/gui/Stage.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "sessions/SessionStore.h"
#include "sessions/Slices.h"
#include "widgets/panels/operations/OperationsPage.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

// The recorder stores every 100 ms; a slow disk takes longer, so it is looked at again until the capture is there.
constexpr int kStoredMs = 300, kMostLooks = 40;

OperationsView readView(const std::string& database, std::int64_t session, const std::function<bool()>& goesOn) {
    OperationsView view{.session = session};
    const auto failed = [&](const Error& error) {
        view.problem = words(error.sentence);
        return view;
    };
    auto reader = SessionReader::open(database);
    if (!reader) return failed(reader.error());
    const auto stored = (*reader)->summary(session);
    // Of several workers of a run the first: a step is the same work with each, and would be counted as often as there are workers.
    const bool firstAlone = stored && stored->kind == SessionKind::Run;
    std::set<std::int64_t> ranks;
    OperationSummary summary;
    const auto done = forEachSliceBlock(**reader, session, [&](const SliceBlock& block) -> Status {
        if (!goesOn()) return makeError(ErrorCode::Cancelled, "Something else is shown now.");
        ranks.insert(block.thread.rank);
        if (firstAlone && block.thread.rank != 0) return {};
        summary.add(block);
        return {};
    });
    if (!done) return failed(done.error());
    view.totals = summary.totals();
    view.operations = summary.rows(SummaryBy::Operation, SummarySort::Self);
    view.layers = summary.rows(SummaryBy::Layer, SummarySort::Self);
    view.roles = summary.rows(SummaryBy::Role, SummarySort::Self);
    view.placesOfDevice = summary.ofDevice(SummaryBy::Layer);
    view.kernels = summary.rows(SummaryBy::Kernel, SummarySort::Total);
    if (firstAlone && ranks.size() > 1) view.whose = QString("Counted is the first of %1 workers; the timeline has all of them.").arg(ranks.size());
    if (const auto notes = captureNotes(**reader, session); notes && !notes->empty()) view.note = words(notes->front());
    return view;
}

}  // namespace

OperationsWiring::OperationsWiring(const Panels& panels, RunController& runs, RunWiring& running, LiveFeed& live, Stage& stage, std::string database,
                                   QObject* parent)
    : QObject(parent), m_panels(panels), m_stage(stage), m_database(std::move(database)) {
    connect(&panels.page, &OperationsPage::captureRequested, this, [this, &runs](int steps) {
        m_panels.page.setWaiting(true);
        runs.send(Capture{.steps = steps});
    });
    connect(&panels.page, &OperationsPage::exportRequested, this, [this] { Q_EMIT exportRequested(m_stage.shown().history()->session()); });
    connect(&live, &LiveFeed::captured, this, [this](const CaptureDone& capture) {
        m_panels.page.setWaiting(false);
        m_awaited = capture.step;
        m_looks = kMostLooks;
        QTimer::singleShot(kStoredMs, this, &OperationsWiring::shownChanged);
    });
    connect(&live, &LiveFeed::started, this, [this] { m_awaited = 0; });
    // A refusal of the capture is told in the log; nobody waits for it here.
    connect(&live, &LiveFeed::logged, this, [this](const LogLine& line) {
        if (line.subject.kind == Subject::Kind::Capture) m_panels.page.setWaiting(false);
    });
    connect(&stage, &Stage::started, this, &OperationsWiring::shownChanged);
    connect(&stage, &Stage::switched, this, &OperationsWiring::shownChanged);
    connect(&panels.pages, &QTabWidget::currentChanged, this, &OperationsWiring::readIfSeen);
    // A replay is of another session than the one that would be captured.
    const auto showReady = [this, &running] { m_panels.page.setReady(running.takesCommands() && !m_stage.replaying()); };
    connect(&running, &RunWiring::takesCommandsChanged, this, showReady);
    connect(&stage, &Stage::switched, this, showReady);
    showReady();
}

OperationsWiring::~OperationsWiring() {
    ++m_reading;
}

void OperationsWiring::shownChanged() {
    m_stale = true;
    readIfSeen();
}

void OperationsWiring::readIfSeen() {
    if (m_stale && m_panels.pages.currentWidget() == &m_panels.page) read();
}

void OperationsWiring::read() {
    m_stale = false;
    const std::uint64_t number = ++m_reading;
    const std::int64_t session = m_stage.shown().history()->session();
    if (session <= 0) return m_panels.page.setView({});
    m_thread.post([this, number, session] {
        auto view = readView(m_database, session, [&] { return number == m_reading; });
        answer(this, [this, number, view = std::move(view)]() mutable {
            if (number != m_reading) return;
            const bool late = !m_stage.replaying() && view.problem.isEmpty() && view.totals.lastStep < m_awaited;
            if (late && m_looks-- > 0) QTimer::singleShot(kStoredMs, this, &OperationsWiring::shownChanged);
            m_panels.page.setView(std::move(view));
        });
    });
}

}  // namespace stepscope
