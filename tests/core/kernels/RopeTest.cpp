// Holds the rotary kernel against its reference in double, over strided rows; turning back gives what was there. Run by CTest under every set.
#include "Numbers.h"
#include "core/kernels/rope/Rope.h"
#include "core/kernels/rope/RopeCpu.h"

namespace stepscope {
namespace {

using testing::numbers;

template <class T>
class Rope : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(Rope, ElementTypes);

TYPED_TEST(Rope, TurnsPairsByTheirPositionAndBack) {
    const std::int64_t rows = 11;
    for (const RopeShape shape : {RopeShape{5, 2, 6, 17}, RopeShape{1, 1, 2, 2}, RopeShape{4, 3, 38, 130}, RopeShape{11, 1, 64, 64}}) {
        const std::int64_t half = shape.width / 2;
        std::vector<float> cosines(static_cast<std::size_t>(shape.context * half)), sines(cosines.size());
        ropeTurns(shape.context, half, 10000, cosines.data(), sines.data());
        const auto before = numbers<TypeParam>(static_cast<std::size_t>(rows * shape.stride), 4);
        auto turned = before;
        const auto& kernel = ropeCpu<TypeParam>();
        kernel.rotate(shape, turned.data(), cosines.data(), sines.data(), false, 0, 3);
        kernel.rotate(shape, turned.data(), cosines.data(), sines.data(), false, 3, rows);
        std::vector<float> wanted = testing::widened(before);
        for (std::int64_t r = 0; r < rows; ++r) {
            std::vector<double> angles;
            for (std::int64_t d = 0; d < half; ++d)
                angles.push_back(static_cast<double>(r % shape.context) * std::pow(10000.0, -static_cast<double>(d) / static_cast<double>(half)));
            for (std::int64_t h = 0; h < shape.heads; ++h) {
                float* const from = wanted.data() + r * shape.stride + h * shape.width;
                std::vector<double> head(from, from + shape.width);
                ropeRotate(head, angles);
                std::copy(head.begin(), head.end(), from);
            }
        }
        testing::expectNear(turned, wanted, 5e-7);
        kernel.rotate(shape, turned.data(), cosines.data(), sines.data(), true, 0, rows);
        testing::expectNear(turned, testing::widened(before), testing::tolerance<TypeParam>(2.0));
    }
}

}  // namespace
}  // namespace stepscope
