#include "core/workers/LostWorkers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>

namespace stepscope {
namespace {

template <std::size_t size>
void put(std::array<char, size>& into, const std::string& text) {
    const std::size_t count = std::min(text.size(), size - 1);
    std::memcpy(into.data(), text.data(), count);
    into[count] = '\0';
}

// Another process's bytes: they may lack their end.
template <std::size_t size>
std::string textOf(const std::array<char, size>& bytes) {
    return {bytes.data(), ::strnlen(bytes.data(), size)};
}

// "pid:[4026531836]": processes of another container have numbers of their own.
std::string numbering() {
    std::array<char, 64> text{};
    return ::readlink("/proc/self/ns/pid", text.data(), text.size() - 1) > 0 ? text.data() : "";
}

// "1", "1 and 3", "1, 2 and 3".
std::string listed(const std::vector<int>& ranks) {
    const std::vector<int> first(ranks.begin(), ranks.end() - 1);
    return first.empty() ? fmt::format("{}", ranks.back()) : fmt::format("{} and {}", fmt::join(first, ", "), ranks.back());
}

std::vector<int> ranksWith(const std::vector<WorkerFate>& fates, const std::function<bool(const WorkerFate&)>& is) {
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < fates.size(); ++rank)
        if (is(fates[rank])) ranks.push_back(static_cast<int>(rank));
    return ranks;
}

}  // namespace

WorkerIdentity ownIdentity() {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    WorkerIdentity own;
    put(own.host, host.data());
    put(own.machine, fmt::format("{} {}", numbering(), host.data()));
    own.process = ::getpid();
    cpu_set_t usable;
    if (::sched_getaffinity(0, sizeof usable, &usable) == 0)
        for (std::size_t number = 0; number < 64 * own.processors.size(); ++number)
            if (CPU_ISSET(number, &usable)) own.processors[number / 64] |= std::uint64_t{1} << number % 64;
    return own;
}

bool onOneMachine(const WorkerIdentity& a, const WorkerIdentity& b) {
    return textOf(a.machine) == textOf(b.machine);
}

bool shareProcessors(const WorkerIdentity& a, const WorkerIdentity& b) {
    if (!onOneMachine(a, b)) return false;
    bool aTells = false, bTells = false;
    for (std::size_t i = 0; i < a.processors.size(); ++i) {
        if ((a.processors[i] & b.processors[i]) != 0) return true;
        aTells = aTells || a.processors[i] != 0;
        bTells = bTells || b.processors[i] != 0;
    }
    return !aTells || !bTells;
}

bool hasEnded(const WorkerIdentity& worker, const WorkerIdentity& own) {
    if (!onOneMachine(worker, own) || ::access("/proc/self/stat", R_OK) != 0) return false;
    std::ifstream file(fmt::format("/proc/{}/stat", worker.process));
    std::string line;
    if (!std::getline(file, line)) return true;
    // "4711 (name) S ...": a name may hold anything. A zombie has ended, whoever is to wait for it.
    const auto name = line.rfind(") ");
    return name != std::string::npos && name + 2 < line.size() && (line[name + 2] == 'Z' || line[name + 2] == 'X');
}

std::string lostSentence(const Broken& broken, const std::vector<WorkerIdentity>& workers, const std::vector<WorkerFate>& fates) {
    const std::size_t size = fates.size();
    for (std::size_t rank = 0; rank < size; ++rank)
        if (!fates[rank].reason.empty()) return fmt::format("Worker {} of {} has given up: {}", rank, size, fates[rank].reason);
    const std::string waiting = fmt::format("worker {} waited to {} with it", broken.rank, broken.aim);
    if (const auto ended = ranksWith(fates, [](const WorkerFate& fate) { return fate.ended; }); ended.size() == 1)
        return fmt::format("Worker {} of {} has ended while {}; what it said last tells why.", ended.front(), size, waiting);
    else if (!ended.empty())
        return fmt::format("Workers {} of {} have ended while worker {} waited to {} with them; what they said last tells why.", listed(ended), size,
                           broken.rank, broken.aim);
    const auto silent = ranksWith(fates, [](const WorkerFate& fate) { return !fate.answered; });
    if (silent.size() == 1) {
        const WorkerIdentity& one = workers[static_cast<std::size_t>(silent.front())];
        return fmt::format("Worker {} of {} does not answer, while {}, for up to {} s: process {} on {} hangs, has ended or cannot be reached.",
                           silent.front(), size, waiting, broken.seconds, one.process, textOf(one.host));
    }
    if (!silent.empty())
        return fmt::format(
            "Workers {} of {} do not answer, while worker {} waited to {}, for up to {} s: they hang, have ended or cannot be reached.",
            listed(silent), size, broken.rank, broken.aim, broken.seconds);
    return fmt::format(
        "Worker {} of {} could not {} with the others: all of them still run, but one was more than {} s behind, or the line between two broke.",
        broken.rank, size, broken.aim, broken.seconds);
}

}  // namespace stepscope
