// An export into a file: whole, or as if nobody had tried.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <thread>
#include <vector>

#include "sessions/exporters/ExportFile.h"
#include "tests/sessions/FileSizeLimit.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

namespace fs = std::filesystem;

struct ExportFile : testing::Test {
    TempFolder folder;
    std::string path = folder.file("out.csv");

    std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator())); }
    static Status write(std::ostream& out) {
        out << "new\n";
        return {};
    }
};

}  // namespace

TEST_F(ExportFile, TakesThePlaceOfAnOlderOneAndLeavesNothingBeside) {
    writeFile(path, "old and longer\n");
    const Status done = exportToFile(path, write);
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(contentOf(path), "new\n");
    EXPECT_EQ(files(), 1u);
}

TEST_F(ExportFile, IntoAPipeGoesThroughItAndLeavesItAPipe) {
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::string read;
    std::jthread reader([&] {
        std::ifstream pipe(path);
        std::getline(pipe, read);
    });
    const Status done = exportToFile(path, write);
    reader.join();
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(read, "new");
    EXPECT_TRUE(fs::is_fifo(path));
}

TEST_F(ExportFile, ThatFailsOnTheWayLeavesTheOlderOneAsItWas) {
    writeFile(path, "old\n");
    const Status done = exportToFile(path, [this](std::ostream& out) -> Status {
        out << "half a li" << std::flush;
        EXPECT_EQ(contentOf(path), "old\n") << "nobody reads half of the new one";
        return makeError(ErrorCode::NotFound, "There is no session 5.");
    });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().sentence, "There is no session 5.");
    EXPECT_EQ(contentOf(path), "old\n");
    EXPECT_EQ(files(), 1u);
}

TEST_F(ExportFile, ThatFindsNoRoomLeavesTheOlderOneAsItWas) {
    writeFile(path, "old\n");
    const FileSizeLimit limit(100'000);
    const Status done = exportToFile(path, [](std::ostream& out) -> Status {
        out << std::string(101'000, 'x');
        return {};
    });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::Io);
    EXPECT_NE(done.error().sentence.find(path), std::string::npos) << done.error().sentence;
    EXPECT_THAT(done.error().sentence, ::testing::HasSubstr("File too large")) << "and not that something went wrong";
    EXPECT_EQ(contentOf(path), "old\n");
    EXPECT_EQ(files(), 1u);
}

TEST_F(ExportFile, OntoAFullDiskSaysSoHoweverMuchItIs) {
    for (const std::size_t size : {1u, 1'000'000u}) {
        const Status done = exportToFile("/dev/full", [size](std::ostream& out) -> Status {
            out << std::string(size, 'x');
            return {};
        });
        ASSERT_FALSE(done);
        EXPECT_THAT(done.error().sentence, ::testing::HasSubstr("No space left on device")) << size;
    }
}

TEST_F(ExportFile, IntoAFolderThatIsNotThereNamesThePath) {
    const Status done = exportToFile(folder.file("no/out.csv"), write);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::Io);
    for (const std::string& part : {folder.file("no/out.csv"), std::string("choose another place")})
        EXPECT_NE(done.error().sentence.find(part), std::string::npos) << done.error().sentence;
}

TEST_F(ExportFile, SaysBeforehandWhetherItsPlaceTakesAFileAndLeavesNothingThere) {
    EXPECT_TRUE(canBeWritten(path).ok());
    EXPECT_EQ(files(), 0U);
    writeFile(path, "old\n");
    EXPECT_TRUE(canBeWritten(path).ok());
    EXPECT_EQ(contentOf(path), "old\n");
    EXPECT_EQ(files(), 1U);
    EXPECT_TRUE(canBeWritten("/dev/null").ok());
    for (const std::string& wrong : {folder.file("nowhere/out.csv"), folder.path(), path + "/out.csv"}) {
        const Status said = canBeWritten(wrong);
        ASSERT_FALSE(said) << wrong;
        EXPECT_EQ(said.error().code, ErrorCode::Io);
        EXPECT_EQ(said.error().sentence.rfind(wrong + " cannot be written: ", 0), 0U) << said.error().sentence;
    }
}

TEST_F(ExportFile, NeverTakesThePlaceOfADatabase) {
    const std::string target = path + ".db", link = path + ".json";
    SQLite::Database(target, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE kept (x)");
    std::filesystem::create_symlink(target, link);
    for (const std::string& named : {target, link}) {
        const auto done = exportToFile(named, [](std::ostream& out) -> Status {
            out << "{}";
            return {};
        });
        ASSERT_FALSE(done) << named;
        EXPECT_EQ(done.error().code, ErrorCode::BadInput);
        EXPECT_THAT(done.error().sentence, ::testing::AllOf(::testing::HasSubstr(named), ::testing::HasSubstr("is a database")));
        EXPECT_FALSE(canBeWritten(named)) << "nor is it found out after an hour of measuring";
    }
    EXPECT_TRUE(SQLite::Database(target, SQLite::OPEN_READONLY).tableExists("kept"));
}

TEST_F(ExportFile, FollowsALink) {
    writeFile(folder.file("real.csv"), "old\n");
    fs::create_symlink("real.csv", path);
    ASSERT_TRUE(exportToFile(path, write));
    EXPECT_TRUE(fs::is_symlink(path));
    EXPECT_EQ(contentOf(folder.file("real.csv")), "new\n");
}

TEST_F(ExportFile, TellsHowMuchIsWrittenAsItGoes) {
    std::vector<std::int64_t> told;
    const std::string line(1000, 'x');
    const auto many = [&](std::ostream& out) -> Status {
        for (int i = 0; i < 2000; ++i) out << line << '\n';
        out.put('!');
        return {};
    };
    const auto tell = [&](std::int64_t bytes) {
        told.push_back(bytes);
        return true;
    };
    ASSERT_TRUE(exportToFile(path, many, tell));
    EXPECT_EQ(fs::file_size(path), 2'002'001u);
    ASSERT_GE(told.size(), 5u);
    EXPECT_EQ(told.front(), 0);
    EXPECT_EQ(told.back(), 2'002'001);
    EXPECT_TRUE(std::ranges::is_sorted(told));
}

TEST_F(ExportFile, ThatIsStoppedIsAsIfNobodyHadTried) {
    writeFile(path, "old\n");
    for (const std::int64_t enough : {0, 300'000}) {  // before anything is written, and on the way
        std::int64_t written = 0;
        const auto many = [&](std::ostream& out) -> Status {
            const std::string line(1000, 'x');
            while (out && written < 100'000'000) {
                out << line;
                written += 1000;
            }
            return {};
        };
        const Status done = exportToFile(path, many, [&](std::int64_t bytes) { return bytes < enough; });
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, ErrorCode::Cancelled);
        EXPECT_LT(written, 1'000'000) << "who writes hears of it";
        EXPECT_EQ(contentOf(path), "old\n");
        EXPECT_EQ(files(), 1u);
    }
}
