// The session that an import becomes: nobody sees half of it, what was killed is cleared away by the next one and what is still being imported is
// not, and when it is shown it has its blocks, their level of detail, its events and its medians.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "core/trace/LodCodec.h"
#include "core/trace/SliceCodec.h"
#include "sessions/PurgeSession.h"
#include "sessions/SessionStore.h"
#include "sessions/file/SessionLock.h"
#include "sessions/importers/ImportStore.h"
#include "tests/sessions/FileSizeLimit.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {
namespace {

using importing::ImportStore;

Chunk storedBlock(std::int64_t begin, std::int64_t count = 10, std::int64_t lane = 3) {
    SliceBlock block{.thread = {.process = 1, .thread = 2, .name = "t", .lane = lane}, .strings = {"", "aten::mm"}};
    for (std::int64_t i = 0; i < count; ++i) block.slices.push_back({.start = begin + i * 10, .duration = 5, .name = 1});
    return encodeSlices(block);
}

struct ImportStoreOf : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    std::unique_ptr<ImportStore> opened() {
        auto store = ImportStore::open(path, sampleInfo("an import"));
        EXPECT_TRUE(store) << store.error().sentence;
        return store ? std::move(*store) : nullptr;
    }
    std::vector<std::int64_t> shown() const {
        std::vector<std::int64_t> ids;
        auto reader = SessionReader::open(path);
        if (!reader) return ids;
        const auto list = (*reader)->list();
        EXPECT_TRUE(list);
        for (const auto& one : *list) ids.push_back(one.id);
        return ids;
    }
    std::int64_t asked(const std::string& sql) const { return SQLite::Database(path, SQLite::OPEN_READONLY, 5000).execAndGet(sql).getInt64(); }
};

TEST_F(ImportStoreOf, ASessionIsShownWithItsBlocksOnceItIsFinishedAndNotBefore) {
    auto store = opened();
    ASSERT_TRUE(store);
    for (std::int64_t i = 0; i < 40; ++i) EXPECT_TRUE(store->add([i] { return storedBlock(i * 1000); }));
    EXPECT_TRUE(shown().empty());
    const Status done = store->finish();
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_THAT(shown(), testing::ElementsAre(store->session()));
    EXPECT_EQ(asked("SELECT sum(records) FROM chunk_lanes WHERE kind = 'slices/2'"), 400);
    EXPECT_GT(asked("SELECT sum(chunks) FROM chunk_lanes WHERE kind != 'slices/2'"), 0) << "the level of detail that the timeline draws";
}

// Held until the end, it would take megabytes for each of the threads and streams of a trace, of which there may be thousands.
TEST_F(ImportStoreOf, TheLevelOfDetailOfALaneIsStoredBeforeTheNextLaneComes) {
    auto store = opened();
    ASSERT_TRUE(store);
    for (std::int64_t lane = 1; lane <= 50; ++lane)
        for (std::int64_t i = 0; i < 2; ++i) EXPECT_TRUE(store->add([i, lane] { return storedBlock(i * 1000, 10, lane); }));
    ASSERT_TRUE(store->finish());
    const std::string pairs =
        "SELECT count(*) FROM chunk_lanes AS detail JOIN chunks AS told ON told.lane = detail.id "
        "JOIN chunk_lanes AS later ON later.lane = detail.lane + 2 AND later.kind = 'slices/2' JOIN chunks AS block ON block.lane = later.id "
        "WHERE detail.kind = 'lod/1'";
    EXPECT_EQ(asked(pairs), 48 * 2);
    EXPECT_EQ(asked(pairs + " AND told.id > block.id"), 0);
}

TEST_F(ImportStoreOf, WithoutAnEndNothingIsLeft) {
    {
        auto store = opened();
        ASSERT_TRUE(store);
        for (std::int64_t i = 0; i < 40; ++i) EXPECT_TRUE(store->add([i] { return storedBlock(i * 1000); }));
    }
    for (const char* table : {"sessions", "chunks", "chunk_lanes", "states"})
        EXPECT_EQ(asked(std::string("SELECT count(*) FROM ") + table), 0) << table;
    EXPECT_TRUE(shown().empty());
}

TEST_F(ImportStoreOf, ABlockThatNobodyCouldReadAgainEndsTheImportWithASentence) {
    auto store = opened();
    ASSERT_TRUE(store);
    store->add([] {
        Chunk large = storedBlock(0);
        large.bytes.resize(Chunk::kMaxBytes + 1);
        return large;
    });
    const Status done = store->finish();
    ASSERT_FALSE(done) << "it would have reported success";
    EXPECT_NE(done.error().sentence.find("A block of slices/2 has 67108865 bytes"), std::string::npos) << done.error().sentence;
    store.reset();
    EXPECT_EQ(asked("SELECT count(*) FROM chunks"), 0);
    EXPECT_TRUE(shown().empty());
}

TEST_F(ImportStoreOf, ADiskThatIsFullInTheMiddleIsASentenceAndNothingIsLeft) {
    {
        auto store = opened();
        ASSERT_TRUE(store);
        const FileSizeLimit full(std::filesystem::file_size(path + "-wal") + 4096);
        for (std::int64_t i = 0; i < 10; ++i) EXPECT_TRUE(store->add([i] { return storedBlock(i * 1000); }));
        const Status done = store->finish();
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, ErrorCode::Io);
        EXPECT_THAT(done.error().sentence, testing::AllOf(testing::HasSubstr(path), testing::HasSubstr("free")));
    }
    for (const char* table : {"sessions", "chunks", "chunk_lanes"}) EXPECT_EQ(asked(std::string("SELECT count(*) FROM ") + table), 0) << table;
    auto next = opened();
    ASSERT_TRUE(next);
    EXPECT_TRUE(next->add([] { return storedBlock(0); }));
    ASSERT_TRUE(next->finish());
    EXPECT_THAT(shown(), testing::ElementsAre(next->session()));
}

TEST_F(ImportStoreOf, WhatAKilledImportLeftIsClearedAwayByTheNext) {
    const pid_t child = fork();
    if (child == 0) {
        auto store = ImportStore::open(path, sampleInfo("killed"));
        bool good = store && (*store)->add([] { return storedBlock(0, 200'000); });
        for (int i = 0; good && i < 30; ++i) good = (*store)->add([i] { return storedBlock(i, 20'000); });
        _exit(good ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(asked("SELECT count(*) FROM sessions"), 1);
    EXPECT_TRUE(shown().empty()) << "half of it is there, and nobody sees it";
    auto store = opened();
    ASSERT_TRUE(store);
    EXPECT_EQ(asked("SELECT count(*) FROM sessions"), 1) << "this one";
    EXPECT_EQ(asked("SELECT count(*) FROM chunks"), 0);
    EXPECT_TRUE(store->finish());
}

TEST_F(ImportStoreOf, TwoImportsAtATimeLeaveEachOtherAlone) {
    auto one = opened(), other = opened();
    ASSERT_TRUE(one && other);
    EXPECT_NE(one->session(), other->session());
    EXPECT_TRUE(SessionLock::held(path, one->session()));
    std::atomic<int> encoded = 0;
    for (std::int64_t i = 0; i < 30; ++i)
        for (auto* store : {one.get(), other.get()})
            EXPECT_TRUE(store->add([i, &encoded] {
                ++encoded;
                return storedBlock(i * 1000);
            }));
    EXPECT_TRUE(one->finish());
    other.reset();
    EXPECT_THAT(shown(), testing::ElementsAre(one->session()));
    EXPECT_EQ(asked("SELECT sum(records) FROM chunk_lanes WHERE kind = 'slices/2'"), 300);
    EXPECT_GE(encoded.load(), 30);
}

TEST_F(ImportStoreOf, EventsAreStoredInTheirOrderAndStepsHaveTheirMedians) {
    auto store = opened();
    ASSERT_TRUE(store);
    std::vector<Event> events;
    for (std::int64_t step = 1; step <= 21; ++step) {
        StepDone done = sampleStep(step);
        done.duration = {step * 100};
        done.tokens = 0;
        events.push_back(done);
    }
    ASSERT_TRUE(store->add(std::move(events)));
    ASSERT_TRUE(store->add({StateChanged{.at = {21'000'000}, .step = 0, .state = RunState::Finished, .why = {}}}));
    ASSERT_TRUE(store->finish());
    const auto stored = storedEvents(path, store->session());
    ASSERT_FALSE(stored.empty());
    EXPECT_EQ(stepsOf(stored).size(), 21U);
    const auto* state = std::get_if<StateChanged>(&stored.back());
    ASSERT_NE(state, nullptr);
    EXPECT_EQ(state->state, RunState::Finished);
    EXPECT_EQ(state->at.ns, 21'000'000);
    EXPECT_GT(asked("SELECT step_ns_median FROM sessions"), 0);
    EXPECT_EQ(asked("SELECT step_tokens_median IS NULL FROM sessions"), 1) << "an import says nothing of tokens";
}

TEST_F(ImportStoreOf, OneThatWasClearedAwayMeanwhileSaysSo) {
    auto store = opened();
    ASSERT_TRUE(store);
    {
        SQLite::Database other(path, SQLite::OPEN_READWRITE, 5000);
        purgeSession(other, store->session());
    }
    const Status done = store->finish();
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().sentence, testing::HasSubstr("import it again"));
    EXPECT_TRUE(shown().empty());
}

TEST_F(ImportStoreOf, WhereNothingCanBeMadeItIsASentence) {
    writeFile(folder.file("file"), "x");
    const auto store = ImportStore::open(folder.file("file") + "/s.db", sampleInfo());
    ASSERT_FALSE(store);
    EXPECT_THAT(store.error().sentence, testing::HasSubstr(folder.file("file")));
}

TEST_F(ImportStoreOf, AFileThatIsNoDatabaseIsLeftAsItWas) {
    const std::string text(5000, 'x');
    writeFile(path, text);
    const auto store = ImportStore::open(path, sampleInfo());
    ASSERT_FALSE(store);
    EXPECT_EQ(contentOf(path), text);
}

}  // namespace
}  // namespace stepscope::test
