// Byte-pair encoding of one word: symbols, and which two neighbours become one, in order of rank
// (Sennrich, Haddow, Birch, "Neural Machine Translation of Rare Words with Subword Units", ACL 2016; on bytes as in GPT-2).
// Read from a vocabulary (symbol -> id) and a list of merges; immutable afterwards, so any thread may read it.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/Result.h"
#include "core/data/tokenizers/MergeTable.h"

namespace stepscope {

class BytePairMerges {
public:
    // `vocabularyJson`: {"symbol": id, ...}, `mergesText`: "left right" a line in order of rank, "#version" lines skipped.
    // Errors (Damaged) name `vocabularyName` or `mergesName`, and the line of a wrong merge.
    static Result<BytePairMerges> parse(std::string_view vocabularyJson, const std::string& vocabularyName, std::string_view mergesText,
                                        const std::string& mergesName);

    std::int32_t size() const { return static_cast<std::int32_t>(m_bytesOf.size()); }
    const std::string& bytesOf(std::int32_t id) const { return m_bytesOf[static_cast<std::size_t>(id)]; }

    // Memory that append() works in; reused from word to word. One a thread.
    struct Scratch {
        struct Symbol {
            std::int32_t id, before, after;  // before, after: indexes of the neighbours, -1 = none
        };
        struct Candidate {
            std::int32_t rank, at;     // lowest rank first, leftmost first
            std::int32_t left, right;  // ids when it was found: a stale candidate no longer matches them
            std::int32_t merged;
        };
        std::vector<Symbol> symbols;
        std::vector<Candidate> heap;
    };
    // Appends the ids of `word` (any bytes): of a short one by looking at all its pairs after each merge, of others in O(n log n) of its length.
    void append(std::string_view word, Scratch& scratch, std::vector<std::int32_t>& ids) const;

private:
    void appendShort(std::string_view word, std::vector<std::int32_t>& ids) const;
    void consider(std::int32_t at, Scratch& scratch) const;
    Status readVocabulary(std::string_view json, const std::string& name, std::unordered_map<std::string, std::int32_t>& idOf);
    Status readMerges(std::string_view text, const std::string& name, const std::unordered_map<std::string, std::int32_t>& idOf);

    std::vector<std::string> m_bytesOf;  // by id
    std::array<std::int32_t, 256> m_idOfByte{};
    MergeTable m_merges;
    std::vector<MergeTable::Merge> m_ofBytes;  // of the symbols of two bytes, 256 x 256; rank kNever: none
    static constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();
};

}  // namespace stepscope
