// The level of detail of stored sessions: it is there as soon as a capture is stored, and is built anew where it is not, whoever wrote the file.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/trace/LodCodec.h"
#include "core/trace/SliceCodec.h"
#include "sessions/SessionStore.h"
#include "sessions/SessionTrace.h"
#include "sessions/Slices.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

ChunkPtr sliceChunk(std::int64_t lane, std::int64_t from, int count) {
    SliceBlock block{.thread = {.process = 1, .thread = lane, .number = 1, .name = "trainer"}};
    block.strings = {"", "step 1", "aten::mm"};
    block.slices.push_back({.start = from, .duration = count * 10'000LL, .called = 0, .name = 1, .kind = SliceKind::Step, .step = 1});
    for (int i = 0; i < count; ++i) block.slices.push_back({.start = from + i * 10'000LL, .duration = 9'000, .name = 2, .depth = 1});
    return std::make_shared<const Chunk>(encodeSlices(std::move(block)));
}

struct SessionTraces : testing::Test {
    TempFolder folder;
    std::string path = folder.file("sessions.db");

    std::unique_ptr<Recorder> record() {
        auto recorder = Recorder::open({.path = path}, sampleInfo());
        EXPECT_TRUE(recorder) << recorder.error().sentence;
        return std::move(*recorder);
    }
    void edit(const std::string& sql) {
        SQLite::Database database(path, SQLite::OPEN_READWRITE);
        database.exec(sql);
    }
    // Slices that the sums by name tell of, or -1 where the level of detail is not whole.
    std::int64_t told() {
        auto trace = SessionTrace::open(path, 1);
        EXPECT_TRUE(trace);
        TraceIndex index(**trace);
        const auto lanes = index.lanes();
        EXPECT_TRUE(lanes) << lanes.error().sentence;
        if (!lanes || !lanes->whole) return -1;
        const auto sums = index.sums(lanes->begin, lanes->end);
        EXPECT_TRUE(sums) << sums.error().sentence;
        return sums ? sums->slices : -1;
    }
    Status complete() {
        auto trace = SessionTrace::open(path, 1);
        return (*trace)->complete([] { return true; });
    }
};

TEST_F(SessionTraces, AreWholeAsSoonAsACaptureIsStored) {
    const auto recorder = record();
    recorder->publishChunk(sliceChunk(5, 1'000, 3000));
    recorder->publishChunk(sliceChunk(6, 2'000, 100));
    CaptureDone done;
    done.at = {40'000'000};
    recorder->publish(done);
    recorder->flush();
    EXPECT_EQ(told(), 3102);
    recorder->publishChunk(sliceChunk(5, 90'000'000, 50));
    ASSERT_TRUE(recorder->finish());
    EXPECT_EQ(told(), 3153);
}

TEST_F(SessionTraces, WithoutALevelOfDetailGetItOnce) {
    {
        const auto recorder = record();
        for (int i = 0; i < 40; ++i) recorder->publishChunk(sliceChunk(5, i * 50'000'000LL, 4000));
        ASSERT_TRUE(recorder->finish());
    }
    ASSERT_EQ(told(), 40 * 4001);
    // As an older version left it, and as a kill does: some blocks, but not the last.
    for (const char* sql : {"DELETE FROM chunks WHERE lane IN (SELECT id FROM chunk_lanes WHERE kind NOT LIKE 'slices%');"
                            "DELETE FROM chunk_lanes WHERE kind NOT LIKE 'slices%'",
                            "DELETE FROM chunks WHERE lane IN (SELECT id FROM chunk_lanes WHERE kind = 'lod/1');"
                            "DELETE FROM chunk_lanes WHERE kind = 'lod/1'"}) {
        edit(sql);
        ASSERT_EQ(told(), -1);
        const auto stopped = SessionTrace::open(path, 1).value()->complete([] { return false; });
        ASSERT_FALSE(stopped);
        EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
        const Status done = complete();
        ASSERT_TRUE(done) << done.error().sentence;
        EXPECT_EQ(told(), 40 * 4001);
        ASSERT_TRUE(complete());
        EXPECT_EQ(told(), 40 * 4001);
    }
}

TEST_F(SessionTraces, OfARunThatGoesOnAreLeftToItsRecorder) {
    const auto recorder = record();
    recorder->publishChunk(sliceChunk(5, 1'000, 10));
    recorder->flush();
    if (told() == -1) {
        ASSERT_TRUE(complete());
        EXPECT_EQ(told(), -1);
    }
    ASSERT_TRUE(recorder->finish());
    EXPECT_EQ(told(), 11);
}

TEST_F(SessionTraces, WhoseLevelOfDetailIsDamagedSaySo) {
    {
        const auto recorder = record();
        recorder->publishChunk(sliceChunk(5, 1'000, 3000));
        ASSERT_TRUE(recorder->finish());
    }
    edit("UPDATE chunks SET packed = x'00112233' WHERE lane IN (SELECT id FROM chunk_lanes WHERE kind = 'lod/1')");
    auto trace = SessionTrace::open(path, 1);
    TraceIndex index(**trace);
    const auto lanes = index.lanes();
    ASSERT_FALSE(lanes);
    EXPECT_FALSE(lanes.error().sentence.empty());
}

TEST_F(SessionTraces, BlocksSideBySideHaveAllOfTheHostBeforeWhatADeviceBeganLater) {
    const auto recorder = record();
    // Two threads of the host, and a stream that is stored before what launched its works.
    for (std::int64_t block = 0; block < 20; ++block) {
        SliceBlock works{.thread = {.process = 0, .thread = 7, .lane = 1, .device = 0}};
        works.strings = {"", "gemm"};
        for (std::int64_t i = 0; i < 10; ++i)
            works.slices.push_back({.start = 1'000'000 * block + 90'000 * i + 50, .duration = 40, .name = 1, .kind = SliceKind::Kernel});
        recorder->publishChunk(std::make_shared<const Chunk>(encodeSlices(std::move(works))));
    }
    for (const std::int64_t lane : {5, 6})
        for (std::int64_t block = 0; block < 50; ++block) recorder->publishChunk(sliceChunk(lane, 400'000 * block + 1000 * lane, 10));
    ASSERT_TRUE(recorder->finish());
    const auto reader = SessionReader::open(path);
    ASSERT_TRUE(reader);
    std::map<std::int64_t, std::int64_t> blocks;  // by lane
    std::int64_t seenTo = 0;                      // works have begun up to here
    const Status done = forEachSliceBlockInTime(**reader, 1, [&](const SliceBlock& block) -> Status {
        ++blocks[block.thread.laneNumber()];
        if (block.thread.device >= 0) {
            seenTo = std::max(seenTo, block.slices.back().start);
        } else {
            EXPECT_GE(block.slices.front().start, seenTo);
        }
        return {};
    });
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(blocks, (std::map<std::int64_t, std::int64_t>{{1, 20}, {5, 50}, {6, 50}}));
    const Status ended = forEachSliceBlockInTime(**reader, 1, [](const SliceBlock&) { return Status(makeError(ErrorCode::Cancelled, "enough")); });
    EXPECT_EQ(ended.error().sentence, "enough");
}

TEST_F(SessionTraces, BlocksByTheirBeginAreThoseOfAllLanesAndNoneBeginsBeforeTheOneInHand) {
    const auto recorder = record();
    for (const std::int64_t lane : {5, 6, 7})
        for (std::int64_t block = 0; block < 30; ++block) recorder->publishChunk(sliceChunk(lane, 100'000 * lane * block + lane, 10));
    ASSERT_TRUE(recorder->finish());
    const auto reader = SessionReader::open(path);
    ASSERT_TRUE(reader);
    std::map<std::int64_t, std::int64_t> blocks;  // by lane
    std::int64_t before = 0;
    const Status done = forEachSliceBlockByBegin(**reader, 1, [&](const SliceBlock& block) -> Status {
        ++blocks[block.thread.laneNumber()];
        EXPECT_GE(block.slices.front().start, before);
        before = block.slices.front().start;
        return {};
    });
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(blocks, (std::map<std::int64_t, std::int64_t>{{5, 30}, {6, 30}, {7, 30}}));
}

}  // namespace
