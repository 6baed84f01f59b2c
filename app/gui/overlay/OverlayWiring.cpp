#include "app/gui/overlay/OverlayWiring.h"

#include <QTabWidget>
#include <algorithm>

#include "app/gui/Stage.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunWiring.h"
#include "app/gui/wiring/SessionsReader.h"
#include "app/gui/wiring/SessionsWiring.h"
#include "core/analysis/overlay/RunsOverlay.h"
#include "widgets/charts/LivePage.h"
#include "widgets/panels/overlay/OverlayPane.h"
#include "widgets/panels/overlay/RunsTable.h"
#include "widgets/panels/sessions/SessionsPage.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {
constexpr int kRefreshMs = 400;
}

OverlayWiring::OverlayWiring(const Panels& panels, SessionsReader& reader, Stage& stage, RunWiring& running, SessionsWiring& stored, QObject* parent)
    : QObject(parent), m_panels(panels), m_stage(stage), m_running(running), m_stored(stored), m_job(reader.database()) {
    connect(&panels.sessions, &SessionsPanel::overlayRequested, this, &OverlayWiring::open);
    connect(&panels.sessionsPage, &SessionsPage::overlayRequested, this, &OverlayWiring::open);
    connect(&panels.livePage, &LivePage::overlayCloseWanted, this, &OverlayWiring::close);
    connect(&reader, &SessionsReader::listed, this, &OverlayWiring::look);
    // Who asks for a replay, for the live run or for a new one wants to see that.
    connect(&stage, &Stage::switched, this, &OverlayWiring::close);
    connect(&running, &RunWiring::returnToLive, this, &OverlayWiring::close);
    connect(&stage.live(), &LiveFeed::started, this, &OverlayWiring::close);
    connect(&m_job, &OverlayJob::read, this, [this](const std::shared_ptr<const OverlaidRun>& run) {
        if (!m_overlay) return;
        const bool first = m_overlay->read() == 0;
        const bool had = m_overlay->read() == m_overlay->slots().size();
        m_overlay->put(run);
        if (first) {
            refresh();
            m_panels.livePage.fit();
        } else if (!had && m_overlay->read() == m_overlay->slots().size()) {
            refresh();  // there is a line of each
        } else if (!m_refresh.isActive()) {
            m_refresh.start();
        }
    });
    m_refresh.setSingleShot(true);
    m_refresh.setInterval(kRefreshMs);
    connect(&m_refresh, &QTimer::timeout, this, &OverlayWiring::refresh);
    connect(&m_job, &OverlayJob::failed, this, &OverlayWiring::leaveOut);
    connect(&m_job, &OverlayJob::progressed, this, [this](double share) {
        if (m_overlay) m_panels.livePage.overlayPane().setProgress(share);
    });
    connect(&m_job, &OverlayJob::finished, this, [this](const QString& sentence, const QString& more) {
        if (!m_overlay) return;
        refresh();
        OverlayPane& pane = m_panels.livePage.overlayPane();
        pane.setProgress(1);
        // One of the two may have been deleted while the other one was read.
        if (sentence.isEmpty() || m_overlay->slots().size() != RunsOverlay::kFewest) return remark();
        m_beside = {m_overlay->slots().front().session, m_overlay->slots().back().session};
        pane.setRemark(sentence, (more + "\n" + QString::fromStdString(m_overlay->remark())).trimmed());
    });
    connect(&m_job, &OverlayJob::compared, this, [this](qint64 a, qint64 b, const QString& sentence, const QString& more) {
        if (!m_overlay || m_beside != std::pair<std::int64_t, std::int64_t>(a, b)) return;
        m_panels.livePage.overlayPane().setRemark(QString("Sessions %1 and %2: %3").arg(a).arg(b).arg(sentence),
                                                  (more + "\n" + QString::fromStdString(m_overlay->remark())).trimmed());
    });
    connect(&panels.livePage, &LivePage::overlayHidingChanged, this, &OverlayWiring::remark);
}

void OverlayWiring::open(const std::vector<std::int64_t>& sessions) {
    std::vector<std::int64_t> chosen;
    for (const std::int64_t session : sessions)
        if (std::ranges::find(chosen, session) == chosen.end()) chosen.push_back(session);
    if (const std::string why = whyNotOverlaid(chosen.size()); !why.empty()) return m_running.say(QString::fromStdString(why), true);
    if (m_stage.replaying()) m_stored.returnToLive();
    close();
    if (!m_paneConnected) connectPane();
    m_panels.pages.setCurrentWidget(&m_panels.livePage);
    m_overlay = std::make_shared<RunsOverlay>(chosen);
    m_beside = {};
    m_panels.livePage.setOverlay(m_overlay);
    colourDots();
    m_job.begin(chosen);
}

void OverlayWiring::connectPane() {
    m_paneConnected = true;
    OverlayPane& pane = m_panels.livePage.overlayPane();
    connect(&pane.table(), &RunsTable::replayRequested, this, [this](qint64 session) {
        // Closing it takes the table away that is still sending this.
        QMetaObject::invokeMethod(
            this, [this, session] { m_stored.replay(session); }, Qt::QueuedConnection);
    });
    connect(&pane, &OverlayPane::groupRequested, this, &OverlayWiring::colourDots);
}

void OverlayWiring::refresh() {
    m_refresh.stop();
    if (m_overlay) m_panels.livePage.overlayChanged();
}

void OverlayWiring::close() {
    m_refresh.stop();
    m_job.cancel();
    if (!m_overlay) return;
    m_panels.livePage.setOverlay(nullptr);
    m_panels.sessions.setOverlaid({});
    m_job.release(std::exchange(m_overlay, nullptr));
}

// The others stay; where none is left, there is nothing to show.
void OverlayWiring::leaveOut(std::int64_t session, const QString& sentence) {
    if (!m_overlay || !m_overlay->remove(session)) return;
    m_running.say(sentence, true);
    if (m_overlay->slots().empty()) return close();
    m_panels.livePage.overlayChanged();
    remark();
    colourDots();
}

void OverlayWiring::remark() {
    if (!m_overlay || m_job.busy()) return;  // when all are read it is said
    std::vector<std::int64_t> of;
    // Of two alone all is said whichever of them is looked at.
    const bool two = m_overlay->slots().size() == RunsOverlay::kFewest;
    for (const OverlaidSlot& slot : m_overlay->slots())
        if (slot.run != nullptr && (two || !slot.hidden)) of.push_back(slot.session);
    if (of.size() == RunsOverlay::kFewest) {
        const std::pair<std::int64_t, std::int64_t> wanted(of[0], of[1]);
        if (std::exchange(m_beside, wanted) != wanted) m_job.compare(of[0], of[1]);
        return;
    }
    m_beside = {};
    m_panels.livePage.overlayPane().setRemark(QString::fromStdString(m_overlay->remark()));
}

// Deleted here or by another program.
void OverlayWiring::look(const std::vector<SessionRow>& rows) {
    if (!m_overlay) return;
    std::vector<std::int64_t> gone;
    for (const OverlaidSlot& slot : m_overlay->slots())
        if (slot.run != nullptr && std::ranges::find(rows, slot.session, &SessionRow::id) == rows.end()) gone.push_back(slot.session);
    for (const std::int64_t session : gone) leaveOut(session, QString("Session %1 was deleted; the others stay in the charts.").arg(session));
}

// A line of a group has the colour of the first that belongs to it.
void OverlayWiring::colourDots() {
    std::map<std::int64_t, std::size_t> colours;
    if (m_overlay)
        for (const OverlaidSlot& slot : m_overlay->slots()) {
            const OverlayLine* line = m_overlay->lineOf(slot.session);
            colours[slot.session] = line != nullptr ? line->colour : slot.colour;
        }
    m_panels.sessions.setOverlaid(std::move(colours));
}

}  // namespace stepscope
