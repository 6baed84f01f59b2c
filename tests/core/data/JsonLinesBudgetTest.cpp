// A line of .jsonl as long as a disk has room: what is read of it, and what memory that takes. The gigabyte is one megabyte that is mapped many
// times, and the limit is the system's own, in a process apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

#include "core/data/JsonLines.h"
#include "tests/support/HeldMemory.h"
#include "tests/support/Sanitized.h"

namespace stepscope {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20, kPieces = 1024;
constexpr rlim_t kRoom = rlim_t{64} << 20;

// So many pieces of one character behind a piece that begins with `head`.
class LongLine {
public:
    LongLine(const std::string& head, char fill) {
        const int first = piece(head + std::string(kPiece - head.size(), fill)), rest = piece(std::string(kPiece, fill));
        void* const room = ::mmap(nullptr, kPieces * kPiece, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        m_at = static_cast<char*>(room);
        for (std::size_t i = 0; i < kPieces; ++i)
            (void)::mmap(m_at + i * kPiece, kPiece, PROT_READ, MAP_SHARED | MAP_FIXED, i == 0 ? first : rest, 0);
        ::close(first);
        ::close(rest);
    }
    ~LongLine() { ::munmap(m_at, kPieces * kPiece); }
    std::string_view view() const { return {m_at, kPieces * kPiece}; }

private:
    static int piece(const std::string& text) {
        const int descriptor = ::memfd_create("piece", 0);
        EXPECT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
        return descriptor;
    }
    char* m_at = nullptr;
};

std::string sentenceOf(std::string_view lines) {
    JsonLines reader("d.jsonl", [](std::string_view) { return Status{}; });
    Status read = reader.more(lines);
    if (read.ok()) read = reader.end();
    return read ? "read" : read.error().sentence;
}

// Ends with 0 where the sentence holds `word` and no more than kRoom was needed.
void readIn(std::string_view lines, const std::string& word) {
    const rlimit limit{stepscope::testing::heldMemory() + kRoom, stepscope::testing::heldMemory() + kRoom};
    if (::setrlimit(RLIMIT_DATA, &limit) != 0) std::_Exit(3);
    std::string sentence;
    try {
        sentence = sentenceOf(lines);
    } catch (const std::bad_alloc&) {
        std::_Exit(2);
    }
    std::_Exit(sentence.find(word) == std::string::npos ? 1 : 0);
}

TEST(JsonLinesBudget, AGigabyteOfBracketsDigitsOrLettersTakesSixtyFourMegabytesAtMost) {
    if (underSanitizer()) GTEST_SKIP() << "sanitizers take terabytes of address space themselves";
    const LongLine bare("", '['), inside("{\"text\": \"a\", \"x\": ", '['), digits("{\"x\": ", '1'), letters("{\"text\": \"", 'a'),
        controls("{\"text\": \"", '\x01');
    EXPECT_EXIT(readIn(bare.view(), "JSON array"), ::testing::ExitedWithCode(0), "");
    for (const LongLine* line : {&inside, &digits, &letters, &controls})
        EXPECT_EXIT(readIn(line->view(), "line 1 is longer than 134"), ::testing::ExitedWithCode(0), "");
}

TEST(JsonLinesBudget, ALimitThatIsTooSmallWouldBeNoticed) {
    if (underSanitizer()) GTEST_SKIP() << "sanitizers take terabytes of address space themselves";
    const std::string line = "{\"text\": \"" + std::string(std::size_t{100} << 20, 'a') + "\"}";
    EXPECT_EXIT(readIn(line, "read"), ::testing::ExitedWithCode(2), "") << "the limit is a limit";
}

TEST(JsonLinesBudget, ALineUpToTheLongestIsReadAndOneMoreByteIsNot) {
    const std::string around = "{\"text\": \"\"}";
    std::string line = "{\"text\": \"" + std::string(kLongestJsonLine - around.size(), 'a') + "\"}";
    ASSERT_EQ(line.size(), kLongestJsonLine);
    EXPECT_EQ(sentenceOf(line), "read");
    line += ' ';
    EXPECT_THAT(sentenceOf(line), ::testing::HasSubstr("d.jsonl line 1 is longer than 134"));
}

}  // namespace
}  // namespace stepscope
