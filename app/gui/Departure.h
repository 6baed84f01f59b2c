// Leaving: a live run is stopped at its next step and its session kept, the window shows "stopping…" and stays alive meanwhile.
// Also takes the picture of --screenshot and leaves after it. GUI thread.
#pragma once
#include <QObject>

namespace stepscope {

class MainWindow;
class RunController;

class Departure : public QObject {
    Q_OBJECT
public:
    Departure(MainWindow& window, RunController& runs, QObject* parent = nullptr);
    void leave();
    void leaveWithPicture(const QString& file, double afterSeconds);

private:
    void close();

    MainWindow& m_window;
    RunController& m_runs;
    bool m_leaving = false;
    int m_exitCode = 0;
};

}  // namespace stepscope
