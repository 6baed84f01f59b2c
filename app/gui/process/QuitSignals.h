// Ctrl-C in the terminal and a polite kill close the window as the person would: the run is stopped and kept. The handler only
// writes a byte into a pipe; everything else happens in the event loop. Made by Workplace, once a process.
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
};

}  // namespace stepscope
