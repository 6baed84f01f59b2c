// The page Query and the stored sessions: runs what is asked on a thread of its own, ends it when a person wants that or asks something else, and
// writes results to files. GUI thread.
#pragma once
#include <QObject>
#include <memory>
#include <string>

#include "app/gui/process/BackThread.h"
#include "core/analysis/query/QueryResult.h"

class QTabWidget;

namespace stepscope {

class QueryPage;
class RunWiring;
class SessionsReader;
class Stage;

class QueryWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        QueryPage& page;
    };
    // What a query may take here: as on the command line, but of rows no more than a table shows and sorts without a wait.
    static QueryLimits limits();

    QueryWiring(const Panels& panels, SessionsReader& reader, RunWiring& running, Stage& stage, QObject* parent = nullptr);
    ~QueryWiring() override;

private:
    class Job;
    void run(qint64 session, const std::string& sql, double seconds);
    void stop();
    void writeCsv(const QString& path);

    Panels m_panels;
    SessionsReader& m_reader;
    RunWiring& m_running;
    Stage& m_stage;
    std::shared_ptr<Job> m_job;                   // the newest; answers of others are nobody's
    std::shared_ptr<const QueryResult> m_result;  // that the page shows
    qint64 m_session = 0;                         // of which it is
    BackThread m_thread;                          // last: joined first
};

}  // namespace stepscope
