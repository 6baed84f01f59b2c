// The plain operations against their formulas, and that the forward pass really goes through every slot.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sigmoid.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "core/base/CounterRandom.h"
#include "core/model/Gpt.h"

namespace stepscope {
namespace {

at::Tensor drawn(at::IntArrayRef shape, std::uint64_t seed) {
    return at::randn(shape, at::detail::createCPUGenerator(seed), at::TensorOptions().dtype(at::kFloat));
}

at::Tensor ids(at::IntArrayRef shape, std::int64_t bound, std::uint64_t seed) {
    return at::randint(bound, shape, at::detail::createCPUGenerator(seed), at::TensorOptions().dtype(at::kLong));
}

TEST(PlainOps, NormsFollowTheirPapersAndReturnTheSumToo) {
    const at::Tensor x = drawn({2, 3, 8}, 1), delta = drawn({2, 3, 8}, 2), weight = drawn({8}, 3), bias = drawn({8}, 4);
    const at::Tensor sum = x + delta;
    const at::Tensor centred = sum - sum.mean({-1}, true);
    const at::Tensor layer = centred / (centred * centred).mean({-1}, true).add(1e-5).sqrt() * weight + bias;
    const at::Tensor rms = sum / (sum * sum).mean({-1}, true).add(1e-5).sqrt() * weight;
    const auto layerNorm = plain::residualNorm(x, delta, NormKind::LayerNorm, weight, bias);
    EXPECT_TRUE(at::equal(layerNorm.sum, sum));
    EXPECT_TRUE(at::allclose(layerNorm.normed, layer, 1e-5, 1e-5));
    EXPECT_TRUE(at::allclose(plain::residualNorm(x, delta, NormKind::RmsNorm, weight, {}).normed, rms, 1e-5, 1e-5));
    EXPECT_TRUE(at::allclose(plain::residualNorm(x, delta, NormKind::LayerNorm, weight, {}).normed, layer - bias, 1e-5, 1e-5));
    EXPECT_TRUE(at::equal(plain::residualNorm(sum, {}, NormKind::LayerNorm, weight, bias).normed, layerNorm.normed));
}

TEST(PlainOps, SwigluGatesTheSecondHalfByTheFirst) {
    const at::Tensor x = drawn({2, 3, 8}, 1), weight = drawn({10, 8}, 2), bias = drawn({10}, 3);
    const at::Tensor both = at::matmul(x, weight.t()) + bias;
    const at::Tensor gate = both.narrow(-1, 0, 5), value = both.narrow(-1, 5, 5);
    EXPECT_TRUE(at::allclose(plain::linearSwiglu(x, weight, bias), gate * at::sigmoid(gate) * value, 1e-5, 1e-5));
}

TEST(PlainOps, HeadsComeApartAndTogetherAgain) {
    const at::Tensor x = drawn({2, 5, 12}, 1), weight = drawn({36, 12}, 2), bias = drawn({36}, 3);
    const Heads heads = plain::linearHeads(x, weight, bias, 3);
    const at::Tensor qkv = at::matmul(x, weight.t()) + bias;
    EXPECT_EQ(heads.v.sizes(), (std::vector<std::int64_t>{2, 3, 5, 4}));
    EXPECT_TRUE(at::allclose(plain::mergeHeads(heads.q), qkv.narrow(-1, 0, 12), 1e-5, 1e-5));
    EXPECT_TRUE(at::allclose(plain::mergeHeads(heads.k), qkv.narrow(-1, 12, 12), 1e-5, 1e-5));
    EXPECT_TRUE(at::allclose(plain::mergeHeads(heads.v), qkv.narrow(-1, 24, 12), 1e-5, 1e-5));
}

// Mean over rows of -(1 - s) log p[target] - s / V sum log p, in double precision.
double smoothedLoss(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets, std::int64_t vocabulary, double smoothing) {
    const at::Tensor logits = at::matmul(hidden.reshape({-1, hidden.size(-1)}), head.narrow(0, 0, vocabulary).t()).contiguous();
    const at::Tensor wanted = targets.reshape({-1}).contiguous();
    double sum = 0;
    for (std::int64_t r = 0; r < logits.size(0); ++r) {
        const float* row = logits.data_ptr<float>() + r * vocabulary;
        double total = 0, all = 0;
        for (std::int64_t v = 0; v < vocabulary; ++v) total += std::exp(static_cast<double>(row[v]));
        for (std::int64_t v = 0; v < vocabulary; ++v) all += row[v] - std::log(total);
        sum -= (1 - smoothing) * (row[wanted.data_ptr<std::int64_t>()[r]] - std::log(total)) + smoothing / static_cast<double>(vocabulary) * all;
    }
    return sum / static_cast<double>(logits.size(0));
}

TEST(PlainOps, TheLossLeavesPaddedIdsOutWithAndWithoutSmoothing) {
    const at::Tensor hidden = drawn({2, 5, 8}, 1), head = drawn({16, 8}, 2), targets = ids({2, 5}, 11, 3);
    for (const std::int64_t vocabulary : {11, 16})
        for (const double smoothing : {0.0, 0.1})
            EXPECT_NEAR(plain::loss(hidden, head, targets, {vocabulary, smoothing}).item<double>(),
                        smoothedLoss(hidden, head, targets, vocabulary, smoothing), 1e-5)
                << vocabulary << " ids, smoothing " << smoothing;
}

TEST(ModelOps, TheForwardPassGoesThroughEverySlot) {
    const GptConfig config{.layers = 3, .heads = 2, .width = 16, .vocabulary = 11, .paddedVocabulary = 11, .positions = 6};
    const ParameterLayout layout(config);
    const auto weights = WeightsView::over(drawn({layout.size()}, 1), layout, config, false);
    std::map<std::string, int> calls;
    ModelOps counting;
    counting.embed = [&](const auto&... a) { return ++calls["embed"], plain::embed(a...); };
    counting.residualNorm = [&](const at::Tensor& x, const at::Tensor& delta, NormSettings settings, const at::Tensor& w, const at::Tensor& b) {
        return ++calls["norm"], plain::residualNorm(x, delta, settings, w, b);
    };
    counting.linear = [&](const auto&... a) { return ++calls["linear"], plain::linear(a...); };
    counting.linearGelu = [&](const auto&... a) { return ++calls["gelu"], plain::linearGelu(a...); };
    counting.linearHeads = [&](const auto&... a) { return ++calls["heads"], plain::linearHeads(a...); };
    counting.mergeHeads = [&](const auto&... a) { return ++calls["merge"], plain::mergeHeads(a...); };
    counting.attention = [&](const auto&... a) { return ++calls["attention"], manualAttention(a...); };
    counting.loss = [&](const auto&... a) { return ++calls["loss"], plain::loss(a...); };
    gptLoss(config, weights, counting, ids({2, 6}, 11, 1), ids({2, 6}, 11, 2));
    EXPECT_EQ(calls, (std::map<std::string, int>{
                         {"embed", 1}, {"norm", 7}, {"linear", 6}, {"gelu", 3}, {"heads", 3}, {"merge", 3}, {"attention", 3}, {"loss", 1}}));
}

}  // namespace
}  // namespace stepscope
