// The model's logits, loss and every gradient against the plain restatement, to 1e-5 in float32; both attentions; padding.
#include <ATen/Context.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "PlainGpt.h"
#include "core/base/CounterRandom.h"
#include "core/model/Gpt.h"

namespace stepscope {
namespace {

double uniform(std::uint64_t stream, std::uint64_t i) {
    return static_cast<double>(counterRandom(11, stream, i) >> 11) * 0x1p-53 - 0.5;
}

struct Fixture {
    PlainShape shape;
    GptConfig config;
    ParameterLayout layout;
    at::Tensor flat;
    PlainParameters plain;
    std::vector<std::int64_t> inputs, targets;
    std::int64_t batch;

    Fixture(PlainShape s, std::int64_t sequences, std::int64_t paddedVocabulary = 0) : shape(s), batch(sequences) {
        config = {.layers = s.layers,
                  .heads = s.heads,
                  .width = s.width,
                  .vocabulary = s.vocabulary,
                  .paddedVocabulary = std::max<std::int64_t>(paddedVocabulary, s.vocabulary),
                  .positions = s.context};
        layout = ParameterLayout(config);
        flat = at::zeros({layout.size()}, at::TensorOptions().dtype(at::kFloat));
        for (std::size_t i = 0; i < layout.slots().size(); ++i) {
            const auto& slot = layout.slots()[i];
            const std::int64_t count = slot.name == "wte.weight" ? s.vocabulary * s.width : slot.count;
            auto& values = plain[slot.name];
            float* into = flat.data_ptr<float>() + slot.offset;
            for (std::int64_t j = 0; j < count; ++j) {
                const bool scale = slot.name.find("ln_") != std::string::npos && slot.name.find("weight") != std::string::npos;
                into[j] = static_cast<float>((scale ? 1 : 0) + 0.6 * uniform(i, static_cast<std::uint64_t>(j)));
                values.push_back(into[j]);
            }
        }
        for (std::int64_t i = 0; i < sequences * s.context; ++i) {
            inputs.push_back(static_cast<std::int64_t>(counterRandomBelow(3, 1, i, s.vocabulary)));
            targets.push_back(static_cast<std::int64_t>(counterRandomBelow(3, 2, i, s.vocabulary)));
        }
    }
    at::Tensor tokens(std::vector<std::int64_t>& ids) {
        return at::from_blob(ids.data(), {batch, shape.context}, at::TensorOptions().dtype(at::kLong)).clone();
    }
};

ModelOps opsWith(const AttentionFunction& attention) {
    ModelOps ops;
    ops.attention = attention;
    return ops;
}

void expectSameAsPlain(Fixture& f, const AttentionFunction& attention) {
    const ModelOps ops = opsWith(attention);
    const PlainResult expected = plainGpt(f.shape, f.plain, f.inputs, f.targets);
    const auto weights = WeightsView::over(f.flat, f.layout, f.config, true);
    const at::Tensor hidden = gptHidden(f.config, weights, ops, f.tokens(f.inputs));
    const at::Tensor logits = gptLogits(f.config, weights, hidden).detach().contiguous();
    for (std::int64_t row = 0; row < f.batch * f.shape.context; ++row)
        for (std::int64_t v = 0; v < f.shape.vocabulary; ++v)
            ASSERT_NEAR(logits.data_ptr<float>()[row * f.config.paddedVocabulary + v], expected.logits[row * f.shape.vocabulary + v], 1e-5);

    const at::Tensor loss = gptLoss(f.config, weights, ops, f.tokens(f.inputs), f.tokens(f.targets));
    EXPECT_NEAR(loss.item<double>(), expected.loss, 1e-5);
    loss.backward();
    for (std::size_t i = 0; i < f.layout.slots().size(); ++i) {
        const auto& slot = f.layout.slots()[i];
        const auto& wanted = expected.gradients.at(slot.name);
        const at::Tensor gradient = weights.all[i].grad().contiguous();
        double largest = 0, difference = 0;
        for (std::size_t j = 0; j < wanted.size(); ++j) {
            largest = std::max(largest, std::abs(wanted[j]));
            difference = std::max(difference, std::abs(gradient.data_ptr<float>()[j] - wanted[j]));
        }
        EXPECT_LT(difference, 1e-5 * std::max(1.0, largest)) << slot.name;
        EXPECT_GT(largest, 1e-7) << slot.name << ": a gradient of zero would prove nothing";
    }
}

TEST(Gpt, LogitsLossAndEveryGradientAgreeWithThePlainRestatement) {
    Fixture f({.layers = 3, .heads = 4, .width = 32, .vocabulary = 37, .context = 9}, 2);
    expectSameAsPlain(f, manualAttention);
}

TEST(Gpt, SdpaAgreesWithThePlainRestatementToo) {
    Fixture f({.layers = 2, .heads = 3, .width = 24, .vocabulary = 20, .context = 17}, 3);
    expectSameAsPlain(f, sdpaAttention);
}

TEST(Gpt, WorksForOneSequenceOfOneToken) {
    // One token attends only to itself: q and k have no gradient, so this cannot go through the check of all gradients.
    Fixture f({.layers = 1, .heads = 1, .width = 8, .vocabulary = 5, .context = 1}, 1);
    const auto weights = WeightsView::over(f.flat, f.layout, f.config, false);
    EXPECT_NEAR(gptLoss(f.config, weights, opsWith(manualAttention), f.tokens(f.inputs), f.tokens(f.targets)).item<double>(),
                plainGpt(f.shape, f.plain, f.inputs, f.targets).loss, 1e-5);
}

TEST(Gpt, PaddedIdsGetNoProbabilityAndNoGradient) {
    Fixture f({.layers = 2, .heads = 2, .width = 16, .vocabulary = 37, .context = 8}, 2, /*padded=*/64);
    expectSameAsPlain(f, manualAttention);
    const auto weights = WeightsView::over(f.flat, f.layout, f.config, true);
    const at::Tensor logits = gptLogits(f.config, weights, gptHidden(f.config, weights, opsWith(manualAttention), f.tokens(f.inputs)));
    EXPECT_EQ(at::softmax(logits, -1).narrow(-1, 37, 27).sum().item<double>(), 0.0);
    gptLoss(f.config, weights, opsWith(manualAttention), f.tokens(f.inputs), f.tokens(f.targets)).backward();
    EXPECT_EQ(weights.tokens.grad().narrow(0, 37, 27).abs().max().item<double>(), 0.0);
}

TEST(Gpt, NamesTheSdpaBackendThatTheSettingsAllow) {
    auto& context = at::globalContext();
    const at::Tensor q = at::zeros({1, 2, 8, 16}, at::TensorOptions().dtype(at::kFloat));
    context.setSDPUseFlash(false);
    EXPECT_EQ(chosenSdpa(q, q, q), "sdpa-math");
    context.setSDPUseFlash(true);
    EXPECT_EQ(chosenSdpa(q, q, q), "sdpa-flash");
}

TEST(ParameterLayout, GivesEveryParameterItsOwnAlignedPlaceAndDecaysOnlyMatrices) {
    const ParameterLayout layout(GptConfig{.layers = 2, .heads = 1, .width = 10, .vocabulary = 7, .paddedVocabulary = 7, .positions = 3});
    std::int64_t end = 0;
    for (const auto& slot : layout.slots()) {
        EXPECT_GE(slot.offset, end) << slot.name;
        EXPECT_EQ(slot.offset % 16, 0) << slot.name;
        EXPECT_EQ(slot.decays, slot.shape.size() == 2) << slot.name;
        EXPECT_EQ(slot.decays, slot.offset < layout.decayEnd()) << slot.name;
        end = slot.offset + slot.count;
    }
    EXPECT_LE(end, layout.size());
}

TEST(ParameterLayout, CountsGpt2SmallAsItsAuthorsDo) {
    const GptConfig small{.layers = 12, .heads = 12, .width = 768, .vocabulary = 50257, .paddedVocabulary = 50257, .positions = 1024};
    EXPECT_EQ(parameterCount(small), 124'439'808);
    EXPECT_EQ(
        ParameterLayout(GptConfig{.layers = 2, .heads = 1, .width = 10, .vocabulary = 7, .paddedVocabulary = 7, .positions = 3}).parameterCount(),
        parameterCount(GptConfig{.layers = 2, .heads = 1, .width = 10, .vocabulary = 7, .paddedVocabulary = 7, .positions = 3}));
}

}  // namespace
}  // namespace stepscope
