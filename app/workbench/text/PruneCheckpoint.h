// A checkpoint with its smallest weights set to zero, and what that costs: for the command line and the window; torch-free header. Of weights that
// another program wrote it makes a checkpoint at step 0. Called on a thread that waits.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "app/workbench/Evaluate.h"
#include "core/inference/PruneScope.h"

namespace stepscope {

struct PruneRequest {
    EvaluateRequest evaluate;  // of the checkpoint, before and after
    double sparsity = 0.5;     // share of the weights of the blocks' matrices, or of the heads, that become zero; not read with a pattern
    std::string pattern;       // "2:4"; empty = none
    PruneScope scope = PruneScope::Global;
    std::string out;  // the folder of the new checkpoint, which must not exist
};

struct PruneAnswer {
    std::int64_t zeros = 0, weights = 0;     // of those matrices
    std::int64_t heads = 0, headsOfAll = 0;  // that were pruned as a whole
    EvaluateAnswer before, after;
};

// Nothing is left where the weights cannot be evaluated, before or after, or it is stopped. progress: a share of the whole.
Result<PruneAnswer> pruneCheckpoint(const PruneRequest& request, const std::function<void(double)>& progress, const std::atomic<bool>& cancelled);

}  // namespace stepscope
