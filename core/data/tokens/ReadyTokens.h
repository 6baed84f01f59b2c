// Token files of other programs: nanoGPT's .bin (uint16 ids, no header) and llm.c's (1024 bytes of header, then uint16 of
// GPT-2 or uint32 of Llama 3), alone or as a folder of shards. Called while a corpus is opened.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/Result.h"
#include "core/data/Corpus.h"

namespace stepscope {

struct ReadyTokens {
    enum class Format { Plain, LlmcGpt2, LlmcLlama3 };
    std::shared_ptr<const TokenRow> row;
    Format format = Format::Plain;
    std::string identity;          // a hash of the sizes and of samples of the files; empty where they were not opened here
    std::int64_t trainTokens = 0;  // of a folder with shards for validation: what comes before those; 0 = nobody has split them
    std::int64_t shards = 0;       // files of a folder
};

constexpr std::int64_t kGpt2Vocabulary = 50257;
constexpr std::int64_t kLlama3Vocabulary = 128256;

// A file, or a folder of shards (.bin), which are read in the order of their names. Shards whose name has the word "val" come last, as llm.c and
// nanoGPT name what they validate on.
// wanted: asked before each shard, places all over which are read.
Result<ReadyTokens> openReadyTokens(const std::string& path, const std::function<bool()>& wanted = {});
// Whether a folder holds .bin files and no text beside them.
bool isFolderOfShards(const std::string& folder);
// The .bin files of a folder that is read as text because of a text beside them, and in which they are therefore passed over.
std::size_t shardsPassedOver(const std::string& folder);
// The same on bytes that `owner` keeps alive; `name` is for the sentences.
Result<ReadyTokens> readReadyTokens(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& name);

}  // namespace stepscope
