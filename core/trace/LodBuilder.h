// LodBuilder: makes the level of detail (Lod.h) and the sums by name of a session's slices from its base chunks, in whatever order they come and
// however they were cut. The recorder has one, and so has who builds it anew for a session that lacks it. One thread.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/trace/Chunk.h"
#include "core/trace/SliceCodec.h"

namespace stepscope {

class LodBuilder {
public:
    LodBuilder();
    ~LodBuilder();
    LodBuilder(const LodBuilder&) = delete;
    LodBuilder& operator=(const LodBuilder&) = delete;

    // Appends to `out` the blocks that are full. A chunk that holds no slices, or none that can be read, is passed over; the latter's lane counts
    // as never whole.
    void add(const Chunk& chunk, std::vector<ChunkPtr>& out);
    void add(std::int64_t lane, const SliceBlock& block, std::vector<ChunkPtr>& out);
    // Appends what is left of all lanes: with it everything that was added is in some block.
    void bringUpToDate(std::vector<ChunkPtr>& out);
    // Of this lane alone, of which next to nothing is held then: for who knows that no more of it comes.
    void bringUpToDate(std::int64_t lane, std::vector<ChunkPtr>& out);
    bool upToDate() const;

private:
    class Lane;
    std::map<std::int64_t, std::unique_ptr<Lane>> m_lanes;
};

}  // namespace stepscope
