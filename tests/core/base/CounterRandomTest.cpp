// The counter-based generator: published values of SplitMix64, uniformity, and independence of its three keys.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <set>

#include "core/base/CounterRandom.h"

namespace stepscope {
namespace {

TEST(CounterRandom, MixesAsTheReferenceImplementationOfSplitMix64Does) {
    // The first three outputs of the reference generator seeded with 1234567.
    EXPECT_EQ(splitMix64(1234567), 6457827717110365317u);
    EXPECT_EQ(splitMix64(1234567 + 0x9e3779b97f4a7c15u), 3203168211198807973u);
    EXPECT_EQ(splitMix64(1234567 + 2 * 0x9e3779b97f4a7c15u), 9817491932198370423u);
}

TEST(CounterRandom, IsAFunctionOfSeedStreamAndCounterAndOfEachOfThem) {
    static_assert(counterRandom(1, 2, 3) == counterRandom(1, 2, 3));
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 10; ++seed)
        for (std::uint64_t stream = 0; stream < 10; ++stream)
            for (std::uint64_t counter = 0; counter < 100; ++counter) seen.insert(counterRandom(seed, stream, counter));
    EXPECT_EQ(seen.size(), 10u * 10u * 100u);
}

TEST(CounterRandom, StaysBelowItsBoundAndIsUniform) {
    constexpr std::uint64_t kBound = 10, kDraws = 100'000;
    std::array<int, kBound> counts{};
    for (std::uint64_t i = 0; i < kDraws; ++i) {
        const auto drawn = counterRandomBelow(7, 1, i, kBound);
        ASSERT_LT(drawn, kBound);
        ++counts[drawn];
    }
    double chiSquared = 0;
    for (const int n : counts) chiSquared += (n - 10'000.0) * (n - 10'000.0) / 10'000.0;
    EXPECT_LT(chiSquared, 27.9);  // 9 degrees of freedom, 0.1 %
    EXPECT_EQ(counterRandomBelow(7, 1, 5, 1), 0u);
}

TEST(CounterRandom, ChangesHalfOfTheBitsWhenOneBitOfTheCounterChanges) {
    double flipped = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) flipped += std::popcount(counterRandom(1, 1, i) ^ counterRandom(1, 1, i ^ (1ULL << (i % 64))));
    EXPECT_NEAR(flipped / 1000, 32.0, 1.0);
}

}  // namespace
}  // namespace stepscope
