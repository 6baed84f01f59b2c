// Checkpoint: a folder that holds a TrainState: model.safetensors (weights in GPT-2's names and orientation, padding left out),
// optimizer.safetensors (AdamW's moments), state.json (step, cursor, seed, configuration, tokenizer, hashes of the other two). Written to a temporary
// folder, fsynced, renamed: either whole or not there. A run resumed from one continues the identical loss sequence.
#pragma once
#include <map>
#include <string>

#include "core/base/Result.h"
#include "core/events/RunConfig.h"
#include "core/state/EightBitMoments.h"
#include "core/state/SafeTensors.h"
#include "core/state/TrainState.h"

namespace stepscope {

// What a run that goes on should find as it was.
struct CheckpointOrigin {
    std::string text;          // Corpus::identity of the data
    std::int64_t threads = 0;  // CPU threads of the operations: sums are taken in another order with another number
    std::int64_t workers = 0;  // that made each update together
};

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
    Patience patience;
    CheckpointOrigin origin;                    // empty and 0 in checkpoints of versions that wrote none
    std::map<std::string, std::string> hashes;  // of the tensor files: Hash128 as hex; empty in checkpoints of versions that wrote none
};

// What a checkpoint of so many parameters takes on a disk, in bytes: weights and both moments, in float32 whatever they are in memory.
std::int64_t checkpointBytes(std::int64_t parameters);
// The same with room for a tokenizer's words and heads of files: what must be free.
std::int64_t checkpointRoom(const TrainState& state);

// `path` must not exist; its parent is made. moments: the whole ones, of a State that holds a part.
Status saveCheckpoint(const std::string& path, const TrainState& state, const RunConfig& config, const std::string& tokenizerJson, double loss,
                      const CheckpointOrigin& origin = {}, const FloatMoments* moments = nullptr);

Result<CheckpointMeta> readCheckpointMeta(const std::string& path);
// The State, padded to `paddedVocabulary` rows.
Result<TrainState> loadCheckpoint(const std::string& path, std::int64_t paddedVocabulary);
// The file of its weights, whole by its hash, for reading a tensor at a time.
Result<SafeTensorsFile> openCheckpointWeights(const std::string& path, const CheckpointMeta& meta);

}  // namespace stepscope
