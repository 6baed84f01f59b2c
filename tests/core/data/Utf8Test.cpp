// UTF-8: what is valid, where it breaks, how it is repaired, and where a text may be cut.
#include <gtest/gtest.h>

#include "RandomText.h"
#include "core/data/tokenizers/Utf8.h"

namespace stepscope {
namespace {

constexpr auto npos = std::string_view::npos;

TEST(Utf8, EncodesAndDecodesEveryCodePoint) {
    for (char32_t c = 0; c < 0x110000; ++c) {
        if (c >= 0xD800 && c < 0xE000) continue;
        std::string text;
        utf8::append(text, c);
        const utf8::Step step = utf8::decode(text, 0);
        ASSERT_TRUE(step.valid) << static_cast<std::uint32_t>(c);
        ASSERT_EQ(step.codePoint, c);
        ASSERT_EQ(step.length, text.size());
    }
}

TEST(Utf8, FindsTheFirstByteThatIsWrong) {
    EXPECT_EQ(utf8::findInvalid(""), npos);
    EXPECT_EQ(utf8::findInvalid("plain text of more than eight bytes"), npos);
    EXPECT_EQ(utf8::findInvalid("gr\u00fc\u00df \u4e2d \U0001f600"), npos);
    EXPECT_EQ(utf8::findInvalid("\x80"), 0u);
    EXPECT_EQ(utf8::findInvalid("12345678\xFF"), 8u);
    EXPECT_EQ(utf8::findInvalid("ab\xC3"), 2u) << "cut short";
    EXPECT_EQ(utf8::findInvalid("a\xC0\x80"), 1u) << "overlong";
    EXPECT_EQ(utf8::findInvalid("a\xE0\x80\x80"), 1u) << "overlong";
    EXPECT_EQ(utf8::findInvalid("a\xED\xA0\x80"), 1u) << "surrogate";
    EXPECT_EQ(utf8::findInvalid("a\xF4\x90\x80\x80"), 1u) << "above U+10FFFF";
    EXPECT_EQ(utf8::findInvalid("a\xF5\x80\x80\x80"), 1u);
}

TEST(Utf8, RepairsAsUnicodeRecommends) {
    // The example of the Unicode standard, section 3.9, table 3-8.
    EXPECT_EQ(utf8::repair("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
              "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"
              "A");
    // Table 3-11: a well-formed beginning is replaced as a whole.
    EXPECT_EQ(utf8::repair("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"),
              "\uFFFD\uFFFD\uFFFD\uFFFD"
              "A");
    EXPECT_EQ(utf8::repair("fine \u00e9"), "fine \u00e9");
}

TEST(Utf8, RepairedRandomBytesAreValidAndStayAsTheyAreWhenRepairedAgain) {
    testing::RandomText random(3);
    for (int i = 0; i < 500; ++i) {
        const std::string repaired = utf8::repair(random.bytes(random.below(200)));
        ASSERT_EQ(utf8::findInvalid(repaired), npos);
        ASSERT_EQ(utf8::repair(repaired), repaired);
    }
}

TEST(Utf8, CutsBetweenACharacterAndABlank) {
    EXPECT_EQ(utf8::cutAfter("one two three", 1), 3u);
    EXPECT_EQ(utf8::cutAfter("one two three", 3), 3u);
    EXPECT_EQ(utf8::cutAfter("one two three", 4), 7u);
    EXPECT_EQ(utf8::cutAfter("one  two", 4), 8u) << "not inside a run of blanks";
    EXPECT_EQ(utf8::cutAfter("a\u3000 b c", 1), 6u) << "nor after a space that is not ASCII";
    EXPECT_EQ(utf8::cutAfter("\u4e2d\n\u6587", 1), 3u);
    EXPECT_EQ(utf8::cutAfter("nothing", 2), 7u);
    EXPECT_EQ(utf8::cutAfter("", 0), 0u);
}

}  // namespace
}  // namespace stepscope
