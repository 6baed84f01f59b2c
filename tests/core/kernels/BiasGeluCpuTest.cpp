// Holds the CPU form of bias + GELU against the plain reference, in both element types. Run by CTest under every instruction set.
#include <limits>

#include "Numbers.h"
#include "core/kernels/bias_gelu/BiasGelu.h"
#include "core/kernels/bias_gelu/BiasGeluCpu.h"

namespace stepscope {
namespace {

using testing::numbers;
using testing::widened;

template <class T>
class BiasGeluCpu : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(BiasGeluCpu, ElementTypes);

TYPED_TEST(BiasGeluCpu, GivesWhatTheReferenceGivesAtEveryWidthUpToTwoRegisters) {
    for (std::size_t columns = 0; columns <= 33; ++columns) {
        const BiasGeluShape shape{3, columns};
        const auto in = numbers<TypeParam>(3 * columns, 1, 6.0), gradOut = numbers<TypeParam>(3 * columns, 2);
        const auto bias = numbers<float>(columns, 3);
        std::vector<TypeParam> out(in.size()), gradIn(in.size());
        std::vector<float> gradBias(columns, 0.0f), wanted(in.size()), wantedIn(in.size()), wantedBias(columns);
        const auto& kernel = biasGeluCpu<TypeParam>();
        const auto width = static_cast<std::int64_t>(columns);
        kernel.forward(width, in.data(), bias.data(), out.data(), 0, 3);
        kernel.backward(width, gradOut.data(), in.data(), bias.data(), gradIn.data(), gradBias.data(), 0, 1);
        kernel.backward(width, gradOut.data(), in.data(), bias.data(), gradIn.data(), gradBias.data(), 1, 3);
        biasGeluForward(shape, widened(in), bias, wanted);
        biasGeluBackward(shape, widened(gradOut), widened(in), bias, wantedIn, wantedBias);
        testing::expectNear(out, wanted, 1e-7);
        testing::expectNear(gradIn, wantedIn, 5e-7);
        testing::expectNear(gradBias, wantedBias, 3e-6);
    }
}

TYPED_TEST(BiasGeluCpu, TouchesOnlyItsRowsAndTakesNoBias) {
    const std::int64_t columns = 19;
    const auto in = numbers<TypeParam>(4 * 19, 5, 3.0);
    std::vector<TypeParam> out = in;
    biasGeluCpu<TypeParam>().forward(columns, out.data(), nullptr, out.data(), 1, 3);
    for (std::size_t i = 0; i < in.size(); ++i) {
        const double x = toFloat(in[i]);
        const bool inside = i >= 19 && i < 57;
        EXPECT_NEAR(toFloat(out[i]), inside ? geluTanh(x) : x, inside ? testing::tolerance<TypeParam>(3.0) : 0.0) << i;
    }
}

TYPED_TEST(BiasGeluCpu, PassesNanOnAndSaturatesWithoutOverflow) {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<TypeParam> in;
    for (const float x : {nan, inf, -inf, 3.0e38f, -3.0e38f, 1.0e20f, -1.0e20f, 90.0f, -90.0f, 0.0f}) in.push_back(testing::from<TypeParam>(x));
    const std::vector<float> none(in.size(), 0.0f);
    const std::vector<TypeParam> ones(in.size(), testing::from<TypeParam>(1.0));
    std::vector<TypeParam> out(in.size()), gradIn(in.size());
    std::vector<float> wanted(in.size()), wantedIn(in.size()), unused(in.size());
    const auto columns = static_cast<std::int64_t>(in.size());
    biasGeluCpu<TypeParam>().forward(columns, in.data(), none.data(), out.data(), 0, 1);
    biasGeluCpu<TypeParam>().backward(columns, ones.data(), in.data(), none.data(), gradIn.data(), nullptr, 0, 1);
    biasGeluForward({1, in.size()}, widened(in), none, wanted);
    biasGeluBackward({1, in.size()}, widened(ones), widened(in), none, wantedIn, unused);
    testing::expectNear(out, wanted);
    testing::expectNear(gradIn, wantedIn);
}

}  // namespace
}  // namespace stepscope
