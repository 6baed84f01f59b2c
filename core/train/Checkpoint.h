// Checkpoint: a folder that holds a TrainState: model.safetensors (weights in GPT-2's names and orientation, padding left out),
// optimizer.safetensors (AdamW's moments), state.json (step, cursor, seed, configuration, tokenizer, hashes of the other two). Written to a temporary
// folder, fsynced, renamed: either whole or not there. A run resumed from one continues the identical loss sequence.
#pragma once
#include <map>
#include <string>

#include "core/base/Result.h"
#include "core/events/RunConfig.h"
#include "core/train/TrainState.h"

namespace stepscope {

struct CheckpointMeta {
    RunConfig config;
    std::string tokenizerJson;  // Tokenizer::toJson(), or empty for ready tokens
    double loss = 0;            // of the last step
    std::int64_t step = 0;
    GptConfig model;  // as it lies in the files: no padding
    std::int64_t cursor = 0;
    std::uint64_t seed = 1;
    std::int64_t skipped = 0;  // see TrainState
    LossScale lossScale;
    std::map<std::string, std::string> hashes;  // of the tensor files: Hash128 as hex; empty in checkpoints of versions that wrote none
};

// What a checkpoint of this State takes on a disk, in bytes, or a little more.
std::int64_t checkpointBytes(const TrainState& state);

// `path` must not exist; its parent is made.
Status saveCheckpoint(const std::string& path, const TrainState& state, const RunConfig& config, const std::string& tokenizerJson, double loss);

Result<CheckpointMeta> readCheckpointMeta(const std::string& path);
// The State, padded to `paddedVocabulary` rows.
Result<TrainState> loadCheckpoint(const std::string& path, std::int64_t paddedVocabulary);
// Its weights alone, for writing text.
Result<TrainState> loadCheckpointWeights(const std::string& path, const CheckpointMeta& meta, const GptConfig& config);

// Weights alone from a safetensors file with GPT-2's names; moments are zero and the step 0. Names the tensor that is missing or
// has another shape.
Result<TrainState> loadWeights(const std::string& path, const GptConfig& config, std::uint64_t seed);

}  // namespace stepscope
