// Merging itself; reading the files is in BytePairFiles.cpp.
#include "core/data/tokenizers/BytePairMerges.h"

#include <algorithm>
#include <array>

namespace stepscope {
namespace {

// std heaps keep the greatest on top: "greater" is the later merge.
bool later(const BytePairMerges::Scratch::Candidate& a, const BytePairMerges::Scratch::Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
}

constexpr std::int32_t kMergedAway = -1;
constexpr std::size_t kShort = 32;  // bytes; beyond, a heap is faster than looking at all pairs

}  // namespace

void BytePairMerges::consider(std::int32_t at, Scratch& scratch) const {
    const auto& symbol = scratch.symbols[static_cast<std::size_t>(at)];
    if (symbol.after < 0) return;
    const std::int32_t right = scratch.symbols[static_cast<std::size_t>(symbol.after)].id;
    const auto* found = m_merges.find(symbol.id, right);
    if (found == nullptr) return;
    scratch.heap.push_back({found->rank, at, symbol.id, right, found->merged});
    std::push_heap(scratch.heap.begin(), scratch.heap.end(), later);
}

// Symbols and the merge of each with the next one lie in arrays that the first-level cache holds. The same order as below: the lowest rank, leftmost
// first.
void BytePairMerges::appendShort(std::string_view word, std::vector<std::int32_t>& ids) const {
    std::array<std::int32_t, kShort> symbols, ranks, merged;
    std::size_t length = word.size();
    const auto byteAt = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(word[i])); };
    for (std::size_t i = 0; i < length; ++i) symbols[i] = m_idOfByte[byteAt(i)];
    for (std::size_t i = 0; i + 1 < length; ++i) {
        const MergeTable::Merge& merge = m_ofBytes[byteAt(i) << 8 | byteAt(i + 1)];
        ranks[i] = merge.rank;
        merged[i] = merge.merged;
    }
    const auto look = [&](std::size_t i) {
        const auto* merge = m_merges.find(symbols[i], symbols[i + 1]);
        ranks[i] = merge != nullptr ? merge->rank : kNever;
        if (merge != nullptr) merged[i] = merge->merged;
    };
    while (length > 1) {
        const auto best = static_cast<std::size_t>(std::min_element(ranks.begin(), ranks.begin() + length - 1) - ranks.begin());
        if (ranks[best] == kNever) break;
        symbols[best] = merged[best];
        std::copy(symbols.begin() + best + 2, symbols.begin() + length, symbols.begin() + best + 1);
        std::copy(ranks.begin() + best + 1, ranks.begin() + length - 1, ranks.begin() + best);
        std::copy(merged.begin() + best + 1, merged.begin() + length - 1, merged.begin() + best);
        --length;
        if (best > 0) look(best - 1);
        if (best + 1 < length) look(best);
    }
    ids.insert(ids.end(), symbols.begin(), symbols.begin() + length);
}

void BytePairMerges::append(std::string_view word, Scratch& scratch, std::vector<std::int32_t>& ids) const {
    if (word.size() <= kShort) return appendShort(word, ids);
    auto& symbols = scratch.symbols;
    auto& heap = scratch.heap;
    const auto length = static_cast<std::int32_t>(word.size());
    symbols.clear();
    heap.clear();
    for (std::int32_t i = 0; i < length; ++i)
        symbols.push_back({m_idOfByte[static_cast<unsigned char>(word[static_cast<std::size_t>(i)])], i - 1, i + 1 < length ? i + 1 : -1});
    for (std::int32_t i = 0; i < length; ++i) consider(i, scratch);

    // A merge's product only occurs in merges of higher rank, so taking the lowest candidate, leftmost first, merges exactly
    // what "find the lowest pair, replace it everywhere, again" would.
    while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), later);
        const Scratch::Candidate best = heap.back();
        heap.pop_back();
        auto& left = symbols[static_cast<std::size_t>(best.at)];
        if (left.id != best.left || left.after < 0) continue;
        auto& right = symbols[static_cast<std::size_t>(left.after)];
        if (right.id != best.right) continue;

        left.id = best.merged;
        left.after = right.after;
        right.id = kMergedAway;
        if (left.after >= 0) symbols[static_cast<std::size_t>(left.after)].before = best.at;
        if (left.before >= 0) consider(left.before, scratch);
        consider(best.at, scratch);
    }
    for (std::int32_t i = length > 0 ? 0 : -1; i >= 0; i = symbols[static_cast<std::size_t>(i)].after)
        ids.push_back(symbols[static_cast<std::size_t>(i)].id);
}

}  // namespace stepscope
