// The capture of steps: what its dialog asks becomes a Command, and the run's answer comes back into it, besides the line in the log. GUI thread.
#pragma once
#include <QObject>
#include <QTimer>
#include <vector>

#include "core/events/CaptureDone.h"

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
    void showLevels(const LiveFeed& live);

    CaptureDialog* m_dialog;              // the window's child
    std::vector<CaptureDone> m_captured;  // of the run, the newest, without their rows
    QTimer m_look;                        // steps behind a capture tell of its cost, too
};

}  // namespace stepscope
