// Tokens of a text that is put together from files are found again without putting it together, as long as none of the files is another one.
#include <gmock/gmock.h>
#include <unistd.h>
#include <zstd.h>

#include <tuple>

#include "RandomText.h"
#include "TemporaryFolder.h"
#include "core/data/Corpus.h"
#include "core/data/tokens/KnownText.h"
#include "core/data/tokens/TokenCacheFolder.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

class KnownTextTest : public ::testing::Test {
protected:
    KnownTextTest() {
        m_folder.write("texts/a.txt", testing::lines(100));
        m_folder.write("texts/b.txt", testing::lines(50));
        m_request.data = m_folder.path("texts");
        m_request.tokenizer = "byte";
        m_request.context = 8;
        m_request.cacheFolder = m_folder.path("cache");
        m_request.keptInRam = 0;
        m_request.settledNs = 0;
    }
    Corpus open() {
        m_known = false;
        const auto progress = [this](const std::string& what, double) { m_known |= what.find("not put together again") != std::string::npos; };
        auto corpus = openCorpus(m_request, progress, testing::kNeverCancelled);
        EXPECT_TRUE(corpus.ok()) << (corpus ? "" : corpus.error().sentence);
        return corpus ? *std::move(corpus) : Corpus{};
    }
    // Opened without its text.
    bool isKnown() {
        open();
        return m_known;
    }
    std::vector<fs::path> sources() const {
        std::vector<fs::path> all;
        for (const auto& entry : fs::directory_iterator(m_folder.path("cache")))
            if (entry.path().extension() == ".sources") all.push_back(entry.path());
        return all;
    }

    testing::TemporaryFolder m_folder;
    CorpusRequest m_request;
    bool m_known = false;
};

TEST_F(KnownTextTest, IsTheSameCorpusAsIfItWerePutTogether) {
    m_folder.write("texts/c.png", std::string_view("\x89PNG\0", 5));
    const Corpus first = open();
    EXPECT_FALSE(m_known);
    const Corpus second = open();
    EXPECT_TRUE(m_known);
    EXPECT_EQ(testing::idsOf(*second.tokens), testing::idsOf(*first.tokens));
    EXPECT_EQ(second.identity, first.identity);
    EXPECT_EQ(second.description, first.description);
    EXPECT_EQ(second.whyNoText, first.whyNoText);
    EXPECT_EQ(second.trainTokens, first.trainTokens);
    EXPECT_EQ(second.vocabulary, first.vocabulary);
    EXPECT_FALSE(second.text);
}

TEST_F(KnownTextTest, OfLinesOfJsonIsFoundAgainToo) {
    std::string lines;
    for (int i = 0; i < 50; ++i) lines += "{\"text\": \"some words of a line\"}\n";
    m_request.data = m_folder.write("a.jsonl", lines);
    EXPECT_FALSE(isKnown());
    EXPECT_TRUE(isKnown());
}

TEST_F(KnownTextTest, AnEditShowsThoughSizeAndTimeOfModificationAreAsBefore) {
    const std::string before = open().identity, path = m_folder.path("texts/b.txt");
    const auto modified = fs::last_write_time(path);
    ::usleep(50'000);  // more than a file system's clock takes to go on
    std::string text = testing::readFile(path);
    text[3] = text[3] == 'q' ? 'r' : 'q';
    m_folder.write("texts/b.txt", text);
    fs::last_write_time(path, modified);
    const std::string after = open().identity;
    EXPECT_FALSE(m_known);
    EXPECT_NE(after, before);
}

TEST_F(KnownTextTest, OtherFilesAnotherSeparatorOrAnotherTokenizerAreAnotherText) {
    open();
    m_request.separator = "endoftext";
    EXPECT_FALSE(isKnown());
    m_request.separator = "blank-line";
    EXPECT_TRUE(isKnown());
    m_request.with = charTokenizer(testing::readFile(m_folder.path("texts/a.txt")) + testing::readFile(m_folder.path("texts/b.txt")));
    EXPECT_FALSE(isKnown());
    EXPECT_TRUE(isKnown());
    m_request.with = nullptr;
    m_folder.write("texts/d.txt", "one more");
    EXPECT_FALSE(isKnown());
    EXPECT_TRUE(isKnown());
    fs::remove(m_folder.path("texts/d.txt"));
    fs::rename(m_folder.path("texts/a.txt"), m_folder.path("texts/z.txt"));
    EXPECT_FALSE(isKnown());
}

TEST_F(KnownTextTest, IsPutTogetherWhereTheTextItselfIsWanted) {
    open();
    m_request.keepText = true;
    EXPECT_TRUE(open().text);
    EXPECT_FALSE(m_known);
    m_request.keepText = false;
    EXPECT_TRUE(isKnown());
}

TEST_F(KnownTextTest, ItsCharactersAreCountedOnce) {
    m_request.tokenizer = "char";
    const Corpus first = open();
    EXPECT_FALSE(m_known);
    const Corpus second = open();
    EXPECT_TRUE(m_known);
    ASSERT_TRUE(second.tokenizer);
    EXPECT_EQ(second.tokenizer->toJson(), first.tokenizer->toJson());
    EXPECT_EQ(testing::idsOf(*second.tokens), testing::idsOf(*first.tokens));
    EXPECT_EQ(second.vocabulary, first.vocabulary);
    EXPECT_EQ(second.description, first.description);
    // Another alphabet by the same files: none that was counted in them.
    m_request.with = charTokenizer(testing::readFile(m_folder.path("texts/a.txt")) + testing::readFile(m_folder.path("texts/b.txt")) + "\u20ac");
    EXPECT_EQ(open().vocabulary, first.vocabulary + 1);
    EXPECT_FALSE(m_known);
    m_request.with = nullptr;
    EXPECT_TRUE(isKnown());
    m_folder.write("texts/c.txt", "\u20ac");
    EXPECT_EQ(open().vocabulary, first.vocabulary + 1);
    EXPECT_FALSE(m_known);
}

TEST_F(KnownTextTest, IsPutTogetherWhereItsCharactersAreNoneThatCanBeRead) {
    m_request.tokenizer = "char";
    open();
    ASSERT_EQ(sources().size(), 1U);
    const std::string path = sources().front().string(), good = testing::readFile(path);
    const auto known = parseKnownText(good);
    ASSERT_TRUE(known);
    for (const std::string& wrong : {std::string(), std::string("{"), byteTokenizer()->toJson(), charTokenizer("ab")->toJson()}) {
        KnownText other = *known;
        other.tokenizer = wrong;
        std::ofstream(path, std::ios::trunc) << knownTextJson(other);
        EXPECT_FALSE(isKnown()) << wrong;
    }
}

TEST_F(KnownTextTest, IsNotRememberedOfFilesThatMayStillBeWrittenTo) {
    m_request.settledNs = kSettledNs;
    open();
    EXPECT_FALSE(isKnown());
    EXPECT_FALSE(isKnown());
    m_request.settledNs = 0;
    EXPECT_FALSE(isKnown());
    EXPECT_TRUE(isKnown()) << "now they are settled";
}

TEST_F(KnownTextTest, IsPutTogetherWhereItsTokensOrWhatIsRememberedAreDamaged) {
    const auto ids = testing::idsOf(*open().tokens);
    ASSERT_EQ(sources().size(), 1U);
    const std::string path = sources().front().string(), good = testing::readFile(path);
    for (std::size_t size = 0; size < good.size(); size += 7) {
        std::ofstream(path, std::ios::trunc) << good.substr(0, size);
        EXPECT_FALSE(isKnown()) << size << " bytes";
    }
    const std::string cache = path.substr(0, path.size() - std::string(".sources").size());
    EXPECT_TRUE(isKnown());
    fs::resize_file(cache, 200);
    EXPECT_EQ(testing::idsOf(*open().tokens), ids);
    EXPECT_FALSE(m_known);
    fs::remove(cache);
    EXPECT_FALSE(isKnown());
}

TEST_F(KnownTextTest, IsReadAgainAsItWasWritten) {
    const KnownText settled{{1, 2}, {3, 4}, "folder a (2 files)", "a note"};
    KnownText unsettled = settled;
    unsettled.unsettledAtNs = 5'000'000'000;
    KnownText counted = settled;
    counted.tokenizer = charTokenizer("a\"\u20ac\n")->toJson();
    for (const KnownText& known : {settled, unsettled, counted}) {
        const auto again = parseKnownText(knownTextJson(known));
        ASSERT_TRUE(again);
        EXPECT_EQ(*again, known);
    }
    // A program that does not know the time would take it for settled.
    EXPECT_NE(knownTextJson(unsettled).find("\"version\":2"), std::string::npos);
    for (const char* wrong : {"0", "-1", "1.5", "\"5\"", "null", "18446744073709551615"}) {
        std::string json = knownTextJson(unsettled);
        json.replace(json.find("5000000000"), 10, wrong);
        EXPECT_FALSE(parseKnownText(json)) << wrong;
    }
}

// What is remembered is believed without a look into the files, so it is of no use once they are read as another text. Who changes what these are
// read as raises kReading in KnownText.cpp, and here the version with the text.
TEST_F(KnownTextTest, HasTheNumberOfTheReadingThatMadeIt) {
    const auto zstdOf = [](const std::string& text) {
        std::string out(ZSTD_compressBound(text.size()), '\0');
        out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
        return out;
    };
    const std::string plain = testing::lines(50);
    m_folder.write("read/.hidden", "none of it");
    m_folder.write("read/a.txt", "\xEF\xBB\xBF" + plain + "\r\n");
    m_folder.write(
        "read/b.jsonl",
        "{\"text\": \"first\", \"meta\": {\"text\": 1}}\n\n{\"text\": \"half \\ud83d of a pair\"}\r\n{\"text\": \"\", \"text\": \"last\"}");
    m_folder.write("read/c.txt.zst", zstdOf("packed\r\n"));
    m_folder.write("read/d.png", std::string_view("\x89PNG\0", 5));
    m_folder.write("read/e/deeper.md", "# deeper");
    m_folder.write("read/f.jsonl.zst", zstdOf("{\"text\": \"packed line\"}\n"));
    m_request.data = m_folder.path("read");
    for (const auto& [separator, files, documents] :
         {std::tuple{"blank-line", "\n", "\n\n"}, std::tuple{"endoftext", "<|endoftext|>", "<|endoftext|>"}}) {
        m_request.separator = separator;
        std::string text = plain + "\r\n" + files + "first" + documents + "half \uFFFD of a pair" + documents + "last";
        for (const char* one : {"packed\r\n", "# deeper", "packed line"}) text += files + std::string(one);
        EXPECT_EQ(open().identity, hashOf(text).hex()) << separator;
    }
    ASSERT_EQ(sources().size(), 2U);
    for (const auto& path : sources()) EXPECT_NE(testing::readFile(path.string()).find("\"version\":1}"), std::string::npos) << path;
}

TEST_F(KnownTextTest, GoesWithItsTokens) {
    open();
    ASSERT_EQ(sources().size(), 1U);
    boundTokenCaches(m_folder.path("cache"), {.files = 0});
    EXPECT_TRUE(sources().empty());
}

}  // namespace
}  // namespace stepscope
