// tokenizer.json of Hugging Face's tokenizers, where it is GPT-2's way (byte-level BPE): then the two files vocab.json and merges.txt can be made of
// it. Read as if a stranger had written it. Torch-free; any thread.
#pragma once
#include <string>
#include <string_view>

#include "core/base/Result.h"
#include "core/data/tokenizers/Tokenizer.h"

namespace stepscope {

// Damaged: no such JSON; Unsupported: another kind of tokenizer, by the part that differs. `name` is the file's, for sentences.
Result<BytePairTexts> parseTokenizerFile(std::string_view text, const std::string& name);

// What stands beside vocab.json and merges.txt must ask for nothing that they do not say: Unsupported by name where it does. `settings` is a
// tokenizer_config.json, `added` an added_tokens.json.
Status checkTokenizerSettings(std::string_view settings, const std::string& name);
Status checkAddedTokens(std::string_view added, const std::string& name);

}  // namespace stepscope
