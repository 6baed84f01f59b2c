// A text as long as a disk has room: what of it lies in memory while it is put together, where a stop is heard, and what is said meanwhile.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <vector>

#include "TemporaryFolder.h"
#include "core/base/Utf8.h"
#include "core/data/Corpus.h"
#include "core/data/TextCheck.h"
#include "core/data/TextReader.h"
#include "core/data/TextSpool.h"
#include "core/data/tokens/KnownText.h"
#include "core/data/tokens/TokenCache.h"
#include "tests/support/HeldMemory.h"
#include "tests/support/Sanitized.h"

namespace stepscope {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr rlim_t kRoomToRead = rlim_t{48} << 20;
constexpr Bytes kLittle{16 << 20};  // of which half may grow: what is longer goes into a file

void writeLong(const std::string& path, std::size_t megabytes, const std::string& before = {}, const std::string& behind = {}) {
    std::ofstream file(path, std::ios::binary);
    const std::string piece = before.empty() ? std::string(kMegabyte - 1, 'a') + "\n" : before + std::string(kMegabyte, 'a') + behind;
    for (std::size_t i = 0; i < megabytes; ++i) file << piece;
}

// Ends with 0 where it was read, all of it, without more memory than kRoomToRead.
void readLongIn(const std::string& path, const std::string& spool, std::size_t bytes) {
    const rlimit limit{testing::heldMemory() + kRoomToRead, testing::heldMemory() + kRoomToRead};
    if (::setrlimit(RLIMIT_DATA, &limit) != 0) std::_Exit(3);
    try {
        const auto read = readText(path, testing::kNeverCancelled, kLittle, Separator::BlankLine, spool);
        std::_Exit(read && read->text().size() == bytes ? 0 : 1);
    } catch (const std::bad_alloc&) {
        std::_Exit(2);
    }
}

TEST(LongText, OfAFolderAFewMegabytesLieInMemory) {
    if (underSanitizer()) GTEST_SKIP() << "sanitizers take terabytes of address space themselves";
    const testing::TemporaryFolder folder;
    folder.write("texts/b.txt", "the end");
    writeLong(folder.path("texts/a.txt"), 96);
    EXPECT_EXIT(readLongIn(folder.path("texts"), folder.path("cache"), 96 * kMegabyte + 1 + 7), ::testing::ExitedWithCode(0), "");
    folder.write("lines/b.txt", "the end");
    writeLong(folder.path("lines/a.jsonl"), 96, "{\"text\": \"", "\"}\n");
    EXPECT_EXIT(readLongIn(folder.path("lines"), folder.path("cache"), 96 * kMegabyte + 95 * 2 + 1 + 7), ::testing::ExitedWithCode(0), "");
}

TEST(LongText, SaysHowMuchOfItWasReadAndHearsAStopWithinAnyFile) {
    const testing::TemporaryFolder folder;
    folder.write("texts/b.txt", "the end");
    writeLong(folder.path("texts/a.txt"), 72);
    writeLong(folder.path("a.jsonl"), 72, "{\"text\": \"", "\"}\n");
    for (const char* name : {"texts", "texts/a.txt", "a.jsonl"}) {
        std::vector<std::size_t> megabytes;
        std::atomic<bool> cancelled{false};
        const auto tell = [&](std::size_t bytes) { megabytes.push_back(bytes / kMegabyte); };
        ASSERT_TRUE(readText(folder.path(name), cancelled, kLittle, Separator::BlankLine, folder.path("cache"), tell).ok());
        EXPECT_EQ(megabytes, std::vector<std::size_t>{64}) << name;

        int told = 0;
        const auto stop = [&](std::size_t) { cancelled = ++told == 1; };
        const auto stopped = readText(folder.path(name), cancelled, kLittle, Separator::BlankLine, folder.path("cache"), stop);
        ASSERT_FALSE(stopped.ok()) << name;
        EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
        EXPECT_EQ(told, 1) << name << ": it goes on no further than that";
    }
}

TEST(LongText, SaysWhichShareOfItsFilesWasReadWhereNoneIsPacked) {
    const testing::TemporaryFolder folder;
    folder.write("texts/b.txt", std::string(kMegabyte * 8, 'b'));
    writeLong(folder.path("texts/a.txt"), 72);
    for (const char* name : {"texts", "texts/a.txt"}) {
        std::atomic<bool> cancelled{false};
        std::vector<double> shares;
        const CorpusRequest request{.data = folder.path(name), .tokenizer = "byte", .cacheFolder = folder.path("cache")};
        const auto progress = [&](const std::string& what, double share) {
            if (what.find("of text so far") == std::string::npos) return;
            shares.push_back(share);
            cancelled = true;
        };
        EXPECT_FALSE(openCorpus(request, progress, cancelled).ok());
        EXPECT_THAT(shares, ElementsAre(::testing::DoubleNear(64.0 / (std::string(name) == "texts" ? 80 : 72), 0.001))) << name;
    }
    EXPECT_FALSE(filesSeen(folder.path("texts"), "how")->packed);
    folder.write("texts/c.jsonl.zst", "packed");
    EXPECT_TRUE(filesSeen(folder.path("texts"), "how")->packed);
}

TEST(LongText, OfAFileThatIsCutShortWhileItIsReadNothingIsTaken) {
    const testing::TemporaryFolder folder;
    folder.write("texts/b.txt", "the end");
    for (const char* name : {"texts", "texts/a.txt", "a.jsonl"}) {
        writeLong(folder.path("texts/a.txt"), 72);
        writeLong(folder.path("a.jsonl"), 72, "{\"text\": \"", "\"}\n");
        const auto cut = [&](std::size_t) {
            for (const char* file : {"texts/a.txt", "a.jsonl"}) std::filesystem::resize_file(folder.path(file), 66 * kMegabyte);
        };
        const auto read = readText(folder.path(name), testing::kNeverCancelled, kLittle, Separator::BlankLine, folder.path("cache"), cut);
        ASSERT_FALSE(read.ok()) << name;
        EXPECT_EQ(read.error().code, ErrorCode::Io) << read.error().sentence;
        EXPECT_THAT(read.error().sentence, ::testing::HasSubstr("was cut short by another program")) << name;
    }
}

TEST(LongText, OfAFolderAFileThatIsNoTextNearItsEndLeavesNothingBehind) {
    const testing::TemporaryFolder folder;
    const std::string good(3 * kMegabyte, 'g');
    folder.write("texts/a.txt", good);
    folder.write("texts/b.txt", std::string(9 * kMegabyte, 'b') + '\0');  // by then the text lies in a file
    folder.write("texts/c.txt", std::string(kByteOrderMark) + "third");
    folder.write("texts/d.txt", std::string(2 * kMegabyte, 'd') + "\xFC");
    folder.write("texts/e.txt", "the end");
    for (const std::string& spool : {folder.path("cache"), std::string()}) {
        const Bytes free = spool.empty() ? kUnbounded : kLittle;
        const auto read = readText(folder.path("texts"), testing::kNeverCancelled, free, Separator::BlankLine, spool);
        ASSERT_TRUE(read.ok()) << read.error().sentence;
        EXPECT_TRUE(read->text() == good + "\nthird\nthe end") << read->text().size();
        EXPECT_THAT(read->note, ::testing::AllOf(::testing::HasSubstr("2 files skipped"), ::testing::HasSubstr("b.txt, d.txt")));
    }
}

// Bytes that this process has held at most, those of mapped files among them.
std::size_t mostHeld() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return static_cast<std::size_t>(used.ru_maxrss) * 1024;
}

// Ends with 0 where all of it was read and made tokens, these were checked and opened, and at most so many bytes were held at any time.
void tokeniseLongWithin(const std::string& path, const std::string& cache, std::size_t most) {
    const std::size_t before = mostHeld();
    const auto read = readText(path, testing::kNeverCancelled, kLittle, Separator::BlankLine, cache);
    if (!read) std::_Exit(2);
    std::atomic<bool> cancelled{false};
    const auto tokens = cachedTokens(
        read->text(), "the text", *byteTokenizer(), cache, [](const std::string&, double) {}, cancelled, [] { return kUnbounded; },
        {.piece = kMegabyte, .file = &read->file});
    if (!tokens) std::_Exit(3);
    std::_Exit(mostHeld() - before <= most ? 0 : 1);
}

TEST(LongText, WhatWasReadOfItIsNotHeld) {
    if (underSanitizer()) GTEST_SKIP() << "sanitizers count memory otherwise";
    constexpr std::size_t kMost = 112 * kMegabyte;  // of 160 MB of text: 64 are looked at together, beside them lie what is tokenised at a time
    const testing::TemporaryFolder folder;
    folder.write("texts/b.txt", "the end");
    writeLong(folder.path("texts/a.txt"), 160);
    writeLong(folder.path("a.jsonl"), 160, "{\"text\": \"", "\"}\n");
    for (const char* name : {"texts", "texts/a.txt", "a.jsonl"})
        EXPECT_EXIT(tokeniseLongWithin(folder.path(name), folder.path(std::string("cache of ") + name), kMost), ::testing::ExitedWithCode(0), "")
            << name;
}

TEST(LongText, APieceOfAnyLengthIsSpooledAsItIs) {
    const testing::TemporaryFolder folder;
    std::string all;
    std::vector<std::size_t> told;
    TextSpool spool(folder.path("cache"), kUnbounded, 1000);
    spool.tell([&](std::size_t bytes) { told.push_back(bytes); });
    for (const std::size_t length :
         {std::size_t{10}, std::size_t{2000}, 4 * kMegabyte - 1, std::size_t{1}, 9 * kMegabyte + 3, std::size_t{0}, 60 * kMegabyte}) {
        std::string piece(length, '\0');
        for (std::size_t i = 0; i < length; ++i) piece[i] = static_cast<char>('a' + (all.size() + i) % 23);
        ASSERT_TRUE(spool.append(piece).ok());
        all += piece;
        EXPECT_EQ(spool.size(), all.size());
        EXPECT_LT(spool.inRam(), 4 * kMegabyte);
    }
    EXPECT_THAT(told, ElementsAre(all.size()));
    const auto text = spool.finish();
    ASSERT_TRUE(text.ok());
    EXPECT_TRUE(text->file.bytes() == all);
}

// In pieces of 1000 bytes, kept in memory.
Result<CachedTokens> tokensOf(const std::string& text, const Tokenizer& tokenizer, std::size_t uncut) {
    return cachedTokens(
        text, "the text", tokenizer, {}, [](const std::string&, double) {}, testing::kNeverCancelled, [] { return kUnbounded; },
        {.piece = 1000, .uncut = uncut});
}

TEST(LongText, WhatWasSpooledLastIsTakenBack) {
    const testing::TemporaryFolder folder;
    for (const std::size_t inRam : {std::size_t{1000}, 100 * kMegabyte})
        for (const std::size_t kept : {std::size_t{0}, std::size_t{10}, 4 * kMegabyte, 5 * kMegabyte, 9 * kMegabyte + 1}) {
            TextSpool spool(folder.path("cache"), kUnbounded, inRam);
            ASSERT_TRUE(spool.append(std::string(kept, 'k')).ok());
            ASSERT_TRUE(spool.append(std::string(6 * kMegabyte + 7, 'x')).ok());
            ASSERT_TRUE(spool.cutTo(kept).ok());
            EXPECT_EQ(spool.size(), kept);
            ASSERT_TRUE(spool.append("end").ok());
            const auto text = spool.finish();
            ASSERT_TRUE(text.ok());
            const std::string_view all = text->file.bytes().empty() ? std::string_view(text->owned) : text->file.bytes();
            EXPECT_TRUE(all == std::string(kept, 'k') + "end") << inRam << " " << kept << " " << all.size();
        }
}

TEST(LongText, WithoutABlankIsCutWhereItsTokenizerCanAndRefusedWhereThatIsNowhere) {
    std::string text;
    while (text.size() < 9000) text += "a\u00e9\u20ac";
    const auto bytes = byteTokenizer(), characters = charTokenizer(text);
    for (const auto& tokenizer : {bytes, characters}) {
        const auto tokens = tokensOf(text, *tokenizer, 10);
        ASSERT_TRUE(tokens.ok()) << tokens.error().sentence;
        const auto whole = tokenizer->encode(text).value();
        EXPECT_EQ(testing::idsOf(*tokens->row), std::vector<std::int64_t>(whole.begin(), whole.end()));
    }
    const auto pairs = bytePairTokenizer(bytePairTexts(*bytes).value(), false).value();
    const auto refused = tokensOf(text, *pairs, 2000);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::BadInput);
    EXPECT_THAT(refused.error().sentence, ::testing::AllOf(::testing::HasSubstr("the text cannot be tokenised by gpt2: from byte 0 on"),
                                                           ::testing::HasSubstr("without a blank")));
    for (const std::string& good : {text, text + " " + text}) {
        const auto tokens = tokensOf(good, *pairs, 9000);
        ASSERT_TRUE(tokens.ok()) << tokens.error().sentence;
        const auto whole = pairs->encode(good).value();
        EXPECT_EQ(testing::idsOf(*tokens->row), std::vector<std::int64_t>(whole.begin(), whole.end()));
    }
}

TEST(LongText, CountingItsCharactersOrLookingAtItsFilesEndsWhereNobodyWantsIt) {
    const std::string text(72 * kMegabyte, 'a');
    std::vector<std::size_t> asked;
    EXPECT_EQ(charTokenizer(text, [&](std::size_t at) { return asked.push_back(at / kMegabyte), false; }), nullptr);
    EXPECT_THAT(asked, ElementsAre(64U));
    EXPECT_EQ(charTokenizer(text)->vocabulary(), 1);

    const testing::TemporaryFolder folder;
    for (int i = 0; i < 600; ++i) folder.write(std::to_string(i) + ".txt", "a");
    const auto unwanted = [] { return false; };
    EXPECT_TRUE(filesSeen(folder.path(), "how"));
    EXPECT_FALSE(filesSeen(folder.path(), "how", unwanted));
    EXPECT_EQ(filesOfText(folder.path()).value().size(), 600U);
    const auto stopped = filesOfText(folder.path(), unwanted);
    ASSERT_FALSE(stopped.ok());
    EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
}

TEST(LongText, WhereNoFileCanBeMadeATextIsRefusedThatOutgrowsTheMemory) {
    const testing::TemporaryFolder folder;
    folder.write("file", "no folder");
    TextSpool spool(folder.path("file/cache"), Bytes{4000}, 1000);
    EXPECT_TRUE(spool.append(std::string(1500, 'a')).ok()) << "more than lies in RAM otherwise, and there is room";
    EXPECT_TRUE(spool.append(std::string(500, 'a')).ok());
    const Status refused = spool.append("a");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::Io);
    EXPECT_NE(refused.error().sentence.find("file/cache has no room"), std::string::npos) << refused.error().sentence;
}

}  // namespace
}  // namespace stepscope
