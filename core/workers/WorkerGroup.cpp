// The only file that sees c10d. Compiled against the pinned LibTorch's headers and core/workers/gloo; the assertions below stop a build against
// another. The wheel was built with both.
#define USE_DISTRIBUTED
#define USE_C10D_GLOO
#include "core/workers/WorkerGroup.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "core/base/Check.h"

static_assert(TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 11, "core/workers/gloo was written for LibTorch 2.11: read c10d's header again");

namespace stepscope {
namespace {

constexpr std::size_t kMostText = 1 << 20;

c10::intrusive_ptr<c10d::Store> openStore(const WorkerPlace& place, std::chrono::milliseconds patience) {
    if (!place.file.empty()) return c10::make_intrusive<c10d::FileStore>(place.file, place.size);
    c10d::TCPStoreOptions options;
    options.port = static_cast<std::uint16_t>(place.port);
    options.isServer = !place.agentStore && place.rank == 0;
    options.numWorkers = static_cast<std::size_t>(place.size);
    options.waitWorkers = false;
    options.timeout = patience;
    const auto store = c10::make_intrusive<c10d::TCPStore>(place.address, options);
    return c10::make_intrusive<c10d::PrefixStore>(fmt::format("stepscope/{}", place.restart), store);
}

// The network that a person names, this machine's own where all workers are on it, else that of the host's name, as torch.distributed chooses.
auto deviceFor(const WorkerPlace& place) {
    const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
    if (interface != nullptr && *interface != '\0') return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
    return place.oneMachine() ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1") : c10d::ProcessGroupGloo::createDefaultDevice();
}

}  // namespace

struct WorkerGroup::Joined {
    WorkerPlace place;
    std::chrono::milliseconds patience{};
    c10::intrusive_ptr<c10d::ProcessGroupGloo> group;

    // One catch site: c10d throws whatever the network says.
    template <class Work>
    Status collectively(const char* what, Work work) const {
        try {
            work();
            return {};
        } catch (const std::exception& thrown) {
            return Error{.code = ErrorCode::Training,
                         .sentence = fmt::format(
                             "Worker {} of {} could not {}: another worker has ended, or did not come within {} s; what it said last tells why.",
                             place.rank, place.size, what, std::chrono::duration_cast<std::chrono::seconds>(patience).count()),
                         .cause = thrown.what()};
        }
    }
};

WorkerGroup::WorkerGroup(std::unique_ptr<Joined> joined) : m_joined(std::move(joined)) {}
WorkerGroup::~WorkerGroup() = default;

Result<std::unique_ptr<WorkerGroup>> WorkerGroup::join(const WorkerPlace& place, std::chrono::milliseconds patience) {
    SS_CHECK(place.size > 1);
    auto joined = std::make_unique<Joined>(Joined{place, patience, {}});
    try {
        const auto options = c10d::ProcessGroupGloo::Options::create(patience);
        options->devices.push_back(deviceFor(place));
        joined->group = c10::make_intrusive<c10d::ProcessGroupGloo>(openStore(place, patience), place.rank, place.size, options);
    } catch (const std::exception& thrown) {
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

Status WorkerGroup::sum(float* values, std::int64_t count) {
    return m_joined->collectively("add up gradients with the others", [&] {
        std::vector<at::Tensor> all{at::from_blob(values, {count}, at::kFloat)};
        m_joined->group->allreduce(all)->wait();
    });
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
    return m_joined->collectively("wait for the others", [&] { m_joined->group->barrier()->wait(); });
}

Result<std::vector<std::string>> WorkerGroup::texts(const std::string& own) {
    SS_CHECK(own.size() <= kMostText);
    const auto size = static_cast<std::size_t>(m_joined->place.size);
    // Lengths first, then all in parts of the longest.
    std::vector<float> lengths(size);
    lengths[static_cast<std::size_t>(m_joined->place.rank)] = static_cast<float>(own.size());
    if (const Status added = sum(lengths.data(), static_cast<std::int64_t>(size)); !added) return added.error();
    const auto longest = static_cast<std::int64_t>(*std::max_element(lengths.begin(), lengths.end()));
    std::vector<std::string> texts(size);
    if (longest == 0) return texts;
    const Status gathered = m_joined->collectively("tell the others of itself", [&] {
        std::vector<at::Tensor> mine{at::zeros({longest}, at::kByte)};
        std::memcpy(mine[0].data_ptr(), own.data(), own.size());
        std::vector<std::vector<at::Tensor>> all(1);
        for (std::size_t i = 0; i < size; ++i) all[0].push_back(at::empty({longest}, at::kByte));
        m_joined->group->allgather(all, mine)->wait();
        for (std::size_t i = 0; i < size; ++i) texts[i].assign(static_cast<const char*>(all[0][i].data_ptr()), static_cast<std::size_t>(lengths[i]));
    });
    if (!gathered) return gathered.error();
    return texts;
}

}  // namespace stepscope
