// Sampling and generation.
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "TinyTraining.h"
#include "core/train/Generator.h"

namespace stepscope {
namespace {

at::Tensor logits() {
    return at::tensor({1.0f, 3.0f, 2.0f, 0.0f});
}

std::map<std::int64_t, double> shares(const GenerateText& request) {
    std::map<std::int64_t, double> counted;
    for (int i = 0; i < 1000; ++i) counted[sampleToken(logits(), request, (i + 0.5) / 1000)] += 0.001;
    return counted;
}

TEST(SampleToken, FollowsTheSoftmaxAtTemperatureOne) {
    const auto counted = shares({.temperature = 1});
    const double sum = std::exp(1) + std::exp(3) + std::exp(2) + 1;
    EXPECT_NEAR(counted.at(1), std::exp(3) / sum, 0.002);
    EXPECT_NEAR(counted.at(3), 1 / sum, 0.002);
}

TEST(SampleToken, TemperatureZeroTakesTheLikeliest) {
    EXPECT_EQ(shares({.temperature = 0}).size(), 1u);
}

TEST(SampleToken, TopKKeepsTheKLikeliest) {
    const auto counted = shares({.temperature = 1, .topK = 2});
    EXPECT_EQ(counted.size(), 2u);
    EXPECT_NEAR(counted.at(1), 1 / (1 + std::exp(-1)), 0.002);
}

TEST(SampleToken, TopPKeepsTheSmallestSetThatReachesP) {
    EXPECT_EQ(shares({.temperature = 1, .topP = 0.5}).size(), 1u);
    EXPECT_EQ(shares({.temperature = 1, .topP = 0.8}).size(), 2u);
}

GeneratorWeights tinyWeights() {
    const auto state = TrainState::initialise({.layers = 1, .heads = 1, .width = 8, .vocabulary = 256, .paddedVocabulary = 256, .positions = 8}, 1);
    return {state.config, state.layout, state.weights};
}

TEST(Generator, WritesAsManyTokensAsAskedBeyondTheContextAndTheSameForTheSameSeed) {
    const std::atomic<bool> never{false};
    const GenerateText request{.prompt = "In the", .tokens = 30, .seed = 4};
    int pieces = 0;
    const auto first = generateText(
        tinyWeights(), *byteTokenizer(), request, [&](const std::string&) { ++pieces; }, never);
    ASSERT_TRUE(first.ok());
    EXPECT_GT(pieces, 2);
    EXPECT_EQ(*first, *generateText(
                          tinyWeights(), *byteTokenizer(), request, [](const std::string&) {}, never));
}

// Weights eight times as large as they are drawn: without them every id is about as likely as the next, and greedy text one byte over and over.
TrainState opinionated(bool tiedHead, std::int64_t vocabulary = 250) {
    GptConfig shape{.layers = 2, .heads = 2, .width = 16, .vocabulary = vocabulary, .paddedVocabulary = vocabulary, .positions = 16};
    shape.tiedHead = tiedHead;
    auto state = TrainState::initialise(shape, 3);
    state.weights.mul_(8);
    return state;
}

TEST(Generator, WritesTheSameTextWhenTheVocabularyIsPadded) {
    const std::atomic<bool> never{false};
    const GenerateText greedy{.prompt = "In the", .tokens = 60, .temperature = 0},
        sampled{.prompt = "In the", .tokens = 60, .temperature = 2, .seed = 4},
        fromTheLikeliest{.prompt = "In the", .tokens = 60, .temperature = 3, .topK = 20, .topP = 0.9, .seed = 5};
    for (const bool tiedHead : {true, false}) {
        const auto write = [&](const TrainState& state, const GenerateText& request) {
            return generateText(
                       {state.config, state.layout, state.weights}, *byteTokenizer(), request, [](const std::string&) {}, never)
                .value();
        };
        const TrainState plain = opinionated(tiedHead);
        EXPECT_NE(write(plain, sampled), write(plain, greedy));
        for (const std::int64_t rows : {256, 320, 512}) {  // 256 is what every value of vocab-padding makes of 250
            TrainState padded = opinionated(tiedHead);
            GptConfig wider = padded.config;
            wider.paddedVocabulary = rows;
            padded.relayout(wider);
            for (const GenerateText& request : {greedy, sampled, fromTheLikeliest})
                EXPECT_EQ(write(padded, request), write(plain, request))
                    << rows << " rows, temperature " << request.temperature << ", tied " << tiedHead;
        }
    }
}

// All texts behind some prompts, and what they took.
struct Texts {
    std::vector<std::string> texts;
    TextWork work;
};
Texts write(
    const TrainState& state, const GenerateText& request, std::vector<std::string> prompts, const TextOptions& options = {},
    const TextSink& onText = [](std::size_t, const std::string&, const TextWork&) {}) {
    const std::atomic<bool> never{false};
    Texts all;
    auto written = generateTexts({state.config, state.layout, state.weights}, *byteTokenizer(), request, prompts, options, onText, never, all.work);
    EXPECT_TRUE(written.ok()) << written.error().sentence;
    if (written) all.texts = *written;
    return all;
}

TEST(Generator, WritesGreedilyWhatRecomputingTheContextWritesUpToItsEnd) {
    for (const bool rope : {false, true}) {
        GptConfig shape{.layers = 2, .heads = 2, .width = 16, .vocabulary = 256, .paddedVocabulary = 256, .positions = 64};
        if (rope) shape.positionKind = PositionKind::Rope;
        auto state = TrainState::initialise(shape, 3);
        state.weights.mul_(8);
        const std::vector<std::string> prompts{"In the", "A", "Somewhat longer than these"};
        const GenerateText request{.tokens = 38, .temperature = 0};
        const auto kept = write(state, request, prompts), anew = write(state, request, prompts, {.recompute = true});
        EXPECT_EQ(kept.texts, anew.texts);
        EXPECT_EQ(kept.work.recomputed, "");
        EXPECT_NE(anew.work.recomputed, "");
    }
}

TEST(Generator, WritesEachOfSeveralTextsAsItWritesTheFirstAlone) {
    const TrainState state = opinionated(true);
    const GenerateText greedy{.tokens = 40, .temperature = 0};
    const std::vector<std::string> prompts{"In the", "A", "Somewhat longer"};
    const auto together = write(state, greedy, prompts);
    for (std::size_t i = 0; i < prompts.size(); ++i) EXPECT_EQ(together.texts[i], write(state, greedy, {prompts[i]}).texts[0]);
    const auto drawn = write(state, {.tokens = 40, .temperature = 3}, {"In the", "In the"});
    EXPECT_NE(drawn.texts[0], drawn.texts[1]) << "each draws for itself";
}

TEST(Generator, EndsBeforeAStopHoweverItsTokensAreCut) {
    const TrainState state = opinionated(true, 120);
    const GenerateText plain{.tokens = 50, .temperature = 2, .seed = 9};
    const std::string whole = write(state, plain, {"In the"}).texts[0];
    ASSERT_EQ(whole.size(), 50u) << "ids below 120 are a character each";
    GenerateText stopping = plain;
    stopping.stop = {"this does not occur", whole.substr(21, 3)};
    std::string last;
    const auto stopped = write(state, stopping, {"In the"}, {}, [&](std::size_t, const std::string& text, const TextWork&) {
        EXPECT_EQ(text.substr(0, last.size()), last) << "what was shown stays";
        last = text;
    });
    EXPECT_EQ(stopped.texts[0], whole.substr(0, whole.find(stopping.stop[1])));
    EXPECT_EQ(last, stopped.texts[0]);
    EXPECT_LT(stopped.work.textTokens, 50);
}

// Bytes, of which one is the end of a text.
class BytesWithAnEnd final : public Tokenizer {
public:
    explicit BytesWithAnEnd(std::int32_t end) : m_end(end) {}
    std::string name() const override { return m_bytes->name(); }
    std::int64_t vocabulary() const override { return m_bytes->vocabulary(); }
    Result<std::vector<std::int32_t>> encode(std::string_view text) const override { return m_bytes->encode(text); }
    std::string decode(std::span<const std::int32_t> ids) const override { return m_bytes->decode(ids); }
    std::size_t bytesOf(std::int32_t id) const override { return m_bytes->bytesOf(id); }
    std::int32_t endOfText() const override { return m_end; }
    std::size_t cutAfter(std::string_view text, std::size_t wanted) const override { return m_bytes->cutAfter(text, wanted); }
    std::string toJson() const override { return m_bytes->toJson(); }

private:
    std::shared_ptr<const Tokenizer> m_bytes = byteTokenizer();
    std::int32_t m_end;
};

TEST(Generator, EndsATextBeforeTheTokenThatEndsItAndGoesOnWhereThatIsAsked) {
    const TrainState state = opinionated(true, 120);
    const GenerateText request{.tokens = 50, .temperature = 2, .seed = 9};
    const std::vector<std::string> prompts{"In the", "A"};
    const auto plain = write(state, request, prompts);
    ASSERT_EQ(plain.texts[0].size(), 50u) << "ids below 120 are a character each";
    const char end = plain.texts[0][21];
    const BytesWithAnEnd tokenizer(end);
    const std::atomic<bool> never{false};
    const auto with = [&](bool ignoreEnd, TextWork& work) {
        std::size_t told = 0;
        const auto texts = generateTexts(
            {state.config, state.layout, state.weights}, tokenizer, request, prompts, {.ignoreEnd = ignoreEnd},
            [&](std::size_t prompt, const std::string& text, const TextWork&) { told += prompt == 0 && text.empty() ? 0 : 1; }, never, work);
        EXPECT_TRUE(texts.ok()) << texts.error().sentence;
        EXPECT_GT(told, 0u);
        return texts ? *texts : std::vector<std::string>(2);
    };
    TextWork ended, whole;
    const auto texts = with(false, ended);
    std::size_t written = 0;
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(texts[i], plain.texts[i].substr(0, plain.texts[i].find(end))) << i;
        written += texts[i].size();
    }
    EXPECT_EQ(ended.textTokens, static_cast<std::int64_t>(written)) << "the end is no part of a text";
    EXPECT_FALSE(ended.stopped);
    EXPECT_EQ(with(true, whole), plain.texts);
    EXPECT_EQ(whole.textTokens, 100);
}

TEST(Generator, WritesWhatItWroteLessOftenUnderAPenalty) {
    const TrainState state = opinionated(true, 120);
    const GenerateText plain{.tokens = 60, .temperature = 0};
    const auto most = [&](const GenerateText& request) {
        std::map<char, int> counted;
        const auto all = write(state, request, {"In the"});
        for (const char c : all.texts.at(0)) ++counted[c];
        int largest = 0;
        for (const auto& [c, count] : counted) largest = std::max(largest, count);
        return largest;
    };
    GenerateText repetition = plain, frequency = plain, presence = plain;
    repetition.repetitionPenalty = 5;
    frequency.frequencyPenalty = 50;
    presence.presencePenalty = 100;
    const int alone = most(plain);
    for (const auto& request : {repetition, frequency, presence}) EXPECT_LT(most(request), alone);
}

TEST(Generator, CountsWhatPromptAndTextTook) {
    const auto all = write(opinionated(true), {.tokens = 10}, {"12345", "123"}, {.type = WeightType::Int8, .threads = 2});
    EXPECT_EQ(all.work.promptTokens, 8);
    EXPECT_EQ(all.work.textTokens, 20);
    EXPECT_EQ(all.work.computed, 18);
    EXPECT_GT(all.work.textRate(), 0);
    EXPECT_GT(all.work.promptRate(), 0);
    EXPECT_GT(all.work.weights.count, 0);
    EXPECT_GT(all.work.cache.count, 0);
    EXPECT_EQ(all.work.threads, 2);
}

TEST(Generator, SaysThatWeightsWithoutNumbersWriteNothing) {
    TrainState state = opinionated(true);
    state.weights.fill_(std::numeric_limits<float>::quiet_NaN());
    const std::atomic<bool> never{false};
    const auto text = generateText(
        {state.config, state.layout, state.weights}, *byteTokenizer(), {.prompt = "a"}, [](const std::string&) {}, never);
    ASSERT_FALSE(text.ok());
    EXPECT_NE(text.error().sentence.find("no numbers"), std::string::npos);
}

TEST(Generator, RefusesWhatCannotBeWithASentence) {
    const std::atomic<bool> never{false};
    const auto none = [](const std::string&) {};
    EXPECT_FALSE(generateText(tinyWeights(), *byteTokenizer(), {.tokens = 0}, none, never).ok());
    EXPECT_FALSE(generateText(tinyWeights(), *byteTokenizer(), {.temperature = -1}, none, never).ok());
    EXPECT_FALSE(generateText(tinyWeights(), *byteTokenizer(), {.topP = 0}, none, never).ok());
    EXPECT_FALSE(generateText(tinyWeights(), *byteTokenizer(), {.stop = {""}}, none, never).ok());
    EXPECT_FALSE(generateText(tinyWeights(), *byteTokenizer(), {.repetitionPenalty = 0}, none, never).ok());
    EXPECT_FALSE(generateText(tinyWeights(), *byteTokenizer(), {.presencePenalty = std::nan("")}, none, never).ok());
}

}  // namespace
}  // namespace stepscope
