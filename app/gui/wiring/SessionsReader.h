// Reads and edits the stored sessions on a thread of its own; the window only ever gets finished rows. Lists again after each
// edit, when asked, and every few seconds while somebody looks, because other programs write the same file. GUI thread object.
#pragma once
#include <QObject>
#include <QStringList>
#include <QTimer>
#include <atomic>
#include <functional>
#include <string>

#include "app/gui/process/BackThread.h"
#include "core/base/Result.h"
#include "core/events/SessionInfo.h"
#include "sessions/findings/MeasuredFlips.h"
#include "sessions/findings/MeasuredTurns.h"
#include "widgets/panels/sessions/SessionRow.h"

namespace stepscope {

class SessionsReader : public QObject {
    Q_OBJECT
public:
    explicit SessionsReader(std::string database, QObject* parent = nullptr);

    const std::string& database() const { return m_database; }
    void refresh();
    void setWatching(bool watching);  // somebody looks at the list

    void rename(std::int64_t session, const QString& name);
    void annotate(std::int64_t session, const QString& notes, const QStringList& tags);
    void remove(std::int64_t session, const QString& name);
    void restore(std::int64_t session);
    void writeTable(const QString& path, const QString& text);  // of the page Sessions
    void measureFlips(const Machine& machine);                  // answered by flipsMeasured() and turnsMeasured(): what the switches did here
    void measurePairs(const Machine& machine);                  // answered by pairsMeasured(): two values of a switch, measured properly
    void purge();                                               // what was deleted in earlier starts
    // The stored configuration, then `use` on the GUI thread; a failure is told by failed().
    void withInfo(std::int64_t session, std::function<void(const SessionInfo&)> use);
    // The configuration as it was at a checkpoint of the session, flips included: at this one's folder, or where that is empty at the newest; a
    // session without one is told by failed().
    void withCheckpoint(std::int64_t session, std::string checkpoint, std::function<void(const SessionInfo&, const RunConfig&)> use);
    // Where its newest was written, though that may be on another machine.
    void withStoredCheckpoint(std::int64_t session, std::function<void(const SessionInfo& info, const std::string& folder)> use);

Q_SIGNALS:
    void listed(const std::vector<stepscope::SessionRow>& rows);
    void unavailable(const QString& why);
    void failed(const QString& sentence);
    void removed(qint64 session, const QString& name);
    void flipsMeasured(const std::vector<stepscope::MeasuredFlip>& flips);
    void turnsMeasured(const std::vector<stepscope::MeasuredTurns>& turns);
    void pairsMeasured(const std::vector<stepscope::MeasuredPair>& pairs);
    void told(const QString& sentence);  // something worth a line in the log

private:
    void edit(std::function<Status()> change, std::function<void()> after = {});

    std::string m_database;
    std::atomic<bool> m_listing = false;  // one listing waits at most
    QTimer m_watch;
    QStringList m_unreadable;  // sentences that were told
    BackThread m_thread;       // last: joined first
};

}  // namespace stepscope
