// Holds the plain residual + norm against finite differences and the CPU forms against the plain one. Run by CTest under every
// instruction set.
#include <limits>

#include "Numbers.h"
#include "core/kernels/residual_norm/ResidualNorm.h"

namespace stepscope {
namespace {

using testing::numbers;
using testing::widened;

TEST(ResidualNorm, HasTheGradientsThatFiniteDifferencesGive) {
    for (const bool rms : {false, true}) {
        const NormShape shape{.columns = 7, .rms = rms};
        auto x = numbers<float>(14, 1), weight = numbers<float>(7, 2);
        const auto bias = numbers<float>(7, 3), g = numbers<float>(14, 4), along = numbers<float>(14, 5);
        const auto gradients = residualNormBackward(shape, g, x, weight, along);
        const auto objective = [&] {
            const auto out = residualNormForward(shape, x, {}, weight, bias);
            double value = 0;
            for (std::size_t i = 0; i < 14; ++i) value += static_cast<double>(out.normed[i]) * g[i] + static_cast<double>(out.sum[i]) * along[i];
            return value;
        };
        const auto slope = [&](float& at) {
            const float kept = at, h = 1e-3f;
            at = kept + h;
            const double up = objective();
            at = kept - h;
            const double down = objective();
            at = kept;
            return (up - down) / (2.0 * h);
        };
        for (std::size_t i = 0; i < 14; ++i) EXPECT_NEAR(gradients.sum[i], slope(x[i]), 2e-3);
        for (std::size_t c = 0; c < 7; ++c) EXPECT_NEAR(gradients.weight[c], slope(weight[c]), 1e-3);
        for (std::size_t c = 0; c < 7; ++c) EXPECT_FLOAT_EQ(gradients.bias[c], g[c] + g[7 + c]);
    }
}

template <class T>
class ResidualNormCpu : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(ResidualNormCpu, ElementTypes);

TYPED_TEST(ResidualNormCpu, GivesWhatTheReferenceGivesForBothNormsAtRaggedWidths) {
    const auto& kernel = residualNormCpu<TypeParam>();
    for (const bool rms : {false, true})
        for (const std::int64_t columns : {1L, 2L, 15L, 16L, 17L, 33L, 64L, 129L}) {
            const NormShape shape{.columns = columns, .rms = rms};
            const auto C = static_cast<std::size_t>(columns), rows = std::size_t{5}, count = rows * C;
            const auto x = numbers<float>(count, 1, 2.0), weight = numbers<float>(C, 2), bias = numbers<float>(C, 3),
                       along = numbers<float>(count, 4);
            const auto delta = numbers<TypeParam>(count, 5), g = numbers<TypeParam>(count, 6);
            std::vector<float> sum(count), mean(rows), rstd(rows), gradSum = along, gradWeight(C), gradBias(C);
            std::vector<TypeParam> normed(count), gradDelta(count);
            kernel.forward(shape, x.data(), delta.data(), weight.data(), bias.data(), sum.data(), normed.data(), mean.data(), rstd.data(), 0, 2);
            kernel.forward(shape, x.data(), delta.data(), weight.data(), bias.data(), sum.data(), normed.data(), mean.data(), rstd.data(), 2, 5);
            const auto wanted = residualNormForward(shape, x, widened(delta), weight, bias);
            testing::expectNear(sum, wanted.sum);
            testing::expectNear(rstd, wanted.rstd, 2e-6 * wanted.rstd[0]);
            // One column: x - mean is rounding, which rstd = 316 enlarges.
            testing::expectNear(normed, wanted.normed, columns < 3 ? 1e-4 : 2e-6);
            kernel.backward(shape, g.data(), sum.data(), mean.data(), rstd.data(), weight.data(), gradSum.data(), gradSum.data(), gradDelta.data(),
                            gradWeight.data(), gradBias.data(), 0, 5);
            const auto gradients = residualNormBackward(shape, widened(g), wanted.sum, weight, along);
            const double slack = columns < 3 ? 2e-3 : 1e-5;
            testing::expectNear(gradSum, gradients.sum, slack);
            testing::expectNear(gradDelta, gradients.sum, slack);
            testing::expectNear(gradWeight, gradients.weight, slack);
            testing::expectNear(gradBias, gradients.bias, 1e-5);
        }
}

TYPED_TEST(ResidualNormCpu, WithoutDeltaBiasAndResidualGradientUsesXAsItIs) {
    const NormShape shape{.columns = 20};
    const auto x = numbers<float>(60, 1), weight = numbers<float>(20, 2);
    const auto g = numbers<TypeParam>(60, 3);
    std::vector<TypeParam> normed(60);
    std::vector<float> mean(3), rstd(3), gradSum(60);
    const TypeParam* none = nullptr;
    residualNormCpu<TypeParam>().forward(shape, x.data(), none, weight.data(), nullptr, nullptr, normed.data(), mean.data(), rstd.data(), 0, 3);
    residualNormCpu<TypeParam>().backward(shape, g.data(), x.data(), mean.data(), rstd.data(), weight.data(), nullptr, gradSum.data(), nullptr,
                                          nullptr, nullptr, 0, 3);
    testing::expectNear(normed, residualNormForward(shape, x, {}, weight, {}).normed, 2e-6);
    testing::expectNear(gradSum, residualNormBackward(shape, widened(g), x, weight, {}).sum, 1e-5);
}

TYPED_TEST(ResidualNormCpu, RowsOfTheNormedSideMayLieApart) {
    const std::int64_t columns = 19, stride = 32;
    const NormShape dense{.columns = columns}, apart{.columns = columns, .stride = stride};
    const auto x = numbers<float>(3 * 19, 1), weight = numbers<float>(19, 2), bias = numbers<float>(19, 3);
    const auto g = numbers<TypeParam>(3 * 19, 4);
    std::vector<TypeParam> normed(3 * 19), spread(3 * 32, testing::from<TypeParam>(5)), gSpread(3 * 32);
    for (std::size_t i = 0; i < g.size(); ++i) gSpread[i / 19 * 32 + i % 19] = g[i];
    std::vector<float> mean(3), rstd(3), gradSum(3 * 19), gradApart(3 * 19), gradWeight(19), weightApart(19);
    const auto& kernel = residualNormCpu<TypeParam>();
    const TypeParam* none = nullptr;
    kernel.forward(dense, x.data(), none, weight.data(), bias.data(), nullptr, normed.data(), mean.data(), rstd.data(), 0, 3);
    kernel.forward(apart, x.data(), none, weight.data(), bias.data(), nullptr, spread.data(), mean.data(), rstd.data(), 0, 3);
    for (std::size_t i = 0; i < spread.size(); ++i) EXPECT_EQ(toFloat(spread[i]), i % 32 < 19 ? toFloat(normed[i / 32 * 19 + i % 32]) : 5) << i;
    kernel.backward(dense, g.data(), x.data(), mean.data(), rstd.data(), weight.data(), nullptr, gradSum.data(), nullptr, gradWeight.data(), nullptr,
                    0, 3);
    kernel.backward(apart, gSpread.data(), x.data(), mean.data(), rstd.data(), weight.data(), nullptr, gradApart.data(), nullptr, weightApart.data(),
                    nullptr, 0, 3);
    EXPECT_EQ(gradApart, gradSum);
    EXPECT_EQ(weightApart, gradWeight);
}

TYPED_TEST(ResidualNormCpu, ANonFiniteNumberSpoilsItsOwnRowOnly) {
    const NormShape shape{.columns = 18};
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        auto x = numbers<float>(54, 1);
        x[20] = bad;
        const auto weight = numbers<float>(18, 2), bias = numbers<float>(18, 3);
        std::vector<TypeParam> normed(54);
        std::vector<float> mean(3), rstd(3);
        const TypeParam* none = nullptr;
        residualNormCpu<TypeParam>().forward(shape, x.data(), none, weight.data(), bias.data(), nullptr, normed.data(), mean.data(), rstd.data(), 0,
                                             3);
        testing::expectNear(normed, residualNormForward(shape, x, {}, weight, bias).normed, 2e-6);
    }
}

}  // namespace
}  // namespace stepscope
