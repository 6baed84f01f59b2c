// Holds the plain SwiGLU against finite differences and the CPU forms against the plain one. Run by CTest under every instruction set.
#include "Numbers.h"
#include "core/kernels/swiglu/Swiglu.h"
#include "core/kernels/swiglu/SwigluCpu.h"

namespace stepscope {
namespace {

using testing::numbers;
using testing::widened;

TEST(Swiglu, HasTheGradientsThatFiniteDifferencesGive) {
    auto in = numbers<float>(12, 1, 3.0), bias = numbers<float>(6, 2);
    const auto g = numbers<float>(6, 3);
    std::vector<float> gradIn(12), gradBias(6), out(6);
    swigluBackward(3, g, in, bias, gradIn, gradBias);
    const auto objective = [&] {
        swigluForward(3, in, bias, out);
        double value = 0;
        for (std::size_t i = 0; i < 6; ++i) value += static_cast<double>(out[i]) * g[i];
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
    for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(gradIn[i], slope(in[i]), 1e-3);
    for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(gradBias[c], slope(bias[c]), 1e-3);
}

template <class T>
class SwigluCpu : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(SwigluCpu, ElementTypes);

TYPED_TEST(SwigluCpu, GivesWhatTheReferenceGivesAtEveryWidthUpToTwoRegisters) {
    for (std::int64_t columns = 1; columns <= 33; ++columns) {
        const auto C = static_cast<std::size_t>(columns);
        const auto in = numbers<TypeParam>(6 * C, 1, 6.0), g = numbers<TypeParam>(3 * C, 2);
        const auto bias = numbers<float>(2 * C, 3);
        std::vector<TypeParam> out(3 * C), gradIn(6 * C);
        std::vector<float> gradBias(2 * C), wanted(3 * C), wantedIn(6 * C), wantedBias(2 * C);
        const auto& kernel = swigluCpu<TypeParam>();
        kernel.forward(columns, in.data(), bias.data(), out.data(), 0, 3);
        kernel.backward(columns, g.data(), in.data(), bias.data(), gradIn.data(), gradBias.data(), 0, 2);
        kernel.backward(columns, g.data(), in.data(), bias.data(), gradIn.data(), gradBias.data(), 2, 3);
        swigluForward(C, widened(in), bias, wanted);
        swigluBackward(C, widened(g), widened(in), bias, wantedIn, wantedBias);
        testing::expectNear(out, wanted, 1e-6);
        testing::expectNear(gradIn, wantedIn, 3e-6);
        testing::expectNear(gradBias, wantedBias, 1e-5);
    }
}

TYPED_TEST(SwigluCpu, OverwritesItsInputWithTheGradientWhenAsked) {
    auto in = numbers<TypeParam>(40, 1, 3.0);
    const auto g = numbers<TypeParam>(20, 2);
    std::vector<TypeParam> apart(40);
    swigluCpu<TypeParam>().backward(10, g.data(), in.data(), nullptr, apart.data(), nullptr, 0, 2);
    swigluCpu<TypeParam>().backward(10, g.data(), in.data(), nullptr, in.data(), nullptr, 0, 2);
    EXPECT_EQ(widened(in), widened(apart));
}

}  // namespace
}  // namespace stepscope
