// Tokenizers that came with a model: kept whole by a checkpoint, written for other programs, and the same again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "TemporaryFolder.h"
#include "core/data/tokenizers/Tokenizer.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The bytes and a few merges over them, with a token between documents.
BytePairTexts ownTexts() {
    auto texts = bytePairTexts(*byteTokenizer()).value();
    auto vocabulary = nlohmann::json::parse(texts.vocabulary);
    for (const char* product : {"ab", "abc", "th", "the"}) vocabulary[product] = vocabulary.size();
    vocabulary[kEndOfText] = vocabulary.size();
    return {vocabulary.dump(1), "#version: 0.2\na b\nab c\nt h\nth e\n"};
}

std::vector<std::int32_t> idsBy(const Tokenizer& tokenizer, std::string_view text) {
    const auto ids = tokenizer.encode(text);
    EXPECT_TRUE(ids.ok());
    return ids ? *ids : std::vector<std::int32_t>{};
}

TEST(FolderTokenizer, KeepsItsVocabularyWholeWhereACheckpointHoldsIt) {
    const testing::TemporaryFolder folder;
    folder.write("vocab.json", ownTexts().vocabulary);
    folder.write("merges.txt", ownTexts().merges);
    for (const bool documents : {false, true}) {
        const auto made = tokenizerOfFolder(folder.path(), documents);
        ASSERT_TRUE(made.ok()) << made.error().sentence;
        EXPECT_EQ((*made)->name(), "gpt2");
        EXPECT_EQ((*made)->vocabulary(), 261);
        EXPECT_EQ(idsBy(**made, "the abc").size(), 3u) << "the, a blank, abc";
        EXPECT_EQ(idsBy(**made, "abc<|endoftext|>").size(), documents ? 2u : 14u);
        const auto again = tokenizerFromJson((*made)->toJson());
        ASSERT_TRUE(again.ok()) << again.error().sentence;
        EXPECT_EQ((*again)->toJson(), (*made)->toJson());
        EXPECT_EQ(idsBy(**again, "they abc<|endoftext|> \xC3\xA9"), idsBy(**made, "they abc<|endoftext|> \xC3\xA9"));
        const auto texts = bytePairTexts(**again);
        ASSERT_TRUE(texts.ok()) << texts.error().sentence;
        EXPECT_EQ(texts->vocabulary, ownTexts().vocabulary);
        EXPECT_EQ(texts->merges, ownTexts().merges);
    }
}

TEST(FolderTokenizer, KnowsTheEndOfATextAlsoWhereTextsAreReadWithoutIt) {
    for (const bool documents : {false, true}) {
        const auto made = bytePairTokenizer(ownTexts(), documents);
        ASSERT_TRUE(made.ok()) << made.error().sentence;
        EXPECT_EQ((*made)->endOfText(), 260);
        EXPECT_EQ(tokenizerFromJson((*made)->toJson()).value()->endOfText(), 260);
    }
    auto vocabulary = nlohmann::json::parse(ownTexts().vocabulary);
    vocabulary.erase(kEndOfText);
    EXPECT_EQ(bytePairTokenizer({vocabulary.dump(), ownTexts().merges}, true).value()->endOfText(), -1);
    EXPECT_EQ(byteTokenizer()->endOfText(), -1);
    EXPECT_EQ(charTokenizer("abc")->endOfText(), -1);
}

TEST(FolderTokenizer, IsTheInstalledOneWhereItHasItsFiles) {
    const auto installed = gpt2Tokenizer();
    if (!installed) {
        ASSERT_FALSE(STEPSCOPE_SETUP_RAN) << installed.error().sentence;
        GTEST_SKIP() << "the vocabulary of GPT-2 is not here";
    }
    const auto texts = bytePairTexts(**installed);
    ASSERT_TRUE(texts.ok()) << texts.error().sentence;
    const testing::TemporaryFolder folder;
    folder.write("vocab.json", texts->vocabulary);
    folder.write("merges.txt", texts->merges);
    const auto same = tokenizerOfFolder(folder.path(), false);
    ASSERT_TRUE(same.ok()) << same.error().sentence;
    EXPECT_EQ((*same)->toJson(), (*installed)->toJson()) << "by its hash alone";
    EXPECT_LT((*same)->toJson().size(), 200u);
}

TEST(FolderTokenizer, OfTheBytesAloneIsTheByteTokenizer) {
    const auto texts = bytePairTexts(*byteTokenizer()).value();
    const testing::TemporaryFolder folder;
    folder.write("vocab.json", texts.vocabulary);
    folder.write("merges.txt", texts.merges);
    const auto made = tokenizerOfFolder(folder.path(), true);
    ASSERT_TRUE(made.ok()) << made.error().sentence;
    EXPECT_EQ((*made)->name(), "byte");
    auto turned = nlohmann::json::parse(texts.vocabulary);
    turned["a"] = 98;
    turned["b"] = 97;
    folder.write("vocab.json", turned.dump());
    const auto other = tokenizerOfFolder(folder.path(), true);
    ASSERT_TRUE(other.ok()) << other.error().sentence;
    EXPECT_EQ((*other)->name(), "gpt2");
    EXPECT_EQ(idsBy(**other, "ab"), (std::vector<std::int32_t>{98, 97}));
}

TEST(FolderTokenizer, OfCharactersHasNoFilesForOthers) {
    const auto texts = bytePairTexts(*charTokenizer("abc"));
    ASSERT_FALSE(texts.ok());
    EXPECT_EQ(texts.error().code, ErrorCode::Unsupported);
}

TEST(FolderTokenizer, OfOneFileIsTheSameAndOfAnotherKindIsRefusedByWhatDiffers) {
    auto vocabulary = nlohmann::json::parse(ownTexts().vocabulary);
    vocabulary.erase(kEndOfText);
    const nlohmann::json whole{
        {"added_tokens", {{{"id", 260}, {"content", kEndOfText}, {"special", true}}}},
        {"normalizer", nullptr},
        {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
        {"post_processor", {{"type", "ByteLevel"}}},
        {"model", {{"type", "BPE"}, {"dropout", nullptr}, {"vocab", vocabulary}, {"merges", {"a b", {"ab", "c"}, "t h", {"th", "e"}}}}}};
    const testing::TemporaryFolder two, one;
    two.write("vocab.json", ownTexts().vocabulary);
    two.write("merges.txt", ownTexts().merges);
    one.write("tokenizer.json", whole.dump());
    const auto ofTwo = tokenizerOfFolder(two.path(), true), ofOne = tokenizerOfFolder(one.path(), true);
    ASSERT_TRUE(ofTwo.ok());
    ASSERT_TRUE(ofOne.ok()) << ofOne.error().sentence;
    auto newer = whole;
    newer["post_processor"] = nlohmann::json::parse(R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}]})");
    one.write("tokenizer.json", newer.dump());
    EXPECT_TRUE(tokenizerOfFolder(one.path(), true).ok());
    const std::string text = "they abc<|endoftext|> the \xC3\xA9";
    EXPECT_EQ(idsBy(**ofOne, text), idsBy(**ofTwo, text));
    for (const auto& [where, value] : std::vector<std::pair<std::string, nlohmann::json>>{{"/model/type", "WordPiece"},
                                                                                          {"/model/dropout", 0.1},
                                                                                          {"/model/byte_fallback", true},
                                                                                          {"/model/end_of_word_suffix", "</w>"},
                                                                                          {"/normalizer", {{"type", "NFC"}}},
                                                                                          {"/pre_tokenizer/type", "Whitespace"},
                                                                                          {"/pre_tokenizer/add_prefix_space", true},
                                                                                          {"/pre_tokenizer/use_regex", false},
                                                                                          {"/post_processor/type", "TemplateProcessing"},
                                                                                          {"/added_tokens/0/content", "[PAD]"},
                                                                                          {"/model/merges/0", 7},
                                                                                          {"/model/vocab", nullptr}}) {
        auto other = whole;
        other[nlohmann::json::json_pointer(where)] = value;
        one.write("tokenizer.json", other.dump());
        const auto refused = tokenizerOfFolder(one.path(), true);
        ASSERT_FALSE(refused.ok()) << where;
        EXPECT_THAT(refused.error().sentence, HasSubstr("tokenizer.json")) << where;
    }
}

TEST(FolderTokenizer, WhatStandsBesideTheTwoFilesAndWouldCutTextsOtherwiseIsRefusedByName) {
    const testing::TemporaryFolder folder;
    folder.write("vocab.json", ownTexts().vocabulary);
    folder.write("merges.txt", ownTexts().merges);
    struct Beside {
        const char *file, *text, *differs;  // null: nothing does
    };
    for (const auto& [file, text, differs] : std::initializer_list<Beside>{
             {"tokenizer_config.json", R"({"add_prefix_space": false, "add_bos_token": false, "model_max_length": 1024})", nullptr},
             {"tokenizer_config.json", R"({"added_tokens_decoder": {"260": {"content": "<|endoftext|>"}}})", nullptr},
             {"tokenizer_config.json", R"({"add_prefix_space": true})", "add_prefix_space"},
             {"tokenizer_config.json", R"({"add_bos_token": true})", "add_bos_token"},
             {"tokenizer_config.json", R"({"added_tokens_decoder": {"261": {"content": "[PAD]"}}})", "added tokens"},
             {"tokenizer_config.json", "[]", "JSON object"},
             {"added_tokens.json", R"({"<|endoftext|>": 260})", nullptr},
             {"added_tokens.json", R"({"[PAD]": 261})", "added tokens"},
             {"tokenizer.json", R"({"model": {"type": "WordPiece"}})", "no BPE"}}) {
        folder.write(file, text);
        const auto made = tokenizerOfFolder(folder.path(), false);
        if (differs == nullptr) {
            EXPECT_TRUE(made.ok()) << text;
        } else {
            ASSERT_FALSE(made.ok()) << text;
            EXPECT_THAT(made.error().sentence, AllOf(HasSubstr(file), HasSubstr(differs)));
        }
        std::filesystem::remove(folder.path() + "/" + file);
    }
}

// As Hugging Face's tokenizers have it: "abc" with these three is a and bc.
TEST(FolderTokenizer, OfAMergeThatIsThereTwiceTheLastOneCounts) {
    const testing::TemporaryFolder folder;
    auto vocabulary = nlohmann::json::parse(ownTexts().vocabulary);
    const auto count = vocabulary.size();
    vocabulary["bc"] = count;
    folder.write("vocab.json", vocabulary.dump());
    folder.write("merges.txt", "#version: 0.2\na b\nb c\na b\n");
    const auto twice = tokenizerOfFolder(folder.path(), false);
    ASSERT_TRUE(twice.ok()) << twice.error().sentence;
    EXPECT_EQ(idsBy(**twice, "abc"), (std::vector<std::int32_t>{vocabulary["a"], static_cast<std::int32_t>(count)}));
}

TEST(FolderTokenizer, RefusesDamagedFilesAndNamesThem) {
    const testing::TemporaryFolder folder;
    const auto refusal = [&](const std::string& vocabulary, const std::string& merges) {
        folder.write("vocab.json", vocabulary);
        folder.write("merges.txt", merges);
        const auto made = tokenizerOfFolder(folder.path(), false);
        EXPECT_FALSE(made.ok());
        return made ? std::string() : made.error().sentence;
    };
    EXPECT_THAT(refusal("{", ownTexts().merges), HasSubstr("vocab.json"));
    EXPECT_THAT(refusal(ownTexts().vocabulary, "a q x\n"), HasSubstr("merges.txt"));
    EXPECT_THAT(refusal(ownTexts().vocabulary, "#version \xFF\na b\n"), HasSubstr("UTF-8")) << "a checkpoint holds text";
    EXPECT_THAT(refusal(std::string(7'000'000, ' '), ownTexts().merges), HasSubstr("7000000"));
    EXPECT_THAT(refusal(ownTexts().vocabulary + std::string(5'900'000, '\t'), "#version" + std::string(5'900'000, '\t') + "\na b\n"),
                HasSubstr("checkpoint"))
        << "twice as long once a checkpoint holds them";
    const auto own = bytePairTokenizer(ownTexts(), false);
    ASSERT_TRUE(own.ok());
    auto changed = nlohmann::json::parse((*own)->toJson());
    changed["merges"] = "t h\n";
    const auto stored = tokenizerFromJson(changed.dump());
    ASSERT_FALSE(stored.ok());
    EXPECT_THAT(stored.error().sentence, HasSubstr("hash"));
}

}  // namespace
}  // namespace stepscope
