// The small JSON files beside weights that others wrote, read whole: not one that is too large to be such a file. And their names.
#pragma once
#include <string>

#include "core/base/Result.h"

namespace stepscope {

inline constexpr const char* kConfigFile = "config.json";
inline constexpr const char* kWeightsFileOfFolder = "model.safetensors";
inline constexpr const char* kShardIndexFile = "model.safetensors.index.json";
inline constexpr const char* kVocabularyFile = "vocab.json";
inline constexpr const char* kMergesFile = "merges.txt";
inline constexpr const char* kTokenizerConfigFile = "tokenizer_config.json";

Result<std::string> foreignText(const std::string& path);

}  // namespace stepscope
