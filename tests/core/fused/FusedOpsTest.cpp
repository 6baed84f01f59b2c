// Every fused operation against the plain one: outputs and all gradients in float32 within 1e-5 of the plain form in double, under bf16
// autocast no farther from it than 1.5 times what the plain form under autocast is; ragged, empty and non-contiguous inputs. CTest.
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "OpCases.h"
#include "core/program/ProgramScope.h"

namespace stepscope {
namespace {

using testing::Case, testing::Outcome, testing::Tensors, testing::cases, testing::ids, testing::normal, testing::run;

double apart(const at::Tensor& a, const at::Tensor& b) {
    return ((a - b).norm() / b.norm().clamp_min(1e-2)).item<double>();
}

class FusedOp : public ::testing::TestWithParam<Case> {};

TEST_P(FusedOp, IsWithinOneInAHundredThousandOfThePlainFormInFloat32) {
    const Case& c = GetParam();
    const Outcome exact = run(c.plain, c.inputs, at::kDouble, false), fast = run(c.fused, c.inputs, at::kFloat, false);
    for (std::size_t i = 0; i < exact.outputs.size(); ++i) EXPECT_LT(apart(fast.outputs[i], exact.outputs[i]), 1e-5) << "output " << i;
    for (std::size_t i = 0; i < exact.gradients.size(); ++i) EXPECT_LT(apart(fast.gradients[i], exact.gradients[i]), 1e-5) << "gradient " << i;
}

TEST_P(FusedOp, IsInBf16NoFartherFromExactThanOneAndAHalfTimesThePlainForm) {
    const Case& c = GetParam();
    const Outcome exact = run(c.plain, c.inputs, at::kDouble, false), plain = run(c.plain, c.inputs, at::kFloat, true),
                  fast = run(c.fused, c.inputs, at::kFloat, true);
    // Where the plain form rounds nothing to bf16, as in the sum of the residual stream, both are exact to float32.
    const auto bound = [](double plainly) { return 1.5 * plainly + 1e-6; };
    for (std::size_t i = 0; i < exact.outputs.size(); ++i) {
        // The output itself may be stored in bf16 where the plain form left that to the next product.
        const double one = apart(exact.outputs[i].to(at::kBFloat16).to(at::kDouble), exact.outputs[i]);
        EXPECT_LT(apart(fast.outputs[i], exact.outputs[i]), bound(std::max(one, apart(plain.outputs[i], exact.outputs[i])))) << "output " << i;
    }
    for (std::size_t i = 0; i < exact.gradients.size(); ++i) {
        const double one = apart(exact.gradients[i].to(at::kBFloat16).to(at::kDouble), exact.gradients[i]);
        EXPECT_LT(apart(fast.gradients[i], exact.gradients[i]), bound(std::max(one, apart(plain.gradients[i], exact.gradients[i]))))
            << "gradient " << i;
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

TEST(FusedOps, ANormWhoseOutputIsTheResidualStreamKeepsItInFloat32UnderAutocast) {
    const at::Tensor x = normal({2, 4, 8}, 1), delta = normal({2, 4, 8}, 2).to(at::kBFloat16), weight = normal({8}, 3), bias = normal({8}, 4);
    const AutocastScope autocast(at::kCPU, at::kBFloat16);
    for (const NormKind kind : {NormKind::LayerNorm, NormKind::RmsNorm}) {
        EXPECT_EQ(fused::residualNorm(x, delta, kind, weight, bias).normed.scalar_type(), at::kBFloat16) << "a product reads it";
        const NormedSum stream = fused::residualNorm(x, delta, {kind, true}, weight, bias);
        EXPECT_EQ(stream.normed.scalar_type(), at::kFloat);
        EXPECT_TRUE(at::allclose(stream.normed, plain::residualNorm(x, delta, {kind, true}, weight, bias).normed, 1e-5, 1e-5));
    }
}

TEST(FusedOps, TakeEmptyBatches) {
    const std::int64_t C = 8;
    const at::Tensor x = at::zeros({0, 4, C}).set_requires_grad(true), weight = normal({C}, 1).set_requires_grad(true),
                     matrix = normal({2 * C, C}, 2).set_requires_grad(true);
    const NormedSum sum = fused::residualNorm(x, x * 2, NormKind::LayerNorm, weight, weight);
    const at::Tensor all = sum.normed.sum() + sum.sum.sum() + fused::linearGelu(x, matrix, {}).sum() + fused::linearSwiglu(x, matrix, {}).sum();
    all.backward();
    EXPECT_EQ(all.item<double>(), 0.0);
    EXPECT_EQ(weight.grad().abs().sum().item<double>(), 0.0);
    const at::Tensor none = at::zeros({0, 2, 4, C}).set_requires_grad(true);
    fused::attention(none, none, none).sum().backward();
    EXPECT_EQ(none.grad().numel(), 0);
    const at::Tensor table = normal({5, C}, 3).set_requires_grad(true), positions = normal({4, C}, 4).set_requires_grad(true),
                     qkv = normal({3 * C, C}, 5).set_requires_grad(true);
    const Heads heads = fused::linearHeads(x.detach(), qkv, {}, 2);
    const at::Tensor rest = fused::embed(at::zeros({0, 4}, at::kLong), table, positions).sum() +
                            fused::embedTied(at::zeros({0, 4}, at::kLong), table, positions).sum() + heads.q.sum() + heads.k.sum() + heads.v.sum() +
                            fused::residualNorm(x.detach(), {}, NormKind::RmsNorm, weight, {}).normed.sum();
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

}  // namespace
}  // namespace stepscope
