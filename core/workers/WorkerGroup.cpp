// The only file that sees c10d. Compiled against the pinned LibTorch's headers and core/workers/gloo; the assertions below stop a build against
// another. The wheel was built with both.
#define USE_DISTRIBUTED
#define USE_C10D_GLOO
#include "core/workers/WorkerGroup.h"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "core/base/Check.h"
#include "core/base/GiveWay.h"
#include "core/base/Utf8.h"
#include "core/workers/LostWorkers.h"
#include "core/workers/StoreFile.h"
#include "core/workers/StoreSocket.h"
#include "core/workers/TextLengths.h"

static_assert(TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 11, "core/workers/gloo was written for LibTorch 2.11: read c10d's header again");

namespace stepscope {
namespace {

constexpr std::size_t kMostReason = 2000;
// Once something is broken: how long the others may take to say that they see it, how long one that keeps the store stays for them, and how long a
// question to the store may take.
constexpr std::chrono::seconds kAnswers{10}, kStays{5}, kStoreAnswers{5};
constexpr std::chrono::milliseconds kLooks{50};

// torchrun's agent has one for its workers; else the first of them.
bool opensStore(const WorkerPlace& place) {
    return place.rank == 0 && place.file.empty() && !place.agentStore;
}

c10::intrusive_ptr<c10d::Store> openStore(const WorkerPlace& place, std::chrono::milliseconds patience) {
    c10::intrusive_ptr<c10d::Store> store;
    if (!place.file.empty()) {
        store = c10::make_intrusive<c10d::FileStore>(place.file, place.size);
        store->setTimeout(patience);
    } else {
        c10d::TCPStoreOptions options;
        options.port = static_cast<std::uint16_t>(place.port);
        options.isServer = opensStore(place);
        options.numWorkers = static_cast<std::size_t>(place.size);
        options.waitWorkers = false;
        options.timeout = patience;
        if (options.isServer) options.masterListenFd = boundToAddress(place);
        store = c10::make_intrusive<c10d::TCPStore>(place.address, options);
    }
    return store;
}

// What is left of an earlier time under the same name is never read for what is of now. torchrun's agent keeps its store for all that its workers'
// script does, which may train several times: each counts how often it has come, and all are as far.
c10::intrusive_ptr<c10d::Store> storeOfThisTime(const WorkerPlace& place, const c10::intrusive_ptr<c10d::Store>& store) {
    std::string prefix = fmt::format("stepscope/{}/{}", place.run, place.restart);
    if (place.agentStore) prefix += fmt::format("/{}", store->add(fmt::format("{}/came/{}", prefix, place.rank), 1));
    return c10::make_intrusive<c10d::PrefixStore>(prefix, store);
}

// The one part that outlives a restart.
c10::intrusive_ptr<c10d::Store> storeOfAllTimes(const WorkerPlace& place, const c10::intrusive_ptr<c10d::Store>& store) {
    if (!place.agentStore) return {};
    return c10::make_intrusive<c10d::PrefixStore>(fmt::format("stepscope/{}/left", place.run), store);
}

// The network that a person names, this machine's own where all workers are on it, else that of the host's name, as torch.distributed chooses.
auto deviceFor(const WorkerPlace& place) {
    const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
    if (interface != nullptr && *interface != '\0') return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
    return place.oneMachine() ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1") : c10d::ProcessGroupGloo::createDefaultDevice();
}

// Gloo writes to sockets whose other end may be gone: that is an error of a sum, not this process's end by a signal.
void refuseBrokenPipes() {
    struct sigaction present {};
    if (::sigaction(SIGPIPE, nullptr, &present) == 0 && (present.sa_flags & SA_SIGINFO) == 0 && present.sa_handler == SIG_DFL)
        std::signal(SIGPIPE, SIG_IGN);
}

void gatherBytes(c10d::ProcessGroupGloo& group, const void* own, std::int64_t bytes, void* all) {
    std::vector<at::Tensor> mine{at::from_blob(const_cast<void*>(own), {bytes}, at::kByte)};
    std::vector<std::vector<at::Tensor>> into(1);
    for (int rank = 0; rank < group.getSize(); ++rank)
        into[0].push_back(at::from_blob(static_cast<std::byte*>(all) + rank * bytes, {bytes}, at::kByte));
    const auto gathering = group.allgather(into, mine);
    giveWayUntil([&] { return gathering->isCompleted(); });
    gathering->wait();
}

// Why this worker does not join, where that is known.
struct NotJoined : std::exception {
    explicit NotJoined(Error why) : error(std::move(why)) {}
    Error error;
};

constexpr const char* kStopped = "stopped";  // a key of the store

Error stoppedEarly() {
    return makeError(ErrorCode::Cancelled, "The run was stopped before its first step.");
}

// How long a worker waits for the others to come, and who may end it earlier.
class Arrival {
public:
    // Many ask less often: one answers all.
    Arrival(int workers, std::chrono::milliseconds patience, const std::function<bool()>& cancelled)
        : m_until(std::chrono::steady_clock::now() + patience),
          m_looks(std::min(kLooks + std::chrono::milliseconds(workers), std::chrono::milliseconds(1000))),
          m_cancelled(cancelled) {}
    bool cancelled() const { return m_cancelled && m_cancelled(); }
    void waitABit() const {
        if (cancelled()) throw NotJoined(stoppedEarly());
        if (std::chrono::steady_clock::now() >= m_until) throw std::runtime_error("not all of them have come");
        std::this_thread::sleep_for(m_looks);
    }

private:
    std::chrono::steady_clock::time_point m_until;
    std::chrono::milliseconds m_looks;
    const std::function<bool()>& m_cancelled;
};

}  // namespace

struct WorkerGroup::Joined {
    WorkerPlace place;
    std::chrono::milliseconds patience{};
    std::unique_ptr<StoreFile> file;  // held until the store is gone
    c10::intrusive_ptr<c10d::Store> store;
    c10::intrusive_ptr<c10d::Store> lasting;           // null: nothing is kept for a next time
    c10::intrusive_ptr<c10d::ProcessGroupGloo> group;  // null: worth nothing any more, because of
    Error failure;
    std::vector<WorkerIdentity> workers;  // by rank
    std::mutex alone;                     // a worker may give up on one thread while another adds up

    const WorkerIdentity& own() const { return workers[static_cast<std::size_t>(place.rank)]; }
    // Then nobody can ask when this worker has ended.
    bool keepsStore() const { return opensStore(place); }
    static std::string broken(int rank) { return fmt::format("broken/{}", rank); }
    static std::string told(int rank) { return fmt::format("told/{}", rank); }
    static std::string here(int rank) { return fmt::format("here/{}", rank); }

    // Until the first worker has opened the store: c10d would wait for it without asking anybody.
    void awaitStore(const Arrival& arrival) const {
        if (!place.file.empty() || place.agentStore || place.rank == 0) return;
        while (!somebodyListens(place)) arrival.waitABit();
    }

    // Until all have come. One that is stopped meanwhile says so.
    void awaitOthers(const Arrival& arrival) {
        store->set(here(place.rank), std::string("1"));
        try {
            for (int rank = 0; rank < place.size; ++rank)
                while (!store->check({here(rank)})) {
                    if (store->check({kStopped})) throw NotJoined(makeError(ErrorCode::Training, "Another worker was stopped before all had come."));
                    arrival.waitABit();
                }
        } catch (const NotJoined& stopped) {
            if (stopped.error.code == ErrorCode::Cancelled) store->set(kStopped, std::string("1"));
            throw;
        }
    }

    // One catch site: c10d throws whatever the network says.
    template <class Work>
    Status collectively(const char* aim, Work work) {
        const std::lock_guard lock(alone);
        if (!group) return failure;
        try {
            work();
            return {};
        } catch (const std::exception& thrown) {
            failure = Error{.code = ErrorCode::Training, .sentence = {}, .cause = thrown.what()};
        }
        // The connections close with it, which is how those notice who waited for this worker.
        group.reset();
        const auto fates = fatesOfOthers({});
        failure.sentence = lostSentence({place.rank, aim, std::chrono::duration_cast<std::chrono::seconds>(patience).count()}, workers, fates);
        return failure;
    }

    // Every worker whose group breaks says so in the store before it ends. Who does not is the one that it broke with.
    std::vector<WorkerFate> fatesOfOthers(const std::string& ownReason) {
        std::vector<WorkerFate> fates(workers.size());
        fates[static_cast<std::size_t>(place.rank)].answered = true;
        bool storeIsThere = true;
        try {
            store->setTimeout(kStoreAnswers);
            store->set(broken(place.rank), std::string(firstBytes(ownReason, kMostReason)));
            const auto until = std::chrono::steady_clock::now() + kAnswers;
            while (!lookForOthers(fates) && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(kLooks);
            store->set(told(place.rank), std::string("1"));
            if (keepsStore()) stayForOthers(fates);
        } catch (const std::exception&) {
            storeIsThere = false;
        }
        for (std::size_t rank = 0; rank < fates.size(); ++rank) fates[rank].ended = !fates[rank].answered && hasEnded(workers[rank], own());
        const bool seen = std::ranges::any_of(fates, [](const WorkerFate& fate) { return fate.ended || !fate.reason.empty(); });
        // It went away with the worker that kept it.
        if (!storeIsThere && !seen && !place.agentStore && place.file.empty() && place.rank != 0) fates[0].ended = !fates[0].answered;
        return fates;
    }

    // Whether enough is known: all have answered, or one is gone that did not.
    bool lookForOthers(std::vector<WorkerFate>& fates) {
        bool all = true, oneIsGone = false;
        for (int rank = 0; rank < place.size; ++rank) {
            WorkerFate& fate = fates[static_cast<std::size_t>(rank)];
            if (fate.answered) continue;
            // In this order: what it said before it ended is there then.
            const bool gone = hasEnded(workers[static_cast<std::size_t>(rank)], own());
            fate.answered = store->check({broken(rank)});
            if (fate.answered) fate.reason = printable(firstBytes(store->get_to_str(broken(rank)), kMostReason));
            all = all && fate.answered;
            oneIsGone = oneIsGone || (gone && !fate.answered);
        }
        return all || oneIsGone;
    }

    void stayForOthers(const std::vector<WorkerFate>& fates) {
        const auto until = std::chrono::steady_clock::now() + kStays;
        const auto allTold = [&] {
            for (int rank = 1; rank < place.size; ++rank)
                if (fates[static_cast<std::size_t>(rank)].answered && !store->check({told(rank)})) return false;
            return true;
        };
        while (!allTold() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(kLooks);
    }
};

WorkerGroup::WorkerGroup(std::unique_ptr<Joined> joined) : m_joined(std::move(joined)) {}
WorkerGroup::~WorkerGroup() = default;

Result<std::unique_ptr<WorkerGroup>> WorkerGroup::join(const WorkerPlace& place, std::chrono::milliseconds patience,
                                                       const std::function<bool()>& cancelled) {
    SS_CHECK(place.size > 1);
    refuseBrokenPipes();
    const Arrival arrival(place.size, patience, cancelled);
    auto joined = std::make_unique<Joined>();
    joined->place = place;
    joined->patience = patience;
    if (!place.file.empty()) {
        auto held = StoreFile::hold(place.file);
        if (!held) return held.error();
        joined->file = std::move(*held);
    }
    try {
        joined->awaitStore(arrival);
        const auto store = openStore(place, patience);
        joined->store = storeOfThisTime(place, store);
        joined->lasting = storeOfAllTimes(place, store);
        joined->awaitOthers(arrival);
        const auto options = c10d::ProcessGroupGloo::Options::create(patience);
        options->devices.push_back(deviceFor(place));
        joined->group = c10::make_intrusive<c10d::ProcessGroupGloo>(joined->store, place.rank, place.size, options);
        const WorkerIdentity own = ownIdentity();
        joined->workers.resize(static_cast<std::size_t>(place.size));
        gatherBytes(*joined->group, &own, sizeof own, joined->workers.data());
    } catch (const NotJoined& known) {
        return arrival.cancelled() ? stoppedEarly() : known.error;
    } catch (const std::exception& thrown) {
        if (arrival.cancelled()) return stoppedEarly();  // with the one that kept the store
        const std::string where = place.file.empty() ? fmt::format("{}:{}", place.address, place.port) : fmt::format("\"{}\"", place.file);
        return Error{
            .code = ErrorCode::Io,
            .sentence = fmt::format("Worker {} of {} did not find the others at {} within {} s; are all of them started, and is that address theirs?",
                                    place.rank, place.size, where, std::chrono::duration_cast<std::chrono::seconds>(patience).count()),
            .cause = thrown.what()};
    }
    return std::unique_ptr<WorkerGroup>(new WorkerGroup(std::move(joined)));
}

const WorkerPlace& WorkerGroup::place() const {
    return m_joined->place;
}

int WorkerGroup::onThisMachine() const {
    return static_cast<int>(std::ranges::count_if(m_joined->workers, [&](const WorkerIdentity& one) { return onOneMachine(one, m_joined->own()); }));
}

int WorkerGroup::sharingProcessors() const {
    const WorkerIdentity& own = m_joined->own();
    return 1 + static_cast<int>(
                   std::ranges::count_if(m_joined->workers, [&](const WorkerIdentity& one) { return &one != &own && shareProcessors(one, own); }));
}

Status WorkerGroup::sum(float* values, std::int64_t count) {
    return m_joined->collectively("add up gradients", [&] {
        std::vector<at::Tensor> all{at::from_blob(values, {count}, at::kFloat)};
        m_joined->group->allreduce(all)->wait();
    });
}

Status WorkerGroup::sumBf16(std::uint16_t* bits, std::int64_t count) {
    return m_joined->collectively("add up gradients", [&] {
        std::vector<at::Tensor> all{at::from_blob(bits, {count}, at::kBFloat16)};
        m_joined->group->allreduce(all)->wait();
    });
}

Status WorkerGroup::gather(const void* own, std::int64_t bytes, void* all) {
    return m_joined->collectively("compare notes", [&] { gatherBytes(*m_joined->group, own, bytes, all); });
}

Status WorkerGroup::broadcast(void* bytes, std::int64_t count, int from) {
    return m_joined->collectively("hand on what all must have", [&] {
        std::vector<at::Tensor> all{at::from_blob(bytes, {count}, at::kByte)};
        c10d::BroadcastOptions options;
        options.rootRank = from;
        m_joined->group->broadcast(all, options)->wait();
    });
}

Status WorkerGroup::meet() {
    return m_joined->collectively("meet", [&] { m_joined->group->barrier()->wait(); });
}

Result<std::vector<std::string>> WorkerGroup::texts(const std::string& own) {
    SS_CHECK(own.size() <= kMostText);
    const auto size = static_cast<std::size_t>(m_joined->place.size);
    // Lengths first, then all in parts of the longest.
    std::vector<float> lengths(size);
    lengths[static_cast<std::size_t>(m_joined->place.rank)] = static_cast<float>(own.size());
    if (const Status added = sum(lengths.data(), static_cast<std::int64_t>(size)); !added) return added.error();
    if (const Status allowed = checkTextLengths(lengths); !allowed) return allowed.error();
    const auto longest = static_cast<std::int64_t>(*std::max_element(lengths.begin(), lengths.end()));
    std::vector<std::string> texts(size);
    if (longest == 0) return texts;
    std::vector<char> mine(static_cast<std::size_t>(longest)), all(size * mine.size());
    std::memcpy(mine.data(), own.data(), std::min(own.size(), mine.size()));
    const Status gathered = gather(mine.data(), longest, all.data());
    if (!gathered) return gathered.error();
    for (std::size_t i = 0; i < size; ++i) texts[i].assign(all.data() + i * mine.size(), static_cast<std::size_t>(lengths[i]));
    return texts;
}

void WorkerGroup::leave(const std::string& name, const std::string& what) {
    if (!m_joined->lasting) return;
    try {
        m_joined->lasting->set(name, what);
    } catch (const std::exception&) {
        // Without its store the agent is gone, and starts nobody any more.
    }
}

std::optional<std::string> WorkerGroup::left(const std::string& name) const {
    if (!m_joined->lasting) return std::nullopt;
    try {
        // Asked first: who gets what is not there waits for it.
        if (!m_joined->lasting->check({name})) return std::nullopt;
        return m_joined->lasting->get_to_str(name);
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

void WorkerGroup::giveUp(const std::string& why) {
    const std::lock_guard lock(m_joined->alone);
    if (!m_joined->group) return;
    m_joined->failure = makeError(ErrorCode::Training, why);
    m_joined->group.reset();
    // Who keeps the store waits until the others have read it; for the rest it is enough to have said so.
    if (m_joined->keepsStore()) {
        (void)m_joined->fatesOfOthers(why);
        return;
    }
    try {
        m_joined->store->setTimeout(kStoreAnswers);
        m_joined->store->set(Joined::broken(m_joined->place.rank), std::string(firstBytes(why, kMostReason)));
        m_joined->store->set(Joined::told(m_joined->place.rank), std::string("1"));
    } catch (const std::exception&) {
        // Then the store is gone, and so is who would have read it.
    }
}

}  // namespace stepscope
