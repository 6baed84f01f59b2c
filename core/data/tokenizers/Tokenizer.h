// Tokenizers: text <-> token ids. Byte (256 ids), character (the code points of the text), GPT-2 byte-level BPE (50257 ids).
// Used while preparing a run, for prompts and for samples; immutable after construction, so any thread may read one.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/Result.h"

namespace stepscope {

class Tokenizer {
public:
    virtual ~Tokenizer() = default;
    virtual std::string name() const = 0;  // byte | char | gpt2
    virtual std::int64_t vocabulary() const = 0;
    // Ids of UTF-8 text. A character tokenizer refuses characters it has never seen, naming the first.
    virtual Result<std::vector<std::int32_t>> encode(std::string_view text) const = 0;
    // Text of ids; ids beyond the vocabulary become U+FFFD, and broken UTF-8 is replaced by it.
    virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
    // Bytes of text that an id below the vocabulary stands for.
    virtual std::size_t bytesOf(std::int32_t id) const = 0;
    // A place in [wanted, text.size()] where `text` can be cut so that the two parts give the tokens of the whole; text.size() when
    // there is none. `wanted` lies between two tokens.
    virtual std::size_t cutAfter(std::string_view text, std::size_t wanted) const = 0;
    // Enough to make the same tokenizer again (a checkpoint holds it): {"name":"char","characters":"..."}.
    virtual std::string toJson() const = 0;
};

// GPT-2's token between documents, as its vocabulary has it.
constexpr const char* kEndOfText = "<|endoftext|>";

std::shared_ptr<const Tokenizer> byteTokenizer();
std::shared_ptr<const Tokenizer> charTokenizer(std::string_view text);  // vocabulary = sorted distinct code points
// Vocabulary files from `folder` (vocab.json or encoder.json, merges.txt or vocab.bpe); empty = where set-up put them. With `documents` kEndOfText is
// one token wherever a text has it; otherwise it is read as any other signs.
Result<std::shared_ptr<const Tokenizer>> gpt2Tokenizer(const std::string& folder = {}, bool documents = false);
Result<std::shared_ptr<const Tokenizer>> tokenizerFromJson(const std::string& json);

}  // namespace stepscope
