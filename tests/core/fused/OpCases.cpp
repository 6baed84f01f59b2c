// The cases that the tests of fused operations share.
#include "OpCases.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include <cmath>

#include "core/program/ProgramScope.h"

namespace stepscope::testing {

at::Tensor normal(at::IntArrayRef size, std::uint64_t seed, double scale) {
    return at::randn(size, at::detail::createCPUGenerator(seed)) * scale;
}
at::Tensor ids(at::IntArrayRef size, std::int64_t below) {
    return at::randint(below, size, at::detail::createCPUGenerator(5), at::TensorOptions().dtype(at::kLong));
}

namespace {

template <class Function>
auto alone(Function function) {
    return [function](const Tensors& in) { return Tensors{function(in)}; };
}

Case normCase(std::string name, NormKind kind, std::int64_t B, std::int64_t T, std::int64_t C, bool withDelta, bool withBias) {
    Tensors inputs{normal({B, T, C}, 1), normal({C}, 2)};
    if (withBias) inputs.push_back(normal({C}, 3));
    // In a block delta comes out of a product, so that under autocast it is low: the product is part of the case.
    if (withDelta) {
        inputs.push_back(normal({B, T, C}, 4));
        inputs.push_back(normal({C, C}, 6, 0.3));
    }
    const auto with = [=](auto norm) {
        return [=](const Tensors& in) {
            const at::Tensor delta = withDelta ? plain::linear(in[in.size() - 2], in.back(), {}) : at::Tensor();
            const NormedSum out = norm(in[0], delta, kind, in[1], withBias ? in[2] : at::Tensor());
            return Tensors{out.sum, out.normed};
        };
    };
    return {std::move(name), inputs, with(plain::residualNorm), with(fused::residualNorm)};
}

template <class Plain, class Fused>
Case linearCase(std::string name, Plain plain, Fused fused, std::int64_t rows, std::int64_t in, std::int64_t out, bool withBias) {
    Tensors inputs{normal({2, rows, in}, 1), normal({out, in}, 2, 0.5)};
    if (withBias) inputs.push_back(normal({out}, 3));
    const auto with = [=](auto op) { return alone([=](const Tensors& t) { return op(t[0], t[1], withBias ? t[2] : at::Tensor()); }); };
    return {std::move(name), inputs, with(plain), with(fused)};
}

Case headsCase(std::string name, decltype(ModelOps::attention) fusedAttention, std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t D) {
    const auto with = [=](auto heads, auto attend, auto merge) {
        return alone([=](const Tensors& in) {
            const Heads h = heads(in[0], in[1], in[2], H);
            return merge(attend(h.q, h.k, h.v));
        });
    };
    return {std::move(name),
            {normal({B, T, H * D}, 1), normal({3 * H * D, H * D}, 2, 1 / std::sqrt(static_cast<double>(H * D))), normal({3 * H * D}, 3)},
            with(plain::linearHeads, manualAttention, plain::mergeHeads),
            with(fused::linearHeads, std::move(fusedAttention), plain::mergeHeads)};
}

Case attentionCase(std::string name, std::int64_t B, std::int64_t H, std::int64_t T, std::int64_t D) {
    const auto with = [](auto op) { return alone([=](const Tensors& in) { return op(in[0], in[1], in[2]); }); };
    return {
        std::move(name), {normal({B, H, T, D}, 1), normal({B, H, T, D}, 2), normal({B, H, T, D}, 3)}, with(manualAttention), with(fused::attention)};
}

Case lossCase(std::string name, std::int64_t T, std::int64_t C, std::int64_t rows, std::int64_t vocabulary, double smoothing) {
    const at::Tensor targets = ids({2, T}, vocabulary);
    const auto with = [=](auto op) {
        return alone([=](const Tensors& in) { return op(in[0], in[1], targets, {.vocabulary = vocabulary, .smoothing = smoothing}); });
    };
    return {std::move(name), {normal({2, T, C}, 1), normal({rows, C}, 2)}, with(plain::loss), with(fused::loss)};
}

Case embeddingCase(std::string name, bool withPositions) {
    const at::Tensor tokens = ids({3, 7}, 11);
    Tensors inputs{normal({13, 19}, 1)};
    if (withPositions) inputs.push_back(normal({7, 19}, 2));
    const auto with = [=](auto op) { return alone([=](const Tensors& in) { return op(tokens, in[0], withPositions ? in[1] : at::Tensor()); }); };
    return {std::move(name), inputs, with(plain::embed), with(fused::embed)};
}

// Token table also used by a product, as with a tied head: a dense and a sparse gradient meet.
Case tiedCase() {
    const at::Tensor tokens = ids({3, 7}, 11);
    const auto with = [=](auto embed) {
        return [=](const Tensors& in) {
            const at::Tensor x = embed(tokens, in[0], in[1]);
            return Tensors{plain::linear(x, in[0], {})};
        };
    };
    return {"EmbeddingTiedToTheHead", {normal({13, 19}, 1), normal({7, 19}, 2)}, with(plain::embed), with(fused::embedTied)};
}

}  // namespace

void PrintTo(const Case& c, std::ostream* out) {
    *out << c.name;
}

std::vector<Case> cases() {
    return {normCase("LayerNorm", NormKind::LayerNorm, 2, 9, 40, true, true),
            normCase("LayerNormOfManyRows", NormKind::LayerNorm, 4, 100, 33, true, true),
            normCase("LayerNormWithoutDeltaAndBias", NormKind::LayerNorm, 2, 5, 17, false, false),
            normCase("RmsNorm", NormKind::RmsNorm, 2, 9, 40, true, false),
            normCase("RmsNormWithBias", NormKind::RmsNorm, 1, 3, 16, false, true),
            linearCase("Gelu", plain::linearGelu, fused::linearGelu, 9, 12, 37, true),
            linearCase("GeluOfManyRows", plain::linearGelu, fused::linearGelu, 150, 12, 64, true),
            linearCase("GeluWithoutBias", plain::linearGelu, fused::linearGelu, 3, 8, 16, false),
            linearCase("Swiglu", plain::linearSwiglu, fused::linearSwiglu, 9, 12, 38, true),
            linearCase("SwigluWithoutBias", plain::linearSwiglu, fused::linearSwiglu, 9, 12, 32, false),
            headsCase("HeadsWithManualAttention", manualAttention, 2, 9, 3, 8),
            headsCase("HeadsWithFusedAttention", fused::attention, 2, 33, 3, 16),
            attentionCase("Attention", 2, 3, 70, 64),
            attentionCase("AttentionOfOneToken", 1, 1, 1, 5),
            lossCase("Loss", 9, 12, 50, 50, 0),
            lossCase("LossWithPaddingAndSmoothing", 9, 12, 64, 50, 0.1),
            embeddingCase("Embedding", true),
            embeddingCase("EmbeddingWithoutPositions", false),
            tiedCase()};
}

Outcome run(const std::function<Tensors(const Tensors&)>& op, const Tensors& inputs, at::ScalarType type, bool low, std::optional<double> spoilt) {
    Tensors leaves;
    for (const auto& t : inputs) leaves.push_back(t.to(type).detach().clone().set_requires_grad(true));
    Tensors outputs;
    {
        const AutocastScope autocast(at::kCPU, low ? std::optional(at::kBFloat16) : std::nullopt);
        outputs = op(leaves);
    }
    Outcome all;
    at::Tensor objective;
    std::uint64_t seed = 100;
    for (const auto& out : outputs) {
        // A loss on a GPU knows its gradient before (LossSettings::backwardScale): 1 here.
        at::Tensor gradient = out.dim() == 0 ? at::ones({}, at::kDouble) : normal(out.sizes(), seed).to(at::kDouble);
        ++seed;
        if (spoilt) gradient.view({-1})[out.numel() / 2] = *spoilt;
        const at::Tensor part = (out.to(at::kDouble) * gradient).sum();
        objective = objective.defined() ? objective + part : part;
        all.outputs.push_back(out.detach().to(at::kDouble));
    }
    objective.backward();
    for (const auto& leaf : leaves) all.gradients.push_back(leaf.grad().to_dense().to(at::kDouble));
    return all;
}

}  // namespace stepscope::testing
