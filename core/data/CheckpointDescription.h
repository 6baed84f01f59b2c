// What a checkpoint's state.json says (core/state/Checkpoint), read as if a stranger had written it; no LibTorch. Whether the files beside it can
// hold what it says is not asked here. Any thread.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/base/Result.h"
#include "core/events/RunConfig.h"

namespace stepscope {

inline constexpr int kCheckpointVersion = 1;

struct CheckpointDescription {
    RunConfig config;
    std::string tokenizerJson;  // Tokenizer::toJson(), or empty for ready tokens
    double loss = 0;            // of the last step; NaN where there was none
    std::int64_t step = 0, cursor = 0;
    std::uint64_t seed = 1;
    std::int64_t skipped = 0;         // of the steps
    std::optional<double> lossScale;  // versions without fp16 wrote none
    std::int64_t cleanSteps = 0;
    double bestValidation = 0;  // of early-stopping; NaN where nothing was validated for it, as in versions that wrote none
    std::int64_t bestStep = 0, waited = 0;
    std::int64_t vocabulary = 1, positions = 1;  // rows of the tables in the file, without padding
    std::string text;                            // identity of the data; empty and 0 in versions that wrote none
    std::int64_t threads = 0, workers = 0;
    std::map<std::string, std::string> hashes;
};

// text: all of state.json. path: the checkpoint's folder, for sentences. Damaged: no such JSON, an entry that is missing, of the wrong kind, or that
// no run can have; Unsupported: another version's.
Result<CheckpointDescription> parseCheckpointDescription(const std::string& text, const std::string& path);

}  // namespace stepscope
