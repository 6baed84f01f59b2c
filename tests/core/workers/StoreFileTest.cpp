// The file at which workers meet: what killed ones left there is taken away by the next, what is somebody else's never is. CTest.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/workers/StoreFile.h"

namespace stepscope {
namespace {

class StoreFiles : public testing::Test {
protected:
    StoreFiles() : m_folder(std::filesystem::temp_directory_path() / fmt::format("stepscope-store-file-{}", ::getpid())) {
        std::filesystem::remove_all(m_folder);
        std::filesystem::create_directories(m_folder);
    }
    ~StoreFiles() override { std::filesystem::remove_all(m_folder); }

    std::string path() const { return (m_folder / "meet").string(); }
    std::string besideIt() const { return path() + ".lock"; }
    static void write(const std::string& path, const std::string& content) { std::ofstream(path, std::ios::binary) << content; }
    static std::string read(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    // As the first worker leaves it that was killed when it had opened it: a key and a value, each after its length.
    static std::string leftOver() { return std::string("\x09\0\0\0refcount/\x01\0\0\0", 17) + "1"; }

private:
    std::filesystem::path m_folder;
};

TEST_F(StoreFiles, WhatKilledWorkersLeftIsTakenAwayHoweverLittleTheyWrote) {
    const std::string whole = leftOver();
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        write(path(), whole.substr(0, length));
        const auto held = StoreFile::hold(path());
        ASSERT_TRUE(held) << length << ": " << held.error().sentence;
        EXPECT_FALSE(std::filesystem::exists(path())) << length;
    }
    EXPECT_FALSE(std::filesystem::exists(besideIt())) << "it goes with the last";
}

TEST_F(StoreFiles, WhatIsSomebodyElsesIsRefusedAndLeftAsItIs) {
    // Weights and token ids begin with small numbers, too.
    const std::string weights = std::string("\x2c\x01\0\0\0\0\0\0{\"wte.weight\":{}}", 25), tokens("\x05\0\0\0\x07\0\0\0", 8);
    const std::string another("\x09\0\0\0whatever/", 13);
    for (const std::string& theirs : {std::string("What somebody wrote."), std::string("x"), weights, tokens, another}) {
        write(path(), theirs);
        const auto held = StoreFile::hold(path());
        ASSERT_FALSE(held) << theirs;
        EXPECT_THAT(held.error().sentence, testing::HasSubstr("is there already, and no workers have met at it"));
        EXPECT_EQ(read(path()), theirs);
        EXPECT_FALSE(std::filesystem::exists(besideIt())) << theirs;
    }
}

TEST_F(StoreFiles, ALockFileOfAnotherProgramStays) {
    write(besideIt(), "[[package]]");
    ASSERT_TRUE(StoreFile::hold(path()));
    EXPECT_EQ(read(besideIt()), "[[package]]");
}

TEST_F(StoreFiles, WhoComesLaterTakesNothingFromThoseWhoHoldIt) {
    auto first = StoreFile::hold(path());
    ASSERT_TRUE(first) << first.error().sentence;
    write(path(), leftOver());
    auto second = StoreFile::hold(path());
    ASSERT_TRUE(second) << second.error().sentence;
    EXPECT_EQ(read(path()), leftOver()) << "the first one's store";
    first->reset();
    EXPECT_TRUE(std::filesystem::exists(besideIt())) << "the second one holds it still";
    second->reset();
    EXPECT_FALSE(std::filesystem::exists(besideIt()));
}

}  // namespace
}  // namespace stepscope
