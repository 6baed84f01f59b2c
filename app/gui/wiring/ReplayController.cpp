#include "app/gui/wiring/ReplayController.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "app/gui/process/BackThread.h"
#include "app/gui/wiring/LiveFeed.h"
#include "sessions/SessionStore.h"

namespace stepscope {
namespace {
constexpr int kReportMs = 100, kFollowMs = 1000;
constexpr std::int64_t kMostAtOnce = 20'000;  // events; what is left is read a second later

// When it happened: every event but the first has its time.
TimeNs timeOf(const Event& event) {
    return std::visit(
        [](const auto& one) {
            if constexpr (std::is_same_v<std::decay_t<decltype(one)>, SessionStarted>)
                return TimeNs{};
            else
                return one.at;
        },
        event);
}

}  // namespace

ReplayController::ReplayController(std::string database, BackThread& thread, LiveFeed& feed, QObject* parent)
    : QObject(parent), m_database(std::move(database)), m_thread(thread), m_feed(feed) {
    m_timer.setInterval(kReportMs);
    connect(&m_timer, &QTimer::timeout, this, &ReplayController::report);
    m_follow.setInterval(kFollowMs);
    connect(&m_follow, &QTimer::timeout, this, &ReplayController::follow);
}

ReplayController::~ReplayController() = default;

void ReplayController::open(std::int64_t session) {
    close();
    m_session = session;
    m_thread.post([this, session] {
        // Counted first: what is stored in between is read twice rather than never, and told apart by its time.
        std::int64_t known = 0;
        if (auto reader = SessionReader::open(m_database))
            if (const auto count = (*reader)->eventCount(session)) known = *count;
        auto opened = Replayer::open(m_database, session, m_feed);
        if (!opened) {
            answer(this, [this, session, sentence = QString::fromStdString(opened.error().sentence)] {
                if (m_session == session) m_session = 0;
                Q_EMIT failed(sentence);
            });
            return;
        }
        std::shared_ptr<Replayer> replayer = std::move(*opened);
        answer(this, [this, session, replayer, known]() mutable {
            if (m_session != session) return release(std::move(replayer));  // closed, or another one asked for, meanwhile
            m_replayer = std::move(replayer);
            m_known = known;
            m_followedTo = {};
            m_replayer->setSpeed(m_speed);
            if (auto then = std::exchange(m_then, nullptr))
                then(*m_replayer);
            else
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
    m_then = nullptr;
    m_session = 0;
    if (m_replayer) release(std::exchange(m_replayer, nullptr));
}

void ReplayController::setFollowing(bool following) {
    if (following == m_follow.isActive()) return;
    if (following && m_session != 0)
        m_follow.start();
    else
        m_follow.stop();
}

// Only at the end, and at rest: who looks at an earlier step is left alone.
void ReplayController::follow() {
    if (!m_replayer || m_reading) return;
    const Replayer::Position at = m_replayer->position();
    if (at.playing || !at.atEnd) return;
    m_reading = true;
    m_thread.post([this, session = m_session, from = m_known, since = std::max(at.end, m_followedTo)] {
        std::vector<Event> news;
        std::int64_t read = 0;
        if (auto reader = SessionReader::open(m_database))
            if (auto events = (*reader)->events(session, from, kMostAtOnce)) {
                read = static_cast<std::int64_t>(events->size());
                for (Event& event : *events)
                    if (timeOf(event) > since) news.push_back(std::move(event));
            }
        answer(this, [this, session, from, read, news = std::move(news)]() mutable {
            m_reading = false;
            if (session != m_session || !m_replayer || from != m_known || !m_replayer->position().atEnd) return;
            m_known += read;
            for (Event& event : news) {
                m_followedTo = std::max(m_followedTo, timeOf(event));
                if (const auto* done = std::get_if<StepDone>(&event)) m_followedStep = done->step;
                m_feed.publish(std::move(event));
            }
            report();
        });
    });
}

void ReplayController::afresh(std::function<void(Replayer&)> then) {
    if (!m_replayer) return;
    if (m_followedTo.ns == 0) return then(*m_replayer);
    const std::int64_t session = m_session;
    const bool following = m_follow.isActive();
    open(session);
    m_then = std::move(then);
    setFollowing(following);
}

void ReplayController::play() {
    afresh([](Replayer& replayer) { replayer.play(); });
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
    afresh([at](Replayer& replayer) { replayer.seek(at); });
}

void ReplayController::seekStep(std::int64_t step) {
    afresh([step](Replayer& replayer) { replayer.seekStep(step); });
}

void ReplayController::seekEnd() {
    if (m_replayer && m_followedTo.ns == 0) m_replayer->seekEnd();
}

void ReplayController::report() {
    if (!m_replayer) return;
    Replayer::Position at = m_replayer->position();
    if (m_followedTo > at.end && at.atEnd) {
        at.at = at.end = m_followedTo;
        at.step = at.lastStep = std::max(at.lastStep, m_followedStep);
    }
    Q_EMIT moved(at);
}

}  // namespace stepscope
