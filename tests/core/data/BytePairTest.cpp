// Byte-pair merges on a vocabulary small enough to follow by hand, against the plain algorithm, and damaged files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "RandomText.h"
#include "core/data/tokenizers/BytePairMerges.h"
#include "core/data/tokenizers/Utf8.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

// All 256 bytes in GPT-2's spelling, then the products of the merges.
std::string vocabularyWith(const std::vector<std::string>& products) {
    nlohmann::json vocabulary = nlohmann::json::object();
    int spare = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
        const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
        std::string symbol;
        utf8::append(symbol, static_cast<char32_t>(printable ? byte : spare++));
        vocabulary[symbol] = byte;
    }
    for (const auto& product : products) vocabulary[product] = vocabulary.size();
    return vocabulary.dump();
}

const std::vector<std::pair<std::string, std::string>> kMerges{{"a", "b"}, {"b", "c"}, {"ab", "c"}, {"a", "a"}, {"aa", "aa"}, {"c", "abc"}};

BytePairMerges small() {
    std::vector<std::string> products;
    std::string text = "#version: 0.2\n";
    for (const auto& [left, right] : kMerges) {
        products.push_back(left + right);
        text += left + " " + right + "\n";
    }
    return BytePairMerges::parse(vocabularyWith(products), "v", text, "m").value();
}

std::vector<std::string> splitBy(const BytePairMerges& merges, const std::string& word) {
    BytePairMerges::Scratch scratch;
    std::vector<std::int32_t> ids;
    merges.append(word, scratch, ids);
    std::vector<std::string> parts;
    for (const auto id : ids) parts.push_back(merges.bytesOf(id));
    return parts;
}

// "Find the pair of lowest rank, replace it everywhere, again", as the paper has it.
std::vector<std::string> plainly(const std::string& word) {
    std::vector<std::string> parts;
    for (const char c : word) parts.emplace_back(1, c);
    while (true) {
        auto best = kMerges.end();
        for (std::size_t i = 0; i + 1 < parts.size(); ++i) best = std::min(best, std::ranges::find(kMerges, std::pair(parts[i], parts[i + 1])));
        if (best == kMerges.end()) return parts;
        std::vector<std::string> merged;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const bool here = i + 1 < parts.size() && parts[i] == best->first && parts[i + 1] == best->second;
            merged.push_back(here ? parts[i] + parts[i + 1] : parts[i]);
            if (here) ++i;
        }
        parts = std::move(merged);
    }
}

TEST(BytePairMerges, MergesTheLowestRankFirstAndTheLeftmostOfEquals) {
    const BytePairMerges merges = small();
    EXPECT_THAT(splitBy(merges, "abc"), ::testing::ElementsAre("abc"));
    EXPECT_THAT(splitBy(merges, "bc"), ::testing::ElementsAre("bc"));
    EXPECT_THAT(splitBy(merges, "aaa"), ::testing::ElementsAre("aa", "a"));
    EXPECT_THAT(splitBy(merges, "aaaaa"), ::testing::ElementsAre("aaaa", "a"));
    EXPECT_THAT(splitBy(merges, "cabc"), ::testing::ElementsAre("cabc"));
    EXPECT_THAT(splitBy(merges, ""), ::testing::ElementsAre());
}

TEST(BytePairMerges, AgreesWithThePlainAlgorithmOnRandomWords) {
    const BytePairMerges merges = small();
    testing::RandomText random(6);
    for (int i = 0; i < 3000; ++i) {
        std::string word;
        for (std::uint64_t n = random.below(40); n > 0; --n) word.push_back(static_cast<char>('a' + random.below(4)));
        ASSERT_EQ(splitBy(merges, word), plainly(word)) << word;
    }
}

TEST(BytePairMerges, RefusesDamagedFilesAndNamesFileAndLine) {
    const std::string good = vocabularyWith({"ab"});
    const auto sentence = [](const std::string& vocabulary, const std::string& merges) {
        const auto parsed = BytePairMerges::parse(vocabulary, "encoder.json", merges, "vocab.bpe");
        return parsed ? std::string("accepted") : parsed.error().sentence;
    };
    EXPECT_EQ(sentence(good, "a b\n"), "accepted");
    EXPECT_EQ(sentence(good, "#version: 0.2\r\na b\r\n"), "accepted");
    EXPECT_THAT(sentence("{\"a\":", "a b\n"), ::testing::AllOf(HasSubstr("encoder.json"), HasSubstr("not JSON")));
    for (const char* wrong : {"[]", "7", "{}", "null", "{\"a\":{\"b\":1}}", "{\"a\":[1]}", "{\"a\":-1}", "{\"a\":\"1\"}", "{\"a\":0.5}", "{\"a\":1}",
                              "{\"a\":0,\"b\":0}"})
        EXPECT_THAT(sentence(wrong, "a b\n"), HasSubstr("encoder.json")) << wrong;
    EXPECT_THAT(sentence("{\"a\":0}", "a b\n"), HasSubstr("byte"));
    EXPECT_THAT(sentence(good, ""), HasSubstr("no merges"));
    EXPECT_THAT(sentence(good, "a b\nab\n"), ::testing::AllOf(HasSubstr("vocab.bpe"), HasSubstr("line 2")));
    EXPECT_THAT(sentence(good, "a b\nb c\n"), ::testing::AllOf(HasSubstr("line 2"), HasSubstr("lacks")));
}

}  // namespace
}  // namespace stepscope
