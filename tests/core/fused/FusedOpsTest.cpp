// Every fused operation against the plain one: outputs and all gradients in float32 within 1e-5 of the plain form in double, under bf16
// autocast no farther from it than 1.5 times what the plain form under autocast is; ragged, empty and non-contiguous inputs. CTest.
#include "core/fused/FusedOps.h"
#include "core/train/ProgramScope.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <ostream>

namespace stepscope {
namespace {

using Tensors = std::vector<at::Tensor>;

// An operation as a function of the tensors that get gradients.
struct Case {
    std::string name;
    Tensors inputs;  // float32
    std::function<Tensors(const Tensors&)> plain, fused;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

at::Tensor normal(at::IntArrayRef size, std::uint64_t seed, double scale = 1) { return at::randn(size, at::detail::createCPUGenerator(seed)) * scale; }
at::Tensor ids(at::IntArrayRef size, std::int64_t below) { return at::randint(below, size, at::detail::createCPUGenerator(5), at::TensorOptions().dtype(at::kLong)); }

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
    return {std::move(name), {normal({B, T, H * D}, 1), normal({3 * H * D, H * D}, 2, 1 / std::sqrt(static_cast<double>(H * D))), normal({3 * H * D}, 3)},
            with(plain::linearHeads, manualAttention, plain::mergeHeads), with(fused::linearHeads, std::move(fusedAttention), plain::mergeHeads)};
}

Case attentionCase(std::string name, std::int64_t B, std::int64_t H, std::int64_t T, std::int64_t D) {
    const auto with = [](auto op) { return alone([=](const Tensors& in) { return op(in[0], in[1], in[2]); }); };
    return {std::move(name), {normal({B, H, T, D}, 1), normal({B, H, T, D}, 2), normal({B, H, T, D}, 3)}, with(manualAttention), with(fused::attention)};
}

Case lossCase(std::string name, std::int64_t T, std::int64_t C, std::int64_t rows, std::int64_t vocabulary, double smoothing) {
    const at::Tensor targets = ids({2, T}, vocabulary);
    const auto with = [=](auto op) { return alone([=](const Tensors& in) { return op(in[0], in[1], targets, {.vocabulary = vocabulary, .smoothing = smoothing}); }); };
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

struct Outcome {
    Tensors outputs, gradients;  // double
};

Outcome run(const std::function<Tensors(const Tensors&)>& op, const Tensors& inputs, at::ScalarType type, bool low) {
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
        const at::Tensor part = (out.to(at::kDouble) * normal(out.sizes(), seed++).to(at::kDouble)).sum();
        objective = objective.defined() ? objective + part : part;
        all.outputs.push_back(out.detach().to(at::kDouble));
    }
    objective.backward();
    for (const auto& leaf : leaves) all.gradients.push_back(leaf.grad().to_dense().to(at::kDouble));
    return all;
}

double apart(const at::Tensor& a, const at::Tensor& b) { return ((a - b).norm() / b.norm().clamp_min(1e-2)).item<double>(); }

class FusedOp : public ::testing::TestWithParam<Case> {};

TEST_P(FusedOp, IsWithinOneInAHundredThousandOfThePlainFormInFloat32) {
    const Case& c = GetParam();
    const Outcome exact = run(c.plain, c.inputs, at::kDouble, false), fast = run(c.fused, c.inputs, at::kFloat, false);
    for (std::size_t i = 0; i < exact.outputs.size(); ++i) EXPECT_LT(apart(fast.outputs[i], exact.outputs[i]), 1e-5) << "output " << i;
    for (std::size_t i = 0; i < exact.gradients.size(); ++i) EXPECT_LT(apart(fast.gradients[i], exact.gradients[i]), 1e-5) << "gradient " << i;
}

TEST_P(FusedOp, IsInBf16NoFartherFromExactThanOneAndAHalfTimesThePlainForm) {
    const Case& c = GetParam();
    const Outcome exact = run(c.plain, c.inputs, at::kDouble, false), plain = run(c.plain, c.inputs, at::kFloat, true), fast = run(c.fused, c.inputs, at::kFloat, true);
    // Where the plain form rounds nothing to bf16, as in the sum of the residual stream, both are exact to float32.
    const auto bound = [](double plainly) { return 1.5 * plainly + 1e-6; };
    for (std::size_t i = 0; i < exact.outputs.size(); ++i) {
        // The output itself may be stored in bf16 where the plain form left that to the next product.
        const double one = apart(exact.outputs[i].to(at::kBFloat16).to(at::kDouble), exact.outputs[i]);
        EXPECT_LT(apart(fast.outputs[i], exact.outputs[i]), bound(std::max(one, apart(plain.outputs[i], exact.outputs[i])))) << "output " << i;
    }
    for (std::size_t i = 0; i < exact.gradients.size(); ++i) {
        const double one = apart(exact.gradients[i].to(at::kBFloat16).to(at::kDouble), exact.gradients[i]);
        EXPECT_LT(apart(fast.gradients[i], exact.gradients[i]), bound(std::max(one, apart(plain.gradients[i], exact.gradients[i])))) << "gradient " << i;
    }
}

TEST_P(FusedOp, TakesInputsThatLieAnyHowInMemory) {
    const Case& c = GetParam();
    const auto strided = [](const Tensors& in) {
        Tensors all;
        // Every second element of a tensor twice as wide.
        for (const auto& t : in) all.push_back(at::stack({t, t.detach() + 1}, -1).select(-1, 0));
        return all;
    };
    const Outcome plain = run(c.plain, c.inputs, at::kDouble, false);
    const Outcome fast = run([&](const Tensors& in) { return c.fused(strided(in)); }, c.inputs, at::kFloat, false);
    for (std::size_t i = 0; i < plain.outputs.size(); ++i) EXPECT_LT(apart(fast.outputs[i], plain.outputs[i]), 1e-5) << "output " << i;
    for (std::size_t i = 0; i < plain.gradients.size(); ++i) EXPECT_LT(apart(fast.gradients[i], plain.gradients[i]), 1e-5) << "gradient " << i;
}

TEST_P(FusedOp, GivesTheSameWithoutAutograd) {
    const Case& c = GetParam();
    const Outcome with = run(c.fused, c.inputs, at::kFloat, false);
    const c10::NoGradGuard none;
    const Tensors outputs = c.fused(c.inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_TRUE(outputs[i].to(at::kDouble).equal(with.outputs[i])) << "output " << i;
}

INSTANTIATE_TEST_SUITE_P(All, FusedOp, ::testing::ValuesIn(cases()), [](const auto& info) { return info.param.name; });

TEST(FusedOps, TakeEmptyBatches) {
    const std::int64_t C = 8;
    const at::Tensor x = at::zeros({0, 4, C}).set_requires_grad(true), weight = normal({C}, 1).set_requires_grad(true), matrix = normal({2 * C, C}, 2).set_requires_grad(true);
    const NormedSum sum = fused::residualNorm(x, x * 2, NormKind::LayerNorm, weight, weight);
    const at::Tensor all = sum.normed.sum() + sum.sum.sum() + fused::linearGelu(x, matrix, {}).sum() + fused::linearSwiglu(x, matrix, {}).sum();
    all.backward();
    EXPECT_EQ(all.item<double>(), 0.0);
    EXPECT_EQ(weight.grad().abs().sum().item<double>(), 0.0);
    const at::Tensor none = at::zeros({0, 2, 4, C}).set_requires_grad(true);
    fused::attention(none, none, none).sum().backward();
    EXPECT_EQ(none.grad().numel(), 0);
    const at::Tensor table = normal({5, C}, 3).set_requires_grad(true), positions = normal({4, C}, 4).set_requires_grad(true), qkv = normal({3 * C, C}, 5).set_requires_grad(true);
    const Heads heads = fused::linearHeads(x.detach(), qkv, {}, 2);
    const at::Tensor rest = fused::embed(at::zeros({0, 4}, at::kLong), table, positions).sum() + fused::embedTied(at::zeros({0, 4}, at::kLong), table, positions).sum() +
                            heads.q.sum() + heads.k.sum() + heads.v.sum() + fused::residualNorm(x.detach(), {}, NormKind::RmsNorm, weight, {}).normed.sum();
    rest.backward();
    EXPECT_EQ(rest.item<double>(), 0.0);
    for (const at::Tensor& leaf : {table, positions, qkv}) EXPECT_EQ(leaf.grad().abs().sum().item<double>(), 0.0);
    EXPECT_TRUE(std::isnan(fused::loss(x, matrix, at::zeros({0, 4}, at::kLong), {.vocabulary = 2 * C}).item<double>()));
}

TEST(FusedOps, RefuseIdsOutsideTheTable) {
    const at::Tensor table = normal({4, 8}, 1), bad = at::full({1, 2}, 4, at::TensorOptions().dtype(at::kLong));
    EXPECT_THROW(fused::embed(bad, table, {}), c10::IndexError);
    EXPECT_THROW(fused::loss(normal({1, 2, 8}, 2), table, bad, {.vocabulary = 4}), c10::IndexError);
}

TEST(FusedOps, AGradientThatIsWantedTwiceIsTheSumOfBoth) {
    // Queries also used outside attention: the three gradients are no longer one buffer.
    const at::Tensor x = normal({2, 5, 12}, 1), weight = normal({36, 12}, 2), bias = normal({36}, 3);
    const auto gradientOf = [&](auto heads, auto attend) {
        const at::Tensor leaf = weight.detach().clone().set_requires_grad(true);
        const Heads h = heads(x, leaf, bias, std::int64_t{3});
        (attend(h.q, h.k, h.v).sum() + (h.q * h.q).sum()).backward();
        return leaf.grad();
    };
    EXPECT_LT(apart(gradientOf(fused::linearHeads, fused::attention), gradientOf(plain::linearHeads, manualAttention)), 1e-5);
}

TEST(FusedOps, LossTakesAShareOfTheGradientAsAccumulationAsks) {
    const at::Tensor x = normal({1, 6, 8}, 1), targets = ids({1, 6}, 10);
    const auto gradientOf = [&](auto op) {
        const at::Tensor head = normal({10, 8}, 2).set_requires_grad(true);
        (op(x, head, targets, {.vocabulary = 10}) / 4.0).backward();
        return head.grad();
    };
    EXPECT_LT(apart(gradientOf(fused::loss), gradientOf(plain::loss)), 1e-5);
}

TEST(FusedOps, NonFiniteInputsComeOutWhereThePlainFormHasThem) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        at::Tensor x = normal({1, 6, 8}, 1);
        x[0][3][2] = bad;
        const at::Tensor matrix = normal({16, 8}, 2), weight = normal({8}, 3), q = normal({1, 2, 6, 8}, 4);
        const auto finite = [](const at::Tensor& t) { return t.isfinite(); };
        EXPECT_TRUE(finite(fused::residualNorm(x, x, NormKind::LayerNorm, weight, weight).normed).equal(finite(plain::residualNorm(x, x, NormKind::LayerNorm, weight, weight).normed)));
        EXPECT_TRUE(finite(fused::residualNorm(x, {}, NormKind::RmsNorm, weight, {}).normed).equal(finite(plain::residualNorm(x, {}, NormKind::RmsNorm, weight, {}).normed)));
        const at::Tensor qkv = normal({24, 8}, 5), tokens = ids({1, 6}, 16);
        const Heads heads = fused::linearHeads(x, qkv, {}, 2), wanted = plain::linearHeads(x, qkv, {}, 2);
        EXPECT_TRUE(finite(heads.q).equal(finite(wanted.q)) && finite(heads.k).equal(finite(wanted.k)) && finite(heads.v).equal(finite(wanted.v)));
        at::Tensor table = matrix.clone();
        table[tokens[0][1].item<std::int64_t>()][2] = bad;
        EXPECT_TRUE(finite(fused::embed(tokens, table, {})).equal(finite(plain::embed(tokens, table, {}))));
        EXPECT_TRUE(finite(fused::linearGelu(x, matrix, {})).equal(finite(plain::linearGelu(x, matrix, {}))));
        EXPECT_TRUE(finite(fused::linearSwiglu(x, matrix, {})).equal(finite(plain::linearSwiglu(x, matrix, {}))));
        at::Tensor spoilt = q.clone();
        spoilt[0][1][3][0] = bad;
        EXPECT_TRUE(finite(fused::attention(spoilt, q, q)).equal(finite(manualAttention(spoilt, q, q))));
        EXPECT_FALSE(std::isfinite(fused::loss(x, matrix, ids({1, 6}, 16), {.vocabulary = 16}).item<double>()));
    }
}

}  // namespace
}  // namespace stepscope
