// Leaving: a live run is stopped at its next step and its session kept, the window shows "stopping…" and stays alive meanwhile.
// Where its last checkpoint could not be written, or where an experiment goes on, which no checkpoint lets go on, it stays, once, and says so; nobody
// is asked where a signal ended it. Also takes the picture of
// --screenshot and leaves after it. GUI thread.
#pragma once
#include <QObject>

namespace stepscope {

class MainWindow;
class RunController;
struct RunSummary;

class Departure : public QObject {
    Q_OBJECT
public:
    Departure(MainWindow& window, RunController& runs, QObject* parent = nullptr);
    void leave();
    void leaveAtOnce();                  // nobody may be there to read a notice: what it would say goes to stderr, and the exit code is kExitLost
    static constexpr int kExitLost = 7;  // as the command line's
    int exitCode() const { return m_exitCode; }
    void leaveWithPicture(const QString& file, double afterSeconds);

private:
    void sayWhatIsMeasured();
    void close();
    void runEnded(const RunSummary& summary);

    MainWindow& m_window;
    RunController& m_runs;
    bool m_leaving = false;
    bool m_atOnce = false;
    int m_said = 0;  // of the notice's sentences: that an experiment goes on; 0: it was not said
    QString m_lost;  // what is to be said before the window closes
    int m_exitCode = 0;
};

}  // namespace stepscope
