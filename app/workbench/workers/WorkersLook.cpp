#include "app/workbench/workers/WorkersLook.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "app/workbench/workers/BuildIdentity.h"
#include "app/workbench/workers/LinkTimes.h"
#include "core/base/Utf8.h"
#include "core/workers/WorkerGroup.h"

namespace stepscope {
namespace {

constexpr std::array<std::int64_t, 5> kSums{4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20};  // bytes

// Alike with every worker, since each must take part in each: fewer of the large ones.
int timesOf(std::int64_t bytes) {
    return bytes <= (1 << 20) ? 41 : 9;
}

WorkerFacts ownFacts() {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    cpu_set_t cores;
    CPU_ZERO(&cores);
    return {.host = host.data(), .process = ::getpid(), .cores = ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0};
}

// What another worker says of itself is read as a stranger's.
Result<WorkerFacts> factsOf(const std::string& text, int rank) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const auto has = [&](const char* key, auto is) { return json.is_object() && json.contains(key) && (json[key].*is)(); };
    using Json = nlohmann::json;
    if (!has("version", &Json::is_string) || !has("host", &Json::is_string) || !has("process", &Json::is_number_integer) ||
        !has("cores", &Json::is_number_integer))
        return makeError(ErrorCode::BadInput,
                         fmt::format("What came from worker {} is nothing that Stepscope says; start all workers with the same program.", rank));
    if (json["version"] != STEPSCOPE_VERSION)
        return makeError(ErrorCode::BadInput, fmt::format("Worker {} runs Stepscope {}, and this one {}; start all workers with the same program.",
                                                          rank, printable(firstBytes(json["version"].get<std::string>(), 40)), STEPSCOPE_VERSION));
    if (!has("build", &Json::is_string) || json["build"] != buildIdentity())
        return makeError(ErrorCode::BadInput,
                         fmt::format("Worker {} runs another build of Stepscope {} than this one; start all workers with the same program.", rank,
                                     STEPSCOPE_VERSION));
    return WorkerFacts{.host = std::string(firstBytes(json["host"].get<std::string>(), 256)),
                       .process = json["process"].get<std::int64_t>(),
                       .cores = static_cast<int>(std::clamp<std::int64_t>(json["cores"].get<std::int64_t>(), 0, 1 << 20))};
}

Result<SumTime> timeOf(WorkerGroup& group, std::int64_t bytes) {
    const auto seconds = timeSums(group, bytes, timesOf(bytes));
    if (!seconds) return seconds.error();
    const double median = (*seconds)[seconds->size() / 2], workers = group.place().size;
    return SumTime{.bytes = bytes,
                   .median = median,
                   .slowest = seconds->back(),
                   .bytesPerSecond = 2 * (workers - 1) / workers * static_cast<double>(bytes) / median};
}

}  // namespace

Result<WorkersLook> lookAtWorkers(std::chrono::milliseconds patience) {
    const auto place = workerPlace();
    if (!place) return place.error();
    WorkersLook look{.rank = place->rank, .size = place->size, .workers = {}, .sums = {}};
    const WorkerFacts own = ownFacts();
    if (place->alone()) {
        look.workers.push_back(own);
        return look;
    }
    auto group = WorkerGroup::join(*place, patience);
    if (!group) return group.error();
    const nlohmann::json said{
        {"version", STEPSCOPE_VERSION}, {"build", buildIdentity()}, {"host", own.host}, {"process", own.process}, {"cores", own.cores}};
    const auto texts = (*group)->texts(said.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    if (!texts) return texts.error();
    for (int rank = 0; rank < place->size; ++rank) {
        auto facts = factsOf((*texts)[static_cast<std::size_t>(rank)], rank);
        if (!facts) return facts.error();
        look.workers.push_back(std::move(*facts));
    }
    for (const std::int64_t bytes : kSums) {
        auto time = timeOf(**group, bytes);
        if (!time) return time.error();
        look.sums.push_back(*time);
    }
    if (const Status met = (*group)->meet(); !met) return met.error();
    return look;
}

}  // namespace stepscope
