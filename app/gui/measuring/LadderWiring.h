// The page Ladder and the engine: says what a ladder would measure, measures it or searches for the fastest settings, shows either while it goes on
// and any stored one as it was when live. Nothing is measured beside a run. GUI thread; the engine and the database are asked on a thread of its own.
#pragma once
#include <QObject>
#include <QTimer>
#include <atomic>
#include <optional>
#include <string>

#include "app/gui/process/BackThread.h"
#include "app/workbench/experiments/StudyRequests.h"
#include "widgets/panels/ladder/LadderTypes.h"

class QTabWidget;

namespace stepscope {

class ExperimentPanel;
class LadderPage;
class RunController;
class RunWiring;
class SessionsReader;
class Stage;
class StudyFeed;

class LadderWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        ExperimentPanel& experiment;
        QTabWidget& pages;
        LadderPage& page;
    };
    LadderWiring(const Panels& panels, RunController& runs, RunWiring& running, SessionsReader& reader, Stage& stage, StudyFeed& feed,
                 QObject* parent = nullptr);
    ~LadderWiring() override;

    void open(qint64 session);  // a study, stored or going on, on its page
    void openFile(const QString& path);

Q_SIGNALS:
    void guideRequested(const QString& chapter);

private:
    void lookSoon();
    void look();  // at the question as it stands
    void measure();
    void resume();
    void use();
    void report(const QString& path);
    void begin();
    TuneRequest searchOf(const LadderQuestion& question, const RunConfig& settings) const;
    void refreshLive();
    void lookForEarlier();
    void ended(const RunSummary& summary);
    void failed(const QString& sentence);
    void read(qint64 session);
    void show();
    void showBusy();

    Panels m_panels;
    RunController& m_runs;
    RunWiring& m_running;
    SessionsReader& m_reader;
    StudyFeed& m_feed;
    LadderPage& m_page;
    QTimer m_soon;
    QTimer m_follow;         // what another program measures is read again
    bool m_pressed = false;  // Measure, before it was known what would be measured
    std::atomic<std::uint64_t> m_newest = 0;
    std::optional<LadderRequest> m_ladder;  // the question as it stands, where it can be measured
    bool m_mine = false;                    // what keeps the engine busy is this page's
    LadderView m_live, m_storedView;
    std::int64_t m_stored = 0;  // the session that is shown instead; 0 = none
    BackThread m_thread;        // last: joined first
};

}  // namespace stepscope
