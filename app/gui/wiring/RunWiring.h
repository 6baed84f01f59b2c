// The top bar and the engine: what Run, Pause and Stop do, and which figures the bar shows. GUI thread.
#pragma once
#include <QObject>
#include <QTimer>
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/engine/SessionOfEngine.h"
#include "core/events/RunEvents.h"
#include "widgets/panels/run/NoticeBar.h"

namespace stepscope {

struct EngineElsewhere;
class ExperimentPanel;
class HintStrip;
class RunBar;
class RunController;
class SessionsPanel;
class Stage;
struct RunRequest;

class RunWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        ExperimentPanel& experiment;
        HintStrip& hints;
        SessionsPanel& sessions;
        NoticeBar& notice;
        RunBar& runBar;
    };
    // workerProgram: the command line's, of which the other workers of a run are processes.
    RunWiring(const Panels& panels, RunController& runs, Stage& stage, std::string database, std::string workerProgram, QObject* parent = nullptr);

    void run();                      // starts, goes on after a pause, or returns from a replay to the live run
    void runOrPause();               // the space bar
    void start(RunRequest request);  // fills in the database, and how many workers train
    void stop();
    // Of the live run, at its next step; ignored while takesCommands() is false.
    void validate();
    void saveCheckpoint();
    void drawOtherBatches();
    bool takesCommands() const;
    bool canStop() const { return m_canStop; }        // as the bar's button
    void say(const QString& sentence, bool isError);  // bar and log
    void takeBack(const QString& sentence);           // what the bar says, if it still says this
    void sayOfSettings(const QString& sentence);      // an error of theirs: it goes when they are edited and good
    void isOfSettings();                              //   the same of what the bar says already
    void forgetMended();                              // they were edited
    // A line of what is recorded: that its database takes nothing stands in the bar, on every page, until it does again.
    void hearOfStorage(const LogLine& line);
    // Whether that session is one which a killed window has left behind and whose engine may train on: then going on with it is offered once more.
    bool offersToTakeUp(std::int64_t session);

Q_SIGNALS:
    void returnToLive();
    void takesCommandsChanged(bool takes);
    void canStopChanged(bool can);

private:
    void sayOfElsewhere(const EngineElsewhere& elsewhere);
    void lookForLeftSession(std::vector<std::string> engines);  // that a window which was killed has left behind
    void offerToTakeUp();
    void takeUp();
    void startFailed(const QString& sentence, bool database);
    void offerToRunWithoutRecording(const QString& sentence);
    void runWithoutRecording();  // the newest request, once more
    void act();                  // the bar's one action: what was offered last
    void liveStateChanged(const StateChanged& change);
    void sayNotStored(NoticeBar::Kind kind, const std::string& sentence);
    void forgetNotStored();
    void showReading();      // now
    void showReadingSoon();  // at most five times a second
    void tellWhatCanBeAsked(bool canStop);

    Panels m_panels;
    RunController& m_runs;
    Stage& m_stage;
    std::string m_database, m_workerProgram;
    QString m_engineProblem;
    int m_aboutSettings = 0;        // which of the bar's sentences is of the settings; 0 = none
    int m_notStored = 0;            //   and which is of what cannot be stored now
    bool m_offersTakingUp = false;  // the bar's action is taking up what is below
    std::string m_leftEngine;
    std::optional<SessionOfEngine> m_left;
    RunState m_liveState = RunState::Preparing;
    std::int64_t m_seed = 0;  // of the batches
    bool m_takesCommands = false;
    bool m_canStop = false;
    bool m_heldUp = false;   // paused by the engine, e.g. because the disk is full
    bool m_began = false;    // the newest run has its session
    bool m_refused = false;  // it ended before it had one
    QTimer m_soon;
};

}  // namespace stepscope
