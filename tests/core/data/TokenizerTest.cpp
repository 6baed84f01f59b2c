// Byte and character tokenizers, and making a tokenizer again from its JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "RandomText.h"
#include "core/data/tokenizers/Tokenizer.h"

namespace stepscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ByteTokenizer, HasOneIdForEachByte) {
    const auto tokenizer = byteTokenizer();
    EXPECT_EQ(tokenizer->name(), "byte");
    EXPECT_EQ(tokenizer->vocabulary(), 256);
    EXPECT_THAT(tokenizer->encode("a\u00e9").value(), ElementsAre(0x61, 0xC3, 0xA9));
}

TEST(ByteTokenizer, DecodesWhatItEncoded) {
    const auto tokenizer = byteTokenizer();
    testing::RandomText random(1);
    for (int i = 0; i < 300; ++i) {
        const std::string text = random.characters(random.below(100));
        ASSERT_EQ(tokenizer->decode(tokenizer->encode(text).value()), text);
    }
}

TEST(ByteTokenizer, ReplacesBrokenSequencesAndIdsBeyondItsVocabulary) {
    const std::vector<std::int32_t> ids{'a', 0xC3, 'b', 256, -1, 'c'};
    EXPECT_EQ(byteTokenizer()->decode(ids),
              "a\uFFFD"
              "b\uFFFD\uFFFD"
              "c");
}

TEST(CharTokenizer, NumbersTheSortedDistinctCharacters) {
    const auto tokenizer = charTokenizer("hello \u4e16\u00e9");
    EXPECT_EQ(tokenizer->name(), "char");
    EXPECT_EQ(tokenizer->vocabulary(), 7);
    EXPECT_THAT(tokenizer->encode(" ehlo\u00e9\u4e16").value(), ElementsAre(0, 1, 2, 3, 4, 5, 6));
}

TEST(CharTokenizer, DecodesWhatItEncoded) {
    testing::RandomText random(2);
    for (int i = 0; i < 50; ++i) {
        const std::string text = random.characters(1 + random.below(300));
        const auto tokenizer = charTokenizer(text);
        const auto ids = tokenizer->encode(text);
        ASSERT_TRUE(ids.ok());
        ASSERT_EQ(tokenizer->decode(*ids), text);
    }
}

TEST(CharTokenizer, RefusesACharacterItHasNeverSeenAndNamesTheFirst) {
    const auto ids = charTokenizer("abc")->encode("ab\u00e9\u00fc");
    ASSERT_FALSE(ids.ok());
    EXPECT_EQ(ids.error().code, ErrorCode::BadInput);
    EXPECT_THAT(ids.error().sentence, ::testing::AllOf(HasSubstr("\"\u00e9\""), HasSubstr("U+00E9"), HasSubstr("byte 2")));
}

TEST(CharTokenizer, NamesAControlCharacterByItsNumberOnly) {
    const auto ids = charTokenizer("abc")->encode("a\x1b");
    ASSERT_FALSE(ids.ok());
    EXPECT_THAT(ids.error().sentence, HasSubstr("U+001B"));
    EXPECT_EQ(ids.error().sentence.find('\x1b'), std::string::npos);
}

TEST(CharTokenizer, RefusesBrokenUtf8) {
    const auto ids = charTokenizer("abc\uFFFD")->encode("ab\xFF");
    ASSERT_FALSE(ids.ok());
    EXPECT_THAT(ids.error().sentence, HasSubstr("byte 2"));
}

TEST(CharTokenizer, WritesAReplacementForIdsBeyondItsVocabulary) {
    const std::vector<std::int32_t> ids{0, 3, -1};
    EXPECT_EQ(charTokenizer("abc")->decode(ids), "a\uFFFD\uFFFD");
}

TEST(TokenizerJson, MakesTheSameTokenizerAgain) {
    const auto again = tokenizerFromJson(byteTokenizer()->toJson());
    ASSERT_TRUE(again.ok());
    EXPECT_EQ((*again)->name(), "byte");

    const std::string text = "\"quoted\"\\ \n\t\u00e9\u4e16\U0001f600";
    const auto original = charTokenizer(text);
    const auto made = tokenizerFromJson(original->toJson());
    ASSERT_TRUE(made.ok());
    EXPECT_EQ((*made)->toJson(), original->toJson());
    EXPECT_EQ((*made)->encode(text).value(), original->encode(text).value());
}

TEST(TokenizerJson, RefusesWhatIsNoTokenizer) {
    for (const char* json :
         {"", "{", "null", "[]", "{}", R"({"name":7})", R"({"name":"words"})", R"({"name":"char"})", R"({"name":"char","characters":""})"}) {
        const auto made = tokenizerFromJson(json);
        ASSERT_FALSE(made.ok()) << json;
        EXPECT_EQ(made.error().code, ErrorCode::Damaged) << json;
        EXPECT_TRUE(made.error().sentence.ends_with('.')) << json;
    }
}

}  // namespace
}  // namespace stepscope
