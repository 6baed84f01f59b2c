// Tokens of a text through the cache: mapped when they were made before and still match, made and kept otherwise.
// Called while a corpus is opened, on the trainer thread; the text must be UTF-8.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "core/base/Result.h"
#include "core/data/Corpus.h"
#include "core/data/Hash128.h"
#include "core/data/MappedFile.h"
#include "core/data/tokens/OneMaker.h"

namespace stepscope {

using Progress = std::function<void(const std::string&, double)>;

struct CachedTokens {
    std::shared_ptr<const TokenRow> row;
    Hash128 text;      // of the whole text
    std::string note;  // "the damaged token cache was made again", "kept in memory: ..."; empty when all is well
};

// A piece is what lies between two looks at `cancelled`: large enough that the tokenizer's cache of words pays off, small enough that nobody who
// cancels waits long. Of a text longer than keepEvery, what was tokenised is kept on the disk so often, for a process that is stopped to go on with.
struct TokenisingSteps {
    std::size_t piece = std::size_t{8} << 20;
    std::size_t keepEvery = std::size_t{64} << 20;
    std::size_t uncut = std::size_t{128} << 20;  // at most so many bytes follow a piece before the tokenizer can cut there; memory is of their order
    std::size_t atOnce = 0;                      // pieces that are encoded beside each other; 0: as many as there are processors, up to 8
    const MappedFile* file = nullptr;            // where the text lies, if it does: what was read of it is let go
    MakerPatience patience = {};                 // with another process that makes the same tokens
};

// `name` is of the text, for sentences. A cache that cannot be written is no error: the tokens are then kept in memory, if there is room.
// A tokenising that was cancelled or killed goes on where it was, if text and tokenizer are still the same, and gives the file that it would have
// given. While another process makes the same tokens this one waits for them, and goes on with them itself where that one ends before.
Result<CachedTokens> cachedTokens(
    std::string_view text, const std::string& name, const Tokenizer& tokenizer, const std::string& folder, const Progress& progress,
    const std::atomic<bool>& cancelled, const FreeMemory& freeMemory = [] { return kUnbounded; }, const TokenisingSteps& steps = {});

// Those of a text of which only the hash is known, if they are in the cache. NotFound, Damaged, Cancelled as openTokenFile says it.
Result<CachedTokens> cachedTokensOf(const Hash128& text, const std::string& name, const Tokenizer& tokenizer, const std::string& folder,
                                    const Progress& progress, const std::atomic<bool>& cancelled);

// The file in `folder` that holds the tokens of this text by this tokenizer.
std::string tokenCachePath(const std::string& folder, std::string_view text, const Tokenizer& tokenizer);
std::string tokenCachePath(const std::string& folder, const Hash128& text, const Tokenizer& tokenizer);

}  // namespace stepscope
