#include "app/workbench/text/PruneCheckpoint.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/workbench/Checkpoints.h"
#include "app/workbench/StoredModel.h"
#include "core/events/Presets.h"
#include "core/inference/Pruning.h"
#include "core/state/Checkpoint.h"
#include "core/state/CheckpointRetention.h"
#include "core/state/WeightsFile.h"
#include "core/state/Zeros.h"
#include "core/train/Failure.h"

namespace stepscope {
namespace {

// What becomes a checkpoint: of a checkpoint all of it, of weights of another program a beginning with them.
struct PruneSource {
    TrainState state;
    RunConfig config;
    std::string tokenizerJson;
    double loss = kUnknown;  // of its last step
    CheckpointOrigin origin;
};

Result<PruneSource> prunedFromCheckpoint(const std::string& path) {
    auto meta = readCheckpointMeta(path);
    if (!meta) return meta.error();
    auto state = loadCheckpoint(path, meta->model.vocabulary);
    if (!state) return state.error();
    return PruneSource{std::move(*state), std::move(meta->config), std::move(meta->tokenizerJson), meta->loss, std::move(meta->origin)};
}

// Such weights have no settings of a run: those of a new one are taken, as train --init does, with the text that they were evaluated on as data.
Result<PruneSource> prunedFromOthers(const StoredModel& model, const std::string& data) {
    auto preset = presetConfig(RunConfig{}.preset);
    if (!preset) return preset.error();
    auto config = withShapeOf(model.place, std::move(*preset));
    if (!config) return config.error();
    std::error_code ignored;
    config->data = std::filesystem::exists(data, ignored) ? std::filesystem::absolute(data, ignored).string() : data;
    auto loaded = loadInitialWeights(model.place, model.model, static_cast<std::uint64_t>(config->seed), /*partial=*/false);
    if (!loaded) return loaded.error();
    return PruneSource{
        std::move(loaded->state), std::move(*config), model.tokenizer == nullptr ? std::string() : model.tokenizer->toJson(), kUnknown, {}};
}

Result<PruneAnswer> pruned(const PruneRequest& request, const std::function<void(double)>& progress, const std::atomic<bool>& cancelled) {
    Pruning pruning{.share = request.sparsity, .scope = request.scope};
    if (!request.pattern.empty()) {
        const auto pattern = patternNamed(request.pattern);
        if (!pattern) return pattern.error();
        pruning = *pattern;
    }
    std::error_code unreadable;
    if (std::filesystem::exists(request.out, unreadable))
        return makeError(ErrorCode::BadInput, fmt::format("{} exists already; name a folder that does not.", request.out));
    const std::string& place = request.evaluate.checkpoint;
    PruneAnswer answer;
    auto source = [&]() -> Result<PruneSource> {
        const auto model = openStoredModel(place);
        if (!model) return model.error();
        const auto before = evaluateCheckpoint(
            request.evaluate, [&](double share) { progress(share / 2); }, cancelled);
        if (!before) return before.error();
        answer.before = *before;
        return model->foreign ? prunedFromOthers(*model, request.evaluate.data) : prunedFromCheckpoint(place);
    }();
    if (!source) return source.error();
    TrainState& state = source->state;
    if (!state.isFinite())
        return makeError(ErrorCode::Training, fmt::format("The weights of {} are not all numbers; choose an earlier checkpoint.", place));
    state.bumpRevision();
    const PruneCount count = prune(state.weights, state.layout, state.config, pruning);
    // Whoever trains on with keep-zeros finds them at rest.
    restMomentsOfZeros(state);
    answer.zeros = count.zeros;
    answer.weights = count.weights;
    answer.heads = count.heads;
    answer.headsOfAll = state.config.layers * state.config.heads;
    // What early-stopping has seen was of other weights.
    state.patience = {};
    if (auto saved = saveCheckpoint(request.out, state, source->config, source->tokenizerJson, source->loss, source->origin); !saved)
        return saved.error();
    EvaluateRequest again = request.evaluate;
    again.checkpoint = request.out;
    const auto after = evaluateCheckpoint(
        again, [&](double share) { progress(0.5 + share / 2); }, cancelled);
    // Who stops it, or has no answer, has no checkpoint that nobody told of, which would be in the way of a second try.
    if (!after) {
        removeCheckpoint(request.out);
        return after.error();
    }
    answer.after = *after;
    return answer;
}

}  // namespace

Result<PruneAnswer> pruneCheckpoint(const PruneRequest& request, const std::function<void(double)>& progress, const std::atomic<bool>& cancelled) {
    try {
        return pruned(request, progress, cancelled);
    } catch (const std::exception& thrown) {
        return describeException(thrown, Doing::Reading);
    }
}

}  // namespace stepscope
