// The capture of steps: what its dialog asks becomes a Command, and the run's answer comes back into it, besides the line in the log. GUI thread.
#pragma once
#include <QObject>

class QWidget;

namespace stepscope {

class CaptureDialog;
class LiveFeed;
class RunController;
class RunWiring;
struct ProfileSchedule;

class CaptureWiring : public QObject {
    Q_OBJECT
public:
    // over: the window that the dialog belongs to.
    CaptureWiring(QWidget& over, RunController& runs, RunWiring& running, LiveFeed& live, QObject* parent = nullptr);

    void ask();  // opens the dialog
    CaptureDialog& dialog() { return *m_dialog; }

private:
    void schedule(const ProfileSchedule& wanted, RunController& runs, const LiveFeed& live);

    CaptureDialog* m_dialog;  // the window's child
};

}  // namespace stepscope
