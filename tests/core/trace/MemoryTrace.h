// A TraceSource without a file: base chunks as they are added, and what LodBuilder makes of them. For tests and benches.
#pragma once
#include <algorithm>
#include <map>
#include <vector>

#include "core/trace/LodBuilder.h"
#include "core/trace/TraceIndex.h"

namespace stepscope {

class MemoryTrace final : public TraceSource {
public:
    void add(Chunk chunk) {
        LodBuilder* builder = m_builder.get();
        m_chunks.push_back(std::make_shared<const Chunk>(std::move(chunk)));
        const ChunkPtr base = m_chunks.back();
        builder->add(*base, m_chunks);
    }
    void finish() { m_builder->bringUpToDate(m_chunks); }
    const std::vector<ChunkPtr>& chunks() const { return m_chunks; }

    Result<std::vector<TraceSourceLane>> lanes() override {
        std::map<std::pair<std::string, std::int64_t>, TraceSourceLane> lanes;
        for (const ChunkPtr& chunk : m_chunks) {
            auto [found, added] =
                lanes.try_emplace({chunk->kind, chunk->lane}, TraceSourceLane{chunk->kind, chunk->lane, 0, chunk->begin, chunk->end});
            TraceSourceLane& lane = found->second;
            lane.records += chunk->count;
            lane.begin = std::min(lane.begin, chunk->begin);
            lane.end = std::max(lane.end, chunk->end);
        }
        std::vector<TraceSourceLane> all;
        for (auto& [key, lane] : lanes) all.push_back(lane);
        return all;
    }
    Status read(const std::string& kind, std::int64_t lane, std::int64_t from, std::int64_t to,
                const std::function<Status(const Chunk&)>& take) override {
        std::vector<ChunkPtr> found;
        for (const ChunkPtr& chunk : m_chunks)
            if (chunk->kind == kind && chunk->lane == lane && chunk->begin.ns < to && (chunk->end.ns > from || chunk->begin.ns >= from))
                found.push_back(chunk);
        std::ranges::stable_sort(found, {}, [](const ChunkPtr& chunk) { return chunk->begin.ns; });
        for (const ChunkPtr& chunk : found)
            if (auto done = take(*chunk); !done) return done;
        return {};
    }

private:
    std::unique_ptr<LodBuilder> m_builder = std::make_unique<LodBuilder>();
    std::vector<ChunkPtr> m_chunks;
};

}  // namespace stepscope
