// A file is read whole, or not at all and with one sentence: also where the system refuses only when it is read.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "core/base/WholeFile.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

class WholeFile : public ::testing::Test {
protected:
    WholeFile() {
        std::string made = (std::filesystem::temp_directory_path() / "stepscope-whole-XXXXXX").string();
        m_folder = ::mkdtemp(made.data());
    }
    ~WholeFile() override { std::filesystem::remove_all(m_folder); }
    std::string write(const std::string& text) const {
        std::ofstream(m_folder / "file", std::ios::binary) << text;
        return (m_folder / "file").string();
    }
    std::filesystem::path m_folder;
};

TEST_F(WholeFile, IsReadToTheByte) {
    std::string text(200'000, 'a');
    for (std::size_t i = 0; i < text.size(); i += 7) text[i] = static_cast<char>(i);
    for (const std::string& one : {text, std::string(), std::string("\0\n\xff", 3)}) {
        const auto all = readWhole(write(one), 200'000);
        ASSERT_TRUE(all) << all.error().sentence;
        EXPECT_EQ(*all, one);
    }
}

TEST_F(WholeFile, OfMoreThanMayBeIsRefused) {
    EXPECT_TRUE(readWhole(write("12345"), 5));
    const auto refused = readWhole(write("123456"), 5);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::BadInput);
    EXPECT_THAT(refused.error().sentence, HasSubstr("is larger than 5 bytes."));
    EXPECT_FALSE(readWhole("/dev/zero", 100'000)) << "it has no end";
}

TEST_F(WholeFile, ThatTheSystemRefusesIsOneSentence) {
    EXPECT_EQ(readWhole((m_folder / "none").string(), 5).error().code, ErrorCode::NotFound);
    const auto folder = readWhole(m_folder.string(), 5);
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().code, ErrorCode::Io);
    EXPECT_THAT(folder.error().sentence, HasSubstr("cannot be read: Is a directory."));
    // Nothing is mapped at its beginning: as a disk that gives up, it is opened and not read.
    const auto memory = readWhole("/proc/self/mem", 5);
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().code, ErrorCode::Io);
    EXPECT_EQ(memory.error().sentence, "/proc/self/mem cannot be read: Input/output error.");
}

}  // namespace
}  // namespace stepscope
