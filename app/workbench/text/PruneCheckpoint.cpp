#include "app/workbench/text/PruneCheckpoint.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/inference/Pruning.h"
#include "core/state/Checkpoint.h"
#include "core/train/Failure.h"

namespace stepscope {
namespace {

Result<PruneAnswer> pruned(const PruneRequest& request, const std::function<void(double)>& progress, const std::atomic<bool>& cancelled) {
    Pruning pruning{.share = request.sparsity, .eachMatrix = request.eachMatrix};
    if (!request.pattern.empty()) {
        const auto pattern = patternNamed(request.pattern);
        if (!pattern) return pattern.error();
        pruning = *pattern;
    }
    std::error_code unreadable;
    if (std::filesystem::exists(request.out, unreadable))
        return makeError(ErrorCode::BadInput, fmt::format("{} exists already; name a folder that does not.", request.out));
    auto meta = readCheckpointMeta(request.evaluate.checkpoint);
    if (!meta) return meta.error();
    PruneAnswer answer;
    const auto before = evaluateCheckpoint(
        request.evaluate, [&](double share) { progress(share / 2); }, cancelled);
    if (!before) return before.error();
    answer.before = *before;
    auto state = loadCheckpoint(request.evaluate.checkpoint, meta->model.vocabulary);
    if (!state) return state.error();
    if (!state->isFinite())
        return makeError(ErrorCode::Training,
                         fmt::format("The weights of {} are not all numbers; choose an earlier checkpoint.", request.evaluate.checkpoint));
    state->bumpRevision();
    const PruneCount count = prune(state->weights, state->layout, pruning);
    answer.zeros = count.zeros;
    answer.weights = count.weights;
    if (auto saved = saveCheckpoint(request.out, *state, meta->config, meta->tokenizerJson, meta->loss, meta->origin); !saved) return saved.error();
    EvaluateRequest again = request.evaluate;
    again.checkpoint = request.out;
    const auto after = evaluateCheckpoint(
        again, [&](double share) { progress(0.5 + share / 2); }, cancelled);
    if (!after) return after.error();
    answer.after = *after;
    return answer;
}

}  // namespace

Result<PruneAnswer> pruneCheckpoint(const PruneRequest& request, const std::function<void(double)>& progress, const std::atomic<bool>& cancelled) {
    try {
        return pruned(request, progress, cancelled);
    } catch (const std::exception& thrown) {
        return describeException(thrown);
    }
}

}  // namespace stepscope
