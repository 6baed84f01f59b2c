// What the codecs of core/trace share: arithmetic that wraps, the tables of which a block keeps only what it uses, and the times of records that have
// a moment (`at`) and no length.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/Check.h"
#include "core/trace/ByteColumns.h"
#include "core/trace/Chunk.h"

namespace stepscope {

// Arithmetic that wraps: what a stranger wrote may be anything until it is checked.
inline std::int64_t wrappingSum(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t wrappingDifference(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

// Of a table whose place 0 stands for nothing, only what is used, in the order of its first use.
template <class Thing>
class UsedOf {
public:
    explicit UsedOf(const std::vector<Thing>& all) : m_all(all), m_places(all.size(), 0) {}
    std::uint32_t placeOf(std::uint32_t old) {
        if (old == 0) return 0;
        SS_CHECK(old < m_all.size());
        if (m_places[old] == 0) {
            m_kept.push_back(old);
            m_places[old] = static_cast<std::uint32_t>(m_kept.size());
        }
        return m_places[old];
    }
    const std::vector<std::uint32_t>& kept() const { return m_kept; }

private:
    const std::vector<Thing>& m_all;
    std::vector<std::uint32_t> m_places, m_kept;
};

// Puts moments in order; a chunk of them without bytes yet. Of none, it stands at `at`.
template <class Moment>
Chunk chunkOfMoments(std::string_view kind, std::int64_t lane, std::vector<Moment>& all, TimeNs at) {
    std::ranges::stable_sort(all, {}, &Moment::at);
    Chunk chunk{.kind = std::string(kind), .lane = lane, .begin = at, .end = at, .count = static_cast<std::int64_t>(all.size()), .bytes = {}};
    if (!all.empty()) {
        chunk.begin = {all.front().at};
        chunk.end = {all.back().at + 1};  // half-open
    }
    return chunk;
}
template <class Moment>
void writeMoments(ByteWriter& out, const std::vector<Moment>& all, TimeNs begin) {
    std::int64_t before = begin.ns;
    for (const auto& one : all) {
        out.whole(static_cast<std::uint64_t>(wrappingDifference(one.at, before)));
        before = one.at;
    }
}
template <class Moment>
void readMoments(ByteReader& in, std::vector<Moment>& all, TimeNs begin) {
    std::int64_t before = begin.ns;
    for (auto& one : all) one.at = before = wrappingSum(before, static_cast<std::int64_t>(in.whole()));
}

}  // namespace stepscope
