// The generated corpus: the same everywhere, as large as it says, English-like.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <vector>

#include "core/data/GeneratedText.h"
#include "core/data/Hash128.h"

namespace stepscope {
namespace {

TEST(GeneratedText, IsTheSameOnEveryMachine) {
    // A change of this hash makes old runs incomparable with new ones: say so in the changelog.
    EXPECT_EQ(hashOf(generatedText()).hex(), "f83292a253ac7664b3c851dce0b5b42f");
}

TEST(GeneratedText, IsAsLongAsAskedAndEndsWithAParagraph) {
    const std::string text = generatedText();
    EXPECT_GE(text.size(), kGeneratedBytes);
    EXPECT_LT(text.size(), kGeneratedBytes + 4096);
    EXPECT_TRUE(text.ends_with("\n\n"));
    EXPECT_EQ(generatedText(1000), text.substr(0, generatedText(1000).size())) << "a shorter one is its beginning";
}

TEST(GeneratedText, IsPlainAsciiInSentencesThatBeginWithACapital) {
    bool begins = true;
    for (const char c : generatedText(200'000)) {
        ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~'));
        if (c == '\n' || c == ' ') continue;
        if (begins) {
            ASSERT_TRUE(c >= 'A' && c <= 'Z') << c;
        }
        begins = c == '.' || c == '!' || c == '?';
    }
}

TEST(GeneratedText, DrawsWordsByZipfsLaw) {
    std::map<std::string, int> counts;
    std::istringstream words(generatedText());
    for (std::string word; words >> word;) ++counts[word];
    EXPECT_GT(counts.size(), 200u);
    EXPECT_NEAR(static_cast<double>(counts["man"]) / counts["house"], 2.0, 0.15);  // ranks 1 and 2
    EXPECT_GT(counts["man"], 20 * counts["lantern"]);
}

TEST(GeneratedText, KeepsAAndAnApart) {
    std::istringstream words(generatedText(500'000));
    std::string before;
    for (std::string word; words >> word; before = word) {
        const bool vowel = std::string("aeiou").find(word.front()) != std::string::npos;
        if (before == "a" || before == "A" || before == "an" || before == "An") {
            ASSERT_EQ(vowel, before.size() == 2) << before << " " << word;
        }
    }
}

}  // namespace
}  // namespace stepscope
