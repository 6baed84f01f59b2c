#include "core/data/tokens/TokenCache.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <future>
#include <thread>

#include "core/data/tokenizers/Utf8.h"
#include "core/data/tokens/TokenCacheFolder.h"
#include "core/data/tokens/TokenFile.h"
#include "core/data/tokens/TokenRows.h"

namespace stepscope {
namespace {

// Between two looks at `cancelled`; large enough that the tokenizer's cache of words pays off, small enough that nobody who cancels waits long.
constexpr std::size_t kPiece = 8 << 20;

// Pieces that are encoded at a time, each on a thread of its own: in memory are so many of them and their ids at most.
std::size_t piecesAtOnce() {
    constexpr unsigned kMost = 8;
    return std::clamp(std::thread::hardware_concurrency(), 1u, kMost);
}

// Encodes pieces side by side and hands every piece to `take` (a Status), in order.
template <class Take>
Status encodePieces(std::string_view text, const std::string& name, const Tokenizer& tokenizer, const Progress& progress,
                    const std::atomic<bool>& cancelled, Take take) {
    struct Piece {
        std::size_t begin;
        std::future<Result<std::vector<std::int32_t>>> ids;
    };
    std::deque<Piece> ahead;  // a future that nobody waits for any more waits itself
    const std::size_t most = piecesAtOnce();
    for (std::size_t at = 0; at < text.size() || !ahead.empty();) {
        while (at < text.size() && ahead.size() < most) {
            const std::size_t end = text.size() - at <= kPiece ? text.size() : utf8::cutAfter(text, at + kPiece);
            const auto policy = most > 1 && text.size() > kPiece ? std::launch::async : std::launch::deferred;
            ahead.push_back({at, std::async(policy, [&tokenizer, piece = text.substr(at, end - at)] { return tokenizer.encode(piece); })});
            at = end;
        }
        if (cancelled) return makeError(ErrorCode::Cancelled, fmt::format("Tokenising {} was cancelled.", name));
        progress(fmt::format("Tokenising {} ({})", name, tokenizer.name()),
                 static_cast<double>(ahead.front().begin) / static_cast<double>(text.size()));
        auto ids = ahead.front().ids.get();
        ahead.pop_front();
        if (!ids) return makeError(ids.error().code, fmt::format("{} cannot be tokenised: {}", name, ids.error().sentence), ids.error().cause);
        if (auto taken = take(*ids); !taken) return taken;
    }
    progress(fmt::format("Tokenised {} ({})", name, tokenizer.name()), 1.0);
    return {};
}

template <class Id>
Result<std::shared_ptr<const TokenRow>> encodeToRam(std::string_view text, const std::string& name, const Tokenizer& tokenizer,
                                                    const Progress& progress, const std::atomic<bool>& cancelled, Bytes free) {
    std::vector<Id> all;
    auto done = encodePieces(text, name, tokenizer, progress, cancelled, [&](const std::vector<std::int32_t>& ids) -> Status {
        if (static_cast<std::int64_t>((all.size() + ids.size()) * sizeof(Id)) > mostThatGrows(free).count)
            return noRoom(fmt::format("The tokens of {} cannot be kept in a cache and are too many for the memory", name), free,
                          "make the cache folder usable, or give less text");
        all.insert(all.end(), ids.begin(), ids.end());
        return {};
    });
    if (!done) return done.error();
    return inRam(std::move(all));
}

TokenFileKey keyOf(std::string_view text, const Tokenizer& tokenizer) {
    return {hashOf(text), hashOf(tokenizer.toJson()), tokenizer.vocabulary()};
}

std::string pathOf(const std::string& folder, const TokenFileKey& key, const Tokenizer& tokenizer) {
    return fmt::format("{}/{}-{}-{}.bin", folder, key.text.hex(), tokenizer.name(), key.tokenizer.hex().substr(0, 8));
}

}  // namespace

std::string tokenCachePath(const std::string& folder, std::string_view text, const Tokenizer& tokenizer) {
    return pathOf(folder, keyOf(text, tokenizer), tokenizer);
}

Result<CachedTokens> cachedTokens(std::string_view text, const std::string& name, const Tokenizer& tokenizer, const std::string& folder,
                                  const Progress& progress, const std::atomic<bool>& cancelled, const FreeMemory& freeMemory) {
    const TokenFileKey key = keyOf(text, tokenizer);
    const auto inMemory = [&](const std::string& why) -> Result<CachedTokens> {
        auto row = tokenizer.vocabulary() <= 0x10000 ? encodeToRam<std::uint16_t>(text, name, tokenizer, progress, cancelled, freeMemory())
                                                     : encodeToRam<std::uint32_t>(text, name, tokenizer, progress, cancelled, freeMemory());
        if (!row) return makeError(row.error().code, row.error().sentence, row.error().cause.empty() ? why : row.error().cause);
        return CachedTokens{std::move(*row), key.text, "tokens kept in memory: " + why};
    };
    if (folder.empty()) return inMemory("neither XDG_CACHE_HOME nor HOME names a folder for the cache");

    const std::string path = pathOf(folder, key, tokenizer);
    std::string note;
    if (auto found = openTokenFile(path, key); found) {
        markTokenCacheUsed(path);
        progress(fmt::format("Tokens of {} ({}) come from the cache", name, tokenizer.name()), 1.0);
        return CachedTokens{std::move(*found), key.text, {}};
    } else if (found.error().code != ErrorCode::NotFound) {
        note = "the damaged token cache was made again";
        progress(fmt::format("The token cache of {} ({}) is damaged and is made again", name, tokenizer.name()), 0.0);
    }

    auto writer = TokenFileWriter::create(path, key);
    if (!writer) return inMemory(writer.error().sentence);
    Status written;
    auto encoded = encodePieces(text, name, tokenizer, progress, cancelled,
                                [&](const std::vector<std::int32_t>& ids) { return written = (*writer)->append(ids); });
    if (encoded) written = (*writer)->finish();
    if (!written) {
        writer->reset();  // its half of a file goes first: a full disk needs the room
        return inMemory(written.error().sentence);
    }
    if (!encoded) return encoded.error();
    auto row = openTokenFile(path, key);
    if (!row) return inMemory(row.error().sentence);
    boundTokenCaches(folder);  // ours is mapped by now, so it stays
    return CachedTokens{std::move(*row), key.text, std::move(note)};
}

}  // namespace stepscope
