// Two short demo sessions, recorded on this machine when a person asks for them: on the engine's thread, never beside a run or an experiment, and
// given up as soon as one begins. GUI thread.
#pragma once
#include <QObject>
#include <memory>

#include "app/workbench/experiments/DemoSessions.h"

namespace stepscope {

class RunController;
class RunWiring;
class SessionsPanel;
class SessionsReader;

class DemoWiring : public QObject {
    Q_OBJECT
public:
    DemoWiring(SessionsPanel& sessions, RunController& runs, RunWiring& running, SessionsReader& reader, QObject* parent = nullptr);
    ~DemoWiring() override;

    void record();
    bool recording() const { return m_recording != nullptr; }
    void setSecondsEach(double seconds) { m_seconds = seconds; }

private:
    struct Recording;
    void cancel();
    void offer();
    void ended(const QString& sentence, bool isError);

    SessionsPanel& m_sessions;
    RunController& m_runs;
    RunWiring& m_running;
    SessionsReader& m_reader;
    std::shared_ptr<Recording> m_recording;
    double m_seconds = kDemoSeconds;
};

}  // namespace stepscope
