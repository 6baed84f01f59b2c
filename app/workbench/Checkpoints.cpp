#include "app/workbench/Checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/workbench/StoredModel.h"
#include "core/base/Utf8.h"
#include "core/events/ConfigNumbers.h"
#include "core/optimizations/registry/StoredSwitches.h"
#include "core/state/Checkpoint.h"
#include "core/state/WeightsFile.h"
#include "core/state/foreign/ForeignModel.h"
#include "sessions/SessionStore.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

}  // namespace

Result<CheckpointInfo> inspectCheckpoint(const std::string& path) {
    auto meta = readCheckpointMeta(path);
    if (!meta) return meta.error();
    auto config = checkStoredSwitches(std::move(meta->config), path + "/state.json");
    if (!config) return config.error();
    meta->config = std::move(*config);
    CheckpointInfo info{
        .path = path, .step = meta->step, .parameters = parameterCount(meta->model), .tokenizer = {}, .config = meta->config, .loss = meta->loss};
    if (!meta->tokenizerJson.empty()) {
        auto tokenizer = tokenizerFromJson(meta->tokenizerJson);
        if (!tokenizer) return tokenizer.error();
        info.tokenizer = (*tokenizer)->name();
    }
    std::error_code unreadable;
    for (const char* file : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
        const auto size = fs::file_size(fs::path(path) / file, unreadable);
        if (unreadable) return makeError(ErrorCode::Damaged, fmt::format("The checkpoint {} has no {}; it is not whole.", path, file));
        info.bytes += static_cast<std::int64_t>(size);
    }
    return info;
}

Result<RunConfig> storedConfig(RunConfig config, const std::string& place) {
    return checkStoredSwitches(std::move(config), place);
}

Result<RunConfig> withShapeOf(const std::string& weights, RunConfig config) {
    auto shape = shapeOfWeights(weights, gptConfig(config, std::max<std::int64_t>(1, config.vocabulary)));
    if (!shape) return shape.error();
    config.layers = shape->layers;
    config.heads = shape->heads;
    config.width = shape->width;
    config.vocabulary = shape->vocabulary;
    config.qkv = shape->splitQkv ? "split" : "fused";
    config.activation = shape->activation == Activation::Swiglu ? "swiglu" : "gelu";
    config.tiedHead = shape->tiedHead ? "on" : "off";
    config.normPlacement = shape->placement == NormPlacement::Post ? "post" : "pre";
    config.norm = shape->norm == NormKind::RmsNorm ? "rmsnorm" : "layernorm";
    config.positions = shape->positionKind == PositionKind::Rope ? "rope" : "learned";
    config.bias = shape->bias ? "on" : "off";
    if (shape->positionKind == PositionKind::Learned || tellsItsModel(weights)) boundContext(config, shape->positions);
    if (!tellsItsModel(weights)) return config;
    // The rest is theirs too: what their ids mean.
    const auto foreign = openForeignModel(weights);
    if (!foreign) return foreign.error();
    if (foreign->gpt2Ids) config.tokenizer = "gpt2";
    if (foreign->tokenizer.empty()) return config;
    const auto tokenizer = tokenizerOf(*foreign, false);
    if (!tokenizer) return tokenizer.error();
    config.tokenizer = (*tokenizer)->name();
    return config;
}

bool tellsWholeModel(const std::string& weights) {
    return tellsItsModel(weights);
}

Result<std::vector<std::string>> checkpointsOf(const std::string& database, std::int64_t session) {
    return checkpointsOnDisk(database, session);
}

Result<std::string> newestCheckpoint(const std::string& database, std::int64_t session) {
    auto paths = checkpointsOf(database, session);
    if (!paths) return paths.error();
    if (!paths->empty()) return paths->back();
    // Of a run that an engine on another machine trained they are there.
    if (const auto stored = newestStoredCheckpoint(database, session); stored && !stored->empty())
        return makeError(ErrorCode::NotFound,
                         fmt::format("Session {} has no checkpoint to go on from on this machine: its newest was written to {}; if "
                                     "another machine trained it, go on there with stepscope-cli train --resume FOLDER.",
                                     session, printable(*stored)));
    return makeError(ErrorCode::NotFound, fmt::format("Session {} has no checkpoint to go on from; a run keeps one at its end unless "
                                                      "checkpoint-at-end is off, and more with checkpoint-every.",
                                                      session));
}

}  // namespace stepscope
