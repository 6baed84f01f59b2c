#include "core/workers/nccl/NcclGroup.h"

#include <fmt/format.h>

#include <string_view>
#include <thread>

#include "core/base/GiveWay.h"
#include "core/base/Utf8.h"

namespace stepscope {
namespace {

constexpr std::chrono::microseconds kAsksAgain{200};
constexpr std::size_t kMostOfReason = 300;  // bytes

bool taken(NcclResult result) {
    return result == NcclResult::Success || result == NcclResult::InProgress;
}

Error abandonedError() {
    return makeError(ErrorCode::Training, "The workers' GPUs do nothing together any more.");
}

}  // namespace

NcclGroup::~NcclGroup() {
    abandon();
}

// NCCL's own words are the only ones that tell a cable from a driver.
Error NcclGroup::failed(NcclResult result) {
    const char* const words = m_library.getErrorString(result);
    const char* const last = m_comm != nullptr ? m_library.getLastError(m_comm) : nullptr;
    std::string_view reason = last != nullptr ? last : "";
    reason = reason.substr(0, reason.find('\n'));
    while (reason.ends_with(' ') || reason.ends_with('.')) reason.remove_suffix(1);
    return makeError(ErrorCode::Training,
                     fmt::format("The workers' GPUs could not {}: NCCL says \"{}\"{}; NCCL_DEBUG=INFO makes it say more.", m_aim,
                                 words != nullptr ? words : "an unknown error",
                                 reason.empty() ? std::string() : fmt::format(" ({})", printable(firstBytes(reason, kMostOfReason)))));
}

// calls() under the lock, and then until NCCL has taken it: the first time GPUs connect, which waits for the other workers.
template <class Calls>
Status NcclGroup::together(const char* aim, std::chrono::milliseconds within, const Calls& calls) {
    const auto until = std::chrono::steady_clock::now() + within;
    NcclResult result = NcclResult::InProgress;
    {
        const std::lock_guard lock(m_mutex);
        if (m_abandoned) return abandonedError();
        m_aim = aim;
        result = calls();
        if (!taken(result)) return failed(result);
    }
    Status ended;
    const auto asked = [&] {
        const std::lock_guard lock(m_mutex);
        if (m_abandoned) {
            ended = abandonedError();
            return true;
        }
        const NcclResult answer = m_library.commGetAsyncError(m_comm, &result);
        if (answer != NcclResult::Success) result = answer;
        if (!taken(result)) ended = failed(result);
        return result != NcclResult::InProgress;
    };
    if (result == NcclResult::Success || giveWayUntil(asked)) return ended;
    while (!asked()) {
        if (std::chrono::steady_clock::now() >= until)
            return makeError(ErrorCode::Training, fmt::format("The workers' GPUs did not {} within {} s: one of them hangs, or its worker does.", aim,
                                                              std::chrono::duration_cast<std::chrono::seconds>(within).count()));
        std::this_thread::sleep_for(kAsksAgain);
    }
    return ended;
}

// A group that was begun is ended, whatever became of what is in it: it is of the thread.
template <class Calls>
Status NcclGroup::grouped(const char* aim, const Calls& calls) {
    return together(aim, m_patience, [&] {
        const NcclResult begun = m_library.groupStart();
        if (!taken(begun)) return begun;
        const NcclResult called = calls();
        const NcclResult ended = m_library.groupEnd();
        return taken(called) ? ended : called;
    });
}

Result<std::unique_ptr<NcclGroup>> NcclGroup::join(const NcclLibrary& library, const NcclKey& key, int rank, int size,
                                                   std::chrono::milliseconds patience, std::chrono::milliseconds joinsWithin) {
    std::unique_ptr<NcclGroup> group(new NcclGroup(library, patience));
    NcclConfig config;
    const Status joined =
        group->together("find each other", joinsWithin, [&] { return library.commInitRankConfig(&group->m_comm, size, key, rank, &config); });
    if (!joined) return joined.error();
    return group;
}

Status NcclGroup::sum(const std::vector<NcclSlice>& slices, NcclType type, void* stream) {
    return grouped("add up gradients", [&] {
        NcclResult result = NcclResult::Success;
        for (const NcclSlice& slice : slices)
            if (taken(result) && slice.count > 0)
                result =
                    m_library.allReduce(slice.values, slice.values, static_cast<std::size_t>(slice.count), type, NcclReduction::Sum, m_comm, stream);
        return result;
    });
}

Status NcclGroup::handRound(const std::vector<NcclSlice>& parts, void* stream) {
    return grouped("hand round weights", [&] {
        NcclResult result = NcclResult::Success;
        for (std::size_t rank = 0; rank < parts.size(); ++rank)
            if (taken(result) && parts[rank].count > 0)
                result = m_library.broadcast(parts[rank].values, parts[rank].values, static_cast<std::size_t>(parts[rank].count), NcclType::Float32,
                                             static_cast<int>(rank), m_comm, stream);
        return result;
    });
}

Status NcclGroup::state() {
    const std::lock_guard lock(m_mutex);
    if (m_abandoned) return abandonedError();
    NcclResult result = NcclResult::Success;
    const NcclResult answer = m_library.commGetAsyncError(m_comm, &result);
    if (!taken(answer)) return failed(answer);
    if (!taken(result)) return failed(result);
    return {};
}

void NcclGroup::abandon() {
    const std::lock_guard lock(m_mutex);
    if (m_abandoned) return;
    m_abandoned = true;
    if (m_comm != nullptr) m_library.commAbort(m_comm);
    m_comm = nullptr;
}

}  // namespace stepscope
