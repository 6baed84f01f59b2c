// How long a run of the panel's settings will take, said at its foot, once: from steps that were timed before, in a run or without one; where there
// are none, from the list's run of such settings; and where nobody knows, from five steps that are timed when a person asks, never beside a run or an
// experiment. GUI thread; engine and database are asked on a thread of its own.
#pragma once
#include <QObject>
#include <QTimer>
#include <atomic>

#include "app/gui/process/BackThread.h"
#include "core/events/RunConfig.h"

namespace stepscope {

class ExperimentPanel;
class RunController;
struct TimeEstimate;
class SessionsPanel;
class SessionsReader;

class TimeWiring : public QObject {
    Q_OBJECT
public:
    TimeWiring(ExperimentPanel& panel, SessionsPanel& sessions, RunController& runs, SessionsReader& reader, QObject* parent = nullptr);
    ~TimeWiring() override;

    void refresh();  // what is known may have changed
    // What was just found out of the settings that the panel shows: the page that found it says the same.
    void take(const TimeEstimate& estimate);

private:
    void tell();
    void lookUp();
    void timeNow();
    void sayElsewhere();
    void offer();

    ExperimentPanel& m_panel;
    SessionsPanel& m_sessions;
    RunController& m_runs;
    SessionsReader& m_reader;
    QTimer m_soon;            // an edit is followed by the next one
    bool m_known = false;     // the foot says a time
    bool m_counted = false;   //   in which validations and checkpoints are
    bool m_answered = false;  // the database was asked, and has no such time
    bool m_timing = false;
    bool m_busy = false;                      // a run or an experiment went on when somebody last looked
    std::atomic<std::uint64_t> m_newest = 0;  // number of the newest question
    std::atomic<bool> m_cancel = false;
    BackThread m_thread;  // last: joined first
};

}  // namespace stepscope
