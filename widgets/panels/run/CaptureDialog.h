// Asks for how many steps a capture is, or by which schedule steps are captured over and over, says what each level of observing costs, ends what is
// asked for, and shows what it saw: the sentence of the log, and below it every kind of operation with its share. Beside the window, which goes on;
// it speaks to nobody: CaptureWiring asks the run and brings the answer. GUI thread.
#pragma once
#include <QDialog>
#include <array>

#include "core/analysis/captures/LevelCosts.h"
#include "core/events/CaptureDone.h"
#include "core/events/ProfileSchedule.h"

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
    // The schedule is asked for: its rounds, as the run was told. Or it is not, and why.
    void setRounds(const std::vector<Capture>& rounds);
    void setProblem(const QString& sentence);
    void setRefused(const QString& sentence);  // of what was waited for nothing comes
    void setLevels(const LevelCosts& levels);  // as far as this run has measured them
    ProfileSchedule schedule() const;          // that stands in the fields
    bool isWaiting() const { return m_waiting; }
    QString sentence() const;
    QString levels() const;
    void open() override;  // or brings it to the front

Q_SIGNALS:
    void captureRequested(qint64 steps);
    void scheduleRequested(const stepscope::ProfileSchedule& schedule);  // counted from the newest step on
    void slowestRequested(bool on);                                      // from here on the slowest steps are kept, or no longer
    void endRequested();                                                 // no more of the steps that were asked for

private:
    void ask();
    void askRounds();
    void end();
    void showState();
    QString roundsText() const;

    QSpinBox* m_steps;
    QPushButton *m_capture, *m_repeat, *m_end;
    std::array<QSpinBox*, 4> m_rounds;  // wait, warm-up, active, repeat
    QCheckBox* m_slowest;
    QLabel* m_slowestCost;
    ToneLabel *m_levels, *m_sentence;
    QTableWidget* m_table;
    bool m_ready = false;
    bool m_waiting = false;         // asked, and not answered
    std::vector<Capture> m_toCome;  // rounds of a schedule that are not answered yet
};

}  // namespace stepscope
