// c10d's sums and exchanges; how its stores are met at is in Meeting. Compiled against the pinned LibTorch's headers and core/workers/gloo; the
// assertions below stop a build against another. The wheel was built with both.
#define USE_DISTRIBUTED
#define USE_C10D_GLOO
#include "core/workers/WorkerGroup.h"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "core/base/Check.h"
#include "core/base/GiveWay.h"
#include "core/base/Utf8.h"
#include "core/workers/LostWorkers.h"
#include "core/workers/Meeting.h"
#include "core/workers/OwnNetwork.h"
#include "core/workers/StoreFile.h"
#include "core/workers/TextLengths.h"
#include "core/workers/TorchLibrary.h"

static_assert(TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 11, "core/workers/gloo was written for LibTorch 2.11: read c10d's header again");

namespace stepscope {
namespace {

constexpr std::size_t kMostReason = 2000;
// Once something is broken: how long the others may take to say that they see it, how long one that keeps the store stays for them, and how long a
// question to the store may take.
constexpr std::chrono::seconds kAnswers{10}, kStays{5}, kStoreAnswers{5};
constexpr std::chrono::milliseconds kLooks{50};

auto devicesFor(const OwnNetwork& network) {
    decltype(c10d::ProcessGroupGloo::Options::devices) devices;
    for (const std::string& interface : network.interfaces) devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface(interface));
    if (!network.address.empty()) devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(network.address));
    if (devices.empty()) devices.push_back(c10d::ProcessGroupGloo::createDefaultDevice());
    return devices;
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
    if (const Status same = sameTorch(compiledTorch(), loadedTorch()); !same) return same.error();
    refuseBrokenPipes();
    auto joined = std::make_unique<Joined>();
    joined->place = place;
    joined->patience = patience;
    if (!place.file.empty()) {
        auto held = StoreFile::hold(place.file);
        if (!held) return held.error();
        joined->file = std::move(*held);
    }
    // Who has no network to be reached by tells the others before it ends: they would wait for it.
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    const auto network = ownNetwork(place, std::getenv("GLOO_SOCKET_IFNAME"), host.data());
    const std::string whyNot =
        network ? std::string() : fmt::format("Worker {} of {} on {}: {}", place.rank, place.size, printable(host.data()), network.error().sentence);
    try {
        auto met = comeTogether(place, patience, cancelled, whyNot);
        if (!met) return met.error();
        joined->store = std::move(met->store);
        joined->lasting = std::move(met->lasting);
        const auto options = c10d::ProcessGroupGloo::Options::create(patience);
        options->devices = devicesFor(*network);
        joined->group = c10::make_intrusive<c10d::ProcessGroupGloo>(joined->store, place.rank, place.size, options);
        const WorkerIdentity own = ownIdentity();
        joined->workers.resize(static_cast<std::size_t>(place.size));
        gatherBytes(*joined->group, &own, sizeof own, joined->workers.data());
    } catch (const std::exception& thrown) {
        if (cancelled && cancelled()) return stoppedEarly();  // with the one that kept the store
        return didNotFindOthers(place, patience, thrown.what());
    }
    return std::unique_ptr<WorkerGroup>(new WorkerGroup(std::move(joined)));
}

const WorkerPlace& WorkerGroup::place() const {
    return m_joined->place;
}

int WorkerGroup::onThisMachine() const {
    return static_cast<int>(std::ranges::count_if(m_joined->workers, [&](const WorkerIdentity& one) { return onOneMachine(one, m_joined->own()); }));
}

std::chrono::milliseconds WorkerGroup::patience() const {
    return m_joined->patience;
}

int WorkerGroup::firstHere() const {
    const auto first = std::ranges::find_if(m_joined->workers, [&](const WorkerIdentity& one) { return onOneMachine(one, m_joined->own()); });
    return static_cast<int>(first - m_joined->workers.begin());  // it is itself one of them
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
