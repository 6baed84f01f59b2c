// An export into a file: whole, or as if nobody had tried.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <thread>

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
    EXPECT_EQ(contentOf(path), "old\n");
    EXPECT_EQ(files(), 1u);
}

TEST_F(ExportFile, IntoAFolderThatIsNotThereNamesThePath) {
    const Status done = exportToFile(folder.file("no/out.csv"), write);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::Io);
    for (const std::string& part : {folder.file("no/out.csv"), std::string("choose another place")})
        EXPECT_NE(done.error().sentence.find(part), std::string::npos) << done.error().sentence;
}

TEST_F(ExportFile, FollowsALink) {
    writeFile(folder.file("real.csv"), "old\n");
    fs::create_symlink("real.csv", path);
    ASSERT_TRUE(exportToFile(path, write));
    EXPECT_TRUE(fs::is_symlink(path));
    EXPECT_EQ(contentOf(folder.file("real.csv")), "new\n");
}
