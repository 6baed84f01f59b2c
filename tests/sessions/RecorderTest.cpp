// The recorder as producers see it: nothing lost, waiting when it must, an end that never hangs.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "sessions/SessionStore.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

struct RecorderTest : testing::Test {
    TempFolder folder;
    std::string path = folder.file("sub/folder/s.db");  // made when asked to write

    std::unique_ptr<Recorder> open(Recorder::Options options = {}) {
        options.path = path;
        auto recorder = Recorder::open(std::move(options), sampleInfo());
        EXPECT_TRUE(recorder) << recorder.error().sentence;
        return std::move(*recorder);
    }
};

std::vector<std::int64_t> numbers(std::int64_t last) {
    std::vector<std::int64_t> all;
    for (std::int64_t n = 1; n <= last; ++n) all.push_back(n);
    return all;
}

}  // namespace

TEST_F(RecorderTest, CommitsByItselfWithinAQuarterOfASecond) {
    auto recorder = open();
    auto reader = SessionReader::open(path);
    for (int step = 1; step <= 5; ++step) {
        recorder->publish(sampleStep(step));
        EXPECT_TRUE(eventually([&] { return (*reader)->summary(1)->steps == step; }, 1.0)) << "a generous second, for busy machines";
    }
}

TEST_F(RecorderTest, FlushWaitsUntilEverythingIsCommitted) {
    auto recorder = open();
    for (int step = 1; step <= 1000; ++step) {
        recorder->publish(sampleStep(step));
        if (step % 100 == 0) {
            recorder->flush();
            ASSERT_EQ((*SessionReader::open(path))->summary(1)->steps, step);
        }
    }
}

TEST_F(RecorderTest, LosesNothingOfSeveralThreadsThroughATinyQueue) {
    constexpr int kThreads = 4, kEach = 3000;
    std::atomic<int> told = 0;
    auto recorder = open({.queueCapacity = 8, .onWaited = [&](const RecorderWaited&) { ++told; }});
    std::vector<std::thread> producers;
    for (int thread = 0; thread < kThreads; ++thread)
        producers.emplace_back([&, thread] {
            for (int n = 1; n <= kEach; ++n) recorder->publish(sampleStep(thread * kEach + n));
        });
    for (auto& producer : producers) producer.join();
    ASSERT_TRUE(recorder->finish());
    const auto events = storedEvents(path, 1);
    EXPECT_EQ(stepsOf(events), numbers(kThreads * kEach));
    const auto waits = std::ranges::count_if(events, [](const Event& e) { return std::holds_alternative<RecorderWaited>(e); });
    EXPECT_GT(waits, 0) << "a queue of 8 makes four threads wait, and a wait is an event";
    EXPECT_EQ(waits, told);
}

TEST_F(RecorderTest, HoldsTheRunWhileTheDatabaseIsLockedAndGoesOnAfter) {
    std::atomic<int> on = 0, off = 0;
    auto recorder = open({.queueCapacity = 16, .onBlocked = [&](bool blocked, const std::string& why) {
                              if (blocked) {
                                  EXPECT_NE(why.find("locked by another program"), std::string::npos) << why;
                              }
                              ++(blocked ? on : off);
                          }});
    auto holder = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE);
    holder->exec("BEGIN IMMEDIATE");
    std::thread producer([&] {
        for (int step = 1; step <= 200; ++step) recorder->publish(sampleStep(step));
    });
    EXPECT_TRUE(eventually([&] { return recorder->blocked() && on == 1; }));
    holder.reset();
    producer.join();
    recorder->flush();
    EXPECT_TRUE(eventually([&] { return off == 1; }));
    EXPECT_FALSE(recorder->blocked());
    ASSERT_TRUE(recorder->finish());
    EXPECT_EQ(stepsOf(storedEvents(path, 1)), numbers(200));
}

// Who has more than there is room for can wait outside, where others hear of it.
TEST_F(RecorderTest, SaysHowManyBytesOfBlocksAreInHandWhileNothingCanBeWritten) {
    auto recorder = open();
    EXPECT_EQ(recorder->bytesInHand(), 0);
    auto holder = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE);
    holder->exec("BEGIN IMMEDIATE");
    for (int i = 0; i < 3; ++i)
        recorder->publishChunk(std::make_shared<const Chunk>(
            Chunk{.kind = "test/1", .lane = 0, .begin = {0}, .end = {1}, .count = 1, .bytes = std::vector<std::byte>(1000)}));
    EXPECT_TRUE(eventually([&] { return recorder->blocked(); }));
    EXPECT_EQ(recorder->bytesInHand(), 3000);
    holder.reset();
    recorder->flush();
    EXPECT_EQ(recorder->bytesInHand(), 0);
}

TEST_F(RecorderTest, HoldsTheRunWhileItsFileIsNotThere) {
    std::string why;
    auto recorder = open({.onBlocked = [&](bool blocked, const std::string& sentence) {
        if (blocked) why = sentence;
    }});
    recorder->publish(sampleStep(1));
    recorder->flush();
    std::filesystem::rename(path, path + ".away");
    recorder->publish(sampleStep(2));
    ASSERT_TRUE(eventually([&] { return recorder->blocked(); }));
    EXPECT_NE(why.find("s.db\" was removed"), std::string::npos) << why;
    std::filesystem::rename(path + ".away", path);
    ASSERT_TRUE(recorder->finish());
    EXPECT_EQ(stepsOf(storedEvents(path, 1)), numbers(2));
}

TEST_F(RecorderTest, WaitsAtItsEndForAsLongAsNothingCanBeWritten) {
    using namespace std::chrono_literals;
    auto recorder = open({.patience = 1ms});
    SQLite::Database holder(path, SQLite::OPEN_READWRITE);
    holder.exec("BEGIN IMMEDIATE");
    for (int step = 1; step <= 20; ++step) recorder->publish(sampleStep(step));
    std::atomic<bool> ended = false;
    std::thread end([&] {
        const Status done = recorder->finish();
        EXPECT_TRUE(done) << done.error().sentence;
        ended = true;
    });
    EXPECT_TRUE(eventually([&] { return recorder->blocked(); }));
    std::this_thread::sleep_for(500ms);  // some tries in vain
    EXPECT_FALSE(ended);
    holder.exec("ROLLBACK");
    end.join();
    EXPECT_EQ(stepsOf(storedEvents(path, 1)), numbers(20));
}

TEST_F(RecorderTest, GivesUpWithASentenceWhenAPersonWantsItOver) {
    using namespace std::chrono_literals;
    auto recorder = open({.queueCapacity = 16, .mayGiveUp = [] { return true; }, .patience = 100ms});
    recorder->publish(sampleStep(1));
    recorder->flush();
    SQLite::Database holder(path, SQLite::OPEN_READWRITE);
    holder.exec("BEGIN IMMEDIATE");
    std::thread producer([&] {
        for (int step = 2; step <= 100; ++step) recorder->publish(sampleStep(step));
    });
    EXPECT_TRUE(eventually([&] { return recorder->blocked(); }));
    const Status done = recorder->finish();
    producer.join();  // a producer that waited for room is let go
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().sentence.find("are not stored"), std::string::npos) << done.error().sentence;
    EXPECT_FALSE(recorder->finish()) << "says the same again";
    recorder->flush();  // does not wait for what will never be
    holder.exec("ROLLBACK");
    EXPECT_EQ(stepsOf(storedEvents(path, 1)), numbers(1));
    EXPECT_EQ((*SessionReader::open(path))->summary(1)->state, RunState::Interrupted);
}

TEST_F(RecorderTest, IsDestroyedWithAFullQueueWithoutHangingOrLosing) {
    for (int round = 0; round < 20; ++round) {
        auto recorder = open({.queueCapacity = 4});
        const auto session = recorder->session();
        for (int step = 1; step <= 40; ++step) recorder->publish(sampleStep(step));
        recorder.reset();
        ASSERT_EQ(stepsOf(storedEvents(path, session)), numbers(40));
    }
}

TEST_F(RecorderTest, StoresWhatAProducerIsWaitingToPublishWhenItIsFinished) {
    for (int round = 0; round < 20; ++round) {
        auto recorder = open({.queueCapacity = 2});
        std::atomic<int> published = 0;
        std::atomic<bool> finished = false;
        std::thread producer([&] {
            for (int step = 1; !finished; ++step) {
                recorder->publish(sampleStep(step));
                if (!finished) published = step;
            }
        });
        EXPECT_TRUE(eventually([&] { return published >= 5; }));
        const int before = published;
        EXPECT_TRUE(recorder->finish());
        finished = true;
        producer.join();
        const auto steps = stepsOf(storedEvents(path, recorder->session()));
        EXPECT_EQ(steps, numbers(static_cast<std::int64_t>(steps.size())));
        EXPECT_GE(steps.size(), static_cast<std::size_t>(before));
    }
}

TEST_F(RecorderTest, KeepsTheLogSmallWhileItRecords) {
    auto recorder = open();
    for (int step = 1; step <= 200'000; ++step) recorder->publish(sampleStep(step));
    recorder->flush();
    EXPECT_TRUE(eventually([&] { return std::filesystem::file_size(path) > 1'000'000; }))
        << "the log was never moved into the database while recording";
    ASSERT_TRUE(recorder->finish());
    EXPECT_FALSE(std::filesystem::exists(path + "-wal")) << "and it is gone when the last connection is";
}

TEST_F(RecorderTest, GivesTwoSessionsOfOneProcessEachTheirOwn) {
    auto first = open();
    auto second = open();
    EXPECT_NE(first->session(), second->session());
    for (int step = 1; step <= 300; ++step) {
        first->publish(sampleStep(step));
        second->publish(sampleStep(step));
    }
    ASSERT_TRUE(first->finish());
    EXPECT_EQ((*SessionReader::open(path))->summary(second->session())->state, RunState::Preparing) << "its lock is its own";
    ASSERT_TRUE(second->finish());
    EXPECT_EQ(stepsOf(storedEvents(path, first->session())), numbers(300));
    EXPECT_EQ(stepsOf(storedEvents(path, second->session())), numbers(300));
}
