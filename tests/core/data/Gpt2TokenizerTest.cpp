// GPT-2's tokenizer against ids of the reference implementation (golden/makeGpt2Golden.py), and its properties.
// Skipped where set-up did not run, which fetches the vocabulary.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "RandomText.h"
#include "TemporaryFolder.h"
#include "core/data/DataFolders.h"
#include "core/data/tokenizers/Tokenizer.h"
#include "core/data/tokenizers/Utf8.h"

namespace stepscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Gpt2Tokenizer : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        if (auto made = gpt2Tokenizer())
            s_tokenizer = *made;
        else
            s_why = made.error().sentence;
    }
    void SetUp() override {
        if (s_tokenizer) return;
        if (STEPSCOPE_SETUP_RAN) FAIL() << "set-up fetches the vocabulary, and yet: " << s_why;
        GTEST_SKIP() << s_why;
    }
    static inline std::shared_ptr<const Tokenizer> s_tokenizer;
    static inline std::string s_why;
};

TEST_F(Gpt2Tokenizer, GivesUpWhereItIsCancelled) {
    const std::string text = "some words of a text\n";
    std::atomic<bool> cancelled{false};
    EXPECT_EQ(*s_tokenizer->encodeUnless(cancelled, text), *s_tokenizer->encode(text));
    cancelled = true;
    const auto ids = s_tokenizer->encodeUnless(cancelled, text);
    ASSERT_FALSE(ids.ok());
    EXPECT_EQ(ids.error().code, ErrorCode::Cancelled);
}

TEST_F(Gpt2Tokenizer, TakesTheTokenBetweenDocumentsAsOneOnlyWhereAskedTo) {
    const std::string text = "one<|endoftext|>two\n<|endoftext|><|endoftext|>";
    const auto documents = gpt2Tokenizer({}, true);
    ASSERT_TRUE(documents.ok()) << documents.error().sentence;
    const auto ids = (*documents)->encode(text);
    ASSERT_TRUE(ids.ok());
    EXPECT_EQ(std::ranges::count(*ids, 50256), 3);
    EXPECT_EQ((*documents)->decode(*ids), text);
    EXPECT_EQ(std::ranges::count(*s_tokenizer->encode(text), 50256), 0) << "otherwise it is signs like others";
    EXPECT_EQ(*(*documents)->encode("plain text"), *s_tokenizer->encode("plain text"));
    EXPECT_NE((*documents)->toJson(), s_tokenizer->toJson()) << "their tokens are cached apart";
    const auto again = tokenizerFromJson((*documents)->toJson());
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*(*again)->encode(text), *ids);
    std::size_t bytes = 0;
    for (const auto id : *ids) bytes += (*documents)->bytesOf(id);
    EXPECT_EQ(bytes, text.size());
}

TEST_F(Gpt2Tokenizer, GivesTheIdsOfTheReferenceImplementation) {
    std::ifstream file(STEPSCOPE_GOLDEN "/gpt2.json");
    const auto golden = nlohmann::json::parse(file);
    ASSERT_GT(golden.size(), 100u);
    for (const auto& entry : golden) {
        const auto text = entry["text"].get<std::string>();
        const auto ids = s_tokenizer->encode(text);
        ASSERT_TRUE(ids.ok()) << entry["text"];
        EXPECT_EQ(*ids, entry["ids"].get<std::vector<std::int32_t>>()) << entry["text"];
        EXPECT_EQ(s_tokenizer->decode(*ids), text);
    }
}

TEST_F(Gpt2Tokenizer, KnowsItsLastMergeAndItsEndOfText) {
    EXPECT_EQ(s_tokenizer->vocabulary(), 50257);
    EXPECT_THAT(s_tokenizer->encode(" gazed").value(), ElementsAre(50255));
    EXPECT_EQ(s_tokenizer->decode(std::vector<std::int32_t>{50256}), "<|endoftext|>");
}

TEST_F(Gpt2Tokenizer, DecodesWhatItEncodedWhateverTheText) {
    testing::RandomText random(4);
    for (int i = 0; i < 500; ++i) {
        const std::string text = random.characters(random.below(200));
        const auto ids = s_tokenizer->encode(text);
        ASSERT_TRUE(ids.ok());
        ASSERT_EQ(s_tokenizer->decode(*ids), text);
    }
}

TEST_F(Gpt2Tokenizer, GivesTheSameIdsForATextInPieces) {
    testing::RandomText random(5);
    for (int i = 0; i < 300; ++i) {
        const std::string text = random.characters(2 + random.below(120));
        std::vector<std::int32_t> pieces;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = utf8::cutAfter(text, at + 1 + random.below(20));
            const auto ids = s_tokenizer->encode(std::string_view(text).substr(at, end - at)).value();
            pieces.insert(pieces.end(), ids.begin(), ids.end());
            at = end;
        }
        ASSERT_EQ(pieces, s_tokenizer->encode(text).value()) << text;
    }
}

TEST_F(Gpt2Tokenizer, TakesVeryLongWordsAndRunsOfBlanksInReasonableTime) {
    for (const std::string& text : {std::string(1'000'000, 'a'), std::string(1'000'000, ' '), std::string(300'000, '!') + "x"}) {
        const auto ids = s_tokenizer->encode(text);
        ASSERT_TRUE(ids.ok());
        ASSERT_EQ(s_tokenizer->decode(*ids), text);
    }
}

TEST_F(Gpt2Tokenizer, RefusesBrokenUtf8AndNamesTheByte) {
    const auto ids = s_tokenizer->encode("abc \xC3( def");
    ASSERT_FALSE(ids.ok());
    EXPECT_EQ(ids.error().code, ErrorCode::BadInput);
    EXPECT_THAT(ids.error().sentence, HasSubstr("byte 4"));
}

TEST_F(Gpt2Tokenizer, ReplacesIdsBeyondItsVocabulary) {
    const std::vector<std::int32_t> ids{31373, 50257, -1, 995};
    EXPECT_EQ(s_tokenizer->decode(ids), "hello\uFFFD\uFFFD world");
}

TEST_F(Gpt2Tokenizer, MayBeUsedBySeveralThreads) {
    const std::string text = testing::lines(2000);
    const auto expected = s_tokenizer->encode(text).value();
    std::vector<std::vector<std::int32_t>> got(4);
    {
        std::vector<std::jthread> threads;
        for (auto& ids : got) threads.emplace_back([&] { ids = s_tokenizer->encode(text).value(); });
    }
    for (const auto& ids : got) EXPECT_EQ(ids, expected);
}

TEST_F(Gpt2Tokenizer, IsMadeAgainFromItsJsonUnlessTheFilesDiffer) {
    const auto again = tokenizerFromJson(s_tokenizer->toJson());
    ASSERT_TRUE(again.ok());
    EXPECT_EQ((*again)->toJson(), s_tokenizer->toJson());
    const auto other = tokenizerFromJson(R"({"name":"gpt2","files":"00000000000000000000000000000000"})");
    ASSERT_FALSE(other.ok());
    EXPECT_EQ(other.error().code, ErrorCode::Damaged);
}

TEST_F(Gpt2Tokenizer, ReadsHuggingFacesFileNamesToo) {
    const testing::TemporaryFolder folder;
    namespace fs = std::filesystem;
    const fs::path from = gpt2VocabularyFolder();
    fs::copy_file(from / "encoder.json", folder.path("vocab.json"));
    fs::copy_file(from / "vocab.bpe", folder.path("merges.txt"));
    const auto made = gpt2Tokenizer(folder.path());
    ASSERT_TRUE(made.ok()) << made.error().sentence;
    EXPECT_EQ((*made)->toJson(), s_tokenizer->toJson());
}

TEST(Gpt2Vocabulary, SaysWhatIsMissingAndWhatToDo) {
    const testing::TemporaryFolder folder;
    auto made = gpt2Tokenizer(folder.path());
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, ErrorCode::NotFound);
    EXPECT_THAT(made.error().sentence, ::testing::AllOf(HasSubstr(folder.path()), HasSubstr("encoder.json"), HasSubstr("STEPSCOPE_GPT2_VOCABULARY")));
    folder.write("encoder.json", "{}");
    made = gpt2Tokenizer(folder.path());
    ASSERT_FALSE(made.ok());
    EXPECT_THAT(made.error().sentence, HasSubstr("vocab.bpe"));
}

TEST(Gpt2Vocabulary, IsTakenFromTheEnvironmentFirst) {
    const testing::TemporaryFolder folder;
    ASSERT_EQ(::setenv("STEPSCOPE_GPT2_VOCABULARY", folder.path().c_str(), 1), 0);
    const auto made = gpt2Tokenizer();
    ::unsetenv("STEPSCOPE_GPT2_VOCABULARY");
    ASSERT_FALSE(made.ok());
    EXPECT_THAT(made.error().sentence, HasSubstr(folder.path()));
}

}  // namespace
}  // namespace stepscope
