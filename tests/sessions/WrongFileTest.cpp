// Files that are not ours, or not whole: one sentence each, and not a byte changed, neither in them nor beside them.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "sessions/Replayer.h"
#include "sessions/Schema.h"
#include "sessions/SessionStore.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

struct WrongFile : testing::Test {
    TempFolder folder;
    std::string path = folder.file("wrong.db");

    std::map<std::string, std::string> everything() const {
        std::map<std::string, std::string> all;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path())) all[entry.path().filename()] = contentOf(entry.path());
        return all;
    }

    // Every way in refuses with a sentence that names the file and holds `word`, and leaves the folder as it was.
    void expectRefused(const std::string& word, ErrorCode code) {
        const auto before = everything();
        KeepingSink sink;
        const auto reader = SessionReader::open(path);
        const auto recorder = Recorder::open({.path = path}, sampleInfo());
        const auto replayer = Replayer::open(path, 1, sink);
        const Status edit = renameSession(path, 1, "x");
        ASSERT_FALSE(reader);
        ASSERT_FALSE(recorder);
        ASSERT_FALSE(replayer);
        ASSERT_FALSE(edit);
        for (const auto& error : {reader.error(), recorder.error(), replayer.error(), edit.error()}) {
            EXPECT_NE(error.sentence.find("wrong.db"), std::string::npos) << error.sentence;
            EXPECT_NE(error.sentence.find(word), std::string::npos) << error.sentence;
            EXPECT_EQ(error.sentence.back(), '.') << error.sentence;
            EXPECT_EQ(error.code, code) << error.sentence << " " << error.cause;
        }
        EXPECT_EQ(everything(), before);
    }

    // A database of another program, still in use by it in write-ahead mode: the child lives until `folder` goes.
    pid_t otherProgram(const std::string& statements) {
        int ready[2];
        EXPECT_EQ(::pipe(ready), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
            database.exec(statements);
            (void)!::write(ready[1], "x", 1);
            ::pause();
            ::_exit(0);
        }
        char byte = 0;
        (void)!::read(ready[0], &byte, 1);
        ::close(ready[0]);
        ::close(ready[1]);
        return child;
    }
    static void end(pid_t child) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }

    void recordSomething(int steps) {
        auto recorder = Recorder::open({.path = path}, sampleInfo());
        ASSERT_TRUE(recorder);
        for (int step = 1; step <= steps; ++step) (*recorder)->publish(sampleStep(step));
        ASSERT_TRUE((*recorder)->finish());
    }
};

}  // namespace

TEST_F(WrongFile, IsRefusedWhenItIsNotSqlite) {
    for (const std::string& content : {std::string("x"), std::string("hi, I am a letter.\n"), std::string(9000, '\x5a'), std::string(5000, '\0')}) {
        writeFile(path, content);
        expectRefused("not a session database", ErrorCode::BadInput);
    }
}

TEST_F(WrongFile, IsRefusedWhenItBelongsToAnotherApplication) {
    for (const char* mark : {"PRAGMA application_id = 12345", "SELECT 1"}) {
        std::filesystem::remove(path);
        {
            SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
            database.exec("CREATE TABLE sessions (id INTEGER PRIMARY KEY)");
            database.exec(mark);
        }
        expectRefused("another application", ErrorCode::BadInput);
    }
}

TEST_F(WrongFile, IsLeftAloneWithTheLogOfAnotherApplicationThatWasKilled) {
    end(otherProgram("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)"));
    ASSERT_TRUE(std::filesystem::exists(path + "-wal"));
    expectRefused("another application", ErrorCode::BadInput);
}

TEST_F(WrongFile, IsLeftAloneWhileAnotherApplicationHasItOpen) {
    const pid_t child = otherProgram("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)");
    expectRefused("another application", ErrorCode::BadInput);
    end(child);
}

TEST_F(WrongFile, IsRefusedWhenItsSchemaIsNewer) {
    recordSomething(3);
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = " + std::to_string(schemaVersion() + 1));
    std::filesystem::remove(path + ".lock");
    expectRefused("newer Stepscope", ErrorCode::Unsupported);
}

TEST_F(WrongFile, IsRefusedWhenItIsTruncated) {
    recordSomething(5000);
    const auto size = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, size / 2);
    for (const auto& error :
         {SessionReader::open(path).error(), Recorder::open({.path = path}, sampleInfo()).error(), renameSession(path, 1, "x").error()}) {
        EXPECT_EQ(error.code, ErrorCode::Damaged) << error.sentence << error.cause;
        EXPECT_NE(error.sentence.find("damaged"), std::string::npos) << error.sentence;
        EXPECT_NE(error.sentence.find("wrong.db"), std::string::npos) << error.sentence;
    }
    EXPECT_EQ(std::filesystem::file_size(path), size / 2);
}

TEST_F(WrongFile, IsNamedWhenAPageInTheMiddleIsDamaged) {
    recordSomething(5000);
    std::string content = contentOf(path);
    for (std::size_t at = 40 * 4096; at < content.size(); ++at) content[at] = '\x7f';
    writeFile(path, content);
    auto reader = SessionReader::open(path);
    ASSERT_TRUE(reader) << "its first pages are whole";
    const auto events = (*reader)->events(1, 0, 1'000'000);
    ASSERT_FALSE(events);
    EXPECT_EQ(events.error().code, ErrorCode::Damaged);
    EXPECT_NE(events.error().sentence.find("wrong.db"), std::string::npos);
}

TEST_F(WrongFile, IsRefusedWhenAStoredConfigurationIsOfANewerVersion) {
    recordSomething(1);
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec(R"(UPDATE sessions SET config = '{"from-the-future":1}')");
    const auto info = (*SessionReader::open(path))->info(1);
    ASSERT_FALSE(info);
    EXPECT_NE(info.error().sentence.find("from-the-future"), std::string::npos) << info.error().sentence;
    EXPECT_EQ((*SessionReader::open(path))->list()->size(), 1u) << "the list still shows it";
}

TEST_F(WrongFile, IsRefusedWhenItIsAFolderOrAPipe) {
    std::filesystem::create_directory(path);
    expectRefused("not a file", ErrorCode::BadInput);
    std::filesystem::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0644), 0);
    const auto reader = SessionReader::open(path);
    ASSERT_FALSE(reader);
    EXPECT_NE(reader.error().sentence.find("not a file"), std::string::npos);
}

TEST_F(WrongFile, IsNotMadeByAReader) {
    const auto reader = SessionReader::open(path);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, ErrorCode::NotFound);
    EXPECT_NE(reader.error().sentence.find("wrong.db"), std::string::npos);
    EXPECT_TRUE(everything().empty());
}

TEST_F(WrongFile, IsNamedWhenItsFolderCannotBeMade) {
    for (const std::string& place : {std::string("/proc/nowhere/x.db"), std::string("/proc/x.db")}) {
        const auto recorder = Recorder::open({.path = place}, sampleInfo());
        ASSERT_FALSE(recorder);
        EXPECT_EQ(recorder.error().code, ErrorCode::Io);
        EXPECT_NE(recorder.error().sentence.find("x.db"), std::string::npos) << recorder.error().sentence;
    }
}

TEST_F(WrongFile, MayHaveANameThatMeansSomethingToSqlite) {
    for (const char* name : {"a?mode=memory", "100%25 #1.db", "ünï code.db"}) {
        path = folder.file(name);
        recordSomething(2);
        EXPECT_TRUE(std::filesystem::exists(path));
        EXPECT_EQ(stepsOf(storedEvents(path, 1)).size(), 2u) << name;
    }
}
