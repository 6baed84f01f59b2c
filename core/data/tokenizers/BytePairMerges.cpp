// Merging itself; reading the files is in BytePairFiles.cpp.
#include "core/data/tokenizers/BytePairMerges.h"

#include <algorithm>

#include "core/base/CounterRandom.h"

namespace stepscope {
namespace {

// std heaps keep the greatest on top: "greater" is the later merge.
bool later(const BytePairMerges::Scratch::Candidate& a, const BytePairMerges::Scratch::Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
}

constexpr std::int32_t kMergedAway = -1;

}  // namespace

std::size_t BytePairMerges::MixPair::operator()(std::uint64_t pair) const {
    return static_cast<std::size_t>(splitMix64(pair));
}

std::uint64_t BytePairMerges::pairOf(std::int32_t left, std::int32_t right) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) | static_cast<std::uint32_t>(right);
}

void BytePairMerges::consider(std::int32_t at, Scratch& scratch) const {
    const auto& symbol = scratch.symbols[static_cast<std::size_t>(at)];
    if (symbol.after < 0) return;
    const std::int32_t right = scratch.symbols[static_cast<std::size_t>(symbol.after)].id;
    const auto found = m_merges.find(pairOf(symbol.id, right));
    if (found == m_merges.end()) return;
    scratch.heap.push_back({found->second.rank, at, symbol.id, right, found->second.merged});
    std::push_heap(scratch.heap.begin(), scratch.heap.end(), later);
}

void BytePairMerges::append(std::string_view word, Scratch& scratch, std::vector<std::int32_t>& ids) const {
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
