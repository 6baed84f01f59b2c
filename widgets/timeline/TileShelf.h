// TileShelf: the tiles that a timeline has, bounded in bytes: what was not drawn for longest goes first. GUI thread.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/trace/RowPicture.h"

namespace stepscope {

class TileShelf {
public:
    explicit TileShelf(std::size_t most = std::size_t{192} << 20) : m_most(most) {}

    const LodTile* find(const TilePlace& place) {
        const auto found = m_tiles.find(place);
        if (found == m_tiles.end()) return nullptr;
        found->second.used = m_now;
        return found->second.tile.get();
    }
    void add(const LodTilePtr& tile) {
        Held& held = m_tiles[{tile->lane, tile->level, tile->index}];
        if (held.tile) m_bytes -= held.tile->bytes();
        held = {tile, m_now};
        m_bytes += tile->bytes();
    }
    // Before a frame: what is drawn from here on counts as newer.
    void frame() {
        ++m_now;
        if (m_bytes <= m_most) return;
        std::vector<std::pair<std::uint64_t, TilePlace>> oldest;
        for (const auto& [place, held] : m_tiles) oldest.emplace_back(held.used, place);
        std::ranges::sort(oldest);
        for (const auto& [used, place] : oldest) {
            if (m_bytes <= m_most * 3 / 4 || used + 2 >= m_now) break;
            m_bytes -= m_tiles[place].tile->bytes();
            m_tiles.erase(place);
        }
    }
    // A live capture grew: tiles that reach to its end are of yesterday.
    void forgetFrom(std::int64_t time, const std::function<int(std::int64_t lane)>& finest) {
        std::erase_if(m_tiles, [&](const auto& one) {
            const auto& [place, held] = one;
            const bool old = (place.index + 1) * (std::int64_t{1} << tileShift(place.level, finest(place.lane))) > time;
            if (old) m_bytes -= held.tile->bytes();
            return old;
        });
    }
    void clear() {
        m_tiles.clear();
        m_bytes = 0;
    }
    std::size_t bytes() const { return m_bytes; }
    std::size_t size() const { return m_tiles.size(); }

private:
    struct Hash {
        std::size_t operator()(const TilePlace& place) const {
            return static_cast<std::size_t>(place.index * 31 + place.level) * 0x9E3779B97F4A7C15ULL ^ static_cast<std::size_t>(place.lane);
        }
    };
    struct Held {
        LodTilePtr tile;
        std::uint64_t used = 0;
    };
    std::size_t m_most, m_bytes = 0;
    std::uint64_t m_now = 0;
    std::unordered_map<TilePlace, Held, Hash> m_tiles;
};

}  // namespace stepscope
