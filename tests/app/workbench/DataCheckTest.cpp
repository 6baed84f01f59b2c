// What is said of a chosen file before a run: the run's own sentence, wherever the byte stands, and each byte looked at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <filesystem>

#include "app/workbench/DataCheck.h"
#include "tests/core/data/TemporaryFolder.h"

namespace stepscope {
namespace {

constexpr std::size_t kSeveralPieces = 10 << 20;

bool always() {
    return true;
}

std::string repeated(const std::string& letter, std::size_t bytes) {
    std::string text;
    text.reserve(bytes + letter.size());
    while (text.size() < bytes) text += letter;
    return text;
}

class DataCheckTest : public ::testing::Test {
protected:
    std::string told(const std::string& path) { return check.problemOf(path, always).value_or("interrupted"); }

    testing::TemporaryFolder folder;
    DataCheck check;
};

TEST_F(DataCheckTest, NamesTheFirstByteThatCannotStandHoweverFarItIs) {
    const std::string text = repeated("word ", kSeveralPieces);
    EXPECT_EQ(
        told(folder.write("essay.txt", text + "caf\xe9 and more")),
        "essay.txt is not UTF-8 text: the byte 0xE9 at offset " + std::to_string(text.size() + 3) + " cannot stand there; save the text as UTF-8.");
}

TEST_F(DataCheckTest, FindsNothingWrongWithLettersThatLieAcrossTwoPieces) {
    for (const char* letter : {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x99\x82"})
        for (std::size_t before = 0; before < 4; ++before)
            EXPECT_EQ(told(folder.write("text.txt", std::string(before, 'x') + repeated(letter, kSeveralPieces))), "")
                << letter << " after " << before;
}

TEST_F(DataCheckTest, SaysOfEmptyBinaryAndUtf16FilesWhatTheRunWouldSay) {
    EXPECT_THAT(told(folder.write("none.txt", "")), ::testing::HasSubstr("none.txt is empty"));
    EXPECT_THAT(told(folder.write("wide.txt", std::string("\xff\xfeh\0", 4))), ::testing::HasSubstr("UTF-16"));
    EXPECT_THAT(told(folder.write("binary.txt", std::string("ab\0", 3))), ::testing::HasSubstr("byte 2 is NUL"));
}

TEST_F(DataCheckTest, SaysOfSmallFoldersJsonLinesPackedTextsAndTokensWhatTheRunWouldSay) {
    for (const char* builtIn : {"kjv", "generated", "random"}) EXPECT_EQ(told(builtIn), "");
    EXPECT_THAT(told(folder.path("nothing.txt")), ::testing::HasSubstr("nothing.txt"));
    for (const char* name : {"lines.jsonl", "LINES.NDJSON", "packed.txt.zst", "tokens.bin"})
        EXPECT_THAT(told(folder.write(name, "\xe9")), ::testing::HasSubstr(name)) << name;
    EXPECT_THAT(told(folder.write("empty.jsonl", "{\"text\": \"\"}\n")), ::testing::HasSubstr("no line holds a text"));
    EXPECT_EQ(told(folder.write("good.jsonl", "{\"text\": \"word\"}\n")), "");
}

TEST_F(DataCheckTest, SaysOfAFolderWithoutTextThatItIsEmpty) {
    const std::string inner = folder.path("texts");
    std::filesystem::create_directory(inner);
    EXPECT_THAT(told(inner), ::testing::HasSubstr("is empty of text"));
    EXPECT_FALSE(check.known(inner)) << "what is in it may change at any time";
    folder.write("texts/essay.txt", "word");
    EXPECT_EQ(told(inner), "");
}

TEST_F(DataCheckTest, LooksAtTheBeginningOfWhatIsTooLargeToBeReadWhole) {
    const std::string line = "{\"text\": \"" + repeated("word ", 4000) + "\"}\n", some = repeated(line, kSeveralPieces);
    const std::string rest = repeated(line, 70'000'000 - some.size());
    const std::string broken = folder.write("lines.jsonl", some + "nonsense\n" + rest);
    EXPECT_FALSE(check.problemOf(broken, [] { return false; })) << "nobody wants to know any more";
    EXPECT_THAT(told(broken), ::testing::HasSubstr("lines.jsonl line " + std::to_string(some.size() / line.size() + 1) + " is not JSON"));
    EXPECT_THAT(check.known(broken).value_or(""), ::testing::HasSubstr("is not JSON")) << "without a second look";
    EXPECT_EQ(told(folder.write("good.jsonl", some + rest)), "");
}

TEST_F(DataCheckTest, SaysOfALargeFolderWhetherThereIsAnyTextInIt) {
    const std::string inner = folder.path("texts"), picture = folder.write("texts/picture.png", "\x89PNG");
    std::filesystem::resize_file(picture, 70'000'000);
    EXPECT_THAT(told(inner), ::testing::HasSubstr("is empty of text"));
    folder.write("texts/essay.txt", "word");
    EXPECT_EQ(told(inner), "");
    folder.write("texts/pages.jsonl", "nonsense\n");
    EXPECT_THAT(told(inner), ::testing::HasSubstr("pages.jsonl line 1 is not JSON")) << "the run does not leave it out";
}

// However small they are on the disk.
TEST_F(DataCheckTest, LooksAtPackedTextsInPiecesAloneAndInAFolder) {
    const std::string text = repeated("word ", kSeveralPieces);
    std::string bytes(ZSTD_compressBound(text.size()), '\0');
    bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), 1));
    bytes.resize(bytes.size() - 4);
    const std::string file = folder.write("in/text.TXT.ZST", bytes), inner = folder.path("in");
    for (const std::string& data : {file, inner}) {
        EXPECT_FALSE(check.problemOf(data, [] { return false; })) << "nobody wants to know any more";
        EXPECT_THAT(told(data), ::testing::HasSubstr("is cut short"));
    }
}

TEST_F(DataCheckTest, GoesOnWhereItWasInterrupted) {
    const std::string path = folder.write("essay.txt", repeated("word ", kSeveralPieces) + "\xe9");
    int asked = 0;
    const auto once = [&] { return ++asked % 2 == 1; };
    int looks = 1;
    while (!check.problemOf(path, once)) ++looks;
    EXPECT_EQ(looks, 3) << "a piece a time, and the file has two and a half";
    EXPECT_THAT(check.known(path).value_or(""), ::testing::HasSubstr("essay.txt is not UTF-8"));
}

TEST_F(DataCheckTest, LooksAnewOnlyAtAFileThatChanged) {
    const std::string path = folder.write("essay.txt", "caf\xe9");
    EXPECT_FALSE(check.known(path)) << "not looked at yet";
    EXPECT_NE(told(path), "");
    EXPECT_NE(check.problemOf(path, [] { return false; }).value_or(""), "") << "known without a look";
    folder.write("essay.txt", "caf\xc3\xa9 and more");
    EXPECT_FALSE(check.known(path));
    EXPECT_EQ(told(path), "");
}

}  // namespace
}  // namespace stepscope
