// The GPT-2 tokenizer of Tokenizer.h: the pre-tokenising split, then byte-pair merges inside each word.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "core/data/DataFolders.h"
#include "core/data/Hash128.h"
#include "core/data/MappedFile.h"
#include "core/data/tokenizers/BytePairMerges.h"
#include "core/data/tokenizers/Tokenizer.h"
#include "core/data/tokenizers/Utf8.h"
#include "core/data/tokenizers/WordSplitter.h"

namespace stepscope {
namespace fs = std::filesystem;
namespace {

// The words of one text that were merged already, as ranges of the ids written so far: a text repeats its words, so this answers nearly all of them.
// A word has one slot, which the next one with the same slot takes over: of a text that does not repeat its words nothing is built up.
class WordCache {
public:
    explicit WordCache(std::size_t textBytes) : m_slots(std::bit_ceil(std::clamp<std::size_t>(textBytes / 8, 16, 1 << 15))) {}

    struct Slot {
        std::string_view word;
        std::size_t begin = 0, count = 0;
    };
    // Of this word, or to be taken over for it.
    Slot& slotOf(std::string_view word) { return m_slots[static_cast<std::size_t>(XXH3_64bits(word.data(), word.size())) & (m_slots.size() - 1)]; }

private:
    std::vector<Slot> m_slots;
};

class Gpt2Tokenizer final : public Tokenizer {
public:
    // texts: where the vocabulary is not the one that every machine with Stepscope has.
    // documents: endOfText, where there is one, is read in texts.
    Gpt2Tokenizer(BytePairMerges merges, Hash128 filesHash, std::int32_t endOfText, bool documents, std::optional<BytePairTexts> texts = {})
        : m_merges(std::move(merges)),
          m_filesHash(filesHash),
          m_endOfText(endOfText),
          m_documents(documents && endOfText >= 0),
          m_texts(std::move(texts)) {}

    std::string name() const override { return "gpt2"; }
    std::int64_t vocabulary() const override { return m_merges.size(); }
    std::size_t bytesOf(std::int32_t id) const override { return m_merges.bytesOf(id).size(); }
    std::int32_t endOfText() const override { return m_endOfText; }
    std::size_t cutAfter(std::string_view text, std::size_t wanted) const override { return utf8::cutAfter(text, wanted); }
    std::string toJson() const override {
        nlohmann::json all{{"name", "gpt2"}, {"files", m_filesHash.hex()}};
        if (m_documents) all["separator"] = "endoftext";
        if (m_texts) {
            all["vocabulary"] = m_texts->vocabulary;
            all["merges"] = m_texts->merges;
        }
        return all.dump();
    }

    Result<std::vector<std::int32_t>> encode(std::string_view text) const override {
        static const std::atomic<bool> never{false};
        return encodeUnless(never, text);
    }

    Result<std::vector<std::int32_t>> encodeUnless(const std::atomic<bool>& cancelled, std::string_view text) const override {
        if (const auto broken = utf8::findInvalid(text); broken != std::string_view::npos)
            return makeError(ErrorCode::BadInput, fmt::format("The text is not UTF-8 at byte {}.", broken));
        std::vector<std::int32_t> ids;
        ids.reserve(text.size() / 3);
        WordCache cache(text.size());
        BytePairMerges::Scratch scratch;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = m_documents ? text.find(kEndOfText, at) : std::string_view::npos;
            if (!encodeDocument(text.substr(at, end - at), cancelled, cache, scratch, ids))
                return makeError(ErrorCode::Cancelled, "Tokenising was cancelled.");
            if (end == std::string_view::npos) break;
            ids.push_back(m_endOfText);
            at = end + std::string_view(kEndOfText).size();
        }
        return ids;
    }

    std::string decode(std::span<const std::int32_t> ids) const override {
        std::string text;
        for (const std::int32_t id : ids) {
            if (id >= 0 && id < m_merges.size())
                text += m_merges.bytesOf(id);
            else
                utf8::append(text, 0xFFFD);
        }
        return utf8::repair(std::move(text));
    }

private:
    // False: it was cancelled.
    bool encodeDocument(std::string_view text, const std::atomic<bool>& cancelled, WordCache& cache, BytePairMerges::Scratch& scratch,
                        std::vector<std::int32_t>& ids) const {
        constexpr std::uint32_t kWordsBetweenAsks = 1 << 12;
        WordSplitter::Walk walk(m_splitter, text);
        std::uint32_t words = 0;
        for (std::string_view word; walk.next(word); ++words) {
            if (words % kWordsBetweenAsks == 0 && cancelled.load(std::memory_order_relaxed)) return false;
            WordCache::Slot& slot = cache.slotOf(word);
            const std::size_t begin = ids.size();
            if (slot.word != word) {
                m_merges.append(word, scratch, ids);
                slot = {word, begin, ids.size() - begin};
                continue;
            }
            ids.resize(begin + slot.count);
            std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(slot.begin), slot.count, ids.begin() + static_cast<std::ptrdiff_t>(begin));
        }
        return true;
    }

    BytePairMerges m_merges;
    Hash128 m_filesHash;
    std::int32_t m_endOfText;  // -1: the vocabulary has none
    bool m_documents;          // texts hold it
    std::optional<BytePairTexts> m_texts;
    WordSplitter m_splitter;
};

// The id of kEndOfText; -1: there is none.
std::int32_t endOfTextIn(const BytePairMerges& merges) {
    for (std::int32_t id = merges.size() - 1; id >= 0; --id)
        if (merges.bytesOf(id) == kEndOfText) return id;
    return -1;
}

Hash128 hashOfTexts(std::string_view vocabulary, std::string_view merges) {
    return hashOf(hashOf(vocabulary).hex() + hashOf(merges).hex());
}

constexpr const char* kWhereFrom =
    "run packaging/run --build-only to fetch it, or set STEPSCOPE_GPT2_VOCABULARY to a folder with encoder.json and vocab.bpe";

// The first of two names that exists; empty when neither does.
std::string eitherOf(const fs::path& folder, const char* first, const char* second) {
    std::error_code ignored;
    for (const char* name : {first, second})
        if (fs::exists(folder / name, ignored)) return (folder / name).string();
    return {};
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> gpt2Tokenizer(const std::string& folder, bool documents) {
    const std::string where = folder.empty() ? gpt2VocabularyFolder() : folder;
    if (where.empty()) return makeError(ErrorCode::NotFound, fmt::format("The GPT-2 vocabulary is not installed: {}.", kWhereFrom));
    const std::string vocabularyPath = eitherOf(where, "encoder.json", "vocab.json"), mergesPath = eitherOf(where, "vocab.bpe", "merges.txt");
    if (vocabularyPath.empty() || mergesPath.empty())
        return makeError(ErrorCode::NotFound,
                         fmt::format("{} lacks GPT-2's {}: {}.", where,
                                     vocabularyPath.empty() ? "encoder.json (or vocab.json)" : "vocab.bpe (or merges.txt)", kWhereFrom));
    auto vocabulary = MappedFile::open(vocabularyPath);
    if (!vocabulary) return vocabulary.error();
    auto mergesFile = MappedFile::open(mergesPath);
    if (!mergesFile) return mergesFile.error();
    auto merges = BytePairMerges::parse(vocabulary->bytes(), vocabularyPath, mergesFile->bytes(), mergesPath);
    if (!merges) return merges.error();
    const std::int32_t endOfText = endOfTextIn(*merges);
    if (documents && endOfText < 0)
        return makeError(ErrorCode::BadInput, fmt::format("{} has no token {}; choose separator=blank-line.", vocabularyPath, kEndOfText));
    return std::shared_ptr<const Tokenizer>(
        std::make_shared<Gpt2Tokenizer>(std::move(*merges), hashOfTexts(vocabulary->bytes(), mergesFile->bytes()), endOfText, documents));
}

Result<std::shared_ptr<const Tokenizer>> bytePairTokenizer(BytePairTexts texts, bool documents, const std::string& vocabularyName,
                                                           const std::string& mergesName) {
    // What a checkpoint holds is text. The vocabulary's parser looks at all of it; of merges a first line may hold anything.
    if (utf8::findInvalid(texts.merges) != std::string::npos || utf8::findInvalid(texts.vocabulary) != std::string::npos)
        return makeError(ErrorCode::Damaged, fmt::format("{} or {} is not UTF-8; fetch them again.", vocabularyName, mergesName));
    auto merges = BytePairMerges::parse(texts.vocabulary, vocabularyName, texts.merges, mergesName);
    if (!merges) return merges.error();
    const std::int32_t endOfText = endOfTextIn(*merges);
    const Hash128 hash = hashOfTexts(texts.vocabulary, texts.merges);
    return std::shared_ptr<const Tokenizer>(std::make_shared<Gpt2Tokenizer>(std::move(*merges), hash, endOfText, documents, std::move(texts)));
}

}  // namespace stepscope
