// The foot of the experiment panel: what a run of these settings is expected to need, memory and time, or what keeps it from running. The one place
// that forecasts; while a run goes on, of the next one. It has the same height whatever it says. GUI thread.
#pragma once
#include <QWidget>

#include "core/base/Units.h"

class QAbstractButton;
class QStackedWidget;

namespace stepscope {

class ElidedLabel;
class TitleButton;

// What a run is expected to need.
struct MemoryForecast {
    std::int64_t parameters = 0;
    Bytes weights, gradients, moments, activations, logits, total, available;
    std::string parts;  // the same finer, largest first: "logits and loss 40 MB, q, k, v 12 MB"; may be empty
};

class ForecastFoot : public QWidget {
    Q_OBJECT
public:
    explicit ForecastFoot(QWidget* parent = nullptr);
    void setMemory(const MemoryForecast& forecast);
    void setMachine(const QString& host);  // another one, of which only all of its memory is known
    // "about 02:11"; where it comes from is for the tool tip. isKnown: it is a time, and not a sentence on why there is none.
    void setTime(const QString& sentence, const QString& source, bool isKnown);
    void setTimeOffered(bool isOffered);  // a few steps can be timed now
    QAbstractButton* timeButton() const;
    void setProblem(const QString& sentence);  // empty = none: the forecast is shown
    QString problem() const;
    void setOfNextRun(bool isOfNextRun);  // while a replay is looked at: these are not its settings
    void setRunning(bool isRunning);      // how long that run has left is said beside its progress; here it is the next one

Q_SIGNALS:
    void timeRequested();

private:
    void showTime();

    QStackedWidget* m_stack;
    ElidedLabel *m_memory, *m_time, *m_problem;
    TitleButton* m_timeIt;
    QString m_timeText, m_timeSource;
    QString m_host;  // empty: this machine
    bool m_isTimeKnown = false, m_ofNextRun = false, m_isRunning = false;
};

}  // namespace stepscope
