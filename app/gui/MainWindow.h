// MainWindow: the frame and nothing else. Top bar, experiment left, pages in the centre, sessions right, log at the bottom; it
// remembers its layout. What the parts do together is in ExperimentWiring, RunWiring, SessionsWiring and WindowActions.
#pragma once
#include <QMainWindow>

class QSplitter;
class QTabWidget;

namespace stepscope {

class ComparePage;
class LadderPage;
class DiagnosePage;
class ExperimentPanel;
class FlipStrip;
class InferencePage;
class HintStrip;
class LivePage;
class LogPanel;
class NoticeBar;
class QueryPage;
class RunBar;
class SessionsPage;
class SessionsPanel;
class SidePanels;
class TextPage;
class OperationsPage;
class TimelinePage;
class TransportBar;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    MainWindow();

    RunBar& runBar() { return *m_runBar; }
    NoticeBar& notice() { return *m_notice; }
    HintStrip& hints() { return *m_hints; }
    FlipStrip& flipStrip() { return *m_flips; }
    ExperimentPanel& experiment() { return *m_experiment; }
    TransportBar& transport() { return *m_transport; }
    QTabWidget& pages() { return *m_pages; }
    LivePage& livePage() { return *m_live; }
    TextPage& textPage() { return *m_text; }
    SessionsPage& sessionsPage() { return *m_sessionsPage; }
    ComparePage& comparePage() { return *m_compare; }
    LadderPage& ladderPage() { return *m_ladder; }
    DiagnosePage& diagnosePage() { return *m_diagnose; }
    OperationsPage& operationsPage() { return *m_operations; }
    TimelinePage& timelinePage() { return *m_timeline; }
    QueryPage& queryPage() { return *m_query; }
    InferencePage& inferencePage() { return *m_inference; }
    SessionsPanel& sessions() { return *m_sessions; }
    LogPanel& log() { return *m_log; }

    void restoreLayout(QSize wanted = {});  // wanted: instead of the remembered size
    void saveLayout() const;
    void saveExperiment() const;                                                        // now, to the disk
    void setRemembersExperiment(bool remembers) { m_remembersExperiment = remembers; }  // not what --demo chose
    // The next close is the last word: nothing has to be stopped first any more.
    void allowClosing() { m_mayClose = true; }

Q_SIGNALS:
    void closeRequested();                 // the person wants to leave
    void visibilityChanged(bool visible);  // shown, hidden, minimised

protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;  // the hints give their room to what a flip did

private:
    QWidget* buildCentre();

    RunBar* m_runBar;
    NoticeBar* m_notice;
    FlipStrip* m_flips;
    HintStrip* m_hints;
    ExperimentPanel* m_experiment;
    TransportBar* m_transport;
    QTabWidget* m_pages;
    LivePage* m_live;
    TextPage* m_text;
    SessionsPage* m_sessionsPage;
    ComparePage* m_compare;
    LadderPage* m_ladder;
    DiagnosePage* m_diagnose;
    OperationsPage* m_operations;
    TimelinePage* m_timeline;
    QueryPage* m_query;
    InferencePage* m_inference;
    SessionsPanel* m_sessions;
    LogPanel* m_log;
    SidePanels* m_sides;
    QSplitter *m_across, *m_down, *m_bottom;
    bool m_mayClose = false;
    bool m_remembersExperiment = true;
};

}  // namespace stepscope
