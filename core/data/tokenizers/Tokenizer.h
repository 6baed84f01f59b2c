// Tokenizers: text <-> token ids. Byte (256 ids), character (the code points of the text), GPT-2 byte-level BPE (50257 ids).
// Used while preparing a run, for prompts and for samples; immutable after construction, so any thread may read one.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
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
    // The same, given up where it takes long and `cancelled` comes true meanwhile: Cancelled.
    virtual Result<std::vector<std::int32_t>> encodeUnless(const std::atomic<bool>& /*cancelled*/, std::string_view text) const {
        return encode(text);
    }
    // Text of ids; ids beyond the vocabulary become U+FFFD, and broken UTF-8 is replaced by it.
    virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
    // Bytes of text that an id below the vocabulary stands for.
    virtual std::size_t bytesOf(std::int32_t id) const = 0;
    // Id of kEndOfText, also where texts are read without it; -1: the vocabulary has no such token.
    virtual std::int32_t endOfText() const { return -1; }
    // A place in [wanted, text.size()] where `text` can be cut so that the two parts give the tokens of the whole; text.size() when
    // there is none. `wanted` lies between two tokens.
    virtual std::size_t cutAfter(std::string_view text, std::size_t wanted) const = 0;
    // Enough to make the same tokenizer again (a checkpoint holds it): {"name":"char","characters":"..."}.
    virtual std::string toJson() const = 0;
};

// GPT-2's token between documents, as its vocabulary has it.
constexpr const char* kEndOfText = "<|endoftext|>";

std::shared_ptr<const Tokenizer> byteTokenizer();
// Vocabulary = sorted distinct code points. wanted: asked now and then, with the bytes that were looked at; null where it says no.
std::shared_ptr<const Tokenizer> charTokenizer(std::string_view text, const std::function<bool(std::size_t)>& wanted = {});
// Vocabulary files from `folder` (vocab.json or encoder.json, merges.txt or vocab.bpe); empty = where set-up put them. With `documents` kEndOfText is
// one token wherever a text has it; otherwise it is read as any other signs.
Result<std::shared_ptr<const Tokenizer>> gpt2Tokenizer(const std::string& folder = {}, bool documents = false);
Result<std::shared_ptr<const Tokenizer>> tokenizerFromJson(const std::string& json);

// The two files of a byte-level vocabulary, byte for byte.
struct BytePairTexts {
    std::string vocabulary, merges;  // vocab.json, merges.txt
};
// GPT-2's way over a vocabulary of its own, which toJson() holds whole: no folder is needed to make it again. `documents` as above, but a vocabulary
// without kEndOfText has then just no such token. Names are of the two, for sentences.
Result<std::shared_ptr<const Tokenizer>> bytePairTokenizer(BytePairTexts texts, bool documents, const std::string& vocabularyName = "vocab.json",
                                                           const std::string& mergesName = "merges.txt");
// The tokenizer that a model's folder came with (vocab.json and merges.txt, or tokenizer.json alone). Where it is the one that set-up put here it is
// kept as that one, by its hash; one whose ids are the bytes is the byte tokenizer.
Result<std::shared_ptr<const Tokenizer>> tokenizerOfFolder(const std::string& folder, bool documents);
// The files by which other programs make the same ids: of a byte tokenizer a vocabulary of 256 bytes without merges. Unsupported: characters.
Result<BytePairTexts> bytePairTexts(const Tokenizer& tokenizer);

}  // namespace stepscope
