// Holds the plain residual + norm against finite differences and the CPU forms against the plain one. Run by CTest under every
// instruction set.
#include <limits>

#include "Numbers.h"
#include "core/kernels/residual_norm/ResidualNorm.h"
#include "core/kernels/residual_norm/ResidualNormCpu.h"

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
            const NormRows all{.columns = columns};
            const auto C = static_cast<std::size_t>(columns), rows = std::size_t{5}, count = rows * C;
            const auto x = numbers<float>(count, 1, 2.0), weight = numbers<float>(C, 2), bias = numbers<float>(C, 3),
                       along = numbers<float>(count, 4);
            const auto delta = numbers<TypeParam>(count, 5), g = numbers<TypeParam>(count, 6);
            std::vector<float> sum(count), mean(rows), rstd(rows), gradSum = along, gradWeight(C), gradBias(C);
            std::vector<TypeParam> normed(count), gradDelta(count);
            const NormForward<TypeParam> forward{.rms = rms,
                                                 .x = x.data(),
                                                 .delta = delta.data(),
                                                 .weight = weight.data(),
                                                 .bias = bias.data(),
                                                 .sum = sum.data(),
                                                 .normed = normed.data(),
                                                 .mean = mean.data(),
                                                 .rstd = rstd.data()};
            kernel.forward(all, forward, 0, 2);
            kernel.forward(all, forward, 2, 5);
            const auto wanted = residualNormForward(shape, x, widened(delta), weight, bias);
            testing::expectNear(sum, wanted.sum);
            testing::expectNear(rstd, wanted.rstd, 2e-6 * wanted.rstd[0]);
            // One column: x - mean is rounding, which rstd = 316 enlarges.
            testing::expectNear(normed, wanted.normed, columns < 3 ? 1e-4 : 2e-6);
            kernel.backward(all,
                            {.rms = rms,
                             .gradNormed = g.data(),
                             .sum = sum.data(),
                             .mean = mean.data(),
                             .rstd = rstd.data(),
                             .weight = weight.data(),
                             .gradResidual = gradSum.data(),
                             .gradSum = gradSum.data(),
                             .gradDelta = gradDelta.data(),
                             .gradWeight = gradWeight.data(),
                             .gradBias = gradBias.data()},
                            0, 5);
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
    const NormRows all{.columns = 20};
    const auto x = numbers<float>(60, 1), weight = numbers<float>(20, 2);
    const auto g = numbers<TypeParam>(60, 3);
    std::vector<TypeParam> normed(60);
    std::vector<float> mean(3), rstd(3), gradSum(60);
    const auto& kernel = residualNormCpu<TypeParam>();
    kernel.forward(all, {.x = x.data(), .weight = weight.data(), .normed = normed.data(), .mean = mean.data(), .rstd = rstd.data()}, 0, 3);
    kernel.backward(
        all, {.gradNormed = g.data(), .sum = x.data(), .mean = mean.data(), .rstd = rstd.data(), .weight = weight.data(), .gradSum = gradSum.data()},
        0, 3);
    testing::expectNear(normed, residualNormForward(shape, x, {}, weight, {}).normed, 2e-6);
    testing::expectNear(gradSum, residualNormBackward(shape, widened(g), x, weight, {}).sum, 1e-5);
}

TYPED_TEST(ResidualNormCpu, RowsOfTheNormedSideMayLieApart) {
    const std::int64_t columns = 19, stride = 32;
    const NormRows dense{.columns = columns}, apart{.columns = columns, .stride = stride};
    const auto x = numbers<float>(3 * 19, 1), weight = numbers<float>(19, 2), bias = numbers<float>(19, 3);
    const auto g = numbers<TypeParam>(3 * 19, 4);
    std::vector<TypeParam> normed(3 * 19), spread(3 * 32, testing::from<TypeParam>(5)), gSpread(3 * 32);
    for (std::size_t i = 0; i < g.size(); ++i) gSpread[i / 19 * 32 + i % 19] = g[i];
    std::vector<float> mean(3), rstd(3), gradSum(3 * 19), gradApart(3 * 19), gradWeight(19), weightApart(19);
    const auto& kernel = residualNormCpu<TypeParam>();
    NormForward<TypeParam> forward{
        .x = x.data(), .weight = weight.data(), .bias = bias.data(), .normed = normed.data(), .mean = mean.data(), .rstd = rstd.data()};
    kernel.forward(dense, forward, 0, 3);
    forward.normed = spread.data();
    kernel.forward(apart, forward, 0, 3);
    for (std::size_t i = 0; i < spread.size(); ++i) EXPECT_EQ(toFloat(spread[i]), i % 32 < 19 ? toFloat(normed[i / 32 * 19 + i % 32]) : 5) << i;
    NormBackward<TypeParam> backward{.gradNormed = g.data(),
                                     .sum = x.data(),
                                     .mean = mean.data(),
                                     .rstd = rstd.data(),
                                     .weight = weight.data(),
                                     .gradSum = gradSum.data(),
                                     .gradWeight = gradWeight.data()};
    kernel.backward(dense, backward, 0, 3);
    backward.gradNormed = gSpread.data();
    backward.gradSum = gradApart.data();
    backward.gradWeight = weightApart.data();
    kernel.backward(apart, backward, 0, 3);
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
        const NormForward<TypeParam> forward{
            .x = x.data(), .weight = weight.data(), .bias = bias.data(), .normed = normed.data(), .mean = mean.data(), .rstd = rstd.data()};
        residualNormCpu<TypeParam>().forward({.columns = 18}, forward, 0, 3);
        testing::expectNear(normed, residualNormForward(shape, x, {}, weight, bias).normed, 2e-6);
    }
}

}  // namespace
}  // namespace stepscope
