#include "core/workers/WorkerPlace.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace stepscope {
namespace {

constexpr std::size_t kMostName = 200;

Error wrong(std::string sentence) {
    return makeError(ErrorCode::BadInput, std::move(sentence));
}

class Environment {
public:
    explicit Environment(const std::function<const char*(const char*)>& environment) : m_environment(environment) {}

    std::string text(const char* name) const {
        const char* value = m_environment(name);
        return value == nullptr ? "" : value;
    }
    bool has(const char* name) const { return !text(name).empty(); }
    // Within [least, most]; `otherwise` where it is not set.
    Result<int> number(const char* name, int least, int most, std::optional<int> otherwise = {}) const {
        const std::string value = text(name);
        if (value.empty()) {
            if (otherwise) return *otherwise;
            return wrong(
                fmt::format("{} is not set, but other variables of a run with several workers are; start them with torchrun, or unset those.", name));
        }
        int found = 0;
        const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), found);
        if (problem != std::errc{} || end != value.data() + value.size() || found < least || found > most)
            return wrong(fmt::format("{} is \"{}\"; it must be a whole number from {} to {}.", name, value.substr(0, 40), least, most));
        return found;
    }

private:
    const std::function<const char*(const char*)>& m_environment;
};

struct Names {
    const char *rank, *size, *localRank, *localSize;
};
constexpr Names kTorchrun{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
// Of a job step alone: a batch script has the other variables too, and is one process.
constexpr Names kSlurm{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"};

Result<WorkerPlace> placeBy(const Environment& environment, const Names& names) {
    WorkerPlace place;
    const auto size = environment.number(names.size, 1, kMostWorkers);
    if (!size) return size.error();
    const auto rank = environment.number(names.rank, 0, kMostWorkers - 1);
    if (!rank) return rank.error();
    if (*rank >= *size)
        return wrong(fmt::format("{} is {}, but {} says that there are {} workers, 0 to {}.", names.rank, *rank, names.size, *size, *size - 1));
    const auto localRank = environment.number(names.localRank, 0, *size - 1, 0);
    if (!localRank) return localRank.error();
    place.rank = *rank;
    place.size = *size;
    place.localRank = *localRank;
    // SLURM says "2(x3)" and the like for nodes that differ: then it stays unknown, as of several machines.
    place.localSize = 1;
    if (std::string_view(names.localSize) == kTorchrun.localSize) {
        const auto localSize = environment.number(names.localSize, 1, *size, 1);
        if (!localSize) return localSize.error();
        if (*localRank >= *localSize && environment.has(names.localSize))
            return wrong(
                fmt::format("{} is {}, but {} says that this machine has {} workers.", names.localRank, *localRank, names.localSize, *localSize));
        if (*localSize == *size && environment.has(names.localSize) && environment.has(names.localRank) && *localRank != *rank)
            return wrong(fmt::format("{} is {} and {} is {}, but {} says that all {} workers are on this machine, where the two are one number.",
                                     names.rank, *rank, names.localRank, *localRank, names.localSize, *size));
        place.localSize = *localSize;
    }
    return place;
}

// Which start of workers this is. Of strangers' words: a key of the store is made of it.
std::string startOf(const Environment& environment, bool torchrun) {
    std::string name = torchrun ? environment.text("TORCHELASTIC_RUN_ID")
                                : fmt::format("{}.{}", environment.text("SLURM_JOB_ID"), environment.text("SLURM_STEP_ID"));
    if (name.size() > kMostName) name.resize(kMostName);
    for (char& c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
        if (!plain) c = '_';
    }
    return name;
}

// All workers are on this machine, whoever says so.
void allHere(const Environment& environment, WorkerPlace& place) {
    place.localSize = place.size;
    if (!environment.has(kTorchrun.localRank) && !environment.has(kSlurm.localRank)) place.localRank = place.rank;
}

Status findStore(const Environment& environment, WorkerPlace& place) {
    const auto restart = environment.number("TORCHELASTIC_RESTART_COUNT", 0, 1'000'000, 0);
    if (!restart) return restart.error();
    place.restart = *restart;
    place.file = environment.text("STEPSCOPE_WORKERS_FILE");
    if (!place.file.empty()) {
        allHere(environment, place);  // a file is met on one machine
        return {};
    }
    place.address = environment.text("MASTER_ADDR");
    if (place.address.empty())
        return wrong(fmt::format(
            "There are {} workers, but MASTER_ADDR does not say where they meet; torchrun sets it, and so can your script (with MASTER_PORT).",
            place.size));
    // Of a script that names no machines: who meets at this one's own address is on it.
    if (!environment.has(kTorchrun.localSize) && (place.address == "127.0.0.1" || place.address == "localhost" || place.address == "::1"))
        allHere(environment, place);
    const auto port = environment.number("MASTER_PORT", 1, 65535);
    if (!port) return port.error();
    place.port = *port;
    place.agentStore = environment.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
    return {};
}

}  // namespace

Result<WorkerPlace> workerPlaceFrom(const std::function<const char*(const char*)>& read) {
    const Environment environment(read);
    // torchrun within a SLURM job: SLURM's numbers are those of its agents. RANK beside another SLURM_PROCID is no contradiction that could be
    // refused: a step may run one torchrun a machine, a script in it may start several workers or give them numbers in another order, and a shell of
    // `srun --pty` has SLURM_PROCID=0 for all that is started in it. Two that take one number refuse each other when they meet.
    const bool torchrun = environment.has(kTorchrun.rank) || environment.has(kTorchrun.size), slurm = environment.has(kSlurm.size);
    if (!torchrun && !slurm) return WorkerPlace{};
    auto place = placeBy(environment, torchrun ? kTorchrun : kSlurm);
    if (!place || place->alone()) return place;
    place->run = startOf(environment, torchrun);
    if (const Status found = findStore(environment, *place); !found) return found.error();
    return place;
}

Result<WorkerPlace> workerPlace() {
    return workerPlaceFrom([](const char* name) { return std::getenv(name); });
}

}  // namespace stepscope
