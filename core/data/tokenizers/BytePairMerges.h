// Byte-pair encoding of one word: symbols, and which two neighbours become one, in order of rank
// (Sennrich, Haddow, Birch, "Neural Machine Translation of Rare Words with Subword Units", ACL 2016; on bytes as in GPT-2).
// Read from a vocabulary (symbol -> id) and a list of merges; immutable afterwards, so any thread may read it.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/Result.h"

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
    // Appends the ids of `word` (any bytes) in O(n log n) of its length.
    void append(std::string_view word, Scratch& scratch, std::vector<std::int32_t>& ids) const;

private:
    struct Merge {
        std::int32_t rank, merged;
    };
    struct MixPair {
        std::size_t operator()(std::uint64_t pair) const;
    };
    static std::uint64_t pairOf(std::int32_t left, std::int32_t right);
    void consider(std::int32_t at, Scratch& scratch) const;
    Status readVocabulary(std::string_view json, const std::string& name, std::unordered_map<std::string, std::int32_t>& idOf);
    Status readMerges(std::string_view text, const std::string& name, const std::unordered_map<std::string, std::int32_t>& idOf);

    std::vector<std::string> m_bytesOf;  // by id
    std::array<std::int32_t, 256> m_idOfByte{};
    std::unordered_map<std::uint64_t, Merge, MixPair> m_merges;
};

}  // namespace stepscope
