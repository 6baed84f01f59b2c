// Opening what a run trains on: every source, the split, the vocabulary, and what is refused.
#include <gmock/gmock.h>

#include "RandomText.h"
#include "TemporaryFolder.h"
#include "core/data/Corpus.h"
#include "core/data/tokenizers/Utf8.h"
#include "core/data/tokens/TokenRows.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CorpusTest : public ::testing::Test {
protected:
    CorpusRequest request(const std::string& data, const std::string& tokenizer = "byte") const {
        CorpusRequest request;
        request.data = data;
        request.tokenizer = tokenizer;
        request.context = 8;
        request.cacheFolder = m_folder.path("cache");
        return request;
    }
    static Corpus open(const CorpusRequest& request) {
        auto corpus = openCorpus(request, {}, testing::kNeverCancelled);
        EXPECT_TRUE(corpus.ok()) << (corpus ? "" : corpus.error().sentence);
        return corpus ? *std::move(corpus) : Corpus{};
    }
    static std::string refusal(const CorpusRequest& request) {
        const auto corpus = openCorpus(request, {}, testing::kNeverCancelled);
        EXPECT_FALSE(corpus.ok());
        if (corpus) return {};
        EXPECT_TRUE(corpus.error().sentence.ends_with('.')) << corpus.error().sentence;
        return corpus.error().sentence;
    }

    testing::TemporaryFolder m_folder;
};

TEST_F(CorpusTest, OpensATextAndSplitsItByPosition) {
    const std::string text = testing::lines(100);
    const Corpus corpus = open(request(m_folder.write("a.txt", text)));
    EXPECT_EQ(corpus.vocabulary, 256);
    EXPECT_EQ(corpus.tokens->size(), static_cast<std::int64_t>(text.size()));
    EXPECT_EQ(corpus.validationTokens(), std::llround(static_cast<double>(text.size()) * 0.1));
    EXPECT_EQ(corpus.trainTokens + corpus.validationTokens(), corpus.tokens->size());
    ASSERT_TRUE(corpus.tokenizer);
    EXPECT_EQ(corpus.tokenizer->name(), "byte");
    EXPECT_THAT(corpus.description, AllOf(HasSubstr("a.txt"), HasSubstr("byte tokens")));
}

TEST_F(CorpusTest, ValidatesOnATextOfItsOwn) {
    const std::string text = testing::lines(100), other = testing::lines(20);
    CorpusRequest asked = request(m_folder.write("a.txt", text), "char");
    asked.validation = m_folder.write("b.txt", other);
    asked.keepText = true;
    const Corpus corpus = open(asked);
    EXPECT_EQ(corpus.trainTokens, static_cast<std::int64_t>(text.size())) << "nothing is held back from training";
    EXPECT_EQ(corpus.validationTokens(), static_cast<std::int64_t>(other.size()));
    EXPECT_THAT(corpus.description, AllOf(HasSubstr("a.txt"), HasSubstr("validation"), HasSubstr("b.txt")));
    for (const auto& row : {corpus.tokens, corpus.text}) {
        const auto ids = testing::idsOf(*row);
        const std::vector<std::int32_t> tail(ids.end() - corpus.validationTokens(), ids.end());
        EXPECT_EQ(corpus.tokenizer->decode(tail), other);
    }
    EXPECT_EQ(corpus.identity, open(request(m_folder.path("a.txt"), "char")).identity) << "of what is trained on";
}

TEST_F(CorpusTest, AnotherValidationTextOfTheSameLengthIsToldApart) {
    const std::string text = testing::lines(100);
    CorpusRequest one = request(m_folder.write("a.txt", text)), other = one, again = one;
    one.validation = m_folder.write("one.txt", std::string(200, 'x'));
    other.validation = m_folder.write("other.txt", std::string(200, 'y'));
    again.validation = m_folder.write("again.txt", std::string(200, 'x'));
    EXPECT_NE(open(one).validationIdentity, open(other).validationIdentity);
    EXPECT_EQ(open(one).validationIdentity, open(again).validationIdentity) << "wherever it lies";
    EXPECT_EQ(open(one).identity, open(other).identity);
    EXPECT_EQ(open(request(m_folder.path("a.txt"))).validationIdentity, "") << "the data's end is the data's";
}

TEST_F(CorpusTest, SaysWhenTheValidationTextIsWhatIsTrainedOn) {
    const std::string text = testing::lines(100);
    CorpusRequest asked = request(m_folder.write("a.txt", text));
    EXPECT_EQ(open(asked).sameTextWords(), "") << "the data's end is not trained on";
    asked.validation = m_folder.write("copy.txt", text);
    EXPECT_THAT(open(asked).sameTextWords(), HasSubstr("validation=split")) << "whatever it is called";
    asked.validation = m_folder.write("other.txt", testing::lines(99));
    EXPECT_EQ(open(asked).sameTextWords(), "");
    CorpusRequest ready = request(m_folder.write("a.bin", testing::bytesOf(std::vector<std::uint16_t>(200, 3))));
    ready.validation = ready.data;
    EXPECT_NE(open(ready).sameTextWords(), "");
    CorpusRequest random = request("random");
    random.validation = "random";
    EXPECT_EQ(open(random).sameTextWords(), "") << "of random ids nothing is known";
}

TEST_F(CorpusTest, RefusesValidationThatItsTokenizerCannotRead) {
    CorpusRequest asked = request(m_folder.write("a.txt", testing::lines(100)), "char");
    asked.validation = m_folder.write("b.txt", "caf\u00e9 \u2603, and more of it");
    EXPECT_THAT(refusal(asked), AllOf(HasSubstr("b.txt"), HasSubstr("none of the")));
    asked.validation = m_folder.write("ids.bin", testing::bytesOf(std::vector<std::uint16_t>(100, 3)));
    EXPECT_THAT(refusal(asked), AllOf(HasSubstr("ids.bin"), HasSubstr("ready tokens")));
    asked.validation = m_folder.path("nowhere.txt");
    EXPECT_THAT(refusal(asked), HasSubstr("nowhere.txt"));
    asked.validation = m_folder.write("short.txt", "line");
    EXPECT_THAT(refusal(asked), HasSubstr("too short"));
}

TEST_F(CorpusTest, ValidatesOnTheShardsThatAreNamedForIt) {
    m_folder.write("shards/train_0.bin", testing::bytesOf(std::vector<std::uint16_t>(200, 3)));
    m_folder.write("shards/val_0.bin", testing::bytesOf(std::vector<std::uint16_t>(50, 4)));
    const Corpus corpus = open(request(m_folder.path("shards")));
    EXPECT_EQ(corpus.trainTokens, 200);
    EXPECT_EQ(corpus.validationTokens(), 50);
    EXPECT_THAT(corpus.description, HasSubstr("2 shards"));
}

TEST_F(CorpusTest, OfAFolderThatIsReadAsTextSaysWhichTokenFilesItPassesOver) {
    m_folder.write("mixed/train.bin", testing::bytesOf(std::vector<std::uint16_t>(200, 3)));
    m_folder.write("mixed/val.bin", testing::bytesOf(std::vector<std::uint16_t>(50, 4)));
    m_folder.write("mixed/input.txt", "abc");
    EXPECT_THAT(refusal(request(m_folder.path("mixed"))),
                AllOf(HasSubstr("is too short: it has 3 bytes"), HasSubstr("2 .bin files in it are passed over"), HasSubstr("name one of them")));
    m_folder.write("mixed/input.txt", testing::lines(100));
    EXPECT_THAT(open(request(m_folder.path("mixed"))).description, HasSubstr("2 .bin files in it are passed over"));
    EXPECT_THAT(open(request(m_folder.path("mixed/input.txt"))).description, Not(HasSubstr("passed over")));
}

TEST_F(CorpusTest, KnowsAnEditedTextFromTheOneItWas) {
    const std::string before = open(request(m_folder.write("a.txt", testing::lines(100)))).identity;
    ASSERT_FALSE(before.empty());
    EXPECT_EQ(open(request(m_folder.path("a.txt"))).identity, before);
    EXPECT_NE(open(request(m_folder.write("a.txt", testing::lines(100) + "!"))).identity, before);
}

TEST_F(CorpusTest, ReadsWithTheTokenizerThatIsGiven) {
    CorpusRequest asked = request(m_folder.write("a.txt", "abcabcabcabcabcabcabcabc"), "char");
    asked.validationFraction = 0;
    asked.with = charTokenizer("xyzabc");
    EXPECT_EQ(open(asked).vocabulary, 6);
    asked.with = charTokenizer("xyz");
    EXPECT_THAT(refusal(asked), HasSubstr("none of the 3 characters"));
}

TEST_F(CorpusTest, HasNoValidationPartWhenItsShareIsZero) {
    CorpusRequest asked = request(m_folder.write("a.txt", "nine byte"));
    asked.validationFraction = 0;
    EXPECT_EQ(open(asked).validationTokens(), 0);
}

TEST_F(CorpusTest, GivesTheSameTokensFromItsTextAgain) {
    m_folder.write("texts/a.txt", testing::lines(100));
    m_folder.write("texts/b.txt", "caf\u00e9 na\u00efve\n" + testing::lines(10));
    for (const std::string& data : {m_folder.path("texts"), m_folder.path("texts/a.txt")}) {
        for (const char* tokenizer : {"byte", "char"}) {
            CorpusRequest asked = request(data, tokenizer);
            asked.keepText = true;
            const Corpus corpus = open(asked);
            ASSERT_TRUE(corpus.text) << corpus.whyNoText;
            EXPECT_EQ(testing::idsOf(*corpus.text), testing::idsOf(*corpus.tokens)) << data << " " << tokenizer;
        }
    }
}

TEST_F(CorpusTest, SaysWhyThereIsNoTextBehindReadyTokensAndRandomIds) {
    for (const std::string& data : {m_folder.write("ready.bin", testing::bytesOf(std::vector<std::uint16_t>(1000, 64))), std::string("random")}) {
        const Corpus corpus = open(request(data));
        EXPECT_FALSE(corpus.text);
        EXPECT_THAT(corpus.whyNoText, AllOf(HasSubstr("nothing to tokenise"), ::testing::EndsWith(".")));
    }
}

TEST_F(CorpusTest, LetsALargeTextInRamGoUnlessItIsAskedFor) {
    const std::string path = m_folder.write("large/a.txt", std::string(65'000'000, 'a'));
    CorpusRequest asked = request(m_folder.path("large"));
    EXPECT_THAT(open(asked).whyNoText, HasSubstr("new run with data-source=text"));
    EXPECT_TRUE(open(request(path)).text) << "a file is mapped, which costs nothing to keep";
    asked.keepText = true;
    EXPECT_TRUE(open(asked).text);
}

TEST_F(CorpusTest, CharactersComeFromTheWholeText) {
    const Corpus corpus = open(request(m_folder.write("a.txt", "abcabcabcabcabcabcabcabc" + std::string(100, 'a') + "zzzzzzzzzzzzzzz"), "char"));
    EXPECT_EQ(corpus.vocabulary, 4);
    EXPECT_EQ(testing::idsOf(*corpus.tokens).back(), 3);
}

TEST_F(CorpusTest, RefusesAnEmptyATinyABinaryAndAMissingFileByName) {
    CorpusRequest asked = request("");
    asked.context = 128;
    testing::RandomText random(11);
    asked.data = m_folder.write("empty.txt", "");
    EXPECT_THAT(refusal(asked), AllOf(HasSubstr("empty.txt"), HasSubstr("is empty")));
    asked.data = m_folder.write("tiny.txt", "hi\n");
    EXPECT_THAT(refusal(asked), AllOf(HasSubstr("tiny.txt"), HasSubstr("3 bytes"), HasSubstr("129")));
    asked.data = m_folder.write("bin.txt", random.bytes(5000));
    EXPECT_THAT(refusal(asked), HasSubstr("bin.txt"));
    asked.data = "nothere.txt";
    EXPECT_THAT(refusal(asked), HasSubstr("nothere.txt"));
    asked.data = "nothere.bin";
    EXPECT_THAT(refusal(asked), HasSubstr("nothere.bin"));
    EXPECT_FALSE(std::filesystem::exists(m_folder.path("cache"))) << "what is refused leaves no cache";
}

TEST_F(CorpusTest, RefusesAContextThatIsLongerThanAPart) {
    CorpusRequest asked = request(m_folder.write("a.txt", std::string(1000, 'x')));
    asked.context = 899;
    EXPECT_THAT(refusal(asked), AllOf(HasSubstr("a.txt"), HasSubstr("validation part has 100"), HasSubstr("900")));
    asked.context = 99;
    EXPECT_EQ(open(asked).trainTokens, 900);
    asked.context = 100;
    EXPECT_THAT(refusal(asked), AllOf(HasSubstr("validation"), HasSubstr("101")));
    asked.validationFraction = 0;
    asked.context = 999;
    EXPECT_EQ(open(asked).trainTokens, 1000);
    asked.context = 1000;
    EXPECT_THAT(refusal(asked), HasSubstr("context 1000"));
    asked.validationFraction = 0.5;
    asked.context = 600;
    EXPECT_THAT(refusal(asked), HasSubstr("training part has 500"));
}

TEST_F(CorpusTest, RefusesAnIdBeyondTheVocabularyOfAText) {
    CorpusRequest asked = request(m_folder.write("a.txt", std::string(500, 'a') + "z" + std::string(500, 'a')));
    asked.vocabulary = 100;
    EXPECT_THAT(refusal(asked), AllOf(HasSubstr("a.txt"), HasSubstr("id 122"), HasSubstr("position 500"), HasSubstr("vocabulary=123")));
    asked.vocabulary = 123;
    EXPECT_EQ(open(asked).vocabulary, 123);
    asked.vocabulary = 300;
    EXPECT_EQ(open(asked).vocabulary, 300);
}

TEST_F(CorpusTest, RefusesAnIdBeyondTheVocabularyOfReadyTokens) {
    std::vector<std::uint16_t> ids(1000, 5);
    ids[777] = 60'000;
    CorpusRequest asked = request(m_folder.write("train.bin", testing::bytesOf(ids)));
    EXPECT_THAT(refusal(asked), AllOf(HasSubstr("train.bin"), HasSubstr("id 60000"), HasSubstr("position 777"), HasSubstr("50257")));
    asked.vocabulary = 60'001;
    EXPECT_EQ(open(asked).vocabulary, 60'001);
    asked.vocabulary = 60'000;
    EXPECT_THAT(refusal(asked), HasSubstr("position 777"));
}

TEST_F(CorpusTest, TakesTheVocabularyOfReadyTokensFromTheirFormatOrTheirIds) {
    EXPECT_EQ(open(request(m_folder.write("characters.bin", testing::bytesOf(std::vector<std::uint16_t>(1000, 64))))).vocabulary, 65);
    const Corpus words = open(request(m_folder.write("words.bin", testing::bytesOf(std::vector<std::uint16_t>(1000, 300)))));
    EXPECT_EQ(words.vocabulary, 50257);
    EXPECT_FALSE(words.tokenizer);
    EXPECT_EQ(testing::idsOf(*words.tokens), std::vector<std::int64_t>(1000, 300));
    EXPECT_EQ(open(request(m_folder.path("characters.bin"), "gpt2")).vocabulary, 50257);

    std::vector<std::int32_t> header(256, 0);
    header[0] = 20240801, header[1] = 7, header[2] = 1000;
    const std::string llama = testing::bytesOf(header) + testing::bytesOf(std::vector<std::uint32_t>(1000, 100'000));
    EXPECT_EQ(open(request(m_folder.write("llama.bin", llama))).vocabulary, 128'256);
}

TEST_F(CorpusTest, KeepsWideIdsWideInRam) {
    std::vector<std::int32_t> header(256, 0);
    header[0] = 20240801, header[1] = 7, header[2] = 1000;
    CorpusRequest asked =
        request(m_folder.write("llama.bin", testing::bytesOf(header) + testing::bytesOf(std::vector<std::uint32_t>(1000, 100'000))));
    const Corpus corpus = open(asked);
    EXPECT_EQ(testing::idsOf(*copiedToRam(corpus.tokens, corpus.vocabulary)), std::vector<std::int64_t>(1000, 100'000));
}

TEST_F(CorpusTest, RandomIdsAreUniformAndAFunctionOfTheSeed) {
    CorpusRequest asked = request("random");
    asked.vocabulary = 50304;
    const Corpus corpus = open(asked);
    EXPECT_EQ(corpus.vocabulary, 50304);
    EXPECT_GE(corpus.trainTokens, 900'000'000);
    EXPECT_FALSE(corpus.tokenizer);
    std::vector<std::int64_t> ids(100'000), again(1000);
    corpus.tokens->copy(500'000'000, 100'000, ids.data());
    double sum = 0;
    for (const auto id : ids) {
        ASSERT_GE(id, 0);
        ASSERT_LT(id, 50304);
        sum += static_cast<double>(id);
    }
    EXPECT_NEAR(sum / 100'000, 25151.5, 250);  // five standard errors
    corpus.tokens->copy(500'000'500, 1000, again.data());
    EXPECT_TRUE(std::equal(again.begin(), again.end(), ids.begin() + 500));
    asked.seed = 2;
    open(asked).tokens->copy(500'000'500, 1000, again.data());
    EXPECT_FALSE(std::equal(again.begin(), again.end(), ids.begin() + 500));
}

TEST_F(CorpusTest, RandomIdsTakeTheVocabularyOfTheTokenizer) {
    EXPECT_EQ(open(request("random", "byte")).vocabulary, 256);
    EXPECT_EQ(open(request("random", "gpt2")).vocabulary, 50257);
}

TEST_F(CorpusTest, OpensGeneratedText) {
    const Corpus corpus = open(request("generated", "char"));
    EXPECT_THAT(corpus.description, HasSubstr("generated text"));
    EXPECT_GT(corpus.tokens->size(), 4'000'000);
    EXPECT_LT(corpus.vocabulary, 60);
}

TEST_F(CorpusTest, TellsItsProgressAndStopsWhenCancelled) {
    std::vector<double> fractions;
    std::atomic<bool> cancelled{false};
    const auto note = [&](const std::string& what, double fraction) {
        EXPECT_FALSE(what.empty());
        fractions.push_back(fraction);
    };
    ASSERT_TRUE(openCorpus(request(m_folder.write("a.txt", testing::lines(100))), note, cancelled).ok());
    ASSERT_FALSE(fractions.empty());
    EXPECT_EQ(fractions.back(), 1.0);
    cancelled = true;
    for (const std::string& data : {m_folder.write("b.txt", testing::lines(99)), m_folder.write("b.bin", std::string(1000, '\1'))}) {
        const auto stopped = openCorpus(request(data), note, cancelled);
        ASSERT_FALSE(stopped.ok()) << data;
        EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
    }
}

TEST_F(CorpusTest, SaysInTheDescriptionWhatWasSkippedAndThatACacheWasDamaged) {
    m_folder.write("texts/a.txt", testing::lines(100));
    m_folder.write("texts/b.png", std::string_view("\x89PNG\0", 5));
    EXPECT_THAT(open(request(m_folder.path("texts"))).description, AllOf(HasSubstr("b.png"), Not(HasSubstr("damaged"))));
    for (const auto& entry : std::filesystem::directory_iterator(m_folder.path("cache"))) std::ofstream(entry.path(), std::ios::trunc) << "x";
    EXPECT_THAT(open(request(m_folder.path("texts"))).description, HasSubstr("damaged"));
}

TEST_F(CorpusTest, UsesTheCacheFolderOfTheEnvironment) {
    ASSERT_EQ(::setenv("XDG_CACHE_HOME", m_folder.path("xdg").c_str(), 1), 0);
    CorpusRequest asked = request(m_folder.write("a.txt", testing::lines(100)));
    asked.cacheFolder.clear();
    open(asked);
    ::unsetenv("XDG_CACHE_HOME");
    EXPECT_FALSE(std::filesystem::is_empty(m_folder.path("xdg/stepscope/tokens")));
}

TEST_F(CorpusTest, RefusesAnUnknownTokenizer) {
    EXPECT_THAT(refusal(request(m_folder.write("a.txt", testing::lines(10)), "words")), HasSubstr("words"));
}

TEST_F(CorpusTest, TextIsNotReadAsTheValidationOfReadyIdsByATokenizerThatGivesOthers) {
    std::vector<std::uint16_t> ids(400);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::uint16_t>(i * 7);
    CorpusRequest asked = request(m_folder.write("t.bin", testing::bytesOf(ids)));
    asked.vocabulary = 3000;
    asked.validation = m_folder.write("v.txt", testing::lines(100));
    EXPECT_THAT(refusal(asked), AllOf(HasSubstr("t.bin holds ready tokens"), HasSubstr("v.txt is text"), HasSubstr("byte tokenizer")));
    asked.data = m_folder.write("b.bin", testing::bytesOf(std::vector<std::uint16_t>(400, 'a')));
    asked.vocabulary = 256;
    EXPECT_GT(open(asked).validationTokens(), 0) << "ids that are bytes";
    // GPT-2's by their header, or by what a person says of them, where that can be.
    const auto ofGpt2 = gpt2Tokenizer();
    if (!ofGpt2) return;
    asked.data = m_folder.write("t.bin", testing::bytesOf(ids));
    asked.tokenizer = "gpt2";
    for (const std::int64_t vocabulary : {0, 50304}) {
        asked.vocabulary = vocabulary;
        EXPECT_GT(open(asked).validationTokens(), 0) << vocabulary;
    }
    ids.back() = 60'000;
    asked.data = m_folder.write("larger.bin", testing::bytesOf(ids));
    asked.vocabulary = 65'536;
    EXPECT_THAT(refusal(asked), HasSubstr("the ids mean other things")) << "whatever is said of them";
}

}  // namespace
}  // namespace stepscope
