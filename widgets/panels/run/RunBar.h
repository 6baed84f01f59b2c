// The top bar: Run, Pause, Stop; the step with its progress, tokens and time left; tokens a second, milliseconds a step, loss; the
// device. Figures keep their places while digits change. Signals say what was pressed; GUI thread.
#pragma once
#include <QWidget>

#include "widgets/panels/run/RunReading.h"

class QLabel;
class QMenu;
class QProgressBar;
class QToolButton;

namespace stepscope {

class ElidedLabel;

class RunBar : public QWidget {
    Q_OBJECT
public:
    explicit RunBar(QWidget* parent = nullptr);
    void setReading(const RunReading& reading);
    void setMenu(QMenu* menu);
    void openMenu();

Q_SIGNALS:
    void runRequested();
    void pauseRequested();
    void stopRequested();

protected:
    void changeEvent(QEvent* event) override;

private:
    void showButtons(const RunReading& reading);
    void keepFocus();
    void showProgress(const RunReading& reading);
    void showFigures(const RunReading& reading);
    void tintRun();
    QLabel* figure(const QString& name, const QString& widest);

    QToolButton *m_run, *m_pause, *m_stop, *m_menu;
    ElidedLabel* m_step;
    QProgressBar* m_progress;
    ElidedLabel* m_left;
    QLabel *m_tokens, *m_ms, *m_loss, *m_device;
    RunReading m_shown;
    bool m_focusIsHere = false;  // one of the three buttons had the keyboard when it was disabled
};

}  // namespace stepscope
