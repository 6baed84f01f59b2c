// NaN and both infinities, in each input or in the gradient that comes in: every fused operation has them where the plain form has them, each
// kind apart, in outputs and gradients, in float32 and under bf16 autocast; so has the fused optimizer. CTest, under every instruction set.
#include <ATen/ops/empty.h>
#include <ATen/ops/isnan.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "OpCases.h"
#include "core/cuda/loader/CudaPlugin.h"
#include "core/fused/Optimizer.h"
#include "core/state/Optimizer.h"

namespace stepscope {
namespace {

using testing::Case, testing::Outcome, testing::Tensors, testing::cases, testing::ids, testing::normal, testing::run;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::vector<double> kBad{std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity};

// Where ours and the plain form may differ, and why.
enum class Rule {
    Same,
    // Opposite infinities meet in a sum, or do not, by the order of its terms: neither is finite, but one may be NaN and the other infinite.
    SamePlaces,
    // Keys after their query are never computed: what spoils one of the two leaves the other alone, where the plain form multiplies it by zero.
    NoFurther,
    // Ours may have more: gradients that are finished before the one of the loss is known, and only multiplied by it; on a GPU padded ids, which take
    // part in the products with a gradient of 0.
    AtLeast,
};

// A loss on a GPU takes none that comes in: it knows it before.
bool takesItsGradient(const Case& c) {
    return !(c.name.starts_with("Loss") && cudaPlugin().interface);
}

bool isAttention(const Case& c) {
    return c.name.starts_with("Attention") || c.name == "HeadsWithFusedAttention";
}

Rule ruleFor(const Case& c, std::size_t spoilt, double bad) {
    const bool comesIn = spoilt == c.inputs.size(), infinite = std::isinf(bad), weight = spoilt == 1;
    if (c.name.starts_with("LayerNorm") && infinite && (weight || comesIn)) return Rule::SamePlaces;
    if (c.name == "LossWithPaddingAndSmoothing" && cudaPlugin().interface) return Rule::AtLeast;
    if (c.name.starts_with("Loss") && infinite && weight) return Rule::SamePlaces;
    if (c.name.starts_with("Loss") && comesIn) return Rule::AtLeast;
    return isAttention(c) ? Rule::NoFurther : Rule::Same;
}

bool sameKinds(const at::Tensor& a, const at::Tensor& b) {
    return at::isnan(a).equal(at::isnan(b)) && (a == kInfinity).equal(b == kInfinity) && (a == -kInfinity).equal(b == -kInfinity);
}

bool keeps(Rule rule, const at::Tensor& ours, const at::Tensor& plain) {
    const at::Tensor finite = ours.isfinite(), wanted = plain.isfinite();
    switch (rule) {
        case Rule::Same:
            return sameKinds(ours, plain);
        case Rule::SamePlaces:
            return finite.equal(wanted);
        case Rule::NoFurther:
            return sameKinds(ours.where(at::isnan(plain).logical_not(), plain), plain) && finite.all().equal(wanted.all());
        case Rule::AtLeast:
            return finite.logical_and(wanted).equal(finite);
    }
    return false;
}

void compare(const Case& c, std::size_t spoilt, double bad, bool low, std::int64_t place) {
    Tensors inputs;
    for (const auto& t : c.inputs) inputs.push_back(t.clone());
    const bool comesIn = spoilt == inputs.size();
    if (!comesIn) inputs[spoilt].view({-1})[place] = bad;
    const auto gradient = comesIn ? std::optional(bad) : std::nullopt;
    const Outcome ours = run(c.fused, inputs, at::kFloat, low, gradient), plain = run(c.plain, inputs, at::kFloat, low, gradient);
    const auto said = fmt::format("{} at {} of {}, {}", bad, place, comesIn ? "the gradient that comes in" : "input " + std::to_string(spoilt),
                                  low ? "bf16" : "float32");
    const Rule forOutputs = isAttention(c) ? Rule::NoFurther : Rule::Same, forGradients = ruleFor(c, spoilt, bad);
    for (std::size_t i = 0; i < plain.outputs.size(); ++i)
        EXPECT_TRUE(keeps(forOutputs, ours.outputs[i], plain.outputs[i])) << "output " << i << ": " << said;
    for (std::size_t i = 0; i < plain.gradients.size(); ++i)
        EXPECT_TRUE(keeps(forGradients, ours.gradients[i], plain.gradients[i])) << "gradient " << i << ": " << said;
}

class NonFinite : public ::testing::TestWithParam<Case> {};

TEST_P(NonFinite, ComesOutWhereThePlainFormHasIt) {
    const Case& c = GetParam();
    for (const double bad : kBad)
        for (const bool low : {false, true}) {
            for (std::size_t input = 0; input < c.inputs.size(); ++input)
                for (const std::int64_t place : {std::int64_t{0}, c.inputs[input].numel() / 2, c.inputs[input].numel() - 1})
                    compare(c, input, bad, low, place);
            if (takesItsGradient(c)) compare(c, c.inputs.size(), bad, low, 0);
        }
}

INSTANTIATE_TEST_SUITE_P(All, NonFinite, ::testing::ValuesIn(cases()), [](const auto& info) { return info.param.name; });

// One group of two tensors; the second spoilt in one gradient.
struct Update {
    explicit Update(double bad) {
        for (const std::uint64_t seed : {1, 2}) {
            group.parameters.push_back(normal({70, 1000}, seed));
            group.gradients.push_back(normal({70, 1000}, seed + 2));
            group.firstMoments.push_back(normal({70, 1000}, seed + 4));
            group.secondMoments.push_back(normal({70, 1000}, seed + 6).square());
            group.lowWeights.push_back(at::empty({70, 1000}, at::TensorOptions().dtype(at::kBFloat16)));
        }
        group.gradients[1][41][7] = bad;
        group.decays = true;
    }
    ParameterGroup group;
    AdamW settings{.rate = 1e-3};
};

TEST(NonFiniteGradients, SpoilTheSameWeightsAndMomentsAsThePlainAdamWInFloat32AndInTheBf16Copy) {
    for (const double bad : kBad) {
        Update plain(bad), ours(bad);
        adamWLoop(plain.group, plain.settings);
        const ParameterGroup& g = ours.group;
        fused::adamW(adamWStep(ours.settings, g.decays), {g.parameters, g.gradients, g.firstMoments, g.secondMoments, g.lowWeights});
        for (std::size_t i = 0; i < g.parameters.size(); ++i) {
            EXPECT_TRUE(sameKinds(g.parameters[i], plain.group.parameters[i])) << "weights " << i << ", " << bad;
            EXPECT_TRUE(sameKinds(g.firstMoments[i], plain.group.firstMoments[i])) << "first moments " << i << ", " << bad;
            EXPECT_TRUE(sameKinds(g.secondMoments[i], plain.group.secondMoments[i])) << "second moments " << i << ", " << bad;
            EXPECT_TRUE(sameKinds(g.lowWeights[i], plain.group.parameters[i].to(at::kBFloat16))) << "bf16 weights " << i << ", " << bad;
        }
        EXPECT_EQ(at::isnan(g.parameters[1]).sum().item<std::int64_t>(), 1) << "that one weight, no other";
    }
}

TEST(NonFiniteGradients, MakeTheGlobalNormThatOfThePlainForm) {
    for (const double bad : kBad) {
        const Update update(bad);
        const double ours = fused::globalNorm(update.group.gradients), plain = globalNorm({update.group}).item<double>();
        EXPECT_EQ(std::isnan(ours), std::isnan(plain)) << bad;
        EXPECT_EQ(ours == kInfinity, plain == kInfinity) << bad;
        EXPECT_FALSE(std::isfinite(ours)) << bad;
    }
}

}  // namespace
}  // namespace stepscope
