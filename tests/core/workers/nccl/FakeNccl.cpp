// libnccl.so.2 as its header describes it, where calls do not wait (ncclConfig_t::blocking = 0), over memory of the process: who has put something
// under way is told ncclInProgress until all workers have, and then it is done, in the order of ranks. Built again of an old version, of another one
// and without a function (CMakeLists.txt here).
#include "tests/core/workers/nccl/FakeNccl.h"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/kernels/isa/Bf16.h"
#include "core/workers/nccl/NcclLibrary.h"

#ifndef VERSION
#define VERSION 22809
#endif

using stepscope::NcclConfig;
using stepscope::NcclKey;
using stepscope::NcclReduction;
using stepscope::NcclResult;
using stepscope::NcclType;

namespace {

constexpr int kSum = -1;

struct Call {
    int root = kSum;
    void* values = nullptr;
    std::size_t count = 0;
    NcclType type = NcclType::Float32;

    bool sameAs(const Call& other) const { return root == other.root && count == other.count && type == other.type; }
};

// What all workers put under way at once.
struct Round {
    std::vector<std::vector<Call>> of;  // by rank
    int given = 0;
    bool done = false, differ = false;
};

struct World {
    explicit World(int workers) : size(workers) {}
    std::mutex mutex;
    int size, joined = 0;
    bool aborted = false;  // somebody's memory may be gone
    std::vector<Round> rounds;
};

stepscope::FakeNccl state;
std::mutex worldsMutex;
std::map<std::string, std::shared_ptr<World>>& worlds() {
    static auto* all = new std::map<std::string, std::shared_ptr<World>>;
    return *all;
}

}  // namespace

struct stepscope::NcclComm {
    std::shared_ptr<World> world;
    int rank = 0;
    std::size_t given = 0;  // rounds
    NcclResult error = NcclResult::Success;
};

namespace {

thread_local int t_depth = 0;
thread_local stepscope::NcclComm* t_comm = nullptr;
thread_local std::vector<Call> t_calls;

template <class Read, class Write>
void addUp(const std::vector<std::vector<Call>>& of, std::size_t which, Read read, Write write) {
    for (std::size_t i = 0; i < of[0][which].count; ++i) {
        float total = read(of[0][which].values, i);
        for (std::size_t rank = 1; rank < of.size(); ++rank) {
            total += read(of[rank][which].values, i);
            if (of[0][which].type == NcclType::BFloat16) total = stepscope::toFloat(stepscope::toBf16(total));
        }
        for (const auto& own : of) write(own[which].values, i, total);
    }
}

void carryOut(Round& round) {
    for (const auto& own : round.of) round.differ = round.differ || own.size() != round.of[0].size();
    for (std::size_t which = 0; !round.differ && which < round.of[0].size(); ++which) {
        const Call& first = round.of[0][which];
        for (const auto& own : round.of) round.differ = round.differ || !own[which].sameAs(first);
        if (round.differ) break;
        if (first.root != kSum) {
            ++state.handedRound;
            const void* from = round.of[static_cast<std::size_t>(first.root)][which].values;
            for (const auto& own : round.of) std::memmove(own[which].values, from, first.count * sizeof(float));
        } else if (first.type == NcclType::BFloat16) {
            ++state.sums;
            addUp(
                round.of, which, [](const void* all, std::size_t i) { return stepscope::toFloat(static_cast<const stepscope::Bf16*>(all)[i]); },
                [](void* all, std::size_t i, float total) { static_cast<stepscope::Bf16*>(all)[i] = stepscope::toBf16(total); });
        } else {
            ++state.sums;
            addUp(
                round.of, which, [](const void* all, std::size_t i) { return static_cast<const float*>(all)[i]; },
                [](void* all, std::size_t i, float total) { static_cast<float*>(all)[i] = total; });
        }
    }
    round.done = true;
}

NcclResult give(stepscope::NcclComm& comm, std::vector<Call> calls) {
    World& world = *comm.world;
    const std::lock_guard lock(world.mutex);
    const std::size_t number = comm.given++;
    if (state.failsOf == comm.rank && static_cast<int>(comm.given) == state.failsAt) {
        comm.error = static_cast<NcclResult>(state.failsWith);
        return NcclResult::InProgress;
    }
    if (world.rounds.size() <= number) world.rounds.resize(number + 1);
    Round& round = world.rounds[number];
    round.of.resize(static_cast<std::size_t>(world.size));
    round.of[static_cast<std::size_t>(comm.rank)] = std::move(calls);
    if (++round.given == world.size && !world.aborted) carryOut(round);
    return NcclResult::InProgress;
}

NcclResult put(stepscope::NcclComm* comm, Call call) {
    if (comm == nullptr) return NcclResult::InvalidArgument;
    if (t_depth == 0) return give(*comm, {call});
    t_comm = comm;
    t_calls.push_back(call);
    return NcclResult::Success;
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))

FAKE stepscope::FakeNccl* fakeNccl() {
    return &state;
}

FAKE NcclResult ncclGetVersion(int* version) {
    *version = VERSION;
    return NcclResult::Success;
}
FAKE NcclResult ncclGetUniqueId(NcclKey* key) {
    static std::atomic<int> keys{0};
    if (state.keyFails) return NcclResult::SystemError;
    const std::string text = "world " + std::to_string(++keys);
    std::memcpy(key->bytes.data(), text.c_str(), text.size() + 1);
    return NcclResult::Success;
}
FAKE NcclResult ncclCommInitRankConfig(stepscope::NcclComm** comm, int size, NcclKey key, int rank, NcclConfig* config) {
    if (config->size != sizeof(NcclConfig) || config->magic != 0xcafebeef || config->version < 21400 || config->blocking != 0 || rank >= size)
        return NcclResult::InvalidArgument;
    std::shared_ptr<World> world;
    {
        const std::lock_guard lock(worldsMutex);
        auto& one = worlds()[key.bytes.data()];
        if (!one) one = std::make_shared<World>(size);
        world = one;
    }
    const std::lock_guard lock(world->mutex);
    ++world->joined;
    ++state.alive;
    *comm = new stepscope::NcclComm{.world = world, .rank = rank};
    return NcclResult::InProgress;
}
FAKE NcclResult ncclCommAbort(stepscope::NcclComm* comm) {
    {
        const std::lock_guard lock(comm->world->mutex);
        comm->world->aborted = true;
    }
    --state.alive;
    delete comm;
    return NcclResult::Success;
}
FAKE NcclResult ncclCommGetAsyncError(stepscope::NcclComm* comm, NcclResult* error) {
    World& world = *comm->world;
    const std::lock_guard lock(world.mutex);
    const Round* const last = comm->given > 0 && comm->given <= world.rounds.size() ? &world.rounds[comm->given - 1] : nullptr;
    if (comm->error != NcclResult::Success)
        *error = comm->error;
    else if (last != nullptr && last->differ)
        *error = NcclResult::InvalidUsage;
    else
        *error = world.joined < world.size || (last != nullptr && !last->done) ? NcclResult::InProgress : NcclResult::Success;
    return NcclResult::Success;
}
FAKE const char* ncclGetErrorString(NcclResult result) {
    return result == NcclResult::RemoteError    ? "remote process exited or there was a network error"
           : result == NcclResult::SystemError  ? "unhandled system error"
           : result == NcclResult::InvalidUsage ? "invalid usage"
                                                : "an error of the fake";
}
FAKE const char* ncclGetLastError(stepscope::NcclComm*) {
    return state.lastError;
}
FAKE NcclResult ncclAllReduce(const void* from, void* into, std::size_t count, NcclType type, NcclReduction reduction, stepscope::NcclComm* comm,
                              void*) {
    if (from != into || reduction != NcclReduction::Sum) return NcclResult::InvalidArgument;
    return put(comm, {.root = kSum, .values = into, .count = count, .type = type});
}
#ifndef WITHOUT_BROADCAST
FAKE NcclResult ncclBroadcast(const void* from, void* into, std::size_t count, NcclType type, int root, stepscope::NcclComm* comm, void*) {
    if (from != into || type != NcclType::Float32 || root < 0 || root >= comm->world->size) return NcclResult::InvalidArgument;
    return put(comm, {.root = root, .values = into, .count = count, .type = type});
}
#endif
FAKE NcclResult ncclGroupStart() {
    ++t_depth;
    return NcclResult::Success;
}
FAKE NcclResult ncclGroupEnd() {
    if (--t_depth > 0 || t_calls.empty()) return NcclResult::Success;
    std::vector<Call> calls;
    calls.swap(t_calls);
    return give(*t_comm, std::move(calls));
}
