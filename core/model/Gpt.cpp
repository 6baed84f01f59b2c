#include "core/model/Gpt.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <memory>

#include "core/base/Check.h"
#include "core/base/DropoutMask.h"
#include "core/base/StepPlace.h"

namespace stepscope {
namespace {

// One forward pass: what its blocks share. Blocks that run again in backward keep it alive.
class Pass {
public:
    Pass(const GptConfig& config, const ModelOps& ops, const Regularisation& training, const at::Tensor& tokens)
        : m_config(config), m_ops(ops), m_training(training), m_firstElement(training.firstSequence * tokens.size(1) * config.width) {
        if (config.positionKind == PositionKind::Rope) makeTurns(tokens.size(1), tokens.device());
    }

    const ModelOps& ops() const { return m_ops; }

    at::Tensor embed(const WeightsView& weights, const at::Tensor& tokens) const {
        const PlaceScope place(Role::Embedding);
        const std::int64_t T = tokens.size(1);
        at::Tensor positions = weights.positions;
        if (positions.defined() && T < positions.size(0)) positions = positions.narrow(0, 0, T);
        return dropped(m_ops.embed(tokens, weights.tokens, positions), 0);
    }

    // What the attention branch of block l adds to the residual stream. x: (B, T, C), normed as the placement wants.
    at::Tensor attend(const BlockWeights& w, std::int64_t l, const at::Tensor& x) const {
        const Heads heads = project(w, l, x);
        const at::Tensor attended = mix(l, heads);
        const PlaceScope place(l, Role::AttentionOut);
        return dropped(m_ops.linear(attended, w.projWeight, w.projBias), 1 + 2 * l);
    }

    at::Tensor feedForward(const BlockWeights& w, std::int64_t l, const at::Tensor& x) const {
        const at::Tensor activated = expand(w, l, x);
        const PlaceScope place(l, Role::MlpDown);
        return dropped(m_ops.linear(activated, w.fcProjWeight, w.fcProjBias), 2 + 2 * l);
    }

    // layer -1: the last norm.
    NormedSum norm(std::int64_t layer, Role role, const at::Tensor& x, const at::Tensor& branch, const at::Tensor& weight,
                   const at::Tensor& bias) const {
        const PlaceScope place(layer, role);
        return m_ops.residualNorm(x, branch, {m_config.norm, m_config.placement == NormPlacement::Post}, weight, bias);
    }

private:
    void makeTurns(std::int64_t T, at::Device device) {
        const auto options = at::TensorOptions().dtype(at::kDouble).device(device);
        const std::int64_t half = m_config.headWidth() / 2;
        const at::Tensor speeds = at::pow(kRopeBase, at::arange(half, options) * (-1.0 / static_cast<double>(half)));
        const at::Tensor angles = at::outer(at::arange(T, options), speeds);  // (T, D/2), in double: positions times speeds must not round
        m_cosines = angles.cos().to(at::kFloat);
        m_sines = angles.sin().to(at::kFloat);
    }

    Heads project(const BlockWeights& w, std::int64_t l, const at::Tensor& x) const {
        const PlaceScope place(l, Role::AttentionQkv);
        Heads heads = m_config.splitQkv ? threeProjections(w, x) : m_ops.linearHeads(x, w.qkvWeight, w.qkvBias, m_config.heads);
        if (m_cosines.defined()) {
            heads.q = m_ops.rotate(heads.q, m_cosines, m_sines);
            heads.k = m_ops.rotate(heads.k, m_cosines, m_sines);
        }
        return heads;
    }

    at::Tensor mix(std::int64_t l, const Heads& heads) const {
        const PlaceScope place(l, Role::AttentionCore);
        return m_ops.mergeHeads(m_ops.attention(heads.q, heads.k, heads.v));
    }

    at::Tensor expand(const BlockWeights& w, std::int64_t l, const at::Tensor& x) const {
        const PlaceScope place(l, Role::MlpUp);
        return (m_config.activation == Activation::Swiglu ? m_ops.linearSwiglu : m_ops.linearGelu)(x, w.fcWeight, w.fcBias);
    }

    Heads threeProjections(const BlockWeights& w, const at::Tensor& x) const {
        const std::int64_t B = x.size(0), T = x.size(1);
        const auto one = [&](std::size_t i) {
            return m_ops.linear(x, w.qkvWeights[i], w.qkvBiases[i]).view({B, T, m_config.heads, m_config.headWidth()}).transpose(1, 2);
        };
        return {one(0), one(1), one(2)};
    }

    at::Tensor dropped(const at::Tensor& x, std::int64_t site) const {
        if (m_training.dropout == 0) return x;
        const std::uint64_t key = dropoutKey(m_training.seed, static_cast<std::uint64_t>(m_training.step), static_cast<std::uint64_t>(site));
        return m_ops.dropout(x, {m_training.dropout, key, m_firstElement});
    }

    GptConfig m_config;
    ModelOps m_ops;
    Regularisation m_training;
    std::int64_t m_firstElement;
    at::Tensor m_cosines, m_sines;  // of RoPE
};

using SharedPass = std::shared_ptr<const Pass>;

struct Stream {
    at::Tensor x, branch;  // the residual stream is x + branch
};

Stream preNormBlock(const Pass& pass, const BlockWeights& w, std::int64_t layer, const Stream& in) {
    const NormedSum first = pass.norm(layer, Role::Norm1, in.x, in.branch, w.norm1Weight, w.norm1Bias);
    const NormedSum second = pass.norm(layer, Role::Norm2, first.sum, pass.attend(w, layer, first.normed), w.norm2Weight, w.norm2Bias);
    return {second.sum, pass.feedForward(w, layer, second.normed)};
}

at::Tensor preNorm(const SharedPass& pass, const WeightsView& weights, const at::Tensor& embedded) {
    Stream stream{embedded, {}};
    for (std::size_t l = 0; l < weights.blocks.size(); ++l) {
        const BlockWeights& w = weights.blocks[l];
        const auto layer = static_cast<std::int64_t>(l);
        if (!pass->ops().block) {
            stream = preNormBlock(*pass, w, layer, stream);
            continue;
        }
        stream.x = pass->ops().block(layer, stream.x, [pass, w, layer](const at::Tensor& x) {
            const Stream out = preNormBlock(*pass, w, layer, {x, {}});
            const PlaceScope place(layer, Role::MlpDown);  // where a block is cut off its last sum has no norm to join
            return out.x + out.branch;
        });
    }
    return pass->norm(-1, Role::LastNorm, stream.x, stream.branch, weights.normWeight, weights.normBias).normed;
}

at::Tensor postNormBlock(const Pass& pass, const BlockWeights& w, std::int64_t layer, const at::Tensor& in) {
    const at::Tensor x = pass.norm(layer, Role::Norm1, in, pass.attend(w, layer, in), w.norm1Weight, w.norm1Bias).normed;
    return pass.norm(layer, Role::Norm2, x, pass.feedForward(w, layer, x), w.norm2Weight, w.norm2Bias).normed;
}

at::Tensor postNorm(const SharedPass& pass, const WeightsView& weights, at::Tensor x) {
    for (std::size_t l = 0; l < weights.blocks.size(); ++l) {
        const BlockWeights& w = weights.blocks[l];
        const auto layer = static_cast<std::int64_t>(l);
        x = pass->ops().block ? pass->ops().block(layer, x, [pass, w, layer](const at::Tensor& in) { return postNormBlock(*pass, w, layer, in); })
                              : postNormBlock(*pass, w, layer, x);
    }
    return x;
}

}  // namespace

at::Tensor gptHidden(const GptConfig& config, const WeightsView& weights, const ModelOps& ops, const at::Tensor& tokens,
                     const Regularisation& training) {
    SS_CHECK(tokens.size(1) <= config.positions);
    const auto pass = std::make_shared<const Pass>(config, ops, training, tokens);
    const at::Tensor x = pass->embed(weights, tokens);  // (B, T, C)
    return config.placement == NormPlacement::Post ? postNorm(pass, weights, x) : preNorm(pass, weights, x);
}

at::Tensor gptLogits(const GptConfig& config, const WeightsView& weights, const at::Tensor& hidden) {
    if (config.paddedVocabulary == config.vocabulary) return at::linear(hidden, weights.head);
    at::Tensor bias = at::zeros({config.paddedVocabulary}, weights.head.options().requires_grad(false));
    bias.narrow(0, config.vocabulary, config.paddedVocabulary - config.vocabulary).fill_(-std::numeric_limits<float>::infinity());
    return at::linear(hidden, weights.head, bias);
}

at::Tensor gptLoss(const GptConfig& config, const WeightsView& weights, const ModelOps& ops, const at::Tensor& tokens, const at::Tensor& targets,
                   const Regularisation& training) {
    const at::Tensor hidden = gptHidden(config, weights, ops, tokens, training);
    const PlaceScope place(Role::HeadLoss);
    return ops.loss(hidden, weights.head, targets,
                    {.vocabulary = config.vocabulary, .smoothing = training.smoothing, .backwardScale = training.backwardScale});
}

}  // namespace stepscope
