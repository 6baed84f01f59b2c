// Holds the plain cross-entropy against finite differences and the CPU forms against the plain one. Run by CTest under every
// instruction set.
#include "Numbers.h"
#include "core/kernels/cross_entropy/CrossEntropy.h"

#include <limits>

namespace stepscope {
namespace {

using testing::numbers;
using testing::widened;

TEST(CrossEntropy, HasTheGradientsThatFiniteDifferencesGive) {
    const CrossEntropyShape shape{.columns = 7, .vocabulary = 6, .smoothing = 0.1f};
    auto logits = numbers<float>(7, 1, 3.0);
    const std::vector<std::int64_t> targets{4};
    std::vector<float> loss(1), gradient(7), unused(7), up(1), down(1);
    crossEntropyRows(shape, logits, targets, loss, gradient);
    for (std::size_t c = 0; c < 7; ++c) {
        const float kept = logits[c], h = 1e-2f;
        logits[c] = kept + h;
        crossEntropyRows(shape, logits, targets, up, unused);
        logits[c] = kept - h;
        crossEntropyRows(shape, logits, targets, down, unused);
        logits[c] = kept;
        EXPECT_NEAR(gradient[c], (static_cast<double>(up[0]) - down[0]) / (2.0 * h), 1e-4);
    }
}

template <class T>
class CrossEntropyCpu : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(CrossEntropyCpu, ElementTypes);

TYPED_TEST(CrossEntropyCpu, GivesWhatTheReferenceGivesWithPaddingAndSmoothing) {
    for (const float smoothing : {0.0f, 0.1f})
        for (const auto& [columns, vocabulary] : {std::pair{1L, 1L}, std::pair{17L, 17L}, std::pair{64L, 50L}, std::pair{3100L, 3001L}}) {
            const CrossEntropyShape shape{.columns = columns, .vocabulary = vocabulary, .smoothing = smoothing, .gradientScale = 0.25f};
            auto logits = numbers<TypeParam>(static_cast<std::size_t>(4 * columns), 1, 8.0);
            std::vector<std::int64_t> targets;
            for (std::uint64_t r = 0; r < 4; ++r) targets.push_back(static_cast<std::int64_t>(counterRandomBelow(3, 4, r, static_cast<std::uint64_t>(vocabulary))));
            std::vector<float> losses(4), wanted(4), wantedGradient(logits.size());
            crossEntropyRows(shape, widened(logits), targets, wanted, wantedGradient);
            crossEntropyCpu<TypeParam>().rows(shape, logits.data(), targets.data(), losses.data(), nullptr, 0, 4);
            testing::expectNear(losses, wanted, 3e-6);
            crossEntropyCpu<TypeParam>().rows(shape, logits.data(), targets.data(), losses.data(), logits.data(), 0, 1);
            crossEntropyCpu<TypeParam>().rows(shape, logits.data(), targets.data(), losses.data(), logits.data(), 1, 4);
            testing::expectNear(losses, wanted, 3e-6);
            testing::expectNear(logits, wantedGradient, 1e-7);
        }
}

TYPED_TEST(CrossEntropyCpu, TakesAMaximumThatOnlyComesInTheLastBlockAndLogitsFarApart) {
    const std::int64_t V = 2500;
    std::vector<TypeParam> logits(static_cast<std::size_t>(V), testing::from<TypeParam>(-60.0));
    logits[2400] = testing::from<TypeParam>(80.0);
    logits[10] = testing::from<TypeParam>(-std::numeric_limits<double>::infinity());
    const std::int64_t target = 2400;
    float loss = 1;
    std::vector<TypeParam> gradient(logits.size());
    crossEntropyCpu<TypeParam>().rows({.columns = V, .vocabulary = V}, logits.data(), &target, &loss, gradient.data(), 0, 1);
    EXPECT_EQ(loss, 0.0f);
    for (const float g : widened(gradient)) EXPECT_EQ(g, 0.0f);
}

TYPED_TEST(CrossEntropyCpu, ANonFiniteLogitMakesItsRowsLossNan) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        auto logits = numbers<TypeParam>(80, 1);
        logits[25] = testing::from<TypeParam>(bad);
        const std::vector<std::int64_t> targets{3, 3};
        std::vector<float> losses(2);
        crossEntropyCpu<TypeParam>().rows({.columns = 40, .vocabulary = 40}, logits.data(), targets.data(), losses.data(), logits.data(), 0, 2);
        EXPECT_TRUE(std::isnan(losses[0]));
        EXPECT_TRUE(std::isnan(toFloat(logits[0])));
        EXPECT_TRUE(std::isfinite(losses[1]));
    }
}

}  // namespace
}  // namespace stepscope
