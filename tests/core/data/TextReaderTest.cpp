// Text from the disk: files, folders, .jsonl, and every way in which they can be wrong.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <zstd.h>

#include "RandomText.h"
#include "TemporaryFolder.h"
#include "core/data/JsonLines.h"
#include "core/data/TextReader.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kNeverCancelled;
using testing::TemporaryFolder;
using namespace std::string_literals;

std::string textOf(const std::string& path) {
    const auto read = readText(path, kNeverCancelled);
    EXPECT_TRUE(read.ok()) << (read ? "" : read.error().sentence);
    return read ? std::string(read->text()) : "";
}

Error errorOf(const std::string& path) {
    const auto read = readText(path, kNeverCancelled);
    EXPECT_FALSE(read.ok());
    if (read) return {};
    EXPECT_TRUE(read.error().sentence.ends_with('.')) << read.error().sentence;
    EXPECT_EQ(read.error().sentence.find('\n'), std::string::npos) << "one sentence, one line";
    return read.error();
}

TEST(TextReader, ReadsAFileAsItIsWithoutItsByteOrderMark) {
    const TemporaryFolder folder;
    EXPECT_EQ(textOf(folder.write("a.txt", "gr\u00fc\u00df\r\n")), "gr\u00fc\u00df\r\n");
    EXPECT_EQ(textOf(folder.write("b.txt", "\xEF\xBB\xBFtext")), "text");
}

TEST(TextReader, RefusesAnEmptyFile) {
    const TemporaryFolder folder;
    const Error error = errorOf(folder.write("empty.txt", ""));
    EXPECT_EQ(error.code, ErrorCode::BadInput);
    EXPECT_THAT(error.sentence, AllOf(HasSubstr("empty.txt"), HasSubstr("is empty")));
    EXPECT_THAT(errorOf(folder.write("mark.txt", "\xEF\xBB\xBF")).sentence, HasSubstr("empty"));
    EXPECT_THAT(errorOf(folder.write("empty.jsonl", "")).sentence, HasSubstr("empty"));
    EXPECT_THAT(errorOf(folder.write("blank.jsonl", "\n \n")).sentence, HasSubstr("empty"));
}

TEST(TextReader, RefusesAMissingFile) {
    const Error error = errorOf("nothere.txt");
    EXPECT_EQ(error.code, ErrorCode::NotFound);
    EXPECT_THAT(error.sentence, HasSubstr("nothere.txt"));
}

TEST(TextReader, RefusesABinaryFileAndNamesTheByte) {
    const TemporaryFolder folder;
    EXPECT_THAT(errorOf(folder.write("bin.txt", "abc\0def"s)).sentence, AllOf(HasSubstr("bin.txt"), HasSubstr("binary"), HasSubstr("byte 3")));
    testing::RandomText random(10);
    const Error error = errorOf(folder.write("random.txt", random.bytes(5000)));
    EXPECT_EQ(error.code, ErrorCode::BadInput);
    EXPECT_THAT(error.sentence, HasSubstr("random.txt"));
}

TEST(TextReader, RefusesOtherEncodingsAndNamesTheOffset) {
    const TemporaryFolder folder;
    EXPECT_THAT(errorOf(folder.write("latin1.txt", "gr\xFC\xDF")).sentence,
                AllOf(HasSubstr("latin1.txt"), HasSubstr("0xFC"), HasSubstr("offset 2"), HasSubstr("UTF-8")));
    EXPECT_THAT(errorOf(folder.write("utf16.txt", "\xFF\xFEh\0i\0"s)).sentence, AllOf(HasSubstr("utf16.txt"), HasSubstr("UTF-16")));
}

TEST(TextReader, RefusesWhatIsNoRegularFileWithoutWaiting) {
    const TemporaryFolder folder;
    ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
    EXPECT_THAT(errorOf(folder.path("pipe")).sentence, HasSubstr("pipe"));
    EXPECT_THAT(errorOf("/dev/null").sentence, HasSubstr("/dev/null"));
}

TEST(TextReader, JoinsTheFilesOfAFolderInTheOrderOfTheirPaths) {
    const TemporaryFolder folder;
    folder.write("b.txt", "second");
    folder.write("a/z.txt", "first");
    folder.write("c.jsonl", "{\"text\": \"third\"}\n");
    folder.write(".hidden", "no");
    folder.write(".git/config", "no");
    const auto read = readText(folder.path(), kNeverCancelled);
    ASSERT_TRUE(read.ok()) << read.error().sentence;
    EXPECT_EQ(read->text(), "first\nsecond\nthird");
    EXPECT_THAT(read->title, HasSubstr("3 files"));
    EXPECT_EQ(read->note, "");
}

TEST(TextReader, SkipsFilesOfAFolderThatAreNoTextAndSaysWhich) {
    const TemporaryFolder folder;
    folder.write("a.txt", "text");
    folder.write("picture.png", "\x89PNG\r\n\x1a\n\0"s);
    folder.write("sub/latin1.txt", "\xFC");
    const auto read = readText(folder.path(), kNeverCancelled);
    ASSERT_TRUE(read.ok()) << read.error().sentence;
    EXPECT_EQ(read->text(), "text");
    EXPECT_THAT(read->note, AllOf(HasSubstr("2 files skipped"), HasSubstr("picture.png"), HasSubstr("sub/latin1.txt")));
}

TEST(TextReader, RefusesAFolderWithoutText) {
    const TemporaryFolder folder;
    EXPECT_THAT(errorOf(folder.path()).sentence, AllOf(HasSubstr(folder.path()), HasSubstr("empty")));
    folder.write("tokens.bin", "\0\1"s);
    EXPECT_THAT(errorOf(folder.path()).sentence, HasSubstr("none of its 1 files"));
}

TEST(TextReader, FollowsNoLinkOutOfAFolderInCircles) {
    const TemporaryFolder folder;
    folder.write("a/text.txt", "text");
    std::filesystem::create_directory_symlink(folder.path(), folder.path("a/loop"));
    EXPECT_EQ(textOf(folder.path()), "text");
}

TEST(TextReader, RefusesWhatHasToLieInRamAndDoesNotFitAndMapsTheRest) {
    const TemporaryFolder folder;
    const std::string line = "{\"text\": \"one\"}\n", json = folder.write("json/d.jsonl", line),
                      plain = folder.write("texts/a.txt", std::string(600, 'a'));
    folder.write("texts/b.txt", std::string(600, 'b'));
    EXPECT_TRUE(readText(json, kNeverCancelled, {6}).ok());
    const auto lines = readText(json, kNeverCancelled, {5});
    ASSERT_FALSE(lines.ok());
    EXPECT_EQ(lines.error().code, ErrorCode::OutOfMemory);
    EXPECT_THAT(lines.error().sentence, AllOf(HasSubstr("d.jsonl"), HasSubstr("more than 3"), HasSubstr("cache of tokens")));

    EXPECT_TRUE(readText(plain, kNeverCancelled, {0}).ok()) << "is mapped";
    EXPECT_TRUE(readText(folder.path("texts"), kNeverCancelled, {3000}).ok());
    const auto texts = readText(folder.path("texts"), kNeverCancelled, {2000});
    ASSERT_FALSE(texts.ok());
    EXPECT_EQ(texts.error().code, ErrorCode::OutOfMemory);
    EXPECT_THAT(texts.error().sentence, AllOf(HasSubstr(folder.path("texts")), HasSubstr("b.txt"), HasSubstr("2.00\u202FkB"), HasSubstr("cat")));
}

TEST(TextReader, ReadsTheFieldTextOfEveryLineOfJsonl) {
    const TemporaryFolder folder;
    const std::string path = folder.write("d.jsonl", "{\"text\": \"one \\u00e9\\n\", \"id\": 1}\r\n\n{\"id\": 2, \"text\": \"two\"}");
    EXPECT_EQ(textOf(path), "one \u00e9\n\n\ntwo");
}

// Where a piece ends is no matter: within a letter, an escape, a line's end.
TEST(TextReader, ReadsJsonlAlikeHoweverItComesInPieces) {
    const std::string all =
        "{\"text\": \"gr\u00fc\u00df\\n\\ud83d\\ude00\", \"id\": 1}\r\n \n  {\"text\": \"\\ud800\"}\n\n{\"id\": 2, \"text\": \"two\"}";
    const auto documentsOf = [&all](std::size_t piece) {
        std::vector<std::string> documents;
        JsonLines lines("d.jsonl", [&documents](std::string_view text) {
            documents.emplace_back(text);
            return Status{};
        });
        for (std::size_t at = 0; at < all.size(); at += piece) EXPECT_TRUE(lines.more(std::string_view(all).substr(at, piece)).ok()) << piece;
        EXPECT_TRUE(lines.end().ok());
        EXPECT_EQ(lines.mendedLines(), 1);
        return documents;
    };
    EXPECT_THAT(documentsOf(all.size()), ::testing::ElementsAre("gr\u00fc\u00df\n\U0001F600", "\uFFFD", "two"));
    for (std::size_t piece = 1; piece < all.size(); ++piece) EXPECT_EQ(documentsOf(piece), documentsOf(all.size())) << piece;

    JsonLines lines("d.jsonl", [](std::string_view) { return Status{}; });
    ASSERT_TRUE(lines.more("{\"text\": \"a\"}\n\n  ").ok());
    EXPECT_THAT(lines.more("[").error().sentence, AllOf(HasSubstr("line 3"), HasSubstr("JSON array"))) << "before the line is whole";
}

TEST(TextReader, PutsJsonlAndWhatIsPackedIntoAFileWhereTheMemoryHasNoRoom) {
    const TemporaryFolder folder;
    const std::string line = "{\"text\": \"" + std::string(600, 'a') + "\"}\n", lines = line + line, text(1200, 'b');
    const auto packed = [](const std::string& bytes) {
        std::string out(ZSTD_compressBound(bytes.size()), '\0');
        out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
        return out;
    };
    const std::string documents = std::string(600, 'a') + "\n\n" + std::string(600, 'a');
    for (const auto& [path, expected] : {std::pair(folder.write("d.jsonl", lines), documents),
                                         {folder.write("d.jsonl.zst", packed(lines)), documents},
                                         {folder.write("t.txt.zst", packed(text)), text}}) {
        EXPECT_FALSE(readText(path, kNeverCancelled, {2000}).ok()) << path;
        const auto read = readText(path, kNeverCancelled, {2000}, Separator::BlankLine, folder.path("cache"));
        ASSERT_TRUE(read.ok()) << read.error().sentence;
        EXPECT_TRUE(read->isCopy);
        EXPECT_EQ(read->text(), expected);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path("cache")));
}

TEST(TextReader, NamesTheLineOfJsonlThatIsWrong) {
    const TemporaryFolder folder;
    const std::string good = "{\"text\": \"fine\"}\n";
    for (const char* wrong : {"{\"text\": \"cut", "[1]", "7", "\"text\"", "{}", "{\"txt\": \"a\"}", "{\"text\": 3}", "{\"text\": null}",
                              "{\"text\": \"\\ud80\"}", "{\"text\": \"\xFF\"}"}) {
        const Error error = errorOf(folder.write("d.jsonl", good + "\n" + wrong + "\n" + good));
        EXPECT_EQ(error.code, ErrorCode::BadInput);
        EXPECT_THAT(error.sentence, AllOf(HasSubstr("d.jsonl"), HasSubstr("line 3"))) << wrong;
    }
}

TEST(TextReader, ReadsHalfOfASurrogatePairAsTheReplacementCharacterAndSaysSo) {
    const TemporaryFolder folder;
    const auto read = readText(folder.write("d.jsonl", R"({"text": "a\ud800b\\ud800 \ud83d\ude00\udc00"})"
                                                       "\n"
                                                       R"({"text": "whole \ud83d\ude00"})"),
                               kNeverCancelled);
    ASSERT_TRUE(read.ok()) << read.error().sentence;
    EXPECT_EQ(read->text(), "a\uFFFDb\\ud800 \U0001F600\uFFFD\n\nwhole \U0001F600");
    EXPECT_THAT(read->note, AllOf(HasSubstr("1 line "), HasSubstr("U+FFFD")));
}

TEST(TextReader, SaysThatAJsonArrayIsNoJsonl) {
    const TemporaryFolder folder;
    EXPECT_THAT(errorOf(folder.write("d.jsonl", "[{\"text\": \"a\"},\n{\"text\": \"b\"}]")).sentence,
                AllOf(HasSubstr("JSON array"), HasSubstr("jq")));
}

TEST(TextReader, RefusesALineThatNestsDeepWithoutBuildingIt) {
    const TemporaryFolder folder;
    const std::string deep = "{\"text\": \"a\", \"x\": " + std::string(20'000'000, '[');
    EXPECT_THAT(errorOf(folder.write("d.jsonl", deep)).sentence, AllOf(HasSubstr("line 1"), HasSubstr("nests")));
    const std::string wide = "{\"x\": [" + std::string(1'000, ' ') + "1, [2, {\"text\": \"inner\"}]], \"text\": \"outer\", \"y\": [[]]}";
    EXPECT_EQ(textOf(folder.write("wide.jsonl", wide)), "outer");
}

TEST(TextReader, RefusesJsonlWhoseTextsAreAllEmpty) {
    const TemporaryFolder folder;
    EXPECT_THAT(errorOf(folder.write("d.jsonl", "{\"text\": \"\"}\n{\"text\": \"\"}\n")).sentence, HasSubstr("no line holds a text"));
}

TEST(TextReader, PutsTheTokenOfItsEndBetweenDocumentsWhereThatIsAskedFor) {
    const TemporaryFolder folder;
    folder.write("a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n");
    folder.write("b.txt", "three");
    const auto read = readText(folder.path(), kNeverCancelled, kUnbounded, Separator::EndOfText);
    ASSERT_TRUE(read.ok()) << read.error().sentence;
    EXPECT_EQ(read->text(), "one<|endoftext|>two<|endoftext|>three");
    EXPECT_EQ(textOf(folder.path()), "one\n\ntwo\nthree");
    folder.write("c.jsonl", "{\"text\": \"\\ud800\"}\n");
    EXPECT_THAT(readText(folder.path(), kNeverCancelled)->note, HasSubstr("c.jsonl: 1 line held half of a surrogate pair"));
}

TEST(TextReader, StopsWhenCancelled) {
    const TemporaryFolder folder;
    folder.write("a.jsonl", "{\"text\": \"x\"}\n");
    const std::atomic<bool> cancelled{true};
    EXPECT_EQ(readText(folder.path(), cancelled).error().code, ErrorCode::Cancelled);
    EXPECT_EQ(readText(folder.path("a.jsonl"), cancelled).error().code, ErrorCode::Cancelled);
}

std::string saidOfBeginning(const std::string& path, std::size_t most) {
    const auto good = checkBeginning(path, most, [] { return true; });
    return good ? "" : good.error().sentence;
}

TEST(TextReader, LooksAtTheBeginningOfATextAlone) {
    const TemporaryFolder folder;
    const std::string path = folder.write("a.txt", "gr\u00fc\u00df \xe9");
    for (std::size_t most = 3; most <= 7; ++most) EXPECT_EQ(saidOfBeginning(path, most), "") << most << " bytes, half a letter among them";
    EXPECT_THAT(saidOfBeginning(path, 8), AllOf(HasSubstr("a.txt"), HasSubstr("0xE9")));
    EXPECT_EQ(saidOfBeginning(path, 100), errorOf(path).sentence);
    EXPECT_THAT(saidOfBeginning(folder.path("nothere.txt"), 100), HasSubstr("nothere.txt"));
    EXPECT_EQ(checkBeginning(path, 100, [] { return false; }).error().code, ErrorCode::Cancelled);
}

TEST(TextReader, LooksAtTheFirstLinesOfJsonAlone) {
    const TemporaryFolder folder;
    const std::string line = "{\"text\": \"one\"}\n";
    const std::string path = folder.write("a.jsonl", line + line + "nonsense\n");
    EXPECT_EQ(saidOfBeginning(path, 2 * line.size() + 4), "") << "what is cut is no line";
    EXPECT_EQ(saidOfBeginning(path, 3 * line.size()), errorOf(path).sentence);
    const std::string empty = folder.write("empty.jsonl", "{\"text\": \"\"}\n{\"text\": \"\"}\n");
    EXPECT_EQ(saidOfBeginning(empty, 100), errorOf(empty).sentence);
    EXPECT_EQ(saidOfBeginning(empty, 20), "") << "there may be a text behind it";
}

std::string packedText(const std::string& text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
    return out;
}

TEST(TextReader, StopsUnpackingABeginningThatNobodyWantsToKnowAnyMore) {
    const TemporaryFolder folder;
    std::string bytes = packedText(testing::lines(100'000));
    bytes.resize(bytes.size() - 10);
    const std::string path = folder.write("a.txt.zst", bytes);
    EXPECT_THAT(saidOfBeginning(path, 10'000'000), HasSubstr("is cut short"));
    EXPECT_EQ(checkBeginning(path, 10'000'000, [] { return false; }).error().code, ErrorCode::Cancelled);
}

TEST(TextReader, LooksInAFolderAtSoManyBytesAsTheyAreUnpacked) {
    const TemporaryFolder folder;
    const std::string text = testing::lines(1000);
    folder.write("in/a.txt.zst", packedText(text));
    folder.write("in/b.txt.zst", packedText(text));
    folder.write("in/c.jsonl.zst", packedText("nonsense\n"));
    EXPECT_THAT(saidOfBeginning(folder.path("in"), 3 * text.size()), HasSubstr("c.jsonl.zst line 1 is not JSON"));
    EXPECT_EQ(saidOfBeginning(folder.path("in"), text.size() + 10), "") << "the second is looked at for 10 bytes, and that is all";
}

TEST(TextReader, LooksInAFolderForAnyTextAtAll) {
    const TemporaryFolder folder;
    folder.write("in/a.png", "\x89PNG");
    EXPECT_EQ(saidOfBeginning(folder.path("in"), 100), errorOf(folder.path("in")).sentence);
    folder.write("in/b.txt", "word");
    folder.write("in/c.png", "\x89PNG");
    EXPECT_EQ(saidOfBeginning(folder.path("in"), 100), "");
    folder.write("in/d.jsonl", "nonsense\n");
    EXPECT_EQ(saidOfBeginning(folder.path("in"), 100), errorOf(folder.path("in")).sentence);
    EXPECT_EQ(saidOfBeginning(folder.path("in"), 4), "") << "as much was looked at";
}

}  // namespace
}  // namespace stepscope
