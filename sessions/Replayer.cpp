// Replayer over SQLite (Replayer.h). Any thread asks; the replay thread alone reads and publishes (open() publishes the beginning
// before that thread starts). No lock is held while the sink works, so a sink may call back.
#include "sessions/Replayer.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>

#include "core/events/Event.h"
#include "sessions/EventTime.h"
#include "sessions/ReplayClock.h"
#include "sessions/SessionRow.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SqliteError.h"
#include "sessions/record/EventMerge.h"
#include "sessions/record/StepSummary.h"

namespace stepscope {
namespace {

constexpr std::int64_t kChunk = 4096;  // events read at once: some 10 ms
constexpr std::size_t kSlice = 256;    // events published between two looks at what was asked
constexpr TimeNs kForever{std::numeric_limits<std::int64_t>::max()};

struct ToStep {
    std::int64_t step = 0;
};
using Target = std::variant<TimeNs, ToStep>;

class SqliteReplayer final : public Replayer {
public:
    SqliteReplayer(std::string path, Connection connection, std::int64_t session, SessionInfo info, EventSink& sink, Jumped jumped, Told told)
        : m_path(std::move(path)),
          m_connection(std::move(connection)),
          m_merge(*m_connection),
          m_session(session),
          m_info(std::make_shared<const SessionInfo>(std::move(info))),
          m_sink(sink),
          m_jumped(std::move(jumped)),
          m_told(told) {
        m_position.end = m_merge.lastTime(session);
        m_position.lastStep = lastStep(*m_connection, session).step;
        publishBeginning();
        m_thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }

    void play() override {
        change([&] {
            if (m_position.atEnd && !m_target) m_target = TimeNs{};  // from the beginning again
            m_position.playing = true;
            m_clock.run(true);
        });
    }
    void pause() override {
        change([&] {
            m_position.playing = false;
            m_clock.run(false);
        });
    }
    void setSpeed(double factor) override {
        change([&] { m_clock.setSpeed(factor); });
    }
    void seek(TimeNs at) override { aim(at); }
    void seekStep(std::int64_t step) override { aim(ToStep{step}); }
    void seekEnd() override { aim(kForever); }

    Position position() const override {
        std::lock_guard lock(m_mutex);
        Position now = m_position;
        now.at = timeNow();
        return now;
    }

private:
    template <class Change>
    void change(Change&& body) {
        {
            std::lock_guard lock(m_mutex);
            m_clock.set(timeNow());  // whatever changes, time goes on from where it is
            body();
            ++m_asked;
        }
        m_wake.notify_one();
    }
    // Between two events time goes on; behind a slow sink it is the last published event's. Under the mutex.
    TimeNs timeNow() const {
        if (!m_caughtUp || m_target || m_clock.endless()) return m_position.at;
        return std::clamp(m_clock.now(), m_position.at, std::max(m_position.at, m_position.end));
    }
    void aim(Target target) {
        change([&] { m_target = target; });
    }

    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::optional<Target> target;
            TimeNs due;
            std::uint64_t asked = 0;
            {
                std::unique_lock lock(m_mutex);
                if (!m_wake.wait(lock, stop, [&] { return m_target || (m_position.playing && !m_position.atEnd); })) return;
                target = std::exchange(m_target, std::nullopt);
                if (!target) m_position.at = timeNow();  // time does not step back to the last event while we look for the next
                m_caughtUp = false;
                due = m_clock.now();
                asked = m_asked;
            }
            const Status done = guarded(m_path, [&]() -> Status {
                // A jump is given up for another jump only; playing, for anything that was asked.
                if (target)
                    goTo(*target, [&] { return m_target || stop.stop_requested(); });
                else
                    (void)publishUntil(due, [&] { return m_asked != asked || stop.stop_requested(); });
                return {};
            });
            if (!done)
                giveUp(done.error());
            else
                waitForNext(stop, asked);
        }
    }

    void goTo(const Target& target, const auto& interrupted) {
        const auto* step = std::get_if<ToStep>(&target);
        const TimeNs at = step == nullptr ? std::get<TimeNs>(target) : step->step <= 0 ? TimeNs{} : m_merge.timeOfStep(m_session, step->step);
        if (m_jumped && (at < m_published || m_told == Told::OfEveryJump))
            jump(at);
        else if (at < m_published)
            publishBeginning();
        if (!publishUntil(at, interrupted)) return;
        std::lock_guard lock(m_mutex);
        m_position.at = std::clamp(at, TimeNs{}, std::max(m_position.end, m_published));
        m_clock.set(m_position.at);
    }

    void jump(TimeNs to) {
        const TimeNs end = m_merge.lastTime(m_session);
        to = std::clamp(to, TimeNs{}, std::max(end, TimeNs{}));
        const std::int64_t step = m_merge.stepAt(m_session, to, m_info->firstStep);
        {
            std::lock_guard lock(m_mutex);
            m_position.end = std::max(m_position.end, end);  // a live session grows while it is replayed
            m_position.at = to;
            m_position.step = step;
            m_position.lastStep = std::max(m_position.lastStep, m_position.step);
            m_position.atEnd = false;
        }
        m_buffer.clear();
        m_next = 0;
        m_behind = {to.ns, std::numeric_limits<std::int64_t>::max()};
        m_published = to;
        m_jumped({to, step, m_merge.standingAt(m_session, to)});
    }

    // Publishes what happened until `due`. False = `interrupted` (asked under the mutex, a slice at a time).
    bool publishUntil(TimeNs due, const auto& interrupted) {
        while (refill() && timeOf(m_buffer[m_next]) <= due) {
            std::int64_t step = -1;
            for (std::size_t n = 0; n < kSlice && m_next < m_buffer.size() && timeOf(m_buffer[m_next]) <= due; ++n) {
                Event& event = m_buffer[m_next++];
                m_published = timeOf(event);
                if (const auto* done = std::get_if<StepDone>(&event)) step = done->step;
                m_sink.publish(std::move(event));
            }
            std::lock_guard lock(m_mutex);
            m_position.at = std::max(m_position.at, m_published);
            m_position.end = std::max(m_position.end, m_published);  // a live session grows while it is replayed
            if (step >= 0) m_position.step = step;
            m_position.lastStep = std::max(m_position.lastStep, m_position.step);
            if (interrupted()) return false;
        }
        return true;
    }

    // After everything due is published: sleeps until the next event is, or something is asked.
    void waitForNext(const std::stop_token& stop, std::uint64_t asked) {
        bool more = false;
        if (const Status read = guarded(m_path,
                                        [&]() -> Status {
                                            more = refill();
                                            return {};
                                        });
            !read)
            return giveUp(read.error());
        std::unique_lock lock(m_mutex);
        if (m_target || (more && m_asked != asked)) return;
        m_caughtUp = true;
        if (!more) {
            m_position.atEnd = true;
            m_position.playing = false;
            m_clock.run(false);
            m_clock.set(m_position.at);
            return;
        }
        if (m_position.playing) m_wake.wait_until(lock, stop, m_clock.realTimeOf(timeOf(m_buffer[m_next])), [&] { return m_asked != asked; });
    }

    // Whether there is a next event in the buffer, reading more when it is used up.
    bool refill() {
        if (m_next < m_buffer.size()) return true;
        m_buffer.clear();
        m_next = 0;
        m_behind = m_merge.read(m_session, m_behind, kChunk, m_buffer);
        return !m_buffer.empty();
    }

    void publishBeginning() {
        m_buffer.clear();
        m_next = 0;
        m_behind = {};
        m_published = TimeNs{};
        {
            std::lock_guard lock(m_mutex);
            m_position.at = {};
            m_position.step = m_info->firstStep;
            m_position.atEnd = false;
            m_clock.set({});
        }
        m_sink.publish(SessionStarted{m_session, m_info, true});
    }

    void giveUp(const Error& error) {
        LogLine line;
        {
            std::lock_guard lock(m_mutex);
            m_position.playing = false;
            m_clock.run(false);
            m_clock.set(m_position.at);
            line = {m_position.at, m_position.step, LogLevel::Error, "The replay stops here: " + error.sentence};
        }
        m_sink.publish(line);
    }

    const std::string m_path;
    Connection m_connection;
    EventMerge m_merge;
    const std::int64_t m_session;
    const std::shared_ptr<const SessionInfo> m_info;
    EventSink& m_sink;
    const Jumped m_jumped;
    const Told m_told;

    // The replay thread's own: the chunk that was read, how far it is published, and the place behind it.
    std::vector<Event> m_buffer;
    std::size_t m_next = 0;
    EventKey m_behind;
    TimeNs m_published;

    mutable std::mutex m_mutex;  // guards what follows
    std::condition_variable_any m_wake;
    Position m_position;
    ReplayClock m_clock;
    std::optional<Target> m_target;
    std::uint64_t m_asked = 0;  // counts requests, so that the thread sees that there was one
    bool m_caughtUp = true;
    std::jthread m_thread;  // last: it uses the rest
};

}  // namespace

Result<std::unique_ptr<Replayer>> Replayer::open(const std::string& database, std::int64_t session, EventSink& sink, Jumped jumped, Told told) {
    auto connection = openForReading(database);
    if (!connection) return connection.error();
    return guarded(database, [&]() -> Result<std::unique_ptr<Replayer>> {
        if (!*connection) return noSuchSession(database, session);
        auto info = readInfo(**connection, database, session);
        if (!info) return info.error();
        return std::unique_ptr<Replayer>(
            std::make_unique<SqliteReplayer>(database, std::move(*connection), session, std::move(*info), sink, std::move(jumped), told));
    });
}

}  // namespace stepscope
