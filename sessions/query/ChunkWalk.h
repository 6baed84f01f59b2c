// ChunkWalk: the blocks of one kind of bulk data of a session that reach into a range of time, lane by lane, a few in memory at a time.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sessions/query/QueryFile.h"

namespace stepscope::query {

template <class Block>
class ChunkWalk {
public:
    using Decode = Result<Block> (*)(const Chunk&);
    using IsKind = bool (*)(const std::string&);

    ChunkWalk(QueryFile& file, QueryGuard& guard, IsKind isKind, Decode decode, std::int64_t from, std::int64_t to)
        : m_file(file), m_guard(guard), m_decode(decode) {
        const std::int64_t end = to == std::numeric_limits<std::int64_t>::max() ? to : to + 1;
        for (const auto& lane : file.lanes)
            if (isKind(lane.kind)) m_lanes.push_back({lane.kind, lane.lane, {from}, {end}});
    }

    // Null at the end.
    Result<std::shared_ptr<const Block>> next() {
        while (m_at == m_page.chunks.size()) {
            if (m_page.chunks.empty() || !m_page.more) {
                if (m_lane == m_lanes.size()) return std::shared_ptr<const Block>();
                m_page = {};
                ++m_lane;
            }
            auto page = m_file.reader->chunks(m_file.session, m_lanes[m_lane - 1], m_page.next, kBytesAtOnce);
            if (!page) return page.error();
            m_page = std::move(*page);
            m_at = 0;
            if (m_guard.over()) return *m_guard.error();
        }
        if (m_guard.over()) return *m_guard.error();
        auto block = m_decode(*m_page.chunks[m_at]);
        m_page.chunks[m_at++].reset();
        if (!block) return block.error();
        return std::make_shared<const Block>(std::move(*block));
    }

private:
    static constexpr std::int64_t kBytesAtOnce = std::int64_t{4} << 20;

    QueryFile& m_file;
    QueryGuard& m_guard;
    Decode m_decode;
    std::vector<ChunkRange> m_lanes;
    std::size_t m_lane = 0, m_at = 0;  // behind the lane that is read
    ChunkPage m_page;
};

}  // namespace stepscope::query
