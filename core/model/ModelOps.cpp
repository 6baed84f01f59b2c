// The plain LibTorch form of every slot.
#include "core/model/ModelOps.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "core/model/Dropout.h"

namespace stepscope::plain {

at::Tensor embed(const at::Tensor& tokens, const at::Tensor& wte, const at::Tensor& wpe) {
    const at::Tensor rows = at::embedding(wte, tokens);  // (B, T, C)
    return wpe.defined() ? rows + wpe : rows;
}

NormedSum residualNorm(const at::Tensor& x, const at::Tensor& delta, NormSettings settings, const at::Tensor& weight, const at::Tensor& bias) {
    const at::Tensor sum = delta.defined() ? x + delta : x;
    const std::int64_t C = x.size(-1);
    if (settings.kind == NormKind::LayerNorm) return {sum, at::layer_norm(sum, {C}, weight, bias, kNormEpsilon)};
    const at::Tensor normed = at::rms_norm(sum, {C}, weight, kNormEpsilon);
    return {sum, bias.defined() ? normed + bias : normed};
}

at::Tensor linear(const at::Tensor& x, const Weight& weight, const Weight& bias) {
    return at::linear(x, weight.forProduct(), bias.forProduct());
}

at::Tensor linearGelu(const at::Tensor& x, const Weight& weight, const Weight& bias) {
    return at::gelu(at::linear(x, weight.forProduct(), bias.forProduct()), "tanh");
}

at::Tensor linearSwiglu(const at::Tensor& x, const Weight& weight, const Weight& bias) {
    const auto halves = at::linear(x, weight.forProduct(), bias.forProduct()).chunk(2, -1);  // 2 x (B, T, F)
    return at::silu(halves[0]) * halves[1];
}

Heads linearHeads(const at::Tensor& x, const Weight& weight, const Weight& bias, std::int64_t heads) {
    const std::int64_t B = x.size(0), T = x.size(1), C = x.size(2);
    const auto qkv = at::linear(x, weight.forProduct(), bias.forProduct()).split(C, 2);  // 3 x (B, T, C)
    const auto split = [&](const at::Tensor& t) { return t.view({B, T, heads, C / heads}).transpose(1, 2); };
    return {split(qkv[0]), split(qkv[1]), split(qkv[2])};
}

at::Tensor rotate(const at::Tensor& t, const at::Tensor& cosines, const at::Tensor& sines) {
    const auto halves = t.to(at::kFloat).chunk(2, -1);  // 2 x (B, H, T, D/2)
    const at::Tensor turned = at::cat({halves[0] * cosines - halves[1] * sines, halves[1] * cosines + halves[0] * sines}, -1);
    return turned.to(t.scalar_type());
}

at::Tensor dropout(const at::Tensor& x, const DropoutPlace& place) {
    if (place.rate == 0) return x;
    return x * dropoutMask(x.sizes(), place, x.device()) * (1 / (1 - place.rate));
}

at::Tensor mergeHeads(const at::Tensor& y) {
    return y.transpose(1, 2).reshape({y.size(0), y.size(2), y.size(1) * y.size(3)});
}

at::Tensor loss(const at::Tensor& hidden, const at::Tensor& headWeight, const at::Tensor& targets, const LossSettings& settings) {
    const std::int64_t rows = headWeight.size(0);
    const bool padded = rows > settings.vocabulary;
    if (padded && settings.smoothing > 0) {
        // Smoothing sums over the log-probabilities, and those of padded ids would be -inf: here the slice's copy is worth it.
        const at::Tensor logits = at::linear(hidden, headWeight.narrow(0, 0, settings.vocabulary));
        return at::cross_entropy_loss(logits.view({-1, settings.vocabulary}), targets.reshape({-1}), {}, 1, -100, settings.smoothing);
    }
    at::Tensor bias;
    if (padded) {
        // -inf through the bias costs one vector; slicing the logits would copy all of them.
        bias = at::zeros({rows}, headWeight.options().requires_grad(false));
        bias.narrow(0, settings.vocabulary, rows - settings.vocabulary).fill_(-std::numeric_limits<float>::infinity());
    }
    const at::Tensor logits = at::linear(hidden, headWeight, bias);  // (B, T, Vp)
    return at::cross_entropy_loss(logits.view({-1, rows}), targets.reshape({-1}), {}, 1, -100, settings.smoothing);
}

}  // namespace stepscope::plain
