// Dropout's pure function: its rate, and that seed, step and site each give other draws.
#include <gtest/gtest.h>

#include <set>

#include "core/base/DropoutMask.h"

namespace stepscope {
namespace {

double keptShare(std::uint64_t key, double rate) {
    constexpr int kDraws = 200'000;
    int kept = 0;
    for (int i = 0; i < kDraws; ++i) kept += dropoutKeeps(key, static_cast<std::uint64_t>(i), dropoutThreshold(rate)) ? 1 : 0;
    return static_cast<double>(kept) / kDraws;
}

TEST(DropoutMask, DropsTheShareItIsAskedFor) {
    // Five standard deviations of 200 000 draws are below 0.006.
    for (const double rate : {0.1, 0.5, 0.9}) EXPECT_NEAR(keptShare(dropoutKey(1, 2, 3), rate), 1 - rate, 0.006) << rate;
    EXPECT_EQ(keptShare(dropoutKey(1, 2, 3), 0.0), 1.0);
}

TEST(DropoutMask, EverySeedStepAndSiteHasAKeyOfItsOwn) {
    std::set<std::uint64_t> keys;
    for (std::uint64_t seed = 0; seed < 10; ++seed)
        for (std::uint64_t step = 0; step < 20; ++step)
            for (std::uint64_t site = 0; site < 20; ++site) keys.insert(dropoutKey(seed, step, site));
    EXPECT_EQ(keys.size(), 10u * 20u * 20u);
}

TEST(DropoutMask, NeighbouringKeysDropIndependently) {
    // Two masks of rate 1/2 agree on half of the elements when they have nothing to do with each other.
    const std::uint64_t first = dropoutKey(1, 1, 0), second = dropoutKey(1, 1, 1);
    int same = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i)
        same += dropoutKeeps(first, i, dropoutThreshold(0.5)) == dropoutKeeps(second, i, dropoutThreshold(0.5)) ? 1 : 0;
    EXPECT_NEAR(same / 100'000.0, 0.5, 0.01);
}

}  // namespace
}  // namespace stepscope
