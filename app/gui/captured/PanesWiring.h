// The panes below the timeline and what is stored: reads what the range in sight comes to whenever that changes and somebody looks: what is selected
// with Shift and drag, else what is seen. A newer range ends the reading of an older one. GUI thread; everything is read on a thread of its own.
#pragma once
#include <QObject>
#include <QTimer>
#include <atomic>
#include <memory>
#include <optional>

#include "app/gui/process/BackThread.h"

class QTabWidget;

namespace stepscope {

class RunController;
class TimelinePage;

class PanesWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        QTabWidget& pages;
        TimelinePage& page;
    };
    PanesWiring(const Panels& panels, RunController& runs, std::string database, QObject* parent = nullptr);
    ~PanesWiring() override;

private:
    struct Range {
        qint64 session = 0, slices = 0;
        qint64 from = 0, to = 0;  // ns; from = to: all that was captured
        bool turned = false;      // with the flame graph bottom-up, which nobody else needs
        bool operator==(const Range&) const = default;
    };
    struct Opened;
    void soon();
    void forgetOther();
    void read();
    std::optional<Range> range(QString& words) const;

    Panels m_panels;
    RunController& m_runs;  // asked what this machine is
    std::string m_database;
    std::shared_ptr<Opened> m_opened;  // touched on the reading thread; the pointer is this thread's
    qint64 m_session = 0;              // whose lanes are shown
    std::optional<Range> m_asked;      // that is shown, or being read
    QTimer m_settled, m_slow;          // the view has come to rest; reading takes so long that it is said
    std::atomic<std::uint64_t> m_reading = 0;
    BackThread m_thread;  // last: joined first
};

}  // namespace stepscope
