// What the codecs of core/trace share: arithmetic that wraps, and the tables of which a block keeps only what it uses.
#pragma once
#include <cstdint>
#include <vector>

#include "core/base/Check.h"

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

}  // namespace stepscope
