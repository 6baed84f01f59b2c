#include "core/data/tokens/TokenCache.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <future>
#include <thread>

#include "core/base/Format.h"
#include "core/data/tokens/TokenCacheFolder.h"
#include "core/data/tokens/TokenFile.h"
#include "core/data/tokens/TokenRows.h"
#include "core/data/tokens/UnfinishedTokens.h"

namespace stepscope {
namespace {

// Pieces that are encoded at a time, each on a thread of its own: in memory are so many of them and their ids at most.
std::size_t piecesAtOnce() {
    constexpr unsigned kMost = 8;
    return std::clamp(std::thread::hardware_concurrency(), 1u, kMost);
}

struct Work {
    std::string_view text;
    const std::string& name;
    const Tokenizer& tokenizer;
    const Progress& progress;
    const std::atomic<bool>& cancelled;
    TokenisingSteps steps;

    void passed(std::string_view piece) const {
        if (steps.file != nullptr) steps.file->letGo(piece);
    }
    Error wasCancelled() const { return makeError(ErrorCode::Cancelled, fmt::format("Tokenising {} was cancelled.", name)); }
    double share(std::size_t at) const { return static_cast<double>(at) / static_cast<double>(text.size()); }
};

// The text's first bytes; of a long one they are read from the disk for it. doing: for the progress, with a place for the name.
Status addText(StreamingHash& hash, const Work& work, std::size_t bytes, std::string_view doing) {
    constexpr std::size_t kAtOnce = 64 << 20;
    for (std::size_t at = 0; at < bytes; at += kAtOnce) {
        if (work.cancelled) return work.wasCancelled();
        if (at > 0) work.progress(fmt::format(fmt::runtime(doing), work.name), work.share(at));
        const std::string_view piece = work.text.substr(at, std::min(kAtOnce, bytes - at));
        hash.add(piece);
        work.passed(piece);
    }
    return {};
}

// Where the piece that begins at `at` ends. BadInput: it would have to go on for too long.
Result<std::size_t> endOfPiece(const Work& work, std::size_t at) {
    if (work.text.size() - at <= work.steps.piece) return work.text.size();
    std::size_t wanted = at + work.steps.piece;
    while (wanted > at + 1 && (static_cast<unsigned char>(work.text[wanted]) & 0xC0) == 0x80) --wanted;  // no letter is cut in two
    const std::string_view looked = work.text.substr(0, std::min(work.text.size(), wanted + work.steps.uncut));
    const std::size_t end = work.tokenizer.cutAfter(looked, wanted);
    if (end < looked.size() || looked.size() == work.text.size()) return end;
    return makeError(
        ErrorCode::BadInput,
        fmt::format("{} cannot be tokenised by {}: from byte {} on it goes on for more than {} without a blank or the end of a line; choose "
                    "tokenizer=byte or char, or break its lines.",
                    work.name, work.tokenizer.name(), at, format::bytes({static_cast<std::int64_t>(work.steps.uncut)})));
}

// Encodes the pieces from `at` on side by side and hands each to `take` (a Status) with the place where it ends, in order.
template <class Take>
Status encodePieces(const Work& work, std::size_t at, Take take) {
    struct Piece {
        std::size_t begin, end;
        std::future<Result<std::vector<std::int32_t>>> ids;
    };
    const auto& [text, name, tokenizer, progress, cancelled, steps] = work;
    std::deque<Piece> ahead;  // a future that nobody waits for any more waits itself
    const std::size_t most = steps.atOnce > 0 ? steps.atOnce : piecesAtOnce();
    const auto policy = most > 1 && text.size() - at > steps.piece ? std::launch::async : std::launch::deferred;
    while (at < text.size() || !ahead.empty()) {
        while (at < text.size() && ahead.size() < most) {
            const auto cut = endOfPiece(work, at);
            if (!cut) return cut.error();
            const std::size_t end = *cut;
            // A piece may take long on a busy machine, and those that nobody waits for any more are waited for, too.
            const auto encode = [&tokenizer = work.tokenizer, &cancelled = work.cancelled, piece = text.substr(at, end - at)] {
                return tokenizer.encodeUnless(cancelled, piece);
            };
            ahead.push_back({at, end, std::async(policy, encode)});
            at = end;
        }
        if (cancelled) return work.wasCancelled();
        progress(fmt::format("Tokenising {} ({})", name, tokenizer.name()), work.share(ahead.front().begin));
        const std::size_t begin = ahead.front().begin, end = ahead.front().end;
        auto ids = ahead.front().ids.get();
        ahead.pop_front();
        if (!ids && ids.error().code == ErrorCode::Cancelled) return work.wasCancelled();
        if (!ids) return makeError(ids.error().code, fmt::format("{} cannot be tokenised: {}", name, ids.error().sentence), ids.error().cause);
        if (auto taken = take(*ids, end); !taken) return taken;
        work.passed(text.substr(begin, end - begin));
    }
    progress(fmt::format("Tokenised {} ({})", name, tokenizer.name()), 1.0);
    return {};
}

template <class Id>
Result<std::shared_ptr<const TokenRow>> encodeToRam(const Work& work, Bytes free) {
    std::vector<Id> all;
    auto done = encodePieces(work, 0, [&](const std::vector<std::int32_t>& ids, std::size_t) -> Status {
        if (static_cast<std::int64_t>((all.size() + ids.size()) * sizeof(Id)) > mostThatGrows(free).count)
            return noRoom(fmt::format("The tokens of {} cannot be kept in a cache and are too many for the memory", work.name), free,
                          "make the cache folder usable, or give less text");
        all.insert(all.end(), ids.begin(), ids.end());
        return {};
    });
    if (!done) return done.error();
    return inRam(std::move(all));
}

// Encodes into the writer what is not in it yet.
class Tokenising {
public:
    Tokenising(const Work& work, TokenFileWriter& writer) : m_work(work), m_writer(writer) {}

    // What a process that was stopped left is taken up where its text was the same. Cancelled: it stays as it is.
    Status takeUp() {
        const auto& done = m_writer.done();
        if (done.textBytes == 0) return {};
        if (done.textBytes <= m_work.text.size())
            if (const Status added = addText(m_read, m_work, done.textBytes, "Comparing {} with what was tokenised of it"); !added) return added;
        if (done.textBytes > m_work.text.size() || m_read.digest() != done.read) {
            m_read.reset();
            return m_writer.beginAnew();
        }
        m_at = m_kept = done.textBytes;
        m_work.progress(fmt::format("Tokenising {} ({}) goes on where it was stopped", m_work.name, m_work.tokenizer.name()), m_work.share(m_at));
        return {};
    }

    // Of what was encoded; what went wrong with the writer is in written().
    Status encode() {
        const bool isLong = m_work.text.size() > m_work.steps.keepEvery;
        auto encoded = encodePieces(m_work, m_at, [&](const std::vector<std::int32_t>& ids, std::size_t end) {
            m_written = m_writer.append(ids);
            m_read.add(m_work.text.substr(m_at, end - m_at));
            m_at = end;
            if (m_written && isLong && m_at - m_kept >= m_work.steps.keepEvery && m_at < m_work.text.size()) keep();
            return m_written;
        });
        if (!encoded && m_written && encoded.error().code == ErrorCode::Cancelled && isLong && m_at > m_kept) keep();
        return encoded;
    }

    const Status& written() const { return m_written; }
    Hash128 read() const { return m_read.digest(); }

private:
    void keep() {
        m_written = m_writer.keep(m_at, m_read.digest());
        m_kept = m_at;
    }

    const Work& m_work;
    TokenFileWriter& m_writer;
    StreamingHash m_read;  // of the text before m_at, as it was when it was tokenised
    std::size_t m_at = 0, m_kept = 0;
    Status m_written;
};

TokenFileKey keyOf(Hash128 text, const Tokenizer& tokenizer) {
    return {text, hashOf(tokenizer.toJson()), tokenizer.vocabulary()};
}

Result<Hash128> hashOfText(const Work& work) {
    StreamingHash hash;
    if (const Status added = addText(hash, work, work.text.size(), "Looking for tokens of {} in the cache"); !added) return added.error();
    return hash.digest();
}

std::string pathOf(const std::string& folder, const TokenFileKey& key, const Tokenizer& tokenizer) {
    return fmt::format("{}/{}-{}-{}.bin", folder, key.text.hex(), tokenizer.name(), key.tokenizer.hex().substr(0, 8));
}

// Of a long text they are long, too.
Result<std::shared_ptr<const TokenRow>> openCached(const std::string& path, const TokenFileKey& key, const std::string& name,
                                                   const Tokenizer& tokenizer, const Progress& progress, const std::atomic<bool>& cancelled) {
    return openTokenFile(path, key, [&](double share) {
        if (share > 0) progress(fmt::format("Checking the tokens of {} ({}) in the cache", name, tokenizer.name()), share);
        return !cancelled;
    });
}

}  // namespace

std::string tokenCachePath(const std::string& folder, std::string_view text, const Tokenizer& tokenizer) {
    return tokenCachePath(folder, hashOf(text), tokenizer);
}

std::string tokenCachePath(const std::string& folder, const Hash128& text, const Tokenizer& tokenizer) {
    return pathOf(folder, keyOf(text, tokenizer), tokenizer);
}

Result<CachedTokens> cachedTokensOf(const Hash128& text, const std::string& name, const Tokenizer& tokenizer, const std::string& folder,
                                    const Progress& progress, const std::atomic<bool>& cancelled) {
    const TokenFileKey key = keyOf(text, tokenizer);
    const std::string path = pathOf(folder, key, tokenizer);
    auto found = openCached(path, key, name, tokenizer, progress, cancelled);
    if (!found) return found.error();
    markTokenCacheUsed(path);
    progress(fmt::format("Tokens of {} ({}) come from the cache; its files are as they were, so their text is not put together again", name,
                         tokenizer.name()),
             1.0);
    return CachedTokens{std::move(*found), text, {}};
}

Result<CachedTokens> cachedTokens(std::string_view text, const std::string& name, const Tokenizer& tokenizer, const std::string& folder,
                                  const Progress& progress, const std::atomic<bool>& cancelled, const FreeMemory& freeMemory,
                                  const TokenisingSteps& steps) {
    const Work work{text, name, tokenizer, progress, cancelled, steps};
    const auto hash = hashOfText(work);
    if (!hash) return hash.error();
    const TokenFileKey key = keyOf(*hash, tokenizer);
    const auto inMemory = [&](const std::string& why) -> Result<CachedTokens> {
        auto row =
            tokenizer.vocabulary() <= 0x10000 ? encodeToRam<std::uint16_t>(work, freeMemory()) : encodeToRam<std::uint32_t>(work, freeMemory());
        if (!row) return makeError(row.error().code, row.error().sentence, row.error().cause.empty() ? why : row.error().cause);
        return CachedTokens{std::move(*row), key.text, "tokens kept in memory: " + why};
    };
    if (folder.empty()) return inMemory("neither XDG_CACHE_HOME nor HOME names a folder for the cache");

    const std::string path = pathOf(folder, key, tokenizer), part = TokenFileWriter::unfinishedPath(path);
    std::string note;
    const auto openNow = [&] { return openCached(path, key, name, tokenizer, progress, cancelled); };
    const auto fromCache = [&](std::shared_ptr<const TokenRow> row) {
        markTokenCacheUsed(path);
        progress(fmt::format("Tokens of {} ({}) come from the cache", name, tokenizer.name()), 1.0);
        return CachedTokens{std::move(row), key.text, {}};
    };
    if (auto found = openNow(); found) {
        return fromCache(std::move(*found));
    } else if (found.error().code == ErrorCode::Cancelled) {
        return work.wasCancelled();
    } else if (found.error().code != ErrorCode::NotFound) {
        note = "the damaged token cache was made again";
        progress(fmt::format("The token cache of {} ({}) is damaged and is made again", name, tokenizer.name()), 0.0);
    }

    const auto waits = [&] {
        const auto done = readUnfinished(part, key);
        progress(fmt::format("Waiting for another process, which makes the tokens of {} ({})", name, tokenizer.name()),
                 done ? std::min(1.0, work.share(done->textBytes)) : 0.0);
    };
    MakerTurn turn = takeTurn(part, cancelled, waits, steps.patience);
    if (turn.cancelled) return work.wasCancelled();
    // Whoever had the lock may have made them by now. What is damaged is not read again for nothing.
    if (turn.waited || note.empty()) {
        if (auto made = openNow(); made) return fromCache(std::move(*made));
        if (cancelled) return work.wasCancelled();
    }

    // Those who wait see by the file's time that it is worked on, also while what is in it is read again.
    const Progress told = [&, isOurs = static_cast<bool>(turn.lock)](const std::string& what, double share) {
        if (isOurs) markTokenCacheUsed(part);
        progress(what, share);
    };
    auto writer = TokenFileWriter::create(
        path, key,
        [&](double share) {
            if (share > 0) told(fmt::format("Checking what was tokenised of {} ({})", name, tokenizer.name()), share);
            return !cancelled;
        },
        std::move(turn.lock));
    if (!writer && writer.error().code == ErrorCode::Cancelled) return work.wasCancelled();
    if (!writer) return inMemory(writer.error().sentence);
    const Work making{text, name, tokenizer, told, cancelled, steps};
    Tokenising tokenising(making, **writer);
    Status written = tokenising.takeUp();
    if (!written && written.error().code == ErrorCode::Cancelled) return written.error();
    const Status encoded = written ? tokenising.encode() : Status{};
    if (written) written = tokenising.written();
    const bool changed = encoded && written && tokenising.read() != key.text;
    if (encoded && written && !changed) written = (*writer)->finish();
    if (!written || changed || (!encoded && encoded.error().code != ErrorCode::Cancelled)) (*writer)->discard();
    writer->reset();  // a full disk needs the room
    if (!written) return inMemory(written.error().sentence);
    if (!encoded) return encoded.error();
    if (changed) return makeError(ErrorCode::Io, fmt::format("{} was changed by another program while it was tokenised; start the run again.", name));
    auto row = openNow();
    if (!row && row.error().code == ErrorCode::Cancelled) return work.wasCancelled();
    if (!row) return inMemory(row.error().sentence);
    boundTokenCaches(folder);  // ours is mapped by now, so it stays
    return CachedTokens{std::move(*row), key.text, std::move(note)};
}

}  // namespace stepscope
