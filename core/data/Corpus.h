// Corpus: what a run trains on: one row of token ids, split by position into training and validation parts that never overlap.
// Opened on the trainer thread while the run is Preparing. Tokens are cached as memory-mapped .bin files keyed by the text's hash.
#pragma once
#include "core/base/Result.h"
#include "core/data/Tokenizer.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace stepscope {

// A read-only row of token ids, wherever it lies (memory map, RAM, or computed).
class TokenRow {
public:
    virtual ~TokenRow() = default;
    virtual std::int64_t size() const = 0;
    // Writes ids [begin, begin + count) as int64; SS_CHECKs the range.
    virtual void copy(std::int64_t begin, std::int64_t count, std::int64_t* into) const = 0;
};

struct Corpus {
    std::shared_ptr<const TokenRow> tokens;
    std::shared_ptr<const Tokenizer> tokenizer;  // null for ready tokens and random ids
    std::int64_t vocabulary = 0;                 // ids are in [0, vocabulary)
    std::int64_t trainTokens = 0;                // [0, trainTokens) is trained on, [trainTokens, size) validates
    std::string description;                     // "King James text, 4 301 226 byte tokens"

    std::int64_t validationTokens() const { return tokens->size() - trainTokens; }
};

struct CorpusRequest {
    std::string data;        // RunConfig::data: kjv | generated | random | path
    std::string tokenizer;   // byte | char | gpt2
    std::int64_t vocabulary = 0;       // RunConfig::vocabulary; 0 = the tokenizer's. Smaller than an id that occurs is an error.
    double validationFraction = 0.1;
    std::int64_t context = 128;        // data must hold at least one sequence of context + 1 in each part that is used
    std::uint64_t seed = 1;            // of random ids
    std::string cacheFolder;           // empty = $XDG_CACHE_HOME/stepscope/tokens
    std::string source = "mmap";       // mmap | ram: where the tokens lie
};

// progress(what, fraction) is called now and then; cancelled is polled. Errors name the file and what to do.
// An empty `progress` is allowed.
Result<Corpus> openCorpus(const CorpusRequest& request, const std::function<void(const std::string&, double)>& progress,
                          const std::atomic<bool>& cancelled);

// Whether both parts that are used hold a sequence of `context` + 1 tokens; the sentence says which is too short. openCorpus
// has checked its own context; asked again before the switch `context` is flipped.
Status checkContext(const Corpus& corpus, std::int64_t context);

}  // namespace stepscope
