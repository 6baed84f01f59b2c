// Holds AdamW over flat buffers against the plain loops. Run by CTest under every instruction set.
#include <limits>

#include "Numbers.h"
#include "core/kernels/adamw/AdamW.h"

namespace stepscope {
namespace {

using testing::numbers;

constexpr AdamWStep kStep{
    .keep = 0.9999f, .stepSize = 3e-3f, .rootOfSecond = 0.4f, .gradientScale = 0.37f, .newer1 = 0.11f, .newer2 = 0.06f};  // numbers of their own

TEST(AdamWCpu, SumsSquaresOfAnyRange) {
    const auto g = numbers<float>(5000, 1, 3.0);
    for (const auto& [begin, end] : {std::pair{0, 5000}, std::pair{0, 0}, std::pair{1, 18}, std::pair{1023, 1025}, std::pair{77, 3333}}) {
        const double wanted = sumOfSquares(std::span(g).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
        EXPECT_NEAR(adamWCpu().sumOfSquares(g.data(), begin, end), wanted, 1e-6 * wanted);
    }
}

TEST(AdamWCpu, UpdatesItsRangeAsThePlainLoopsDoAndRoundsACopy) {
    for (const std::int64_t count : {1L, 15L, 16L, 100L, 1000L}) {
        const auto n = static_cast<std::size_t>(count);
        const auto g = numbers<float>(n, 1);
        auto weights = numbers<float>(n, 2), first = numbers<float>(n, 3, 0.1), second = numbers<float>(n, 4, 0.1);
        for (float& v : second) v = std::fabs(v);
        auto plainWeights = weights, plainFirst = first, plainSecond = second;
        std::vector<Bf16> low(n);
        adamWCpu().update(kStep, g.data(), weights.data(), first.data(), second.data(), low.data(), 0, count / 2);
        adamWCpu().update(kStep, g.data(), weights.data(), first.data(), second.data(), low.data(), count / 2, count);
        adamWUpdate(kStep, g, plainWeights, plainFirst, plainSecond);
        testing::expectNear(weights, plainWeights, 1e-7);
        testing::expectNear(first, plainFirst, 1e-7);
        testing::expectNear(second, plainSecond, 1e-8);
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(low[i].bits, toBf16(weights[i]).bits);
    }
}

TEST(AdamWCpu, ANanSpoilsItsOwnElementOnly) {
    auto g = numbers<float>(40, 1);
    g[21] = std::numeric_limits<float>::quiet_NaN();
    auto weights = numbers<float>(40, 2);
    std::vector<float> first(40), second(40);
    adamWCpu().update(kStep, g.data(), weights.data(), first.data(), second.data(), nullptr, 0, 40);
    for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(std::isnan(weights[i]), i == 21);
    EXPECT_TRUE(std::isnan(adamWCpu().sumOfSquares(g.data(), 0, 40)));
}

}  // namespace
}  // namespace stepscope
