// Asks for how many steps a capture is, and shows what it saw: the sentence of the log, and below it every kind of operation with its share. Beside
// the window, which goes on; it speaks to nobody: CaptureWiring asks the run and brings the answer. GUI thread.
#pragma once
#include <QDialog>

#include "core/events/CaptureDone.h"

class QCheckBox;
class QLabel;
class QPushButton;
class QSpinBox;
class QTableWidget;

namespace stepscope {

class ToneLabel;

class CaptureDialog : public QDialog {
    Q_OBJECT
public:
    explicit CaptureDialog(QWidget* parent = nullptr);

    void setReady(bool ready);  // whether there is a run that can be asked
    void setResult(const CaptureDone& capture);
    bool isWaiting() const { return m_waiting; }
    QString sentence() const;
    void open() override;  // or brings it to the front

Q_SIGNALS:
    void captureRequested(qint64 steps);
    void slowestRequested(bool on);  // from here on the slowest steps are kept, or no longer

private:
    void ask();
    void showState();

    QSpinBox* m_steps;
    QPushButton* m_capture;
    QCheckBox* m_slowest;
    ToneLabel* m_sentence;
    QTableWidget* m_table;
    bool m_ready = false;
    bool m_waiting = false;  // asked, and not answered
};

}  // namespace stepscope
