// Ctrl-C in the terminal, a polite kill and a terminal that is closed close the window as the person would: the run is stopped and kept. The handler
// only writes a byte into a pipe; everything else happens in the event loop. Made by Workplace, once a process.
#pragma once
#include <QObject>

namespace stepscope {

class QuitSignals : public QObject {
    Q_OBJECT
public:
    explicit QuitSignals(QObject* parent = nullptr);
    ~QuitSignals() override;  // the signals do again what they did before

Q_SIGNALS:
    void quitRequested();

private:
    bool m_hangsUp = false;  // SIGHUP is taken too
};

}  // namespace stepscope
