// What a worker beside the first one holds of a capture and how it says it: what there is no room for is counted, pieces may be cut anywhere, what is
// none ends it; and in which lanes it lies afterwards.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "TinyTraining.h"
#include "core/base/OperationSpan.h"
#include "core/profile/OperationSource.h"
#include "core/trace/AllocationCodec.h"
#include "core/trace/Note.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"
#include "core/train/workers/CapturesTogether.h"
#include "core/train/workers/SaidChunks.h"

namespace stepscope {
namespace {

using testing::CollectingSink;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Chunk saidSlices(std::int64_t lane, std::int64_t count, std::int64_t from = 0) {
    SliceBlock block{.thread = {.process = 1, .thread = 7, .name = "trainer", .lane = lane, .rank = 1}};
    block.strings = {"", "aten::mm"};
    for (std::int64_t i = 0; i < count; ++i) block.slices.push_back({.start = from + 10 * i, .duration = 8, .name = 1});
    return encodeSlices(block);
}

TEST(LaneOfWorker, NoTwoWorkersHaveTheSameHoweverManyThereAre) {
    const std::int64_t thread = 4'194'303, stream = (std::int64_t{1} << 40) + (std::int64_t{1} << 32) + 32 * 8;
    const std::int64_t calls = (std::int64_t{1} << 48) + thread, meter = std::int64_t{1} << 51;
    std::set<std::int64_t> lanes;
    std::int64_t count = 0;
    for (std::int64_t rank = 0; rank < 4096; ++rank)
        for (const std::int64_t lane : {thread, stream, calls, meter}) {
            lanes.insert(laneOfWorker(lane, rank));
            ++count;
            EXPECT_EQ(laneOfWorker(laneOfWorker(lane, 7), rank), laneOfWorker(lane, rank)) << "whatever it was said with";
        }
    EXPECT_EQ(static_cast<std::int64_t>(lanes.size()), count);
    EXPECT_EQ(laneOfWorker(stream, 0), stream);
}

TEST(LaneOfWorker, IsThatOfAThreadOfTheTwoHundredAndFiftySeventhToo) {
    CollectingSink sink;
    const SessionClock clock;
    OperationSource source({.sink = &sink, .clock = &clock, .rank = 256});
    { const OperationSpan span("work"); }
    CaptureDone done;
    EXPECT_EQ(source.finish(done), "");
    const auto chunks = sink.chunks();
    ASSERT_EQ(chunks.size(), 1u);
    const auto block = decodeSlices(*chunks[0]);
    ASSERT_TRUE(block) << block.error().sentence;
    EXPECT_EQ(block->thread.rank, 256);
    EXPECT_EQ(block->thread.laneNumber(), laneOfWorker(block->thread.thread, 256));
    EXPECT_NE(block->thread.laneNumber() >> 40, 1) << "where streams of the first one are";
}

TEST(HeldCapture, SaysHowManySlicesItCouldNotHold) {
    const auto chunk = std::make_shared<const Chunk>(saidSlices(9, 50));
    HeldCapture held(3 * chunk->bytes.size());
    for (int i = 0; i < 5; ++i) held.publishChunk(chunk);
    std::int64_t slices = 0, lost = 0;
    std::string note;
    for (const ChunkPtr& one : held.take()) {
        if (one->kind == kNote) {
            note = noteOf(*one);
            continue;
        }
        const auto block = decodeSlices(*one);
        ASSERT_TRUE(block) << block.error().sentence;
        slices += static_cast<std::int64_t>(block->slices.size());
        lost += block->lost;
        EXPECT_EQ(block->thread.lane, 9);
        EXPECT_EQ(block->thread.thread, 7);
    }
    EXPECT_EQ(slices, 150);
    EXPECT_EQ(lost, 100);
    EXPECT_THAT(note, HasSubstr("100 slices of its capture are not there"));
    EXPECT_TRUE(held.take().empty());
}

TEST(HeldCapture, HoldsSamplesAndAllocationsTooAndCountsThoseThatItCouldNot) {
    SampleBlock counters{.lane = 5, .rank = 1, .name = "trainer"};
    counters.series = {{}, {"cycles", ""}};
    counters.samples = {{10, 1, 2}, {20, 1, 3}};
    AllocationBlock memory{.lane = 6, .rank = 1};
    memory.allocations = {{.at = 5, .address = 1, .bytes = 10}};
    const auto samples = std::make_shared<const Chunk>(encodeSamples(counters));
    const auto allocations = std::make_shared<const Chunk>(encodeAllocations(memory));
    HeldCapture held(samples->bytes.size() + allocations->bytes.size());
    held.publishChunk(noteChunk("The log has it.", {1}));
    for (int i = 0; i < 2; ++i) {
        held.publishChunk(samples);
        held.publishChunk(allocations);
    }
    std::int64_t kept = 0, lostSamples = 0, lostAllocations = 0;
    std::vector<std::string> notes;
    for (const ChunkPtr& one : held.take()) {
        kept += one->kind == kNote ? 0 : one->count;
        if (one->kind == kNote) notes.push_back(noteOf(*one));
        if (const auto block = decodeSamples(*one)) lostSamples += block->lost;
        if (const auto block = decodeAllocations(*one)) lostAllocations += block->lost;
    }
    EXPECT_EQ(kept, 3);
    EXPECT_EQ(lostSamples, 2);
    EXPECT_EQ(lostAllocations, 1);
    EXPECT_THAT(notes, ElementsAre(HasSubstr("3 samples and allocations of its capture are not there")));
}

TEST(SaidChunks, AreHeardAsTheyWereHoweverTheyAreCutIntoPieces) {
    std::vector<std::byte> said;
    std::vector<Chunk> chunks;
    for (std::int64_t i = 0; i < 5; ++i) {
        chunks.push_back(saidSlices(i + 1, 3 * i, 1000 * i));
        sayChunk(chunks.back(), said);
    }
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{64}, said.size()}) {
        HeardChunks heard;
        std::vector<Chunk> back;
        for (std::size_t at = 0; at < said.size(); at += piece)
            heard.hear(said.data() + at, std::min(piece, said.size() - at), [&](const Chunk& chunk) { back.push_back(chunk); });
        EXPECT_TRUE(heard.whole());
        ASSERT_EQ(back.size(), chunks.size());
        for (std::size_t i = 0; i < back.size(); ++i) {
            EXPECT_EQ(back[i].kind, chunks[i].kind);
            EXPECT_EQ(back[i].lane, chunks[i].lane);
            EXPECT_EQ(back[i].begin, chunks[i].begin);
            EXPECT_EQ(back[i].end, chunks[i].end);
            EXPECT_EQ(back[i].count, chunks[i].count);
            EXPECT_EQ(back[i].bytes, chunks[i].bytes);
        }
    }
}

TEST(SaidChunks, WhatIsNoneEndsItAndWhatIsCutOffIsNotWhole) {
    std::vector<std::byte> said;
    sayChunk(saidSlices(1, 9), said);
    int taken = 0;
    const auto count = [&](const Chunk&) { ++taken; };
    HeardChunks cut;
    cut.hear(said.data(), said.size() - 1, count);
    EXPECT_FALSE(cut.whole());
    EXPECT_EQ(taken, 0);
    HeardChunks wrong;
    std::vector<std::byte> huge(16, std::byte{0xff});
    wrong.hear(huge.data(), huge.size(), count);
    wrong.hear(said.data(), said.size(), count);
    EXPECT_FALSE(wrong.whole());
    EXPECT_EQ(taken, 0) << "nothing is taken behind it";
}

}  // namespace
}  // namespace stepscope
