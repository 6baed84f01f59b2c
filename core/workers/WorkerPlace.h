// WorkerPlace: which of the workers this process is and where they meet, from the environment that torchrun, srun or a script set. Torch-free; any
// thread.
#pragma once
#include <functional>
#include <string>

#include "core/base/Result.h"

namespace stepscope {

constexpr int kMostWorkers = 4096;

struct WorkerPlace {
    int rank = 0, size = 1;            // among all workers
    int localRank = 0, localSize = 1;  // among those of this machine
    std::string address;               // of the store: MASTER_ADDR
    int port = 0;                      // MASTER_PORT
    bool agentStore = false;           // torchrun's agent owns the store; else rank 0 opens it
    std::string file;                  // of a store in a file instead (STEPSCOPE_WORKERS_FILE), for workers of one machine; empty: none
    int restart = 0;                   // how often torchrun has started them anew: what is left of an earlier time must not be met again
    std::string run{};                 // names the start, where torchrun or SLURM does, for the same reason; of letters, digits, -, _ and .
    bool operator==(const WorkerPlace&) const = default;

    bool alone() const { return size == 1; }
    bool oneMachine() const { return localSize == size; }
};

// environment(name): the value or null. Nothing set: alone. What is missing, out of range or contradicts another variable is a sentence.
Result<WorkerPlace> workerPlaceFrom(const std::function<const char*(const char*)>& environment);
Result<WorkerPlace> workerPlace();  // from this process's

}  // namespace stepscope
