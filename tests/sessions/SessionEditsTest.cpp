// What a person changes in stored sessions.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/events/Event.h"
#include "core/events/Study.h"
#include "sessions/EventFields.h"
#include "sessions/SessionStore.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

struct SessionEdits : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    std::int64_t record(int steps = 3) {
        auto recorder = Recorder::open({.path = path}, sampleInfo());
        for (int step = 1; step <= steps; ++step) (*recorder)->publish(sampleStep(step));
        (*recorder)->publish(StateChanged{{steps * 1'000'000LL}, steps, RunState::Finished, ""});
        EXPECT_TRUE((*recorder)->finish());
        return (*recorder)->session();
    }
    std::vector<SessionSummary> list() { return *(*SessionReader::open(path))->list(); }
};

}  // namespace

TEST_F(SessionEdits, RenamesAndAnnotates) {
    const auto session = record();
    ASSERT_TRUE(renameSession(path, session, "another name"));
    ASSERT_TRUE(annotateSession(path, session, "why", {"x", "y"}));
    const auto found = list().at(0);
    EXPECT_EQ(found.name, "another name");
    EXPECT_EQ(found.notes, "why");
    EXPECT_EQ(found.tags, (std::vector<std::string>{"x", "y"}));
}

TEST_F(SessionEdits, DeletesAndRestores) {
    const auto session = record();
    ASSERT_TRUE(deleteSession(path, session));
    EXPECT_TRUE(list().empty());
    EXPECT_EQ((*SessionReader::open(path))->events(session, 0, 10).error().code, ErrorCode::NotFound);
    ASSERT_TRUE(restoreSession(path, session));
    EXPECT_EQ(list().size(), 1u);
    EXPECT_EQ(stepsOf(storedEvents(path, session)).size(), 3u);
}

TEST_F(SessionEdits, DoesNotDeleteARunningSession) {
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    const Status refused = deleteSession(path, (*recorder)->session());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().sentence.find("still running"), std::string::npos);
    ASSERT_TRUE((*recorder)->finish());
    EXPECT_TRUE(deleteSession(path, (*recorder)->session()));
}

TEST_F(SessionEdits, PurgingRemovesOnlyWhatWasDeletedWithItsCheckpointsAndGivesTheRoomBack) {
    const auto small = record(3);
    const auto big = record(20'000);
    const auto before = std::filesystem::file_size(path);
    for (const auto session : {small, big}) std::filesystem::create_directories(checkpointFolder(path, session).value() + "/step-0000010");
    const std::string ofBig = checkpointFolder(path, big).value();
    ASSERT_TRUE(deleteSession(path, big));
    ASSERT_TRUE(purgeDeletedSessions(path));
    EXPECT_TRUE(std::filesystem::exists(checkpointFolder(path, small).value()));
    EXPECT_FALSE(std::filesystem::exists(ofBig));
    EXPECT_LT(std::filesystem::file_size(path), before / 4);
    EXPECT_FALSE(restoreSession(path, big));
    EXPECT_EQ(stepsOf(storedEvents(path, small)).size(), 3u);
    EXPECT_EQ(pragma(path, "integrity_check"), "ok");
    EXPECT_GT(record(), big) << "numbers are never used again";
}

TEST_F(SessionEdits, PurgingRemovesWhatWasCaptured) {
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    for (const auto& event : oneOfEachKind()) (*recorder)->publish(event);
    ASSERT_TRUE((*recorder)->finish());
    const auto rows = [&] {
        SQLite::Database database(path);
        return database.execAndGet("SELECT count(*) FROM captured_operations").getInt();
    };
    EXPECT_EQ(rows(), 3);
    ASSERT_TRUE(deleteSession(path, (*recorder)->session()));
    ASSERT_TRUE(purgeDeletedSessions(path));
    EXPECT_EQ(rows(), 0);
}

TEST_F(SessionEdits, AnExperimentOrALadderIsRenamedDeletedAndPurgedAsARunIs) {
    for (const SessionKind kind : {SessionKind::Experiment, SessionKind::Ladder, SessionKind::Tune}) {
        SessionInfo info = sampleInfo();
        info.kind = kind;
        auto recorder = Recorder::open({.path = path}, info);
        ASSERT_TRUE(recorder) << recorder.error().sentence;
        const auto session = (*recorder)->session();
        (*recorder)->publish(ExperimentBegan{.at = {1}, .configA = "{}", .configB = "{}", .question = "q"});
        (*recorder)->publish(BlockDone{.at = {2}, .pair = 0});
        (*recorder)->publish(ExperimentJudged{.at = {3}, .over = true, .outcome = "faster"});
        (*recorder)->publish(StudyBegan{.at = {4}, .kind = "ladder", .config = "{}", .question = "q"});
        (*recorder)->publish(StudyRow{.at = {5}, .row = 1});
        ASSERT_TRUE((*recorder)->finish());
        ASSERT_TRUE(renameSession(path, session, "does it help?"));
        EXPECT_EQ(SessionReader::open(path).value()->info(session).value().name, "does it help?");
        const auto rows = [&] {
            SQLite::Database database(path);
            int all = 0;
            for (const char* table : {Table<ExperimentBegan>::name, Table<BlockDone>::name, Table<ExperimentJudged>::name, Table<StudyBegan>::name,
                                      Table<StudyRow>::name})
                all += database.execAndGet(std::string("SELECT count(*) FROM ") + table).getInt();
            return all;
        };
        EXPECT_EQ(rows(), 5);
        ASSERT_TRUE(deleteSession(path, session));
        EXPECT_EQ(rows(), 5) << "until it is purged it can be had back";
        ASSERT_TRUE(restoreSession(path, session));
        ASSERT_TRUE(deleteSession(path, session));
        ASSERT_TRUE(purgeDeletedSessions(path));
        EXPECT_EQ(rows(), 0);
    }
}

TEST(SessionName, IsALineOfUtf8ThatATerminalShowsAsItIsWritten) {
    for (const char* good : {"a", "Größe 12 → 13", "名前", "🦊"}) EXPECT_TRUE(checkSessionName(good)) << good;
    for (const char* bad : {"", "  ", "two\nlines",
                            "a\xff"
                            "b",
                            "\xc2\x9b"
                            "31m",
                            "\xe2\x80\xae"
                            "gnp",
                            "cut \xe2\x80", "\xed\xa0\x80"})
        EXPECT_FALSE(checkSessionName(bad)) << bad;
}

TEST_F(SessionEdits, NamesTheSessionOrFileThatIsNotThere) {
    const Status noFile = renameSession(path, 1, "x");
    ASSERT_FALSE(noFile);
    EXPECT_NE(noFile.error().sentence.find("s.db"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(path));
    record();
    for (const Status& refused :
         {renameSession(path, 77, "x"), annotateSession(path, 77, "", {}), deleteSession(path, 77), restoreSession(path, 77)}) {
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::NotFound);
        EXPECT_NE(refused.error().sentence.find("77"), std::string::npos);
    }
}
