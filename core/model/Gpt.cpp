// See Gpt.h.
#include "core/model/Gpt.h"

#include "core/base/Check.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>
#include <limits>

namespace stepscope {
namespace {

at::Tensor attend(const GptConfig& config, const BlockWeights& w, const ModelOps& ops, const at::Tensor& x) {
    const Heads heads = ops.linearHeads(x, w.qkvWeight, w.qkvBias, config.heads);
    return ops.linear(ops.mergeHeads(ops.attention(heads.q, heads.k, heads.v)), w.projWeight, w.projBias);
}

at::Tensor feedForward(const BlockWeights& w, const ModelOps& ops, const at::Tensor& x) {
    return ops.linear(ops.linearGelu(x, w.fcWeight, w.fcBias), w.fcProjWeight, w.fcProjBias);
}

}  // namespace

at::Tensor gptHidden(const GptConfig& config, const WeightsView& weights, const ModelOps& ops, const at::Tensor& tokens) {
    const std::int64_t T = tokens.size(1);
    SS_CHECK(T <= config.positions);
    const at::Tensor positions = T == config.positions ? weights.positions : weights.positions.narrow(0, 0, T);
    const auto norm = [&](const at::Tensor& x, const at::Tensor& delta, const at::Tensor& weight, const at::Tensor& bias) {
        return ops.residualNorm(x, delta, NormKind::LayerNorm, weight, bias);
    };
    at::Tensor x = ops.embed(tokens, weights.tokens, positions);  // (B, T, C)
    at::Tensor branch;                                            // what the last block adds: the next norm adds it on its way
    for (const auto& block : weights.blocks) {
        const NormedSum first = norm(x, branch, block.norm1Weight, block.norm1Bias);
        const NormedSum second = norm(first.sum, attend(config, block, ops, first.normed), block.norm2Weight, block.norm2Bias);
        x = second.sum;
        branch = feedForward(block, ops, second.normed);
    }
    return norm(x, branch, weights.normWeight, weights.normBias).normed;
}

at::Tensor gptLogits(const GptConfig& config, const WeightsView& weights, const at::Tensor& hidden) {
    if (config.paddedVocabulary == config.vocabulary) return at::linear(hidden, weights.head);
    at::Tensor bias = at::zeros({config.paddedVocabulary}, weights.head.options().requires_grad(false));
    bias.narrow(0, config.vocabulary, config.paddedVocabulary - config.vocabulary).fill_(-std::numeric_limits<float>::infinity());
    return at::linear(hidden, weights.head, bias);
}

at::Tensor gptLoss(const GptConfig& config, const WeightsView& weights, const ModelOps& ops, const at::Tensor& tokens, const at::Tensor& targets) {
    return ops.loss(gptHidden(config, weights, ops, tokens), weights.head, targets, {.vocabulary = config.vocabulary});
}

}  // namespace stepscope
