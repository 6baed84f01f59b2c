// The experiment panel and the engine: each edit is answered with verdicts, a forecast and the planned schedule; while a run is
// live, a flipped switch becomes a Command and the run's answer comes back into the panel. GUI thread.
#pragma once
#include "core/events/Event.h"

#include <QObject>

namespace stepscope {

class LiveFeed;
class MainWindow;
class RunController;

class ExperimentWiring : public QObject {
    Q_OBJECT
public:
    ExperimentWiring(MainWindow& window, RunController& runs, LiveFeed& live, QObject* parent = nullptr);

private:
    void engineReady();
    void answerEdit(const RunConfig& config);
    void runStarted();
    void applied(const SwitchApplied& flip);

    MainWindow& m_window;
    RunController& m_runs;
    LiveFeed& m_live;
};

}  // namespace stepscope
