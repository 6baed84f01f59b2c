// Reading where nothing may be written, and what writing says there.
#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "sessions/SessionStore.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

struct UnwritablePlace : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    void TearDown() override { ::chmod(folder.path().c_str(), 0755); }

    void record() {
        auto recorder = Recorder::open({.path = path}, sampleInfo());
        ASSERT_TRUE(recorder);
        for (int step = 1; step <= 500; ++step) (*recorder)->publish(sampleStep(step));
        (*recorder)->publish(StateChanged{{600'000'000}, 500, RunState::Finished, ""});
        ASSERT_TRUE((*recorder)->finish());
    }
    // As after kill -9: the last steps are in the log only.
    void recordAndDie() {
        const pid_t child = ::fork();
        if (child == 0) {
            auto recorder = Recorder::open({.path = path}, sampleInfo());
            for (int step = 1; step <= 500; ++step) (*recorder)->publish(sampleStep(step));
            (*recorder)->flush();
            ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
        ASSERT_GT(std::filesystem::file_size(path + "-wal"), 0u);
    }
    void protect() {
        for (const auto& entry : std::filesystem::directory_iterator(folder.path())) ::chmod(entry.path().c_str(), 0444);
        ::chmod(folder.path().c_str(), 0555);
    }
    // 0 = all 500 steps are there and the state is `state`.
    int readAsOrdinaryUser(RunState state) const {
        return asOrdinaryUser([&] {
            auto reader = SessionReader::open(path);
            if (!reader) {
                fmt::print(stderr, "{} ({})\n", reader.error().sentence, reader.error().cause);
                return 1;
            }
            const auto list = (*reader)->list();
            if (!list || list->size() != 1) return 2;
            if (list->at(0).steps != 500 || list->at(0).state != state) return 3;
            return stepsOf(storedEvents(path, 1)).size() == 500 ? 0 : 4;
        });
    }
};

}  // namespace

TEST_F(UnwritablePlace, IsReadAfterACleanEnd) {
    record();
    ASSERT_FALSE(std::filesystem::exists(path + "-wal"));
    protect();
    EXPECT_EQ(readAsOrdinaryUser(RunState::Finished), 0);
    EXPECT_FALSE(std::filesystem::exists(path + "-shm"));
}

TEST_F(UnwritablePlace, IsReadWithWhatAnEarlierReaderLeft) {
    record();
    EXPECT_EQ(stepsOf(storedEvents(path, 1)).size(), 500u);
    ASSERT_TRUE(std::filesystem::exists(path + "-shm")) << "a reader cannot tidy up after itself";
    protect();
    EXPECT_EQ(readAsOrdinaryUser(RunState::Finished), 0);
}

TEST_F(UnwritablePlace, IsReadWithTheLogOfAKilledProcess) {
    recordAndDie();
    protect();
    EXPECT_EQ(readAsOrdinaryUser(RunState::Interrupted), 0);
}

TEST_F(UnwritablePlace, IsReadWithTheLogAloneWhenItsIndexIsGone) {
    recordAndDie();
    std::filesystem::remove(path + "-shm");
    protect();
    EXPECT_EQ(readAsOrdinaryUser(RunState::Interrupted), 0);
    EXPECT_FALSE(std::filesystem::exists(path + "-shm"));
}

TEST_F(UnwritablePlace, IsReadThroughALinkWithTheLogOfAKilledProcess) {
    const TempFolder elsewhere;
    ::chmod(elsewhere.path().c_str(), 0755);
    recordAndDie();
    std::filesystem::remove(path + "-shm");
    protect();
    std::filesystem::create_symlink(path, elsewhere.file("link.db"));
    path = elsewhere.file("link.db");
    EXPECT_EQ(readAsOrdinaryUser(RunState::Interrupted), 0) << "the log lies beside what the link leads to";
}

TEST_F(UnwritablePlace, IsReadWithTheLogOfAKilledProcessWhereWritingIsAllowed) {
    recordAndDie();
    EXPECT_EQ(stepsOf(storedEvents(path, 1)).size(), 500u);
    EXPECT_EQ((*SessionReader::open(path))->list()->at(0).state, RunState::Interrupted);
}

TEST_F(UnwritablePlace, IsRefusedForRecordingWithASentence) {
    record();
    protect();
    const auto refused = [&](const std::function<Status()>& tried) {
        return asOrdinaryUser([&] {
            const Status done = tried();
            if (done || done.error().code != ErrorCode::Io) return 1;
            const auto says = [&](const char* word) { return done.error().sentence.find(word) != std::string::npos; };
            return says("s.db") && says("may only be read") ? 0 : 2;
        });
    };
    EXPECT_EQ(refused([&]() -> Status {
                  auto recorder = Recorder::open({.path = path}, sampleInfo());
                  return recorder ? Status() : recorder.error();
              }),
              0);
    EXPECT_EQ(refused([&] { return renameSession(path, 1, "x"); }), 0);
    EXPECT_EQ(readAsOrdinaryUser(RunState::Finished), 0);
}

TEST_F(UnwritablePlace, IsNamedWhenANewDatabaseCannotBeMadeThere) {
    protect();
    EXPECT_EQ(asOrdinaryUser([&] {
                  const auto recorder = Recorder::open({.path = path}, sampleInfo());
                  return !recorder && recorder.error().code == ErrorCode::Io && recorder.error().sentence.find("s.db") != std::string::npos ? 0 : 1;
              }),
              0);
}

TEST_F(UnwritablePlace, SaysSoWhenTheFileMayNotBeRead) {
    record();
    ::chmod(path.c_str(), 0000);
    EXPECT_EQ(asOrdinaryUser([&] {
                  const auto reader = SessionReader::open(path);
                  return !reader && reader.error().sentence.find("may not be read") != std::string::npos ? 0 : 1;
              }),
              0);
}

TEST_F(UnwritablePlace, SaysSoWhenAnotherProgramHoldsTheFile) {
    record();
    SQLite::Database holder(path, SQLite::OPEN_READWRITE);
    holder.exec("BEGIN IMMEDIATE");
    const Status refused = renameSession(path, 1, "x");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Io);
    EXPECT_NE(refused.error().sentence.find("locked by another program"), std::string::npos) << refused.error().sentence;
    EXPECT_EQ((*SessionReader::open(path))->list()->size(), 1u) << "reading goes on meanwhile";
}
