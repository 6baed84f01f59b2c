// The sessions panel, the stored sessions and the replay's transport bar. GUI thread.
#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <functional>
#include <string>
#include <utility>

#include "core/base/Result.h"
#include "core/events/RunConfig.h"
#include "widgets/panels/sessions/SessionRow.h"

class QTabWidget;
class QWidget;

namespace stepscope {

class ExperimentPanel;
class HintStrip;
class LivePage;
class LogPanel;
class ReplayController;
class RunController;
class RunWiring;
class SessionsPage;
class SessionsPanel;
class SessionsReader;
class Stage;
class TransportBar;
struct SessionInfo;

class SessionsWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        ExperimentPanel& experiment;
        HintStrip& hints;
        LivePage& livePage;
        SessionsPanel& sessions;
        QTabWidget& pages;
        SessionsPage& sessionsPage;
        TransportBar& transport;
        LogPanel& log;
        QWidget& text;
        QWidget& operations;
        QWidget& timeline;
    };
    SessionsWiring(const Panels& panels, SessionsReader& reader, ReplayController& replay, RunController& runs, Stage& stage, RunWiring& running,
                   QObject* parent = nullptr);

    // `sentence`: for its log, which is there once it is shown.
    void replay(qint64 session, const QString& sentence = {});
    void open(qint64 session);  // and shows the page where it is seen
    void returnToLive();
    // One of its checkpoints, which is of that step. False = something else is in progress, and that was said.
    bool resumeFrom(qint64 session, const QString& path, qint64 step);
    // Runs are trained on another machine: who asks it for the settings of a checkpoint that lies there (FilesWiring).
    using CheckpointElsewhere = std::function<void(const std::string& folder, std::function<void(const Result<RunConfig>& config)> use)>;
    void setElsewhere(CheckpointElsewhere ask) { m_elsewhere = std::move(ask); }

Q_SIGNALS:
    void studyRequested(qint64 session);       // a ladder or a search: the same
    void experimentRequested(qint64 session);  // the session is no run: its page shows it

private:
    void resumeElsewhere(qint64 session);
    bool shownElsewhere(qint64 session);
    void showPage(qint64 session);
    void connectPanel();
    void connectTransport();
    void show(const std::vector<SessionRow>& rows);
    void showLiveRow();
    void showMarks(TimeNs end);
    void runAgain(qint64 session, bool resume);
    bool mayStart();
    void load(qint64 session);
    void startFrom(const RunConfig& config, const std::string& resume);
    void askForMoreSteps(qint64 session, const SessionInfo& info, RunConfig& config);
    void jump(qint64 step);

    Panels m_panels;
    SessionsReader& m_reader;
    ReplayController& m_replay;
    RunController& m_runs;
    Stage& m_stage;
    RunWiring& m_running;
    QElapsedTimer m_sinceLiveRow;
    CheckpointElsewhere m_elsewhere;  // empty: runs are trained here
    qint64 m_pageOf = 0;              // opened before the list said what it is
    QString m_toSay;                  // when m_toSayOf is shown
    qint64 m_toSayOf = 0;
    std::size_t m_marks = 0;  // shown on the scrubber; a jump back must not take them away
};

}  // namespace stepscope
