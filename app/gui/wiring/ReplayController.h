// Owns the Replayer of the session that is being looked at. A session that another process is still recording is followed: as long as its end is
// looked at, what has been stored since is read and shown. Opening and closing (SQLite, a thread to join) happen on a thread of its own, which is
// joined before anything here goes; here are the transport's wishes and, while one is open, where the replay is. GUI thread object.
#pragma once
#include <QObject>
#include <QTimer>
#include <memory>
#include <string>

#include "app/gui/process/BackThread.h"
#include "sessions/Replayer.h"

namespace stepscope {

class LiveFeed;

class ReplayController : public QObject {
    Q_OBJECT
public:
    ReplayController(std::string database, LiveFeed& feed, QObject* parent = nullptr);
    ~ReplayController() override;

    void open(std::int64_t session);  // shows the whole session at once, paused at its end
    void close();
    std::int64_t session() const { return m_session; }  // 0 = none

    void setFollowing(bool following);  // somebody still records it

    void play();
    void pause();
    void setSpeed(double factor);
    void seek(TimeNs at);
    void seekStep(std::int64_t step);
    void seekEnd();

Q_SIGNALS:
    void opened();
    void failed(const QString& sentence);
    void moved(const stepscope::Replayer::Position& position);

private:
    void report();
    void follow();
    void release(std::shared_ptr<Replayer> replayer);

    std::string m_database;
    LiveFeed& m_feed;
    std::shared_ptr<Replayer> m_replayer;
    std::int64_t m_session = 0;
    double m_speed = 10;
    QTimer m_timer, m_follow;
    BackThread m_thread;  // last: joined first
};

}  // namespace stepscope
