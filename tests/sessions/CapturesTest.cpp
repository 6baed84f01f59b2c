// Captures by themselves: the size of each, one removed while the rest of the session stays, and its room given back to the disk, also in a file that
// was not made for that.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "core/trace/AllocationCodec.h"
#include "core/trace/Note.h"
#include "sessions/Captures.h"
#include "sessions/Samples.h"
#include "sessions/SessionTrace.h"
#include "sessions/Slices.h"
#include "tests/sessions/query/QueryFixture.h"

using namespace stepscope;
using namespace stepscope::test;
using testing::HasSubstr;

struct StoredCapturesOf : QueryFixture {
    // Two captures of 10 000 slices and one whose end nobody told, with the run's steps between.
    void recordThree() {
        std::mt19937 random(5);
        auto recorder = Recorder::open({.path = path}, sampleInfo());
        ASSERT_TRUE(recorder);
        for (std::int64_t capture = 0; capture < 3; ++capture) {
            SliceBlock block{.thread = {.thread = 1, .name = "trainer"}, .strings = {"", "x"}};
            for (int i = 0; i < 10'000; ++i)
                block.slices.push_back({.start = 100'000'000 * (capture + 1) + i * 1000 + static_cast<std::int64_t>(random() % 900),
                                        .duration = static_cast<std::int64_t>(random() % 100'000),
                                        .name = 1,
                                        .step = capture + 1,
                                        .sequence = static_cast<std::int64_t>(random())});
            (*recorder)->publishChunk(std::make_shared<const Chunk>(encodeSlices(block)));
            (*recorder)->publish(sampleStep(capture + 1, {100'000'000 * (capture + 1) + 20'000'000}));
            if (capture < 2)
                (*recorder)->publish(CaptureDone{.step = capture + 1,
                                                 .at = {100'000'000 * (capture + 1) + 20'000'000},
                                                 .duration = {10'000'000},
                                                 .firstStep = capture + 1,
                                                 .steps = 1});
        }
        ASSERT_TRUE((*recorder)->finish());
    }
    std::uintmax_t size() const { return std::filesystem::file_size(path); }
};

TEST_F(StoredCapturesOf, SayOfTheProcessorsCountersApartFromKernels) {
    record({*noteChunk("No driver.", {10}), *noteChunk("Counters: none.", {20}, kCounterNotes), *noteChunk("Counters: two.", {30}, kCounterNotes)});
    record({});
    auto reader = SessionReader::open(path);
    ASSERT_TRUE(reader);
    EXPECT_EQ(captureNotes(**reader, 1).value(), std::vector<std::string>{"No driver."});
    EXPECT_EQ(counterNote(**reader, 1).value(), "Counters: two.") << "the newest";
    EXPECT_EQ(counterNote(**reader, 2).value(), "");
}

TEST_F(StoredCapturesOf, TellWhetherThereIsMoreOfOtherWorkersThanOperations) {
    const auto memoryOf = [](std::int64_t rank) {
        AllocationBlock block{.lane = 100 + rank, .rank = rank};
        block.allocations = {{.at = 5, .address = 1, .bytes = 10}};
        return encodeAllocations(block);
    };
    const auto operationsOf = [](std::int64_t rank) {
        SliceBlock block{.thread = {.thread = 1, .lane = (rank << 32) + 1, .rank = rank}, .strings = {"", "x"}};  // as older versions have them
        block.slices = {{.start = 5, .duration = 1, .name = 1}};
        return encodeSlices(block);
    };
    record({operationsOf(0), operationsOf(1), memoryOf(0)});
    record({operationsOf(0), operationsOf(1), memoryOf(0), memoryOf(1)});
    record({});
    auto reader = SessionReader::open(path);
    ASSERT_TRUE(reader);
    EXPECT_FALSE(othersHaveMemory(**reader, 1).value());
    EXPECT_TRUE(othersHaveMemory(**reader, 2).value());
    EXPECT_FALSE(othersHaveMemory(**reader, 3).value());
}

TEST_F(StoredCapturesOf, HaveTheirSizes) {
    recordThree();
    const auto stored = storedCaptures(path, 1);
    ASSERT_TRUE(stored) << stored.error().sentence;
    ASSERT_EQ(stored->captures.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(stored->captures[i].number, static_cast<std::int64_t>(i) + 1);
        EXPECT_EQ(stored->captures[i].records, 10'000);
        EXPECT_EQ(stored->captures[i].slices, 10'000);
        EXPECT_GT(stored->captures[i].bytes, 50'000);
        EXPECT_EQ(stored->captures[i].steps, i < 2 ? 1 : 0);
        const auto begin = static_cast<std::int64_t>(i + 1) * 100'000'000;
        EXPECT_LT(stored->captures[i].from.ns - begin, 1000) << "where its slices lie";
        EXPECT_GE(stored->captures[i].from.ns, begin);
        EXPECT_GT(stored->captures[i].until.ns, begin + 9'999'000);
        EXPECT_LT(stored->captures[i].until.ns, begin + 10'200'000);
    }
    EXPECT_EQ(storedCaptures(path, 9).error().code, ErrorCode::NotFound);
    EXPECT_EQ(text("SELECT capture, count(*) FROM op GROUP BY capture"), "1|10000\n2|10000\n3|10000\n") << "queries count them alike";
}

TEST_F(StoredCapturesOf, SayWhatCapturingCostTheStepsThemselves) {
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    ASSERT_TRUE(recorder);
    for (std::int64_t step = 1; step <= 60; ++step) {
        StepDone done = sampleStep(step, {step * 1'000'000});
        const bool captured = step >= 30 && step < 34;
        done.duration = {captured ? 1'100'000 : step % 2 == 0 ? 999'000 : 1'001'000};
        done.disturbed = captured || step == 40;
        if (step == 40) done.duration = {90'000'000};
        (*recorder)->publish(done);
        if (step == 3) (*recorder)->publish(CaptureDone{.step = 3, .at = done.at, .firstStep = 2, .steps = 2});
        if (step == 33) (*recorder)->publish(CaptureDone{.step = 33, .at = done.at, .firstStep = 30, .steps = 4});
    }
    ASSERT_TRUE((*recorder)->finish());
    const auto stored = storedCaptures(path, 1);
    ASSERT_TRUE(stored);
    ASSERT_EQ(stored->captures.size(), 2u);
    EXPECT_NEAR(stored->captures[1].cost, 0.1, 0.002) << "what something disturbed is no measure";
    EXPECT_NEAR(stored->captures[0].cost, 0, 0.002);
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec("DELETE FROM steps WHERE step > 36 OR step < 28");
    EXPECT_TRUE(std::isnan(storedCaptures(path, 1)->captures[1].cost)) << "six steps around are too few to tell";
}

TEST_F(StoredCapturesOf, SayWhatEachLevelOfObservingCostTheRun) {
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    ASSERT_TRUE(recorder);
    const auto captured = [](std::int64_t step) { return (step >= 30 && step < 34) || (step >= 70 && step < 73) || (step >= 100 && step < 103); };
    for (std::int64_t step = 1; step <= 130; ++step) {
        StepDone done = sampleStep(step, {step * 1'000'000});
        const std::int64_t usual = step <= 60 ? 1'000'000 : 500'000;
        done.duration = {captured(step) ? usual + usual / 20 : usual};
        if (step >= 100 && step < 103) done.duration = {4 * usual};  // of the slowest
        done.disturbed = captured(step);
        (*recorder)->publish(done);
        if (step == 33) (*recorder)->publish(CaptureDone{.step = 33, .at = done.at, .firstStep = 30, .steps = 4, .operations = 41});
        if (step == 60) (*recorder)->publish(SwitchApplied{60, done.at, "fusion", std::string("off"), std::string("step"), ""});
        if (step == 72)
            (*recorder)->publish(CaptureDone{
                .step = 72, .at = done.at, .firstStep = 70, .steps = 3, .operations = 41, .always = {.recordNs = 1'000, .phasesNs = 250}});
        if (step == 102) (*recorder)->publish(CaptureDone{.step = 102, .at = done.at, .firstStep = 100, .steps = 3});
    }
    ASSERT_TRUE((*recorder)->finish());
    const auto stored = storedCaptures(path, 1);
    ASSERT_TRUE(stored) << stored.error().sentence;
    ASSERT_EQ(stored->captures.size(), 3u);
    for (const std::size_t one : {0U, 1U}) {
        EXPECT_NEAR(stored->captures[one].cost, 0.05, 1e-9) << "beside steps with the same switches";
        EXPECT_NEAR(stored->captures[one].costLow, 0.05, 1e-9);
        EXPECT_NEAR(stored->captures[one].costHigh, 0.05, 1e-9);
        EXPECT_FALSE(stored->captures[one].ofSlowest);
    }
    EXPECT_TRUE(stored->captures[2].ofSlowest);
    const LevelCosts& levels = stored->levels;
    EXPECT_NEAR(levels.capture.share, 0.05, 1e-9) << "without those that were kept because they were slow";
    EXPECT_EQ(levels.capture.steps, 7);
    EXPECT_NEAR(levels.records(), 2e-3, 1e-9);
    EXPECT_NEAR(levels.phases(), 5e-4, 1e-9);
    EXPECT_EQ(text("SELECT record_ns, phases_ns FROM captures ORDER BY at_ns"), "NULL|NULL\n1000|250\nNULL|NULL\n");
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec("UPDATE switches_applied SET step = 71");
    EXPECT_TRUE(std::isnan(storedCaptures(path, 1)->captures[1].cost)) << "a switch was flipped among its steps";
}

TEST(SlowestAmong, TellsWhetherStepsThatWereKeptAsTheSlowestAreAllThereIsInARange) {
    const auto capture = [](std::int64_t from, std::int64_t until, bool slowest, std::int64_t others = 0) {
        return StoredCapture{.records = 10 + others, .slices = 10, .from = {from}, .until = {until}, .ofSlowest = slowest};
    };
    const std::vector<StoredCapture> all{capture(0, 10, false, 5), capture(20, 30, true), capture(40, 50, true, 5)};
    EXPECT_EQ(slowestAmong({}), SlowestSteps::None);
    EXPECT_EQ(slowestAmong(all), SlowestSteps::Some);
    EXPECT_EQ(slowestAmong(all, 0, 20), SlowestSteps::None);
    EXPECT_EQ(slowestAmong(all, 10, 40), SlowestSteps::All);
    EXPECT_EQ(slowestAmong(all, 29, 41), SlowestSteps::Some);
    EXPECT_EQ(slowestAmong(all, 40, 50), SlowestSteps::None) << "an old one that holds more than operations was asked for";
    EXPECT_EQ(slowestAmong(all, 60, 70), SlowestSteps::None);
}

TEST_F(StoredCapturesOf, AreRemovedOneByOneAndGiveTheirRoomBack) {
    recordThree();
    const auto before = size();
    const auto bytes = storedCaptures(path, 1)->captures[1].bytes;
    ASSERT_TRUE(deleteCapture(path, 1, 2));
    const auto left = storedCaptures(path, 1);
    ASSERT_EQ(left->captures.size(), 2u);
    EXPECT_EQ(left->captures[1].steps, 0) << "the third is the second now";
    EXPECT_EQ(text("SELECT step, count(*) FROM op GROUP BY step"), "1|10000\n3|10000\n");
    EXPECT_EQ(text("SELECT count(*) FROM steps"), "3\n") << "the run's own rows stay";
    EXPECT_LE(size() + static_cast<std::uintmax_t>(bytes) * 9 / 10, before);

    auto trace = SessionTrace::open(path, 1);
    ASSERT_TRUE(trace);
    ASSERT_TRUE((*trace)->complete([] { return true; })) << "the level of detail is made again of what is left";
    EXPECT_GT(storedCaptures(path, 1)->detailBytes, 0);

    ASSERT_TRUE(deleteCapture(path, 1, 1));
    ASSERT_TRUE(deleteCapture(path, 1, 1));
    EXPECT_TRUE(storedCaptures(path, 1)->captures.empty());
    EXPECT_EQ(storedCaptures(path, 1)->detailBytes, 0);
    EXPECT_THAT(deleteCapture(path, 1, 1).error().sentence, HasSubstr("it has no capture"));
    EXPECT_EQ(stepsOf(storedEvents(path, 1)).size(), 3u);
    EXPECT_TRUE(SessionReader::open(path).value()->chunkLanes(1)->empty());
}

TEST_F(StoredCapturesOf, OfARunningSessionAndThatAreNotThereAreRefused) {
    recordThree();
    EXPECT_EQ(deleteCapture(path, 1, 4).error().code, ErrorCode::NotFound);
    EXPECT_THAT(deleteCapture(path, 1, 0).error().sentence, HasSubstr("3 captures, numbered from 1"));
    EXPECT_EQ(deleteCapture(path, 7, 1).error().code, ErrorCode::NotFound);
    EXPECT_EQ(deleteCapture(folder.file("none.db"), 1, 1).error().code, ErrorCode::NotFound);
    EXPECT_FALSE(std::filesystem::exists(folder.file("none.db")));
    auto running = Recorder::open({.path = path}, sampleInfo("runs"));
    ASSERT_TRUE(running);
    EXPECT_THAT(deleteCapture(path, 2, 1).error().sentence, HasSubstr("still running"));
    ASSERT_TRUE((*running)->finish());
    EXPECT_EQ(storedCaptures(path, 1)->captures.size(), 3u);
}

TEST_F(StoredCapturesOf, GiveTheirRoomBackInAFileThatWasNotMadeForIt) {
    recordThree();
    {
        SQLite::Database database(path, SQLite::OPEN_READWRITE);
        database.exec("PRAGMA auto_vacuum = NONE");
        database.exec("VACUUM");
    }
    ASSERT_EQ(pragma(path, "auto_vacuum"), "0");
    const auto before = size();
    ASSERT_TRUE(deleteCapture(path, 1, 1));
    EXPECT_LT(size(), before * 3 / 4);
    EXPECT_EQ(pragma(path, "auto_vacuum"), "2") << "from now on it shrinks by itself";
    EXPECT_EQ(text("SELECT count(*) FROM op"), "20000\n");
}
