#include "app/gui/stored/QueryWiring.h"

#include <mutex>
#include <ostream>

#include "app/gui/Stage.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunWiring.h"
#include "app/gui/wiring/SessionsReader.h"
#include "core/analysis/query/QueryText.h"
#include "sessions/exporters/ExportFile.h"
#include "sessions/query/SessionQuery.h"
#include "widgets/panels/query/QueryPage.h"

namespace stepscope {

QueryLimits QueryWiring::limits() {
    return {.rows = 200'000, .resultBytes = std::int64_t{128} << 20};
}

// One question, from when it is asked until it is answered: what runs on the thread can be ended from this one at any time.
class QueryWiring::Job {
public:
    void cancel() {
        std::lock_guard lock(m_mutex);
        m_cancelled = true;
        if (m_query) m_query->cancel();
    }
    bool cancelled() {
        std::lock_guard lock(m_mutex);
        return m_cancelled;
    }
    // The query that runs from here on; false: it is not wanted any more.
    bool holds(std::shared_ptr<SessionQuery> query) {
        std::lock_guard lock(m_mutex);
        m_query = std::move(query);
        return !m_cancelled;
    }

private:
    std::mutex m_mutex;
    std::shared_ptr<SessionQuery> m_query;
    bool m_cancelled = false;
};

QueryWiring::QueryWiring(const Panels& panels, SessionsReader& reader, RunWiring& running, Stage& stage, QObject* parent)
    : QObject(parent), m_panels(panels), m_reader(reader), m_running(running), m_stage(stage) {
    QueryPage& page = panels.page;
    page.setQueries(queryViews(), savedQueries(), limits());
    connect(&page, &QueryPage::runRequested, this,
            [this](qint64 session, const QString& sql, int seconds) { run(session, sql.toStdString(), seconds); });
    connect(&page, &QueryPage::stopRequested, this, &QueryWiring::stop);
    connect(&page, &QueryPage::csvRequested, this, &QueryWiring::writeCsv);
    connect(&reader, &SessionsReader::listed, &page, [&page](const std::vector<SessionRow>& rows) {
        std::vector<QueriedSession> sessions;
        sessions.reserve(rows.size());
        for (const SessionRow& row : rows) sessions.push_back({row.id, row.name});
        page.setSessions(std::move(sessions));
    });
    connect(&reader, &SessionsReader::unavailable, &page, &QueryPage::setUnavailable);
    const auto follow = [this] { m_panels.page.setShown(m_stage.shown().history()->session()); };
    connect(&stage, &Stage::started, this, follow);
    connect(&stage, &Stage::switched, this, follow);
}

QueryWiring::~QueryWiring() {
    stop();
}

void QueryWiring::stop() {
    if (m_job) m_job->cancel();
}

void QueryWiring::run(qint64 session, const std::string& sql, double seconds) {
    stop();
    m_job = std::make_shared<Job>();
    m_thread.post([this, job = m_job, session, sql, seconds] {
        if (job->cancelled()) {
            answer(this, [this, job, session] {
                if (job == m_job) m_panels.page.setAnswer({.session = session, .result = {}, .problem = {}, .place = {}, .cancelled = true});
            });
            return;
        }
        QueryAnswer told{.session = session, .result = {}, .problem = {}, .place = {}};
        const auto failed = [&](const Error& error) {
            told.problem = QString::fromStdString(error.sentence);
            told.cancelled = error.code == ErrorCode::Cancelled;
        };
        auto opened = SessionQuery::open(m_reader.database(), session);
        if (!opened) {
            failed(opened.error());
        } else {
            const std::shared_ptr<SessionQuery> query = std::move(*opened);
            QueryLimits most = limits();
            most.seconds = seconds;
            if (!job->holds(query)) query->cancel();
            auto result = query->run(sql, most);
            if (!result) {
                failed(result.error());
                told.place = query->wrongAt();
            } else {
                told.result = std::make_shared<const QueryResult>(std::move(*result));
                if (told.result->rows.empty()) {
                    const auto some = query->run("SELECT 1 FROM slice LIMIT 1", most);
                    told.captured = !some || !some->rows.empty();
                }
            }
            (void)job->holds(nullptr);
        }
        answer(this, [this, job, told = std::move(told)] {
            if (job != m_job) return;
            m_result = told.result;
            m_session = told.session;
            m_panels.page.setAnswer(told);
        });
    });
}

void QueryWiring::writeCsv(const QString& path) {
    if (!m_result) return;
    m_thread.post([this, result = m_result, session = m_session, path] {
        const Status written = exportToFile(path.toStdString(), [&](std::ostream& out) -> Status {
            writeQueryCsv(*result,
                          [&](std::string_view piece) { return out.write(piece.data(), static_cast<std::streamsize>(piece.size())).good(); });
            return {};  // exportToFile() asks the stream itself
        });
        answer(this, [this, path, session, rows = result->rows.size(), written] {
            if (written)
                m_running.say(QString("%1 rows of session %2 are written to %3.").arg(rows).arg(session).arg(path), false);
            else
                m_running.say(QString::fromStdString(written.error().sentence), true);
        });
    });
}

}  // namespace stepscope
