// A Decoder against core/model, which computes the whole context anew: the logits of every step, for every option of the model, several sequences of
// different length, prompts long enough for the large products, and every type of weights.
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "core/base/CounterRandom.h"
#include "core/inference/Decoder.h"
#include "core/inference/NextTokens.h"
#include "core/inference/TimedDecoder.h"
#include "core/model/Gpt.h"

namespace stepscope {
namespace {

using Ids = std::vector<std::int64_t>;

constexpr std::int64_t kVocabulary = 61;

struct Option {
    const char* name;
    std::function<void(GptConfig&)> set;
};
void PrintTo(const Option& option, std::ostream* out) {
    *out << option.name;
}

GptConfig base() {
    return {.layers = 2, .heads = 3, .width = 36, .vocabulary = kVocabulary, .paddedVocabulary = kVocabulary, .positions = 80};
}

// Weights with sizes as training gives them, norms around one.
GeneratorWeights weightsOf(const GptConfig& config) {
    GeneratorWeights model{config, ParameterLayout(config), {}};
    model.weights = at::zeros({model.layout.size()}, at::TensorOptions().dtype(at::kFloat));
    for (std::size_t i = 0; i < model.layout.slots().size(); ++i) {
        const auto& slot = model.layout.slots()[i];
        const std::int64_t count = slot.vocabulary ? config.vocabulary * config.width : slot.count;
        const bool scale = slot.name.find("ln_") != std::string::npos && slot.name.find("weight") != std::string::npos;
        float* into = model.weights.data_ptr<float>() + slot.offset;
        for (std::int64_t j = 0; j < count; ++j) {
            const double uniform = static_cast<double>(counterRandom(11, i, static_cast<std::uint64_t>(j)) >> 11) * 0x1p-53 - 0.5;
            into[j] = static_cast<float>((scale ? 1 : 0) + 0.4 * uniform);
        }
    }
    return model;
}

Ids randomIds(std::int64_t count, std::uint64_t stream) {
    Ids ids;
    for (std::int64_t i = 0; i < count; ++i)
        ids.push_back(static_cast<std::int64_t>(counterRandomBelow(5, stream, static_cast<std::uint64_t>(i), kVocabulary)));
    return ids;
}

// Of the token behind `ids`.
std::vector<float> recomputed(const GeneratorWeights& model, Ids ids) {
    const auto view = WeightsView::over(model.weights, model.layout, model.config, false);
    const auto length = static_cast<std::int64_t>(ids.size());
    const at::Tensor tokens = at::from_blob(ids.data(), {1, length}, at::TensorOptions().dtype(at::kLong));
    const at::Tensor logits = gptLogits(model.config, view, gptHidden(model.config, view, ModelOps(), tokens)).select(1, length - 1).contiguous();
    return {logits.const_data_ptr<float>(), logits.const_data_ptr<float>() + model.config.vocabulary};
}

double farthest(std::span<const float> got, const std::vector<float>& wanted) {
    EXPECT_EQ(got.size(), wanted.size());
    double most = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!std::isfinite(got[i])) return std::numeric_limits<double>::infinity();
        most = std::max(most, static_cast<double>(std::fabs(got[i] - wanted[i])));
    }
    return most;
}

double largest(const std::vector<float>& logits) {
    double most = 0;
    for (const float logit : logits) most = std::max(most, static_cast<double>(std::fabs(logit)));
    return most;
}

// How far logits may be off those of float32, of the largest logit: rounding a weight to bf16 changes it by up to 2^-9 of itself, to 8 bits by up to
// 1/254 of the largest of its row, to 4 bits by up to 1/14 of the largest of its group, and each of the layers adds to that; activations that are
// rounded to 8 bits too are off by up to 1/254 of the largest of theirs.
double bound(WeightType type) {
    switch (type) {
        case WeightType::F32:
            return 1e-5;
        case WeightType::Bf16:
            return 0.02;
        case WeightType::Int8:
            return 0.06;
        case WeightType::Int8Dynamic:
            return 0.12;
        case WeightType::Int4:
            return 0.9;
    }
    return 0;
}

class DecoderOptionTest : public ::testing::TestWithParam<std::tuple<Option, int>> {};

TEST_P(DecoderOptionTest, GivesTheLogitsOfEveryStepAsTheWholeContextDoes) {
    const auto& [option, sequences] = GetParam();
    GptConfig config = base();
    option.set(config);
    const GeneratorWeights model = weightsOf(config);
    for (const WeightType type : kAllWeightTypes) {
        // Rows of a prompt are computed 24 at a time here, so that pieces are cut and large and small products both occur.
        Decoder decoder(model, type, {.sequences = sequences, .rows = 24}, 2);
        std::vector<Ids> all;
        std::vector<Decoder::Piece> pieces;
        for (int s = 0; s < sequences; ++s) all.push_back(randomIds(1 + (s * 17 + 29) % 43, static_cast<std::uint64_t>(s)));
        for (int s = 0; s < sequences; ++s) pieces.push_back({s, all[static_cast<std::size_t>(s)]});
        decoder.read(pieces);
        for (int step = 0; step < 6; ++step) {
            for (std::size_t s = 0; s < all.size(); ++s) {
                const auto wanted = recomputed(model, all[s]);
                const double allowed = type == WeightType::F32 ? 1e-4 : bound(type) * largest(wanted);
                EXPECT_LE(farthest(decoder.logits(s), wanted), allowed)
                    << "type " << static_cast<int>(type) << ", sequence " << s << ", step " << step;
            }
            Ids next = randomIds(sequences, 100 + static_cast<std::uint64_t>(step));
            pieces.clear();
            for (std::size_t s = 0; s < all.size(); ++s) {
                all[s].push_back(next[s]);
                pieces.push_back({static_cast<std::int64_t>(s), std::span(next).subspan(s, 1)});
            }
            decoder.read(pieces);
        }
    }
}

// As on a GPU, with the weights where they are.
TEST_P(DecoderOptionTest, IsFollowedByWhatIsKeptBesideTheWeights) {
    const auto& [option, sequences] = GetParam();
    GptConfig config = base();
    option.set(config);
    const GeneratorWeights model = weightsOf(config);
    std::vector<Ids> all;
    for (int s = 0; s < sequences; ++s) all.push_back(randomIds(1 + (s * 17 + 29) % 43, static_cast<std::uint64_t>(s)));
    const auto kept = keptTokens(model, {.sequences = sequences, .tokens = 60});
    kept->begin(all);
    for (int step = 0; step < 6; ++step) {
        std::vector<Continued> next;
        const Ids ids = randomIds(sequences, 100 + static_cast<std::uint64_t>(step));
        for (std::size_t s = 0; s < all.size(); ++s) {
            EXPECT_LE(farthest(kept->logits(static_cast<std::int64_t>(s)), recomputed(model, all[s])), 1e-4) << "sequence " << s << ", step " << step;
            if (s > 0 && static_cast<std::size_t>(step) % 3 == s % 3) continue;  // some are complete before others
            all[s].push_back(ids[s]);
            next.push_back({static_cast<std::int64_t>(s), ids[s]});
        }
        kept->append(next);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Each, DecoderOptionTest,
    ::testing::Combine(::testing::Values(Option{"plain", [](GptConfig&) {}}, Option{"split", [](GptConfig& c) { c.splitQkv = true; }},
                                         Option{"swiglu", [](GptConfig& c) { c.activation = Activation::Swiglu; }},
                                         Option{"untied", [](GptConfig& c) { c.tiedHead = false; }},
                                         Option{"post", [](GptConfig& c) { c.placement = NormPlacement::Post; }},
                                         Option{"rmsnorm", [](GptConfig& c) { c.norm = NormKind::RmsNorm; }},
                                         Option{"rope", [](GptConfig& c) { c.positionKind = PositionKind::Rope; }},
                                         Option{"nobias", [](GptConfig& c) { c.bias = false; }},
                                         Option{"padded", [](GptConfig& c) { c.paddedVocabulary = 64; }},
                                         Option{"together",
                                                [](GptConfig& c) {
                                                    c.splitQkv = true;
                                                    c.activation = Activation::Swiglu;
                                                    c.tiedHead = false;
                                                    c.norm = NormKind::RmsNorm;
                                                    c.positionKind = PositionKind::Rope;
                                                    c.bias = false;
                                                    c.paddedVocabulary = 128;
                                                }},
                                         Option{"posttogether",
                                                [](GptConfig& c) {
                                                    c.placement = NormPlacement::Post;
                                                    c.activation = Activation::Swiglu;
                                                    c.positionKind = PositionKind::Rope;
                                                    c.splitQkv = true;
                                                }}),
                       ::testing::Values(1, 3, 8)),
    [](const auto& info) { return std::string(std::get<0>(info.param).name) + "_" + std::to_string(std::get<1>(info.param)); });

TEST(Decoder, GivesTheSameBitsWithAnyNumberOfThreads) {
    const GeneratorWeights model = weightsOf(base());
    const Ids prompt = randomIds(30, 1);
    std::vector<std::vector<float>> all;
    for (const int threads : {1, 2, 3, 5}) {
        Decoder decoder(model, WeightType::F32, {}, threads);
        const Decoder::Piece whole{0, prompt}, one{0, std::span(prompt).first(1)};
        decoder.read({&whole, 1});
        decoder.read({&one, 1});
        const auto logits = decoder.logits(0);
        all.emplace_back(logits.begin(), logits.end());
    }
    for (const auto& other : all) EXPECT_EQ(other, all.front());
}

TEST(Decoder, ReadsASequenceAnewWhereItWasCleared) {
    const GeneratorWeights model = weightsOf(base());
    Decoder decoder(model, WeightType::F32, {.sequences = 2}, 2);
    const Ids first = randomIds(40, 1), other = randomIds(9, 2), second = randomIds(5, 3);
    const Decoder::Piece both[] = {{0, first}, {1, other}};
    decoder.read(both);
    EXPECT_EQ(decoder.length(0), 40);
    decoder.clear(0);
    const Decoder::Piece again{0, second};
    decoder.read({&again, 1});
    EXPECT_EQ(decoder.length(0), 5);
    EXPECT_EQ(decoder.length(1), 9);
    EXPECT_LE(farthest(decoder.logits(0), recomputed(model, second)), 1e-4);
}

TEST(Decoder, FindsTheLossThatTheModelFinds) {
    for (const bool rope : {false, true}) {
        GptConfig config = base();
        if (rope) config.positionKind = PositionKind::Rope;
        const GeneratorWeights model = weightsOf(config);
        Ids ids = randomIds(config.positions + 1, 4);
        const auto view = WeightsView::over(model.weights, model.layout, config, false);
        const auto row = [&](std::int64_t from) {
            return at::from_blob(ids.data() + from, {1, config.positions}, at::TensorOptions().dtype(at::kLong));
        };
        const double mean = gptLoss(config, view, ModelOps(), row(0), row(1)).item<double>();
        Decoder decoder(model, WeightType::F32, {.rows = 24, .logits = 24}, 2);
        EXPECT_NEAR(decoder.negativeLogLikelihood(ids) / static_cast<double>(config.positions), mean, 1e-5);
    }
}

// A token whose embedding is no number has no logits, and never a number that merely looks like one; the sequence beside it has its own.
TEST(Decoder, GivesNoNumbersBehindATokenThatIsNoneAndThoseOfTheSequenceBesideIt) {
    GptConfig config = base();
    config.tiedHead = false;
    GeneratorWeights model = weightsOf(config);
    const auto view = WeightsView::over(model.weights, model.layout, config, false);
    view.tokens.select(0, 7).fill_(std::numeric_limits<float>::quiet_NaN());
    const Ids good{1, 2, 3}, bad{1, 2, 7};
    const Decoder::Piece both[] = {{0, good}, {1, bad}};
    for (const WeightType type : kAllWeightTypes) {
        Decoder decoder(model, type, {.sequences = 2}, 2);
        decoder.read(both);
        EXPECT_LE(farthest(decoder.logits(0), recomputed(model, good)), std::max(1e-4, bound(type) * largest(recomputed(model, good))));
        for (const float logit : decoder.logits(1)) EXPECT_TRUE(std::isnan(logit)) << "type " << static_cast<int>(type);
    }
}

// As the guide says in inference.md: one token each of so many sequences, read at once or fewer at a time.
TEST(Decoder, RoundsActivationsToBf16InLargeProductsOfBf16Alone) {
    constexpr std::int64_t kSequences = 17;  // one more than are few
    const GeneratorWeights model = weightsOf(base());
    const Ids ids = randomIds(kSequences, 3);
    for (const WeightType type : kAllWeightTypes) {
        std::vector<Decoder::Piece> pieces;
        for (std::int64_t s = 0; s < kSequences; ++s) pieces.push_back({s, std::span(ids).subspan(static_cast<std::size_t>(s), 1)});
        Decoder many(model, type, {.sequences = kSequences, .rows = kSequences}, 1),
            few(model, type, {.sequences = kSequences, .rows = kSequences}, 1);
        many.read(pieces);
        double apart = 0, most = 0;
        for (std::size_t s = 0; s < pieces.size(); ++s) {
            few.read(std::span(pieces).subspan(s, 1));
            const std::vector<float> one(few.logits(0).begin(), few.logits(0).end());
            apart = std::max(apart, farthest(many.logits(s), one));
            most = std::max(most, largest(one));
        }
        const double share = apart / most;
        if (type == WeightType::Bf16) {
            EXPECT_GT(share, 4e-3);
            EXPECT_LT(share, 0.02);
        } else if (type != WeightType::Int8Dynamic) {  // of which a sum that is another in its last bit may round to another byte,
            // and of the others a value that is kept to another bf16: a 10 000th
            EXPECT_LT(share, 1e-3) << "type " << static_cast<int>(type);
        } else {
            EXPECT_LT(share, 0.02);
        }
    }
}

TEST(Decoder, SaysWhatItsWeightsAndItsCacheTake) {
    GptConfig config = base();
    config.width = 64;  // whole panels of 32 rows, which smaller matrices are filled up to
    config.heads = 2;
    const GeneratorWeights model = weightsOf(config);
    const auto of = [&](WeightType type) { return std::make_unique<Decoder>(model, type, DecoderRoom{.sequences = 2, .positions = 64}, 1); };
    const auto whole = of(WeightType::F32), half = of(WeightType::Bf16), quarter = of(WeightType::Int8), fewest = of(WeightType::Int4);
    const double parameters = static_cast<double>(parameterCount(config)) * 4;
    EXPECT_NEAR(static_cast<double>(whole->weightBytes().count) / parameters, 1, 0.15);
    EXPECT_LT(half->weightBytes(), whole->weightBytes());
    EXPECT_LT(quarter->weightBytes(), half->weightBytes());
    EXPECT_LT(fewest->weightBytes(), quarter->weightBytes());
    EXPECT_NEAR(static_cast<double>(whole->cacheBytes().count), 2 * 2 * 2 * 64 * 64 * 4, 64);
    EXPECT_NEAR(static_cast<double>(half->cacheBytes().count), 2 * 2 * 2 * 64 * 64 * 2, 64);
}

// The embedding is the head, so a token reads all of it; of an embedding of its own it takes a row.
TEST(Decoder, SaysWhatOneTokenReads) {
    GptConfig config = base();
    const auto read = [&](WeightType type) {
        const GeneratorWeights model = weightsOf(config);
        const Decoder decoder(model, type, {}, 1);
        return decoder.weightBytes().count - decoder.bytesOfAToken().count;
    };
    const std::int64_t positions = config.positions * config.width * 4, panels = 64 * config.width;  // 61 rows take two panels of 32
    EXPECT_EQ(read(WeightType::F32), positions);
    config.tiedHead = false;
    EXPECT_EQ(read(WeightType::F32), positions + panels * 4);
    EXPECT_EQ(read(WeightType::Int4), positions + panels / 2);
    config.positionKind = PositionKind::Rope;
    EXPECT_EQ(read(WeightType::F32), panels * 4);
}

TEST(Decoder, GoesOnFromWhereASequenceWasCut) {
    const GeneratorWeights model = weightsOf(base());
    Decoder decoder(model, WeightType::F32, {}, 2);
    const Ids prompt = randomIds(20, 1), text = randomIds(9, 2), other = randomIds(4, 3);
    const Decoder::Piece first{0, prompt}, then{0, text}, instead{0, other};
    decoder.read({&first, 1});
    decoder.read({&then, 1});
    decoder.shorten(0, 20);
    decoder.shorten(0, 25);
    EXPECT_EQ(decoder.length(0), 20) << "it is never longer for it";
    decoder.read({&instead, 1});
    Ids whole = prompt;
    whole.insert(whole.end(), other.begin(), other.end());
    EXPECT_LE(farthest(decoder.logits(0), recomputed(model, whole)), 1e-4);
}

// Both ways of computing what follows, greedily, up to the end of the context.
TEST(NextTokensOfADecoder, FollowTheRecomputedOnesUpToTheEndOfTheContext) {
    GptConfig config = base();
    const GeneratorWeights model = weightsOf(config);
    const std::vector<Ids> prompts{randomIds(3, 1), randomIds(25, 2)};
    const auto cached = cachedTokens(model, WeightType::F32, {.sequences = 2, .tokens = 200}, 2);
    const auto plain = recomputedTokens(model);
    cached->begin(prompts);
    plain->begin(prompts);
    const auto likeliest = [](std::span<const float> logits) { return std::max_element(logits.begin(), logits.end()) - logits.begin(); };
    for (std::int64_t length = 25; length < config.positions; ++length) {
        std::vector<Continued> tokens;
        for (std::int64_t s = 0; s < 2; ++s) {
            ASSERT_EQ(likeliest(cached->logits(s)), likeliest(plain->logits(s))) << "sequence " << s << " at " << length;
            tokens.push_back({s, likeliest(plain->logits(s))});
        }
        cached->append(tokens);
        plain->append(tokens);
    }
}

TEST(NextTokensOfADecoder, GoOnFromTheNewerHalfWhereTheContextIsFull) {
    GptConfig config = base();
    config.positions = 12;
    const GeneratorWeights model = weightsOf(config);
    for (const bool decoded : {true, false}) {
        const NextTokensRoom room{.sequences = 1, .tokens = 100};
        const auto tokens = decoded ? cachedTokens(model, WeightType::F32, room, 2) : keptTokens(model, room);
        const Ids prompt = randomIds(30, 7);
        tokens->begin({&prompt, 1});
        Ids context(prompt.end() - 12, prompt.end());
        EXPECT_LE(farthest(tokens->logits(0), recomputed(model, context)), 1e-4) << "the last twelve of the prompt";
        const Ids more = randomIds(15, 8);
        for (const std::int64_t id : more) {
            context.push_back(id);
            if (context.size() > 12) context.erase(context.begin(), context.end() - 6);
            const Continued token{0, id};
            tokens->append({&token, 1});
            EXPECT_LE(farthest(tokens->logits(0), recomputed(model, context)), 1e-4) << decoded;
        }
    }
}

// What is timed is what a writer of text computes: the likeliest tokens, again and again behind the prompts.
TEST(TimedDecoder, ReadsItsPromptsAndWritesBehindThemHoweverLong) {
    const GeneratorWeights model = weightsOf(base());
    Ids ids = randomIds(2 * 7, 1);
    TimedDecoder timed(model, WeightType::F32, {.sequences = 2, .prompt = 7, .text = 5}, ids, 2);
    EXPECT_GT(timed.readPrompts(), 0);
    EXPECT_LE(farthest(timed.decoder().logits(1), recomputed(model, Ids(ids.begin() + 7, ids.end()))), 1e-4);
    EXPECT_GT(timed.write(3), 0);
    EXPECT_EQ(timed.decoder().length(0), 10);
    timed.write(4);
    EXPECT_EQ(timed.decoder().length(0), 9) << "five fit behind the prompt; the sixth and seventh begin anew";
    timed.readPrompts(2);
    EXPECT_EQ(timed.decoder().length(1), 7);
    EXPECT_GT(timed.bytesOfAToken(), timed.decoder().bytesOfAToken()) << "keys and values are read too";
}

}  // namespace
}  // namespace stepscope
