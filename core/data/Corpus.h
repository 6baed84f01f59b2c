// Corpus: what a run trains on: one row of token ids, split by position into training and validation parts that never overlap.
// Opened on the trainer thread while the run is Preparing. Tokens are cached as memory-mapped .bin files keyed by the text's hash.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "core/base/Result.h"
#include "core/data/FreeMemory.h"
#include "core/data/tokenizers/Tokenizer.h"
#include "core/data/tokens/KnownText.h"
#include "core/data/tokens/OneMaker.h"

namespace stepscope {

// A read-only row of token ids, wherever it lies (memory map, RAM, a text that is tokenised anew, or computed). Any thread.
class TokenRow {
public:
    virtual ~TokenRow() = default;
    virtual std::int64_t size() const = 0;
    // Writes ids [begin, begin + count) as int64; SS_CHECKs the range. Throws DataChanged.
    virtual void copy(std::int64_t begin, std::int64_t count, std::int64_t* into) const = 0;
    // Writes ids [begin, begin + count) to `ids` and [begin + 1, begin + count + 1) to `next`, reading each id once. count > 0.
    virtual void copyPair(std::int64_t begin, std::int64_t count, std::int64_t* ids, std::int64_t* next) const;
    // Whether one id costs what it costs among others. False for a text: a place in it is reached from the mark before it.
    virtual bool randomAccess() const { return true; }
    // Makes ready what reading needs, if that was not done yet. Unsupported: it cannot be read. Cancelled: `wanted`, asked now and then, says no.
    virtual Status prepare(const std::function<bool()>& /*wanted*/ = {}) const { return {}; }
};

// What lies under a row changed while a run read it. what() is a sentence without its full stop.
class DataChanged : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Corpus {
    std::shared_ptr<const TokenRow> tokens;
    std::shared_ptr<const TokenRow> text;        // the same ids, tokenised anew at each read; null where that cannot be
    std::string whyNoText;                       // then a sentence
    std::shared_ptr<const Tokenizer> tokenizer;  // null for random ids, and for ready tokens that are not known to be GPT-2's
    std::int64_t vocabulary = 0;                 // ids are in [0, vocabulary)
    std::int64_t trainTokens = 0;                // [0, trainTokens) is trained on, [trainTokens, size) validates
    std::string description;                     // "King James text, 4 301 226 byte tokens"
    std::string identity;                        // of what is trained on: a hash of the text, for ready tokens of samples; empty for random ids
    std::string validationIdentity;              // the same of a file of its own that validates; empty where the data's end does
    FreeMemory freeMemory = [] { return kUnbounded; };  // asked before the tokens are copied to RAM

    std::int64_t validationTokens() const { return tokens->size() - trainTokens; }
    // A sentence where the file of its own that validates is what is trained on, else empty.
    std::string sameTextWords() const;
};

struct CorpusRequest {
    std::string data;             // RunConfig::data: kjv | shakespeare | generated | random | path
    std::string tokenizer;        // byte | char | gpt2
    std::int64_t vocabulary = 0;  // RunConfig::vocabulary; 0 = the tokenizer's. Smaller than an id that occurs is an error.
    double validationFraction = 0.1;
    std::string validation = "split";       // RunConfig::validation: or a path, whose tokens validate instead of that share
    std::string separator = "blank-line";   // RunConfig::separator
    std::shared_ptr<const Tokenizer> with;  // in place of the one that `tokenizer` names: of a checkpoint
    std::int64_t context = 128;             // data must hold at least one sequence of context + 1 in each part that is used
    std::uint64_t seed = 1;                 // of random ids
    std::string cacheFolder;                // empty = $XDG_CACHE_HOME/stepscope/tokens
    // Since when it is being opened (nowForFilesNs): of several workers that open it in turn, before the first of them began. 0 = now.
    std::int64_t sinceNs = 0;
    bool keepText = false;  // make Corpus::text usable at once; without it a large text that is in RAM is let go
    FreeMemory freeMemory = [] { return kUnbounded; };
    // For tests. A text put together from files, .jsonl or parquet is kept beside its tokens up to so many bytes, so that data-source can be flipped
    // to text. Of a longer one, whose files were last changed longer ago than this, the tokens are found again by its files alone
    // (tokens/KnownText.h).
    std::size_t keptInRam = 64'000'000;
    std::int64_t settledNs = kSettledNs;
    MakerPatience patience = {};
};

// Whether `data` names a file of ready token ids (.bin), or a folder of such shards without texts among them.
bool isReadyTokens(const std::string& data);

// progress(what, fraction) is called now and then; cancelled is polled. Errors name the file and what to do.
// An empty `progress` is allowed.
Result<Corpus> openCorpus(const CorpusRequest& request, const std::function<void(const std::string&, double)>& progress,
                          const std::atomic<bool>& cancelled);

// Whether both parts that are used hold a sequence of `context` + 1 tokens; the sentence says which is too short. openCorpus
// has checked its own context; asked again before the switch `context` is flipped.
Status checkContext(const Corpus& corpus, std::int64_t context);

}  // namespace stepscope
