// config.json of a GPT-2 in a folder of Hugging Face's transformers: read as if a stranger had written it, and written. Every key that changes what
// the model computes is honoured or refused by its name; those of training alone (dropout) are the run's. Torch-free; any thread.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/base/Result.h"
#include "core/data/foreign/Gpt2Sizes.h"

namespace stepscope {

// `name` is the file's, for sentences. Damaged: no JSON; Unsupported: another architecture, or one whose arithmetic is not here; BadInput: sizes that
// cannot be.
Result<Gpt2Sizes> parseHuggingFaceConfig(std::string_view text, const std::string& name);

struct HuggingFaceConfig {
    Gpt2Sizes sizes;
    double dropout = 0;                     // that the run trained with
    std::optional<std::int64_t> endOfText;  // the id that ends a text, where the tokenizer has one
    bool bf16 = false;                      // type of the tensors; else float32
};
std::string huggingFaceConfig(const HuggingFaceConfig& config);

// tokenizer_config.json beside vocab.json and merges.txt. Without an end of text none is said to be: transformers would add one beyond the model's
// ids.
std::string huggingFaceTokenizerConfig(std::int64_t positions, bool endOfText);

}  // namespace stepscope
