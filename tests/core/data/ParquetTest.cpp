// Parquet as the program sees it: what stands in for stepscope-parquet here are shell scripts, so each of these runs where pyarrow is not. What real
// files give: tests/interop/parquet_agrees.py.
#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>

#include "TemporaryFolder.h"
#include "core/data/Corpus.h"
#include "core/data/ParquetTexts.h"
#include "core/data/TextReader.h"
#include "core/data/TextSpool.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Parquet : public ::testing::Test {
protected:
    void SetUp() override {
        m_file = m_folder.write("data/texts.parquet", "PAR1");
        if (const char* before = std::getenv("STEPSCOPE_PARQUET_READER")) m_before = before;
    }
    void TearDown() override {
        if (m_before.empty())
            ::unsetenv("STEPSCOPE_PARQUET_READER");
        else
            ::setenv("STEPSCOPE_PARQUET_READER", m_before.c_str(), 1);
    }
    // The reader is a script with these lines.
    void readerIs(const std::string& lines) {
        const std::string path = m_folder.write("reader", "#!/bin/sh\n" + lines + "\n");
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        ::setenv("STEPSCOPE_PARQUET_READER", path.c_str(), 1);
    }
    static std::string text(const std::string& text) { return "printf 'T\\" + octal(text.size()) + "\\000\\000\\000" + text + "'; "; }
    static std::string done(int nulls = 0) {
        return "printf 'D\\010\\000\\000\\000\\" + octal(static_cast<std::size_t>(nulls)) + "\\000\\000\\000\\000\\000\\000\\000'; ";
    }
    static std::string octal(std::size_t byte) {
        std::string digits;
        for (int i = 0; i < 3; ++i, byte /= 8) digits.insert(0, 1, static_cast<char>('0' + byte % 8));
        return digits;
    }
    std::string sentence() const {
        const auto read = readText(m_file, testing::kNeverCancelled);
        EXPECT_FALSE(read.ok());
        return read ? "" : read.error().sentence;
    }

    testing::TemporaryFolder m_folder;
    std::string m_file, m_before;
};

TEST_F(Parquet, JoinsItsTextsAsThoseOfJsonlAreJoined) {
    readerIs(text("one") + text("") + text("three") + done(2));
    const auto read = readText(m_file, testing::kNeverCancelled);
    ASSERT_TRUE(read.ok()) << read.error().sentence;
    const auto lines =
        readText(m_folder.write("same.jsonl", "{\"text\":\"one\"}\n{\"text\":\"\"}\n{\"text\":\"three\"}\n"), testing::kNeverCancelled);
    EXPECT_EQ(read->text(), lines->text());
    EXPECT_THAT(read->note, AllOf(HasSubstr("2 rows of"), HasSubstr("held no text and were left out")));
    const auto documents = readText(m_file, testing::kNeverCancelled, kUnbounded, Separator::EndOfText);
    EXPECT_EQ(documents->text(), "one<|endoftext|><|endoftext|>three");
}

TEST_F(Parquet, IsReadAmongTheFilesOfAFolderAndMustBeGoodThere) {
    m_folder.write("data/a.txt", "first");
    m_folder.write("data/z.txt", "last");
    readerIs(text("one") + text("two") + done(1));
    const auto read = readText(m_folder.path("data"), testing::kNeverCancelled);
    ASSERT_TRUE(read.ok()) << read.error().sentence;
    EXPECT_EQ(read->text(), "first\none\n\ntwo\nlast");
    EXPECT_THAT(read->title, HasSubstr("3 files"));
    EXPECT_THAT(read->note, HasSubstr("1 row of"));
    readerIs("printf 'E\\007\\000\\000\\000is bad.'");
    const auto bad = readText(m_folder.path("data"), testing::kNeverCancelled);
    ASSERT_FALSE(bad.ok());
    EXPECT_EQ(bad.error().sentence, m_file + " is bad.");
    EXPECT_EQ(checkBeginning(m_folder.path("data"), 1000, [] { return true; }).error().sentence, m_file + " is bad.");
}

TEST_F(Parquet, ItsReaderIsBelievedNothing) {
    const std::string broken = " cannot be read as parquet: its reader broke off";
    for (const std::string& lines : {std::string(), text("one"), std::string("printf 'T\\377\\000\\000\\000cut'"), std::string("printf T"),
                                     std::string("printf '?\\001\\000\\000\\000x'"), std::string("printf 'T\\377\\377\\377\\377'"),
                                     std::string("printf 'D\\001\\000\\000\\000x'"), std::string("printf 'E\\377\\377\\000\\000x'"),
                                     std::string("printf 'D\\010\\000\\000\\000\\377\\377\\377\\377\\377\\377\\377\\377'")}) {
        readerIs(lines);
        EXPECT_THAT(sentence(), StartsWith(m_file + broken)) << lines;
    }
    readerIs(text("one") + "kill -SEGV $$");
    EXPECT_THAT(sentence(), HasSubstr("ended by signal 11"));
    readerIs(text("one") + "printf 'T\\001\\000\\000\\000\\377'; " + done());
    EXPECT_THAT(sentence(), HasSubstr("not UTF-8 in its text 2, byte 0"));
    readerIs("printf 'E\\004\\000\\000\\000a\\033[m'");
    EXPECT_EQ(sentence(), m_file + " a\uFFFD[m") << "what a terminal would obey is not handed on";
    readerIs(text("") + done());
    EXPECT_THAT(sentence(), HasSubstr("no row holds a text"));
}

TEST_F(Parquet, SaysWhatToDoWhereItsReaderCannotRun) {
    ::setenv("STEPSCOPE_PARQUET_READER", m_folder.path("none").c_str(), 1);
    EXPECT_THAT(sentence(), AllOf(HasSubstr("the reader of parquet"), HasSubstr("cannot be started"), HasSubstr("No such file")));
    readerIs("exit 127");
    EXPECT_THAT(sentence(), AllOf(HasSubstr("does not find its libraries"), HasSubstr("STEPSCOPE_PARQUET=1 packaging/run --build-only")));
}

TEST_F(Parquet, WhatIsNotThereOrPackedIsNotHandedToAReader) {
    readerIs("touch '" + m_folder.path("asked") + "'");
    EXPECT_EQ(readText(m_folder.path("none.parquet"), testing::kNeverCancelled).error().code, ErrorCode::NotFound);
    EXPECT_THAT(readText(m_folder.write("a.parquet.zst", "x"), testing::kNeverCancelled).error().sentence, HasSubstr("zstd -d"));
    EXPECT_FALSE(std::filesystem::exists(m_folder.path("asked")));
    EXPECT_TRUE(isPackedText("a.parquet"));
    EXPECT_FALSE(isPlainTextFile(m_file));
}

TEST_F(Parquet, IsStoppedWhileItsReaderHangs) {
    readerIs(text("one") + "exec sleep 600");
    std::atomic<bool> cancelled{false};
    std::thread stop([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        cancelled = true;
    });
    const auto read = readText(m_file, cancelled);
    stop.join();
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, ErrorCode::Cancelled);
}

TEST_F(Parquet, OnlyItsBeginningIsLookedAtBeforeARun) {
    readerIs("while :; do " + text("more and more of it") + " done");
    EXPECT_TRUE(checkBeginning(m_file, 1'000'000, [] { return true; }).ok());
    int asked = 0;
    EXPECT_EQ(checkBeginning(m_file, std::size_t{1} << 40, [&] { return ++asked < 3; }).error().code, ErrorCode::Cancelled);
}

TEST_F(Parquet, GivesTheTokensOfItsTexts) {
    std::string lines, expected;
    for (int i = 0; i < 40; ++i) {
        lines += text("text number " + std::to_string(i));
        expected += (i > 0 ? "\n\n" : "") + ("text number " + std::to_string(i));
    }
    readerIs(lines + done());
    const CorpusRequest request{.data = m_file, .tokenizer = "byte", .validationFraction = 0, .context = 8, .cacheFolder = m_folder.path("cache")};
    const auto corpus = openCorpus(request, {}, testing::kNeverCancelled);
    ASSERT_TRUE(corpus.ok()) << corpus.error().sentence;
    const auto ids = testing::idsOf(*corpus->tokens);
    EXPECT_EQ(std::string(ids.begin(), ids.end()), expected);
}

TEST(TextSpool, PutsALongTextIntoAFileWithoutANameAndAShortOneIntoMemory) {
    const testing::TemporaryFolder folder;
    for (const std::size_t inRam : {std::size_t{10}, std::size_t{10'000}, TextSpool::kMostInRam}) {
        TextSpool spool(folder.path("cache"), kUnbounded, inRam);
        std::string expected;
        for (int i = 0; i < 1000; ++i) {
            const std::string piece = "piece " + std::to_string(i) + "\n";
            ASSERT_TRUE(spool.append(piece).ok());
            expected += piece;
        }
        EXPECT_EQ(spool.size(), expected.size());
        const auto text = spool.finish();
        ASSERT_TRUE(text.ok()) << text.error().sentence;
        const bool isLong = expected.size() > inRam;
        EXPECT_EQ(isLong ? std::string(text->file.bytes()) : text->owned, expected);
        EXPECT_TRUE(!std::filesystem::exists(folder.path("cache")) || std::filesystem::is_empty(folder.path("cache")));
    }
    TextSpool without({}, {20}, 10);
    ASSERT_TRUE(without.append(std::string(100, 'x')).ok());
    EXPECT_TRUE(without.onlyInRam());
    EXPECT_EQ(without.finish()->owned.size(), 100U);
    folder.write("file", "no folder");
    TextSpool stays(folder.path("file/cache"), kUnbounded, 10);
    ASSERT_TRUE(stays.append(std::string(100, 'x')).ok());
    EXPECT_EQ(stays.finish()->owned.size(), 100U);
    TextSpool nowhere(folder.path("file/cache"), {40}, 10);
    EXPECT_THAT(nowhere.append(std::string(100, 'x')).error().sentence, AllOf(HasSubstr("file/cache has no room for it"), HasSubstr("make room")));
}

TEST(TextSpool, LetsAFolderBeReadThatTheMemoryHasNoRoomFor) {
    const testing::TemporaryFolder folder;
    folder.write("texts/a.txt", std::string(600, 'a'));
    folder.write("texts/b.txt", std::string(600, 'b'));
    ASSERT_FALSE(readText(folder.path("texts"), testing::kNeverCancelled, {2000}).ok());
    const auto read = readText(folder.path("texts"), testing::kNeverCancelled, {2000}, Separator::BlankLine, folder.path("cache"));
    ASSERT_TRUE(read.ok()) << read.error().sentence;
    EXPECT_TRUE(read->isCopy);
    EXPECT_EQ(read->text(), std::string(600, 'a') + "\n" + std::string(600, 'b'));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path("cache")));
}

}  // namespace
}  // namespace stepscope
