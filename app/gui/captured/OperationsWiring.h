// The page Operations and what is stored: reads the captures of the session that is shown whenever somebody looks at the page, asks the live run for
// one, and has traces written (ExportWiring). GUI thread; files are read on a thread of its own.
#pragma once
#include <QObject>
#include <atomic>

#include "app/gui/process/BackThread.h"

class QTabWidget;

namespace stepscope {

class LiveFeed;
class OperationsPage;
class RunController;
class RunWiring;
class Stage;

class OperationsWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        QTabWidget& pages;
        OperationsPage& page;
    };
    OperationsWiring(const Panels& panels, RunController& runs, RunWiring& running, LiveFeed& live, Stage& stage, std::string database,
                     QObject* parent = nullptr);
    ~OperationsWiring() override;

    void shownChanged();  // to be read anew, as soon as somebody looks

Q_SIGNALS:
    void exportRequested(qint64 session);  // its captures

private:
    void readIfSeen();
    void read();

    Panels m_panels;
    Stage& m_stage;
    std::string m_database;
    std::int64_t m_awaited = 0;                // the last step of the newest capture of the live run
    int m_looks = 0;                           // left, for it to be stored
    bool m_stale = true;                       // what the page shows is not of now
    std::atomic<std::uint64_t> m_reading = 0;  // the newest reading; older ones stop
    BackThread m_thread;                       // last: joined first
};

}  // namespace stepscope
