// See Gpt.h.
#include "core/model/Gpt.h"

#include "core/base/Check.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>
#include <limits>

namespace stepscope {
namespace {

constexpr double kNormEpsilon = 1e-5;  // GPT-2's layer_norm_epsilon

at::Tensor attend(const GptConfig& config, const BlockWeights& w, const AttentionFunction& attention, const at::Tensor& x) {
    const std::int64_t B = x.size(0), T = x.size(1), C = x.size(2), H = config.heads;
    const auto qkv = at::linear(x, w.qkvWeight, w.qkvBias).split(C, 2);  // 3 x (B, T, C)
    const auto heads = [&](const at::Tensor& t) { return t.view({B, T, H, C / H}).transpose(1, 2); };
    const at::Tensor y = attention(heads(qkv[0]), heads(qkv[1]), heads(qkv[2]));  // (B, H, T, D)
    return at::linear(y.transpose(1, 2).reshape({B, T, C}), w.projWeight, w.projBias);
}

at::Tensor feedForward(const BlockWeights& w, const at::Tensor& x) {
    return at::linear(at::gelu(at::linear(x, w.fcWeight, w.fcBias), "tanh"), w.fcProjWeight, w.fcProjBias);
}

}  // namespace

at::Tensor gptHidden(const GptConfig& config, const WeightsView& weights, const AttentionFunction& attention, const at::Tensor& tokens) {
    const std::int64_t T = tokens.size(1), C = config.width;
    SS_CHECK(T <= config.positions);
    const at::Tensor positions = T == config.positions ? weights.positions : weights.positions.narrow(0, 0, T);
    at::Tensor x = at::embedding(weights.tokens, tokens) + positions;  // (B, T, C)
    for (const auto& block : weights.blocks) {
        x = x + attend(config, block, attention, at::layer_norm(x, {C}, block.norm1Weight, block.norm1Bias, kNormEpsilon));
        x = x + feedForward(block, at::layer_norm(x, {C}, block.norm2Weight, block.norm2Bias, kNormEpsilon));
    }
    return at::layer_norm(x, {C}, weights.normWeight, weights.normBias, kNormEpsilon);
}

at::Tensor gptLogits(const GptConfig& config, const WeightsView& weights, const at::Tensor& hidden) {
    if (config.paddedVocabulary == config.vocabulary) return at::linear(hidden, weights.tokens);
    // -inf through the bias costs one vector; slicing the logits would copy all of them.
    at::Tensor bias = at::zeros({config.paddedVocabulary}, weights.tokens.options().requires_grad(false));
    bias.narrow(0, config.vocabulary, config.paddedVocabulary - config.vocabulary).fill_(-std::numeric_limits<float>::infinity());
    return at::linear(hidden, weights.tokens, bias);
}

at::Tensor gptLoss(const GptConfig& config, const WeightsView& weights, const AttentionFunction& attention, const at::Tensor& tokens,
                   const at::Tensor& targets) {
    const at::Tensor logits = gptLogits(config, weights, gptHidden(config, weights, attention, tokens));
    return at::cross_entropy_loss(logits.view({-1, config.paddedVocabulary}), targets.reshape({-1}));
}

}  // namespace stepscope
