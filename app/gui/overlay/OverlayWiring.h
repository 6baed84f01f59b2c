// Stored sessions laid over each other in the live charts: asked for in the list or on the page Sessions, read on threads of their own, shown as they
// come, closed by the person, by a new run or by a replay. A run that goes on is not touched. GUI thread.
#pragma once
#include <QObject>
#include <QTimer>
#include <memory>
#include <utility>
#include <vector>

#include "app/gui/overlay/OverlayJob.h"
#include "widgets/panels/sessions/SessionRow.h"

class QTabWidget;

namespace stepscope {

class LivePage;
class RunsOverlay;
class RunWiring;
class SessionsPage;
class SessionsPanel;
class SessionsReader;
class SessionsWiring;
class Stage;

class OverlayWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        LivePage& livePage;
        SessionsPanel& sessions;
        SessionsPage& sessionsPage;
        QTabWidget& pages;
    };
    OverlayWiring(const Panels& panels, SessionsReader& reader, Stage& stage, RunWiring& running, SessionsWiring& stored, QObject* parent = nullptr);

    void open(const std::vector<std::int64_t>& sessions);
    void close();
    bool reading() const { return m_job.busy(); }

private:
    void connectPane();
    void refresh();
    void leaveOut(std::int64_t session, const QString& sentence);
    void look(const std::vector<SessionRow>& rows);
    void colourDots();
    // Of two that are shown, how far they can be compared; else what is to be said of all of them.
    void remark();

    Panels m_panels;
    Stage& m_stage;
    RunWiring& m_running;
    SessionsWiring& m_stored;
    std::shared_ptr<RunsOverlay> m_overlay;  // null: the charts show what they show otherwise
    bool m_paneConnected = false;
    std::pair<std::int64_t, std::int64_t> m_beside;  // whose comparison is shown or on its way; 0, 0: nobody's
    QTimer m_refresh;                                // runs that come one after the other are drawn together: drawing takes the cores that read them
    OverlayJob m_job;
};

}  // namespace stepscope
