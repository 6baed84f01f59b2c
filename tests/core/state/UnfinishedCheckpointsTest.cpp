// What a killed process leaves of a checkpoint goes when the next run begins; what a living one writes stays.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/state/DurableFile.h"
#include "core/state/UnfinishedCheckpoints.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

class UnfinishedCheckpoints : public ::testing::Test {
protected:
    UnfinishedCheckpoints() {
        fs::remove_all(root);
        fs::create_directories(root / "session-1");
    }
    ~UnfinishedCheckpoints() override { fs::remove_all(root); }
    std::string place(const std::string& name) const { return (root / "session-1" / name).string(); }
    void make(const std::string& name) const {
        fs::create_directories(root / "session-1" / name);
        std::ofstream(root / "session-1" / name / "model.safetensors") << "half";
    }

    std::string onlyOne() const {
        const fs::directory_iterator first(root / "session-1");
        return first == fs::directory_iterator() ? std::string() : first->path().string();
    }
    // Whether others may do nothing with it, and its owner all that it is for.
    static bool isPrivate(const fs::path& path) {
        const fs::perms wanted = fs::is_directory(path) ? fs::perms::owner_all : fs::perms::owner_read | fs::perms::owner_write;
        return (fs::status(path).permissions() & fs::perms::all) == wanted;
    }

    const fs::path root = fs::temp_directory_path() / ("stepscope-unfinished-" + std::to_string(::getpid()));
};

// A process that has ended and been waited for, so that its number is nobody's.
pid_t goneProcess() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    return child;
}

TEST_F(UnfinishedCheckpoints, OneThatIsBeingWrittenStaysAndIsMovedToItsPlace) {
    {
        auto folder = UnfinishedFolder::make(place("step-1"));
        ASSERT_TRUE(folder.ok()) << folder.error().sentence;
        std::ofstream(folder->path() + "/state.json") << "{}";
        EXPECT_EQ(removeUnfinished(root.string()), 0) << "its owner writes it";
        ASSERT_TRUE(folder->moveTo(place("step-1")).ok());
    }
    EXPECT_TRUE(fs::exists(place("step-1") + "/state.json"));
    EXPECT_EQ(std::distance(fs::directory_iterator(place("step-1")), {}), 1) << "nothing else is in it";
    EXPECT_EQ(std::distance(fs::directory_iterator(root / "session-1"), {}), 1);
}

TEST_F(UnfinishedCheckpoints, AreForTheirOwnerAloneWhateverTheUmaskIs) {
    const auto before = ::umask(0);
    auto folder = UnfinishedFolder::make(place("deeper/still/step-1"));
    const std::string name = folder.ok() ? folder->path() + "/state.json" : std::string();
    DurableFile file(name);
    file.write("{}", 2);
    const Status written = file.close();
    ::umask(before);
    ASSERT_TRUE(folder.ok()) << folder.error().sentence;
    ASSERT_TRUE(written.ok()) << written.error().sentence;
    for (const fs::path& made : {fs::path(place("deeper")), fs::path(place("deeper/still")), fs::path(folder->path())})
        EXPECT_TRUE(isPrivate(made)) << made;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder->path()), {}), 2) << "the file and the lock";
    for (const auto& entry : fs::directory_iterator(folder->path())) EXPECT_TRUE(isPrivate(entry.path())) << entry.path();
}

TEST_F(UnfinishedCheckpoints, AFolderOrALinkThatIsThereAlreadyIsNotUsed) {
    const fs::path precious = root / "precious", nowhere = root / "nowhere";
    std::ofstream(precious) << "precious";
    const std::string planted = place("step-1.unfinished-" + std::to_string(::getpid()));
    fs::create_directories(planted);
    for (const char* name : {"/owner.lock", "/model.safetensors"}) fs::create_symlink(precious, planted + name);
    auto folder = UnfinishedFolder::make(place("step-1"));
    ASSERT_TRUE(folder.ok()) << folder.error().sentence;
    EXPECT_NE(folder->path(), planted);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder->path()), {}), 1) << "its lock alone";

    const std::string to = folder->path() + "/link", toNothing = folder->path() + "/dangling", there = folder->path() + "/there";
    fs::create_symlink(precious, to);
    fs::create_symlink(nowhere, toNothing);
    std::ofstream(there) << "precious";
    for (const std::string& taken : {to, toNothing, there}) {
        DurableFile file(taken);
        file.write("weights", 7);
        const Status written = file.close();
        ASSERT_FALSE(written.ok()) << taken;
        EXPECT_EQ(written.error().code, ErrorCode::Io);
        EXPECT_NE(written.error().sentence.find(taken), std::string::npos) << written.error().sentence;
    }
    for (const fs::path& kept : {precious, fs::path(there)}) {
        std::string content;
        std::ifstream(kept) >> content;
        EXPECT_EQ(content, "precious") << kept;
    }
    EXPECT_FALSE(fs::exists(nowhere));
}

TEST_F(UnfinishedCheckpoints, OneThatIsGivenUpGoesAtOnce) {
    { auto folder = UnfinishedFolder::make(place("step-1")); }
    EXPECT_EQ(std::distance(fs::directory_iterator(root / "session-1"), {}), 0);
}

TEST_F(UnfinishedCheckpoints, OneOfAKilledProcessGoesThoughAnotherProcessHasItsNumber) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        auto folder = UnfinishedFolder::make(place("step-1"));
        const char word = folder ? 'y' : 'n';
        if (::write(ready[1], &word, 1) != 1) ::_exit(1);
        ::pause();
    }
    char word = 0;
    ASSERT_EQ(::read(ready[0], &word, 1), 1);
    ASSERT_EQ(word, 'y');
    EXPECT_EQ(removeUnfinished(root.string()), 0);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    // As if the number were given to a process that lives: this one.
    const std::string left = onlyOne(), reused = place("step-1.unfinished-" + std::to_string(::getpid()) + "-abcdef");
    ASSERT_EQ(left.find(place("step-1.unfinished-" + std::to_string(child) + "-")), 0u) << left;
    fs::rename(left, reused);
    EXPECT_EQ(removeUnfinished(root.string()), 1);
    EXPECT_FALSE(fs::exists(reused));
}

TEST_F(UnfinishedCheckpoints, ThoseOfOlderVersionsGoWhenNoProcessHasTheirNumber) {
    make("step-1.unfinished-" + std::to_string(goneProcess()));
    make("step-2.unfinished-" + std::to_string(::getpid()));
    make("step-3");
    EXPECT_EQ(removeUnfinished(root.string()), 1);
    EXPECT_TRUE(fs::exists(place("step-2.unfinished-" + std::to_string(::getpid()))));
    EXPECT_TRUE(fs::exists(place("step-3")));
}

TEST_F(UnfinishedCheckpoints, NothingOutsideOfTheFolderIsTouched) {
    const fs::path outside = root.string() + "-outside.unfinished-1";
    fs::create_directories(outside);
    fs::create_directory_symlink(outside, root / "session-1" / "link.unfinished-1");
    removeUnfinished(root.string());
    EXPECT_TRUE(fs::exists(outside));
    EXPECT_EQ(removeUnfinished((root / "not-there").string()), 0);
    fs::remove_all(outside);
}

}  // namespace
}  // namespace stepscope
