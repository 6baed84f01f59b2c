// GPT-2's pre-tokenising split.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "RandomText.h"
#include "core/data/tokenizers/WordSplitter.h"

namespace stepscope {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> wordsOf(std::string_view text) {
    static const WordSplitter splitter;
    std::vector<std::string> words;
    WordSplitter::Walk walk(splitter, text);
    for (std::string_view word; walk.next(word);) words.emplace_back(word);
    return words;
}

TEST(WordSplitter, KeepsTheBlankBeforeAWord) {
    EXPECT_THAT(wordsOf("one two, three!"), ElementsAre("one", " two", ",", " three", "!"));
}

TEST(WordSplitter, SplitsContractionsInSmallLettersOnly) {
    EXPECT_THAT(wordsOf("I'll can't"), ElementsAre("I", "'ll", " can", "'t"));
    EXPECT_THAT(wordsOf("I'LL"), ElementsAre("I", "'", "LL"));
}

TEST(WordSplitter, LeavesTheLastBlankOfARunToTheWord) {
    EXPECT_THAT(wordsOf("a   b"), ElementsAre("a", "  ", " b"));
    EXPECT_THAT(wordsOf("a\n\nb"), ElementsAre("a", "\n", "\n", "b"));
    EXPECT_THAT(wordsOf("a   "), ElementsAre("a", "   "));
}

TEST(WordSplitter, KnowsLettersNumbersAndSpacesOfAllScripts) {
    EXPECT_THAT(wordsOf("\u00fcber\u4e2d\u0661\u0662\u00bd"), ElementsAre("\u00fcber\u4e2d", "\u0661\u0662\u00bd"));
    EXPECT_THAT(wordsOf("a\u3000\u00a0b"), ElementsAre("a", "\u3000", "\u00a0", "b"));
    EXPECT_THAT(wordsOf("a\u180eb"), ElementsAre("a", "\u180e", "b")) << "a format character since Unicode 6.3";
}

TEST(WordSplitter, LosesNothing) {
    testing::RandomText random(8);
    for (int i = 0; i < 300; ++i) {
        const std::string text = random.characters(random.below(200));
        std::string joined;
        for (const auto& word : wordsOf(text)) joined += word;
        ASSERT_EQ(joined, text);
    }
}

}  // namespace
}  // namespace stepscope
