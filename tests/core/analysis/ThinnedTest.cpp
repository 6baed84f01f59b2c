// What a run leaves behind step by step, thinned so that it stays bounded.
#include <gtest/gtest.h>

#include "core/analysis/Thinned.h"

namespace stepscope {
namespace {

TEST(Thinned, HoldsAllUpToItsLimit) {
    Thinned<int, 8> values;
    for (int i = 0; i < 7; ++i) values.add(i);
    EXPECT_EQ(values.values().size(), 7u);
    EXPECT_EQ(values.every(), 1u);
}

TEST(Thinned, NeverHoldsMoreAndStaysEvenOverTheWholeRun) {
    Thinned<int, 8> values;
    for (int i = 0; i < 1000; ++i) {
        values.add(i);
        ASSERT_LT(values.values().size(), 8u);
        for (std::size_t k = 0; k < values.values().size(); ++k) ASSERT_EQ(values.values()[k], static_cast<int>(k * values.every()));
    }
    EXPECT_EQ(values.seen(), 1000u);
    EXPECT_GE(values.values().size(), 4u);
    values.clear();
    EXPECT_EQ(values.seen(), 0u);
    EXPECT_EQ(values.every(), 1u);
}

}  // namespace
}  // namespace stepscope
