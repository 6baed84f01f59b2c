// The three AdamWs against the formula written out in double precision, and the global norm and clipping against theirs.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/fused/Optimizer.h"
#include "core/state/Optimizer.h"

namespace stepscope {
namespace {

at::Tensor drawn(std::int64_t count, std::uint64_t seed) {
    return at::randn({count}, at::detail::createCPUGenerator(seed), at::TensorOptions().dtype(at::kFloat));
}

struct Named {
    const char* name;
    OptimizerFunction function;
};
void PrintTo(const Named& named, std::ostream* out) {
    *out << named.name;
}

class AdamWImplementation : public ::testing::TestWithParam<Named> {};

TEST_P(AdamWImplementation, FollowsTheFormulaOfThePaperOverManySteps) {
    for (const bool decays : {true, false}) {
        ParameterGroup group;
        group.decays = decays;
        for (const std::int64_t size : {1L, 37L, 1000L}) {
            group.parameters.push_back(drawn(size, 1));
            group.gradients.push_back(drawn(size, 2));
            group.firstMoments.push_back(at::zeros({size}));
            group.secondMoments.push_back(at::zeros({size}));
        }
        std::vector<std::vector<double>> w, m, v;
        for (const auto& p : group.parameters) {
            w.emplace_back(p.data_ptr<float>(), p.data_ptr<float>() + p.numel());
            m.emplace_back(p.numel(), 0.0);
            v.emplace_back(p.numel(), 0.0);
        }
        AdamW s{.rate = 0.01, .beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .weightDecay = 0.1};
        for (s.t = 1; s.t <= 20; ++s.t) {
            for (std::size_t i = 0; i < w.size(); ++i) {
                group.gradients[i].copy_(drawn(group.gradients[i].numel(), static_cast<std::uint64_t>(100 * s.t) + i));
                for (std::size_t j = 0; j < w[i].size(); ++j) {
                    const double g = group.gradients[i].data_ptr<float>()[j];
                    m[i][j] = s.beta1 * m[i][j] + (1 - s.beta1) * g;
                    v[i][j] = s.beta2 * v[i][j] + (1 - s.beta2) * g * g;
                    const double mHat = m[i][j] / (1 - std::pow(s.beta1, s.t)), vHat = v[i][j] / (1 - std::pow(s.beta2, s.t));
                    w[i][j] -= s.rate * (mHat / (std::sqrt(vHat) + s.epsilon) + (decays ? s.weightDecay : 0) * w[i][j]);
                }
            }
            GetParam().function(group, s);
        }
        for (std::size_t i = 0; i < w.size(); ++i)
            for (std::size_t j = 0; j < w[i].size(); ++j) {
                ASSERT_NEAR(group.parameters[i].data_ptr<float>()[j], w[i][j], 5e-6);
                ASSERT_NEAR(group.secondMoments[i].data_ptr<float>()[j], v[i][j], 5e-6);
            }
    }
}

TEST_P(AdamWImplementation, KeepsTheMomentsOfDoublePrecisionHoweverNearBeta2IsToOne) {
    for (const double beta2 : {0.95, 0.99, 0.999, 0.9999, 0.99999, 0.999999}) {
        ParameterGroup group;
        group.parameters.push_back(drawn(1000, 1));
        group.gradients.push_back(drawn(1000, 2));
        group.firstMoments.push_back(at::zeros({1000}));
        group.secondMoments.push_back(at::zeros({1000}));
        std::vector<double> first(1000), second(1000), weights(1000);
        for (std::size_t i = 0; i < 1000; ++i) weights[i] = group.parameters[0].data_ptr<float>()[i];
        AdamW s{.rate = 0.01, .beta1 = 0.9, .beta2 = beta2, .epsilon = 1e-8, .weightDecay = 0};
        for (s.t = 1; s.t <= 30; ++s.t) {
            group.gradients[0].copy_(drawn(1000, static_cast<std::uint64_t>(100 + s.t)));
            for (std::size_t i = 0; i < 1000; ++i) {
                const double g = group.gradients[0].data_ptr<float>()[i];
                first[i] = s.beta1 * first[i] + (1 - s.beta1) * g;
                second[i] = beta2 * second[i] + (1 - beta2) * g * g;
                weights[i] -= s.rate * first[i] / (1 - std::pow(s.beta1, s.t)) / (std::sqrt(second[i] / (1 - std::pow(beta2, s.t))) + s.epsilon);
            }
            GetParam().function(group, s);
        }
        for (std::size_t i = 0; i < 1000; ++i) {
            ASSERT_NEAR(group.secondMoments[0].data_ptr<float>()[i] / second[i], 1, 2e-5) << beta2;
            ASSERT_NEAR(group.firstMoments[0].data_ptr<float>()[i], first[i], 2e-6) << beta2;
            ASSERT_NEAR(group.parameters[0].data_ptr<float>()[i], weights[i], 1e-5) << beta2;
        }
    }
}

void adamWOurs(ParameterGroup& group, const AdamW& s) {
    fused::adamW(adamWStep(s, group.decays), {group.parameters, group.gradients, group.firstMoments, group.secondMoments, group.lowWeights});
}

INSTANTIATE_TEST_SUITE_P(Each, AdamWImplementation,
                         ::testing::Values(Named{"loop", adamWLoop}, Named{"foreach", adamWForeach}, Named{"fused", adamWFused},
                                           Named{"ours", adamWOurs}));

TEST(GlobalNorm, IsTheNormOfAllGradientsTogetherAndClippingBringsItToTheBound) {
    std::vector<ParameterGroup> groups(2);
    double squares = 0;
    for (int i = 0; i < 4; ++i) {
        groups[i % 2].gradients.push_back(drawn(50 + i, static_cast<std::uint64_t>(i)));
        squares += std::pow(groups[i % 2].gradients.back().norm().item<double>(), 2);
    }
    const at::Tensor norm = globalNorm(groups);
    EXPECT_NEAR(norm.item<double>(), std::sqrt(squares), 1e-4);
    clipByNorm(groups, norm, 0.5);
    EXPECT_NEAR(globalNorm(groups).item<double>(), 0.5, 1e-5);
    const auto small = globalNorm(groups);
    clipByNorm(groups, small, 100);
    EXPECT_NEAR(globalNorm(groups).item<double>(), 0.5, 1e-5) << "a small norm is not scaled up";
}

}  // namespace
}  // namespace stepscope
