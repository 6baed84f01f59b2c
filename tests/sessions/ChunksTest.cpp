// Bulk data beside events: what is published is stored as it is, found by range through an index, bounded on its way, and safe as events are.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "core/trace/AllocationCodec.h"
#include "core/trace/SampleCodec.h"
#include "sessions/Samples.h"
#include "sessions/SessionStore.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/FileSizeLimit.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

std::vector<std::byte> noise(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

ChunkPtr chunk(std::int64_t lane, std::int64_t begin, std::int64_t end, std::vector<std::byte> bytes = noise(100, 1)) {
    return std::make_shared<const Chunk>(Chunk{"slices/1", lane, {begin}, {end}, static_cast<std::int64_t>(bytes.size() / 10), std::move(bytes)});
}

// Everything of a range, page by page.
std::vector<ChunkPtr> readAll(SessionReader& reader, const ChunkRange& range, std::int64_t mostBytes = 1 << 20) {
    std::vector<ChunkPtr> all;
    ChunkPage page;
    do {
        auto read = reader.chunks(1, range, page.next, mostBytes);
        EXPECT_TRUE(read) << read.error().sentence << " " << read.error().cause;
        if (!read) return all;
        page = std::move(*read);
        all.insert(all.end(), page.chunks.begin(), page.chunks.end());
    } while (page.more);
    return all;
}

std::int64_t bytesReadByThisProcess() {
    std::ifstream io("/proc/self/io");
    std::string word;
    std::int64_t value = 0;
    io >> word >> value;  // rchar: what read() and pread() brought
    return value;
}

struct Chunks : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    void record(const std::vector<ChunkPtr>& chunks) {
        auto recorder = Recorder::open({.path = path}, sampleInfo());
        ASSERT_TRUE(recorder) << recorder.error().sentence;
        for (const auto& one : chunks) (*recorder)->publishChunk(one);
        const Status done = (*recorder)->finish();
        ASSERT_TRUE(done) << done.error().sentence;
    }
};

}  // namespace

TEST_F(Chunks, ComeBackAsTheyWerePublished) {
    const auto compressible = std::make_shared<const Chunk>(Chunk{"pairs/2", -7, {5}, {5}, 3, std::vector<std::byte>(1'000'000, std::byte{9})});
    const auto empty = std::make_shared<const Chunk>(Chunk{"pairs/2", -7, {6}, {6}, 0, {}});
    record({chunk(0, 10, 20, noise(300'000, 2)), compressible, empty});
    auto reader = SessionReader::open(path);
    const auto lanes = (*reader)->chunkLanes(1);
    ASSERT_TRUE(lanes) << lanes.error().sentence;
    ASSERT_EQ(lanes->size(), 2u);
    EXPECT_EQ(lanes->at(0).kind, "pairs/2");
    EXPECT_EQ(lanes->at(0).lane, -7);
    EXPECT_EQ(lanes->at(0).chunks, 2);
    EXPECT_EQ(lanes->at(0).records, 3);
    EXPECT_EQ(lanes->at(0).bytes, 1'000'000);
    EXPECT_LT(lanes->at(0).packedBytes, 1000);
    EXPECT_EQ(lanes->at(1).begin.ns, 10);
    EXPECT_EQ(lanes->at(1).end.ns, 20);
    const auto pairs = readAll(**reader, {"pairs/2", -7, {0}, {100}});
    ASSERT_EQ(pairs.size(), 2u);
    EXPECT_EQ(pairs[0]->bytes, compressible->bytes);
    EXPECT_EQ(pairs[0]->count, 3);
    EXPECT_TRUE(pairs[1]->bytes.empty());
    const auto slices = readAll(**reader, {"slices/1", 0, {0}, {100}});
    ASSERT_EQ(slices.size(), 1u);
    EXPECT_EQ(slices[0]->bytes, noise(300'000, 2));
    EXPECT_TRUE(readAll(**reader, {"slices/1", 5, {0}, {100}}).empty()) << "no such lane";
}

TEST_F(Chunks, OfARangeAreThoseThatOverlapIt) {
    std::mt19937 random(3);
    std::vector<ChunkPtr> all;
    for (int i = 0; i < 2000; ++i) {
        const std::int64_t begin = std::uniform_int_distribution(0, 100'000)(random);
        const std::int64_t length = i == 77 ? 60'000 : std::uniform_int_distribution(0, 200)(random);
        all.push_back(chunk(i % 3, begin, begin + length));
    }
    record(all);
    auto reader = SessionReader::open(path);
    for (int round = 0; round < 50; ++round) {
        const std::int64_t from = std::uniform_int_distribution(-10, 100'000)(random), to = from + std::uniform_int_distribution(0, 5000)(random);
        std::multiset<std::pair<std::int64_t, std::int64_t>> expected, found;
        for (const auto& one : all)
            if (one->lane == 1 && one->begin.ns < to && (one->end.ns > from || one->begin.ns >= from)) expected.insert({one->begin.ns, one->end.ns});
        for (const auto& one : readAll(**reader, {"slices/1", 1, {from}, {to}}, 250)) found.insert({one->begin.ns, one->end.ns});
        ASSERT_EQ(found, expected) << from << " to " << to;
    }
}

TEST_F(Chunks, OutsideOfTheRangeAreNotRead) {
    std::vector<ChunkPtr> all;
    for (int i = 0; i < 2000; ++i) all.push_back(chunk(0, i * 1000, i * 1000 + 999, noise(16'000, static_cast<unsigned>(i))));
    record(all);
    all.clear();
    auto reader = SessionReader::open(path);
    ASSERT_GT((*reader)->chunkLanes(1)->at(0).packedBytes, 30'000'000);
    const auto before = bytesReadByThisProcess();
    const auto found = readAll(**reader, {"slices/1", 0, {1'500'000}, {1'505'000}});
    EXPECT_EQ(found.size(), 5u);
    EXPECT_LT(bytesReadByThisProcess() - before, 500'000);
}

TEST_F(Chunks, OfOnePageStayWithinItsBytes) {
    std::vector<ChunkPtr> all;
    for (int i = 0; i < 50; ++i) all.push_back(chunk(0, i, i + 1, noise(10'000, static_cast<unsigned>(i))));
    record(all);
    auto reader = SessionReader::open(path);
    const auto page = (*reader)->chunks(1, {"slices/1", 0, {0}, {100}}, {}, 35'000);
    ASSERT_TRUE(page);
    EXPECT_EQ(page->chunks.size(), 3u);
    EXPECT_TRUE(page->more);
    EXPECT_EQ((*reader)->chunks(1, {"slices/1", 0, {0}, {100}}, {}, 1)->chunks.size(), 1u) << "one, however large";
}

TEST_F(Chunks, KeepTheirProducerWaitingWhileNothingCanBeStored) {
    std::atomic<int> waits = 0;
    auto recorder = Recorder::open({.path = path, .queueBytes = 1'000'000, .onWaited = [&](const RecorderWaited&) { ++waits; }}, sampleInfo());
    ASSERT_TRUE(recorder);
    SQLite::Database holder(path, SQLite::OPEN_READWRITE, 5000);
    holder.exec("BEGIN IMMEDIATE");
    std::atomic<int> published = 0;
    std::thread producer([&] {
        for (int i = 0; i < 100; ++i) {
            (*recorder)->publishChunk(chunk(0, i, i + 1, noise(100'000, static_cast<unsigned>(i))));
            ++published;
        }
    });
    EXPECT_TRUE(eventually([&] { return published == 10; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(published, 10) << "a million bytes are held, and no more";
    holder.exec("ROLLBACK");
    producer.join();
    ASSERT_TRUE((*recorder)->finish());
    EXPECT_GT(waits, 0);
    const auto stored = readAll(**SessionReader::open(path), {"slices/1", 0, {0}, {100}});
    ASSERT_EQ(stored.size(), 100u);
    for (std::size_t i = 0; i < stored.size(); ++i) EXPECT_EQ(stored[i]->bytes, noise(100'000, static_cast<unsigned>(i)));
}

TEST_F(Chunks, WaitForRoomOnAFullDisk) {
    FileSizeLimit limit(2'000'000);
    std::atomic<bool> blocked = false;
    auto recorder = Recorder::open({.path = path, .onBlocked = [&](bool on, const std::string&) { blocked = on; }}, sampleInfo());
    ASSERT_TRUE(recorder) << recorder.error().sentence;
    for (int i = 0; i < 100; ++i) {
        (*recorder)->publishChunk(chunk(0, i, i + 1, noise(50'000, static_cast<unsigned>(i))));
        (*recorder)->publish(sampleStep(i + 1));
    }
    EXPECT_TRUE(eventually([&] { return blocked.load(); }));
    limit.lift();
    ASSERT_TRUE((*recorder)->finish());
    EXPECT_FALSE(blocked);
    auto reader = SessionReader::open(path);
    EXPECT_EQ(readAll(**reader, {"slices/1", 0, {0}, {100}}).size(), 100u);
    EXPECT_EQ((*reader)->chunkLanes(1)->at(0).chunks, 100) << "none is counted twice";
    EXPECT_EQ(stepsOf(storedEvents(path, 1)).size(), 100u);
}

TEST_F(Chunks, ThatAreDamagedOrSayTheyAreHugeAreRefusedWithASentence) {
    record({chunk(0, 0, 1, noise(10'000, 1))});
    for (const char* change : {"UPDATE chunks SET bytes = 1000000000000", "UPDATE chunks SET bytes = 9999", "UPDATE chunks SET packed = x'00112233'",
                               "UPDATE chunks SET packed = NULL, bytes = 0"}) {
        SQLite::Database database(path, SQLite::OPEN_READWRITE);
        database.exec("SAVEPOINT before");
        try {
            database.exec(change);
        } catch (const SQLite::Exception&) {
            continue;  // NOT NULL
        }
        database.exec("RELEASE before");
        const auto read = (*SessionReader::open(path))->chunks(1, {"slices/1", 0, {0}, {10}});
        ASSERT_FALSE(read) << change;
        EXPECT_EQ(read.error().code, ErrorCode::Damaged) << change;
        EXPECT_NE(read.error().sentence.find("s.db"), std::string::npos);
    }
}

TEST_F(Chunks, GoWithTheirSession) {
    record({chunk(0, 0, 1, noise(100'000, 1))});
    ASSERT_TRUE(deleteSession(path, 1));
    ASSERT_TRUE(purgeDeletedSessions(path));
    SQLite::Database database(path, SQLite::OPEN_READONLY);
    EXPECT_EQ(database.execAndGet("SELECT count(*) FROM chunks").getInt(), 0);
    EXPECT_EQ(database.execAndGet("SELECT count(*) FROM chunk_lanes").getInt(), 0);
}

TEST(ChunkRules, RefuseWhatCouldNotBeReadBack) {
    EXPECT_TRUE(checkChunk({"slices/1", 0, {0}, {0}, 0, {}}));
    for (const Chunk& wrong : {Chunk{"", 0, {0}, {0}, 0, {}}, Chunk{"Two Words", 0, {0}, {0}, 0, {}}, Chunk{"slices/1", 0, {2}, {1}, 0, {}},
                               Chunk{"slices/1", 0, {0}, {1}, -1, {}}, Chunk{std::string(65, 'a'), 0, {0}, {1}, 0, {}}})
        EXPECT_FALSE(checkChunk(wrong));
}

TEST_F(Chunks, ThatEndBeforeTheyBeginAreRefusedInOneSentenceWithOneFullStop) {
    record({chunk(0, 2, 3, noise(100, 1))});
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec("UPDATE chunks SET end_ns = 1");
    const auto read = (*SessionReader::open(path))->chunks(1, {"slices/1", 0, {0}, {10}});
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::Damaged);
    EXPECT_NE(read.error().sentence.find("(A block of slices/1 ends before it begins or has fewer than no records);"), std::string::npos)
        << read.error().sentence;
}

TEST_F(Chunks, SamplesAndAllocationsAreReadBlockByBlockAndByRange) {
    SampleBlock samples{.lane = 4, .name = "GPU 0"};
    samples.series.push_back({"power", "W"});
    samples.samples = {{10, 1, 250.5}, {20, 1, 251.0}};
    SampleBlock later = samples;
    later.samples = {{1000, 1, 90.0}};
    AllocationBlock memory{.lane = 9};
    memory.allocations = {{.at = 15, .address = 4096, .bytes = 512, .device = 0, .totalAllocated = 512}};
    record({std::make_shared<const Chunk>(encodeSamples(samples)), std::make_shared<const Chunk>(encodeSamples(later)),
            std::make_shared<const Chunk>(encodeAllocations(memory)), chunk(0, 1, 2)});
    auto reader = SessionReader::open(path);
    std::vector<SampleBlock> blocks;
    const auto keep = [&](const SampleBlock& block) -> Status {
        blocks.push_back(block);
        return {};
    };
    ASSERT_TRUE(forEachSampleBlock(**reader, 1, keep));
    EXPECT_EQ(blocks, (std::vector{samples, later}));
    blocks.clear();
    ASSERT_TRUE(forEachSampleBlock(**reader, 1, keep, {{500}, {2000}}));
    EXPECT_EQ(blocks, std::vector{later});
    std::vector<AllocationBlock> taken;
    ASSERT_TRUE(forEachAllocationBlock(**reader, 1, [&](const AllocationBlock& block) -> Status {
        taken.push_back(block);
        return {};
    }));
    EXPECT_EQ(taken, std::vector{memory});
}
