#include "app/gui/wiring/ReplayController.h"

#include <utility>

#include "app/gui/wiring/LiveFeed.h"

namespace stepscope {
namespace {
constexpr int kReportMs = 100, kFollowReplayMs = 1000;
}  // namespace

ReplayController::ReplayController(std::string database, LiveFeed& feed, QObject* parent)
    : QObject(parent), m_database(std::move(database)), m_feed(feed) {
    m_timer.setInterval(kReportMs);
    connect(&m_timer, &QTimer::timeout, this, &ReplayController::report);
    m_follow.setInterval(kFollowReplayMs);
    connect(&m_follow, &QTimer::timeout, this, &ReplayController::follow);
}

ReplayController::~ReplayController() = default;

void ReplayController::open(std::int64_t session) {
    close();
    m_session = session;
    m_thread.post([this, session] {
        auto opened = Replayer::open(
            m_database, session, m_feed, [&feed = m_feed](const Replayer::Jump& jump) { feed.rewind(jump); }, Replayer::Told::OfJumpsBack);
        if (!opened) {
            // The engine's own sentence speaks of the command line.
            const QString sentence = opened.error().code == ErrorCode::NotFound
                                         ? QString("There is no session %1 in %2; those that there are stand in the list at the right.")
                                               .arg(session)
                                               .arg(QString::fromStdString(m_database))
                                         : QString::fromStdString(opened.error().sentence);
            answer(this, [this, session, sentence] {
                if (m_session != session) return;  // closed, or another one asked for, meanwhile
                m_session = 0;
                Q_EMIT failed(sentence);
            });
            return;
        }
        std::shared_ptr<Replayer> replayer = std::move(*opened);
        answer(this, [this, session, replayer]() mutable {
            if (m_session != session) return release(std::move(replayer));  // closed, or another one asked for, meanwhile
            m_replayer = std::move(replayer);
            m_replayer->setSpeed(m_speed);
            m_replayer->seekEnd();
            m_timer.start();
            Q_EMIT this->opened();
        });
    });
}

// The last owner joins the replayer's thread, so that is not left to the GUI thread.
void ReplayController::release(std::shared_ptr<Replayer> replayer) {
    m_thread.post([held = std::move(replayer)]() mutable { held.reset(); });
}

void ReplayController::close() {
    m_timer.stop();
    m_follow.stop();
    m_session = 0;
    if (m_replayer) release(std::exchange(m_replayer, nullptr));
}

void ReplayController::setFollowing(bool following) {
    if (following == m_follow.isActive()) return;
    if (following && m_session != 0) {
        m_follow.start();
        return;
    }
    m_follow.stop();
    follow();  // what it ended with may have come since the last look
}

// Only at the end, and at rest: who looks at an earlier step is left alone.
void ReplayController::follow() {
    if (!m_replayer) return;
    const Replayer::Position at = m_replayer->position();
    if (!at.playing && at.atEnd) m_replayer->seekEnd();
}

void ReplayController::play() {
    if (m_replayer) m_replayer->play();
    report();
}

void ReplayController::pause() {
    if (m_replayer) m_replayer->pause();
    report();
}

void ReplayController::setSpeed(double factor) {
    m_speed = factor;
    if (m_replayer) m_replayer->setSpeed(factor);
}

void ReplayController::seek(TimeNs at) {
    if (m_replayer) m_replayer->seek(at);
}

void ReplayController::seekStep(std::int64_t step) {
    if (m_replayer) m_replayer->seekStep(step);
}

void ReplayController::seekEnd() {
    if (m_replayer) m_replayer->seekEnd();
}

void ReplayController::report() {
    if (m_replayer) Q_EMIT moved(m_replayer->position());
}

}  // namespace stepscope
