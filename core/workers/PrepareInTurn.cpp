#include "core/workers/PrepareInTurn.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace stepscope {
namespace {

// Short beside what anybody notices; it doubles, so that who has nothing to prepare is not held up and who takes long is not disturbed.
constexpr std::chrono::milliseconds kFirstPause{4};
constexpr std::chrono::milliseconds kLooksForStop{50};

enum class Preparation : std::int32_t { UnderWay = 1, Done = 2, Failed = 3 };

// What goes round, as bytes.
struct PreparationSaid {
    std::int32_t turn = 0;
    Preparation how = Preparation::UnderWay;
};

bool isKnown(const PreparationSaid& said) {
    return said.how == Preparation::UnderWay || said.how == Preparation::Done || said.how == Preparation::Failed;
}

class PreparationBeats {
public:
    PreparationBeats(Collectives& group, int turn, const std::function<bool()>& cancelled, std::chrono::milliseconds mostBetween)
        : m_group(group), m_cancelled(cancelled), m_most(mostBetween), m_own{turn, Preparation::UnderWay}, m_thread([this] { beat(); }) {}
    ~PreparationBeats() { (void)end(Preparation::Failed); }  // something was thrown
    PreparationBeats(const PreparationBeats&) = delete;
    PreparationBeats& operator=(const PreparationBeats&) = delete;

    const std::atomic<bool>& stop() const { return m_stop; }

    // False: there is nothing to prepare for any more.
    bool waitForTurn() {
        std::unique_lock lock(m_mutex);
        while (!m_stop && m_next < m_own.turn) {
            if (isCancelled()) return false;
            m_changed.wait_for(lock, kLooksForStop);
        }
        return !m_stop;
    }

    // Returns when all are done, one has failed, or the group broke: that is the error. The second time nothing happens.
    Status end(Preparation how) {
        if (!m_thread.joinable()) return m_broke;
        {
            const std::lock_guard lock(m_mutex);
            m_own.how = how;
        }
        m_changed.notify_all();
        m_thread.join();
        return m_broke;
    }
    // After the end.
    bool somebodyFailed() const { return m_somebodyFailed; }

private:
    bool isCancelled() const { return m_cancelled && m_cancelled(); }

    // Until the pause is over, or this worker has something new to say.
    PreparationSaid ownAfter(std::chrono::milliseconds pause, Preparation before) {
        const auto until = std::chrono::steady_clock::now() + pause;
        std::unique_lock lock(m_mutex);
        while (m_own.how == before && std::chrono::steady_clock::now() < until) {
            if (isCancelled()) break;
            m_changed.wait_until(lock, std::min(until, std::chrono::steady_clock::now() + kLooksForStop));
        }
        // Also one that is done itself: the others need not go on for it.
        if (isCancelled()) {
            m_stop = true;
            m_own.how = Preparation::Failed;
        }
        return m_own;
    }

    void beat() {
        std::vector<PreparationSaid> all(static_cast<std::size_t>(m_group.place().size));
        std::chrono::milliseconds pause = std::min(kFirstPause, m_most);
        PreparationSaid own;
        while (true) {
            own = ownAfter(pause, own.how);
            Status heard = m_group.gather(&own, sizeof own, all.data());
            if (heard && !std::ranges::all_of(all, isKnown))
                heard = makeError(ErrorCode::Internal,
                                  "What another worker says is nothing that Stepscope says; start all workers with the same program.");
            int next = std::numeric_limits<int>::max();
            for (const PreparationSaid& said : all)
                if (said.how != Preparation::Done) next = std::min(next, static_cast<int>(said.turn));
            const bool failed = std::ranges::any_of(all, [](const PreparationSaid& said) { return said.how == Preparation::Failed; });
            {
                const std::lock_guard lock(m_mutex);
                // All see the same, and begin anew with short pauses together.
                pause = next == m_next ? std::min(2 * pause, m_most) : std::min(kFirstPause, m_most);
                m_next = next;
                m_somebodyFailed = failed;
                if (!heard || failed) m_stop = true;
                if (!heard) m_broke = std::move(heard);
            }
            m_changed.notify_all();
            if (!m_broke || failed || next == std::numeric_limits<int>::max()) return;
        }
    }

    Collectives& m_group;
    const std::function<bool()>& m_cancelled;
    std::chrono::milliseconds m_most;
    std::atomic<bool> m_stop{false};
    std::mutex m_mutex;  // of what follows
    std::condition_variable m_changed;
    PreparationSaid m_own;
    int m_next = 0;  // the lowest turn that is not done; a turn is 0 or more
    bool m_somebodyFailed = false;
    Status m_broke;
    std::thread m_thread;  // last: it uses everything above
};

}  // namespace

Status prepareInTurn(Collectives& group, int turn, const std::function<bool()>& cancelled,
                     const std::function<Status(const std::atomic<bool>& stop)>& work, std::chrono::milliseconds mostBetween) {
    PreparationBeats beats(group, turn, cancelled, mostBetween);
    const Error stopped = makeError(ErrorCode::Cancelled, "The run was stopped while it was prepared.");
    Status own = stopped;
    if (beats.waitForTurn()) own = work(beats.stop());
    Status broke = beats.end(own ? Preparation::Done : Preparation::Failed);
    if (cancelled && cancelled()) return stopped;
    // What was stopped because of another worker has not failed by itself.
    if (!own && own.error().code != ErrorCode::Cancelled) return own;
    if (!broke) return broke;
    if (!beats.somebodyFailed()) return own;
    // It gives up, and this is where that is heard, with its reason.
    std::vector<PreparationSaid> all(static_cast<std::size_t>(group.place().size));
    const PreparationSaid last{turn, Preparation::Done};
    if (Status left = group.gather(&last, sizeof last, all.data()); !left) return left;
    return makeError(ErrorCode::Training, "Another worker could not prepare what it trains on.");
}

}  // namespace stepscope
