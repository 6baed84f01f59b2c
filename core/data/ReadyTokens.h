// Token files of other programs: nanoGPT's .bin (uint16 ids, no header) and llm.c's (1024 bytes of header, then uint16 of
// GPT-2 or uint32 of Llama 3). Called while a corpus is opened.
#pragma once
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
};

constexpr std::int64_t kGpt2Vocabulary = 50257;
constexpr std::int64_t kLlama3Vocabulary = 128256;

Result<ReadyTokens> openReadyTokens(const std::string& path);
// The same on bytes that `owner` keeps alive; `name` is for the sentences.
Result<ReadyTokens> readReadyTokens(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& name);

}  // namespace stepscope
