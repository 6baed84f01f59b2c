// What a TraceBuilder hands out, read again: for tests of what stands before and behind it.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/trace/AllocationCodec.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"
#include "sessions/importers/TraceBuilder.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {

struct BuiltSlice {
    std::string name, phase, role;
    SliceArguments arguments;
    Slice slice;
    SliceThread thread;
};

// Texts and arguments of nothing, as readers that know none leave them.
inline importing::Record plainRecord(std::uint32_t lane, std::int64_t start, std::int64_t duration,
                                     std::uint32_t name = importing::TextStore::kNone) {
    return {.lane = lane,
            .kind = SliceKind::Operation,
            .start = start,
            .duration = duration,
            .name = name,
            .phase = importing::TextStore::kNone,
            .role = importing::TextStore::kNone,
            .arguments = importing::TextStore::kNone};
}

struct BuiltTrace {
    TempFolder folder;
    importing::TraceBuilder trace{folder.path()};
    std::vector<SliceBlock> blocks;
    std::vector<SampleBlock> samples;
    std::vector<AllocationBlock> allocations;

    explicit BuiltTrace(std::int64_t rank = 0) { trace.beginFile(rank); }

    // Hands everything out; its slices in the order of the blocks.
    std::vector<BuiltSlice> finish(std::optional<std::int64_t> origin = {}) {
        const Status done = trace.finish(
            [&](const importing::TraceBuilder::Encode& encode) {
                const Chunk chunk = encode();
                EXPECT_TRUE(checkChunk(chunk)) << chunk.kind;
                if (isSlices(chunk.kind))
                    keep(blocks, decodeSlices(chunk));
                else if (chunk.kind == kSamples)
                    keep(samples, decodeSamples(chunk));
                else
                    keep(allocations, decodeAllocations(chunk));
                return true;
            },
            {}, origin);
        EXPECT_TRUE(done) << done.error().sentence;
        std::vector<BuiltSlice> all;
        for (const auto& block : blocks)
            for (const auto& slice : block.slices)
                all.push_back({block.strings.at(slice.name), block.strings.at(slice.phase), block.strings.at(slice.role),
                               block.arguments.at(slice.arguments), slice, block.thread});
        return all;
    }
    std::int64_t reason(const std::string& words) const {
        const auto found = trace.counts().reasons.find(words);
        return found == trace.counts().reasons.end() ? 0 : found->second;
    }

private:
    template <class Block>
    static void keep(std::vector<Block>& into, Result<Block> block) {
        ASSERT_TRUE(block) << block.error().sentence;
        into.push_back(std::move(*block));
    }
};

}  // namespace stepscope::test
