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

// Characters whose kind nobody can doubt, ASCII and others.
struct Character {
    const char* text;
    char kind;  // letter, number, space, sign
};
constexpr Character kCharacters[] = {{"a", 'l'},      {"Z", 'l'},      {"s", 'l'},      {"t", 'l'},      {"0", 'n'},     {"9", 'n'},
                                     {" ", ' '},      {" ", ' '},      {"\n", ' '},     {"'", '!'},      {"-", '!'},     {"_", '!'},
                                     {"\u00e9", 'l'}, {"\u4e2d", 'l'}, {"\u00bd", 'n'}, {"\u00a0", ' '}, {"\u2014", '!'}};

// GPT-2's alternatives one after the other, as its pattern has them: 's and so on, letters, numbers, signs, space that no word follows, space.
std::vector<std::string> wordsByDefinition(const std::vector<Character>& text) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        const auto kindAt = [&](std::size_t i) { return i < text.size() ? text[i].kind : '\0'; };
        const auto run = [&](std::size_t i) {
            std::size_t end = i;
            while (end < text.size() && text[end].kind == text[i].kind) ++end;
            return end;
        };
        const std::size_t behindBlank = at + (text[at].text == std::string(" ") ? 1 : 0);
        std::size_t end = 0;
        if (text[at].text == std::string("'") && at + 1 < text.size() &&
            (text[at + 1].text == std::string("s") || text[at + 1].text == std::string("t")))
            end = at + 2;
        else if (kindAt(behindBlank) != '\0' && kindAt(behindBlank) != ' ')
            end = run(behindBlank);
        else
            end = run(at) < text.size() && run(at) - at > 1 ? run(at) - 1 : run(at);
        std::string word;
        for (std::size_t i = at; i < end; ++i) word += text[i].text;
        words.push_back(word);
        at = end;
    }
    return words;
}

TEST(WordSplitter, SplitsWhateverIsMixedAsItsDefinitionDoes) {
    testing::RandomText random(9);
    for (int i = 0; i < 20'000; ++i) {
        std::vector<Character> text;
        std::string joined;
        for (std::size_t left = 1 + random.below(12); left > 0; --left) {
            text.push_back(kCharacters[random.below(std::size(kCharacters))]);
            joined += text.back().text;
        }
        ASSERT_EQ(wordsOf(joined), wordsByDefinition(text)) << joined;
    }
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
