#include "core/workers/Meeting.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "core/base/Utf8.h"
#include "core/workers/RankClaim.h"
#include "core/workers/StoreSocket.h"

namespace stepscope {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPolls{20}, kLooksAgain{50};
// How long one stays at the store for those who are still to come and read why all end, and where the patience is nearly over; how long a thread may
// take to hear that time is up.
constexpr milliseconds kTells{5'000}, kMayLinger{2'000}, kTellsLate{1'800};
constexpr std::size_t kMostSaid = 2000;  // bytes of a sentence of another worker's

// Keys of the store.
constexpr const char *kStopped = "stopped", *kNever = "never", *kSize = "size", *kCame = "came", *kHeard = "heard";

// Why this worker does not join, where that is known.
struct NotJoined : std::exception {
    explicit NotJoined(Error why) : error(std::move(why)) {}
    Error error;
};

// What the thread that meets and the one that waits for it share; whoever is last takes it away.
class Arrival {
public:
    Arrival(WorkerPlace place, milliseconds patience, std::string whyNot)
        : m_place(std::move(place)), m_patience(patience), m_until(steady_clock::now() + patience), m_whyNot(std::move(whyNot)) {}
    ~Arrival() {
        if (m_listening >= 0) ::close(m_listening);
    }
    Arrival(const Arrival&) = delete;
    Arrival& operator=(const Arrival&) = delete;

    // Before the thread begins.
    void listen(int file) { m_listening = file; }

    // On the thread.
    void come() {
        auto outcome = comeOrSay();
        {
            const std::lock_guard lock(m_mutex);
            m_outcome.emplace(std::move(outcome));
        }
        m_done.notify_all();
    }

    // On the calling one.
    bool cameWithin(milliseconds time) {
        std::unique_lock lock(m_mutex);
        return m_done.wait_for(lock, time, [this] { return m_outcome.has_value(); });
    }
    Result<MetAt> outcome() { return std::move(*m_outcome); }
    void stop() { m_stop = true; }
    steady_clock::time_point until() const { return m_until; }
    // c10d has the connection and does not come back.
    Error lingered() const { return m_opening && m_place.file.empty() ? nobodyAnswers("") : didNotFindOthers(m_place, m_patience, ""); }

private:
    Result<MetAt> comeOrSay() {
        try {
            awaitStore();
            const auto store = openStore();
            MetAt met{.store = storeOfThisTime(store), .lasting = storeOfAllTimes(store)};
            awaitOthers(*met.store);
            return met;
        } catch (const NotJoined& known) {
            return known.error;
        } catch (const std::exception& thrown) {
            if (m_opening && m_place.file.empty() && !opensStore(m_place) && somebodyListens(m_place)) return nobodyAnswers(thrown.what());
            return didNotFindOthers(m_place, m_patience, thrown.what());
        }
    }

    Error nobodyAnswers(std::string cause) const {
        return Error{
            .code = ErrorCode::Io,
            .sentence = fmt::format("Somebody listens at {}:{}, but does not answer as the store of workers does; is MASTER_PORT taken by "
                                    "another program, or does {} hang?",
                                    printable(firstBytes(m_place.address, 200)), m_place.port, m_place.agentStore ? "torchrun's agent" : "worker 0"),
            .cause = std::move(cause)};
    }

    // Until the first worker has opened the store: c10d would wait for it without asking anybody.
    void awaitStore() const {
        if (!m_place.file.empty() || m_place.agentStore || m_place.rank == 0) return;
        while (!somebodyListens(m_place)) waitABit();
    }

    c10::intrusive_ptr<c10d::Store> openStore() {
        m_opening = true;
        c10::intrusive_ptr<c10d::Store> store;
        if (!m_place.file.empty()) {
            store = c10::make_intrusive<c10d::FileStore>(m_place.file, m_place.size);
            store->setTimeout(m_patience);
        } else {
            c10d::TCPStoreOptions options;
            options.port = static_cast<std::uint16_t>(m_place.port);
            options.isServer = opensStore(m_place);
            options.numWorkers = static_cast<std::size_t>(m_place.size);
            options.waitWorkers = false;
            options.timeout = m_patience;
            // Never without one: c10d would listen at all addresses then.
            if (options.isServer) options.masterListenFd = std::exchange(m_listening, -1);
            store = c10::make_intrusive<c10d::TCPStore>(m_place.address, options);
        }
        m_opening = false;
        return store;
    }

    // What is left of an earlier time under the same name is never read for what is of now. torchrun's agent keeps its store for all that its
    // workers' script does, which may train several times: each counts how often it has come, and all are as far.
    c10::intrusive_ptr<c10d::Store> storeOfThisTime(const c10::intrusive_ptr<c10d::Store>& store) const {
        std::string prefix = fmt::format("stepscope/{}/{}", m_place.run, m_place.restart);
        if (m_place.agentStore) prefix += fmt::format("/{}", store->add(fmt::format("{}/came/{}", prefix, m_place.rank), 1));
        return c10::make_intrusive<c10d::PrefixStore>(prefix, store);
    }

    // The one part that outlives a restart.
    c10::intrusive_ptr<c10d::Store> storeOfAllTimes(const c10::intrusive_ptr<c10d::Store>& store) const {
        if (!m_place.agentStore) return {};
        return c10::make_intrusive<c10d::PrefixStore>(fmt::format("stepscope/{}/left", m_place.run), store);
    }

    // Until all have come. One that is stopped meanwhile says so, and one that sees that they never will.
    void awaitOthers(c10d::Store& store) const {
        store.add(kCame, 1);
        if (!m_whyNot.empty()) {
            store.compareSet(kNever, "", m_whyNot);
            hearWhyNever(store);
        }
        claim(store);
        store.set(here(m_place.rank), std::string("1"));
        try {
            for (int rank = 0; rank < m_place.size; ++rank)
                while (!store.check({here(rank)})) {
                    hearWhyNever(store);
                    if (store.check({kStopped})) throw NotJoined(makeError(ErrorCode::Training, "Another worker was stopped before all had come."));
                    waitABit();
                }
        } catch (const NotJoined& stopped) {
            if (stopped.error.code == ErrorCode::Cancelled) store.set(kStopped, std::string("1"));
            throw;
        }
        // Somebody who came too much may have come last.
        hearWhyNever(store);
    }

    // The first to say how many there are is believed, and the first with a rank has it.
    void claim(c10d::Store& store) const {
        const RankClaim own = ownClaim(m_place.rank, m_place.size);
        for (const std::string& key : {std::string(kSize), claimed(m_place.rank)}) {
            const std::string there = store.compareSet(key, "", sayClaim(own));
            const auto other = claimFrom(there);
            const std::string why = other ? contradiction(own, *other) : "What is said where workers meet is nothing that Stepscope says.";
            if (why.empty()) continue;
            store.compareSet(kNever, "", why);
            hearWhyNever(store);
        }
    }

    // All end with the same words.
    void hearWhyNever(c10d::Store& store) const {
        if (!store.check({kNever})) return;
        const std::string why = printable(firstBytes(store.get_to_str(kNever), kMostSaid));
        store.add(kHeard, 1);
        // With the one that keeps the store it goes, and a file that nobody holds any more is a left-over to whoever comes then.
        const bool keeps = opensStore(m_place) || !m_place.file.empty();
        // Whoever waits for this thread gives it up kMayLinger after the patience, and says then that nobody came.
        const auto until = std::min(steady_clock::now() + kTells, m_until + kTellsLate);
        const auto somebodyIsToHear = [&] {
            const std::int64_t came = store.add(kCame, 0);
            return came < m_place.size || store.add(kHeard, 0) < came;
        };
        while (keeps && somebodyIsToHear() && steady_clock::now() < until && !m_stop) std::this_thread::sleep_for(kPolls);
        throw NotJoined(makeError(ErrorCode::BadInput, why));
    }

    void waitABit() const {
        if (m_stop) throw NotJoined(stoppedEarly());
        if (steady_clock::now() >= m_until) throw std::runtime_error("not all of them have come");
        // Many ask less often: one answers all.
        std::this_thread::sleep_for(std::min(kLooksAgain + milliseconds(m_place.size), milliseconds(1000)));
    }

    static std::string here(int rank) { return fmt::format("here/{}", rank); }
    static std::string claimed(int rank) { return fmt::format("claimed/{}", rank); }

    const WorkerPlace m_place;
    const milliseconds m_patience;
    const steady_clock::time_point m_until;
    const std::string m_whyNot;
    int m_listening = -1;
    std::atomic<bool> m_stop{false}, m_opening{false};
    std::mutex m_mutex;
    std::condition_variable m_done;
    std::optional<Result<MetAt>> m_outcome;
};

}  // namespace

bool opensStore(const WorkerPlace& place) {
    return place.rank == 0 && place.file.empty() && !place.agentStore;
}

Result<MetAt> comeTogether(const WorkerPlace& place, milliseconds patience, const std::function<bool()>& cancelled, const std::string& whyNot) {
    const auto arrival = std::make_shared<Arrival>(place, patience, whyNot);
    if (opensStore(place)) {
        const auto listening = listenForStore(place);
        if (!listening) return listening.error();
        arrival->listen(*listening);
    }
    std::thread thread([arrival] { arrival->come(); });
    std::optional<steady_clock::time_point> stopped;
    while (!arrival->cameWithin(kPolls)) {
        if (!stopped && cancelled && cancelled()) {
            stopped = steady_clock::now();
            arrival->stop();
        }
        if (steady_clock::now() < stopped.value_or(arrival->until()) + kMayLinger) continue;
        thread.detach();
        if (stopped) return stoppedEarly();
        return arrival->lingered();
    }
    thread.join();
    auto outcome = arrival->outcome();
    if (!outcome && (stopped || (cancelled && cancelled()))) return stoppedEarly();  // what went wrong went with it
    return outcome;
}

Error didNotFindOthers(const WorkerPlace& place, milliseconds patience, std::string cause) {
    const std::string where = place.file.empty() ? fmt::format("{}:{}", place.address, place.port) : fmt::format("\"{}\"", place.file);
    return Error{
        .code = ErrorCode::Io,
        .sentence = fmt::format("Worker {} of {} did not find the others at {} within {} s; are all of them started, and is that address theirs?",
                                place.rank, place.size, where, std::chrono::duration_cast<std::chrono::seconds>(patience).count()),
        .cause = std::move(cause)};
}

Error stoppedEarly() {
    return makeError(ErrorCode::Cancelled, "The run was stopped before its first step.");
}

}  // namespace stepscope
