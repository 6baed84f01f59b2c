// Texts packed as .zst: every way of packing them gives the text again, every damage one sentence.
#include <gmock/gmock.h>
#include <zstd.h>

#include "RandomText.h"
#include "TemporaryFolder.h"
#include "core/data/TextReader.h"
#include "core/data/Zstd.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kNeverCancelled;
using testing::TemporaryFolder;

const std::function<bool()> kGoOn = [] { return false; };

std::string packed(const std::string& text, int windowLog = 0) {
    const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
    if (windowLog > 0) {
        ZSTD_CCtx_setParameter(context.get(), ZSTD_c_enableLongDistanceMatching, 1);
        ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, windowLog);
        ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, 0);  // as when packing from a pipe
    }
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress2(context.get(), out.data(), out.size(), text.data(), text.size()));
    return out;
}

std::string unpacked(const std::string& bytes) {
    const auto text = unpackZstd(bytes, "t.zst", kGoOn);
    EXPECT_TRUE(text.ok()) << text.error().sentence;
    return text ? *text : "";
}

std::string refusal(const std::string& bytes, std::size_t most = kMostUnpacked) {
    const auto text = unpackZstd(bytes, "t.zst", kGoOn, most);
    EXPECT_FALSE(text.ok());
    if (text) return "";
    EXPECT_EQ(text.error().code, ErrorCode::BadInput);
    EXPECT_TRUE(text.error().sentence.starts_with("t.zst ") && text.error().sentence.ends_with('.')) << text.error().sentence;
    return text.error().sentence;
}

TEST(Zstd, GivesBackWhatWasPackedWhateverItsSize) {
    testing::RandomText random(3);
    const std::size_t block = ZSTD_DStreamOutSize();
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, block - 1, block, block + 1, 3 * block, 5 * block + 7}) {
        const std::string text = random.bytes(size);
        EXPECT_TRUE(unpacked(packed(text)) == text) << size;
    }
    // A few bytes that become many: the stream has more to give when its input is used up.
    EXPECT_TRUE(unpacked(packed(std::string(4 * block, 'a'))) == std::string(4 * block, 'a'));
}

TEST(Zstd, JoinsTheFramesOfOneFile) {
    EXPECT_EQ(unpacked(packed("one ") + packed("") + packed("two")), "one two");
}

TEST(Zstd, TakesTheLongWindowsOfLargeDumps) {
    EXPECT_EQ(unpacked(packed("a text", 31)), "a text");
}

TEST(Zstd, RefusesWhatIsNotPacked) {
    EXPECT_THAT(refusal("plain text, long enough"), HasSubstr("is not packed with zstd"));
    EXPECT_THAT(refusal(""), HasSubstr("is cut short"));
}

TEST(Zstd, SaysWhereverAFileIsCutShort) {
    testing::RandomText random(4);
    const std::string whole = packed(random.bytes(3000)) + packed("second frame");
    const std::size_t first = packed("second frame").size();
    for (std::size_t size = 1; size < whole.size(); ++size) {
        if (size == whole.size() - first) continue;  // exactly the first frame: nobody can tell
        EXPECT_THAT(refusal(whole.substr(0, size)), HasSubstr("is cut short")) << size;
    }
}

TEST(Zstd, SaysThatAFileIsDamaged) {
    std::string bytes = packed(std::string(1000, 'x').append("end"));
    bytes[5] = static_cast<char>(bytes[5] ^ 0xFF);
    EXPECT_THAT(refusal(bytes), HasSubstr("is damaged"));
    EXPECT_THAT(refusal(packed("fine") + "rubbish behind it"), HasSubstr("is damaged"));
}

TEST(Zstd, RefusesWhatNoTextPacksTo) {
    EXPECT_THAT(refusal(packed(std::string(std::size_t{80} << 20, 'a'))), HasSubstr("more than 1000 times its size"));
    EXPECT_EQ(unpacked(packed(std::string(std::size_t{8} << 20, 'a'))).size(), std::size_t{8} << 20) << "a small one harms nobody";
}

TEST(Zstd, RefusesWhatWouldFillTheMemory) {
    EXPECT_EQ(unpackZstd(packed(std::string(2'000'000, 'a')), "t.zst", kGoOn, 2'000'000)->size(), 2'000'000u);
    EXPECT_THAT(refusal(packed(std::string(2'000'001, 'a')), 2'000'000), AllOf(HasSubstr("more than 2"), HasSubstr("zstd -d")));
    const auto beginning = unpackZstd(packed(std::string(2'000'001, 'a')), "t.zst", kGoOn, 2'000'000, Beyond::LeftOut);
    ASSERT_TRUE(beginning.ok());
    EXPECT_EQ(*beginning, std::string(2'000'000, 'a'));
}

TEST(Zstd, StopsWhenCancelled) {
    EXPECT_EQ(unpackZstd(packed("text"), "t.zst", [] { return true; }).error().code, ErrorCode::Cancelled);
}

// What gives no text is a question of time too: 20 MB of frames without contents.
TEST(Zstd, AsksOftenWhetherItIsCancelledWhateverItUnpacks) {
    std::string nothing;
    const std::string frame = packed("");
    while (nothing.size() < 20'000'000) nothing += frame;
    for (const std::string& bytes : {nothing, packed(std::string(20'000'000, 'a'))}) {
        int asked = 0;
        const std::function<bool()> atLast = [&asked] { return ++asked == 20; };
        EXPECT_EQ(unpackZstd(bytes, "t.zst", atLast).error().code, ErrorCode::Cancelled);
        EXPECT_EQ(asked, 20) << "and nothing more after it";
    }
    EXPECT_EQ(unpacked(nothing), "");
}

std::string textOf(const std::string& path) {
    const auto read = readText(path, kNeverCancelled);
    EXPECT_TRUE(read.ok()) << read.error().sentence;
    return read ? std::string(read->text()) : "";
}

TEST(Zstd, ATextIsReadAsItIsUnpacked) {
    const TemporaryFolder folder;
    EXPECT_EQ(textOf(folder.write("a.txt.zst", packed("gr\u00fc\u00df"))), "gr\u00fc\u00df");
    EXPECT_EQ(textOf(folder.write("b.ZST", packed("\xEF\xBB\xBFtext"))), "text");
    EXPECT_EQ(textOf(folder.write("c.jsonl.zst", packed("{\"text\": \"one\"}\n{\"text\": \"two\"}\n"))), "one\n\ntwo");
}

TEST(Zstd, ATextThatDoesNotFitIntoTheFreeMemoryIsRefused) {
    const TemporaryFolder folder;
    const std::string path = folder.write("a.txt.zst", packed(std::string(1000, 'a')));
    EXPECT_TRUE(readText(path, kNeverCancelled, {2000}).ok());
    const auto read = readText(path, kNeverCancelled, {1998});
    ASSERT_FALSE(read.ok());
    EXPECT_THAT(read.error().sentence, AllOf(HasSubstr("a.txt.zst"), HasSubstr("more than 999"), HasSubstr("zstd -d")));
}

TEST(Zstd, WhatIsInsideIsCheckedLikeAnyText) {
    const TemporaryFolder folder;
    const auto sentence = [&](const std::string& name, const std::string& text) {
        const auto read = readText(folder.write(name, packed(text)), kNeverCancelled);
        EXPECT_FALSE(read.ok());
        return read ? "" : read.error().sentence;
    };
    EXPECT_THAT(sentence("empty.txt.zst", ""), AllOf(HasSubstr("empty.txt.zst"), HasSubstr("is empty")));
    EXPECT_THAT(sentence("latin1.txt.zst", "gr\xFC\xDF"), HasSubstr("is not UTF-8 text"));
    EXPECT_THAT(sentence("d.jsonl.zst", "{\"text\": \"one\"}\n7\n"), HasSubstr("line 2"));
    EXPECT_THAT(sentence("tokens.bin.zst", "\1\2"), HasSubstr("unpack it with zstd -d"));
}

TEST(Zstd, AFolderMayHoldPackedAndPlainTextAndADamagedFileIsNotSkipped) {
    const TemporaryFolder folder;
    folder.write("a.txt", "first");
    folder.write("b.jsonl.zst", packed("{\"text\": \"second\"}"));
    EXPECT_EQ(textOf(folder.path()), "first\nsecond");
    folder.write("c.txt.zst", packed("third").substr(0, 8));
    const auto read = readText(folder.path(), kNeverCancelled);
    ASSERT_FALSE(read.ok());
    EXPECT_THAT(read.error().sentence, AllOf(HasSubstr("c.txt.zst"), HasSubstr("is cut short")));
}

}  // namespace
}  // namespace stepscope
