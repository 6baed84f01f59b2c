// WorkerTimes: how long each phase of some steps took with every worker of a run, as the first one gathered it; stored as a Chunk of kind
// "worker-times/1". Written where a run of several workers trains, read by queries; any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/trace/Chunk.h"

namespace stepscope {

constexpr const char* kWorkerTimes = "worker-times/1";
// In one block; times: of all its steps, workers and phases.
constexpr std::size_t kMostTimedPhases = 64, kMostTimedWorkers = 1 << 20, kMostTimedSteps = 1 << 16, kMostTimes = 1 << 22;

struct WorkerTimes {
    struct Step {
        std::int64_t number = 0;
        std::int64_t at = 0;  // its end, ns of the session's clock; no earlier than that of the step before
        bool operator==(const Step&) const = default;
    };
    std::vector<std::string> phases;
    std::int64_t workers = 0;
    std::vector<Step> steps;
    std::vector<std::int64_t> ns;  // steps x workers x phases, none below 0

    bool operator==(const WorkerTimes&) const = default;
};

// Of one step at least; as many times as steps, workers and phases make.
Chunk encodeWorkerTimes(const WorkerTimes& times);
// The bytes are a stranger's: limits are checked before memory is taken, and what is wrong is one sentence with the place of the byte.
Result<WorkerTimes> decodeWorkerTimes(const Chunk& chunk);

}  // namespace stepscope
