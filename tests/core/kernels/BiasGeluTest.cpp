// Holds the plain bias + GELU against known values and finite differences, and the float32 arithmetic that the GPU runs
// against the plain one. Run by CTest; needs no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/kernels/bias_gelu/BiasGelu.h"
#include "core/kernels/bias_gelu/BiasGeluMath.h"

namespace stepscope {
namespace {

TEST(BiasGelu, HasTheKnownValuesOfTheTanhForm) {
    EXPECT_DOUBLE_EQ(geluTanh(0.0), 0.0);
    EXPECT_NEAR(geluTanh(1.0), 0.8411919906, 1e-9);
    EXPECT_NEAR(geluTanh(-1.0), -0.1588080094, 1e-9);
    EXPECT_NEAR(geluTanh(20.0), 20.0, 1e-12);
    EXPECT_NEAR(geluTanh(-20.0), 0.0, 1e-12);
}

TEST(BiasGelu, HasTheDerivativeThatFiniteDifferencesGive) {
    for (double x = -6.0; x <= 6.0; x += 0.173) {
        const double h = 1e-5;
        const double slope = (geluTanh(x + h) - geluTanh(x - h)) / (2 * h);
        EXPECT_NEAR(geluTanhDerivative(x), slope, 1e-9) << "at " << x;
    }
}

TEST(BiasGelu, AddsTheBiasOfItsColumnAndSumsTheBiasGradientOverRows) {
    const BiasGeluShape shape{2, 3};
    const std::vector<float> in{0.5f, -1.0f, 2.0f, 1.5f, 0.0f, -0.25f}, bias{0.5f, 1.0f, -2.0f}, gradOut{1, 2, 3, 4, 5, 6};
    std::vector<float> out(6), gradIn(6), gradBias(3);
    biasGeluForward(shape, in, bias, out);
    biasGeluBackward(shape, gradOut, in, bias, gradIn, gradBias);
    for (std::size_t i = 0; i < 6; ++i) {
        const double x = static_cast<double>(in[i]) + bias[i % 3];
        EXPECT_FLOAT_EQ(out[i], static_cast<float>(geluTanh(x)));
        EXPECT_FLOAT_EQ(gradIn[i], static_cast<float>(gradOut[i] * geluTanhDerivative(x)));
    }
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(gradBias[c], gradIn[c] + gradIn[3 + c], 1e-6);
}

TEST(BiasGelu, TheArithmeticOfTheGpuKernelAgreesWithThePlainOneToSixDigits) {
    for (float x = -12.0f; x <= 12.0f; x += 0.0137f) {
        const double magnitude = std::max(1.0, std::fabs(static_cast<double>(x)));
        EXPECT_NEAR(bias_gelu::value(x), geluTanh(x), 1e-6 * magnitude) << "at " << x;
        EXPECT_NEAR(bias_gelu::derivative(x), geluTanhDerivative(x), 1e-5) << "at " << x;
    }
}

TEST(BiasGelu, TheArithmeticOfTheGpuKernelSaturatesWithoutOverflowAndPassesNanOn) {
    for (const float x : {90.0f, 1.0e5f, 1.0e25f, 3.0e38f}) {
        EXPECT_FLOAT_EQ(bias_gelu::value(x), x);
        EXPECT_FLOAT_EQ(bias_gelu::value(-x), 0.0f);
        EXPECT_FLOAT_EQ(bias_gelu::derivative(x), 1.0f);
        EXPECT_FLOAT_EQ(bias_gelu::derivative(-x), 0.0f);
    }
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(bias_gelu::value(nan)));
    EXPECT_TRUE(std::isnan(bias_gelu::derivative(nan)));
}

}  // namespace
}  // namespace stepscope
