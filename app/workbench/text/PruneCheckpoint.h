// A checkpoint with its smallest weights set to zero, and what that costs: for the command line; torch-free header. Called on the main thread, which
// waits.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "app/workbench/Evaluate.h"

namespace stepscope {

struct PruneRequest {
    EvaluateRequest evaluate;  // of the checkpoint, before and after
    double sparsity = 0.5;     // share of the weights of the blocks' matrices that become zero; not read with a pattern
    std::string pattern;       // "2:4"; empty = none
    bool eachMatrix = false;
    std::string out;  // the folder of the new checkpoint, which must not exist
};

struct PruneAnswer {
    std::int64_t zeros = 0, weights = 0;  // of those matrices
    EvaluateAnswer before, after;
};

// Nothing is written where the checkpoint cannot be evaluated. progress: a share of the whole.
Result<PruneAnswer> pruneCheckpoint(const PruneRequest& request, const std::function<void(double)>& progress, const std::atomic<bool>& cancelled);

}  // namespace stepscope
