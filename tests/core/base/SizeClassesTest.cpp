// The size classes of the caching allocator: every size has one class, classes rise with sizes, and no block takes an eighth more than was asked for.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/base/SizeClasses.h"

namespace stepscope::size_classes {
namespace {

// Around every border of a class, and anything between.
std::vector<std::size_t> sizesToTry() {
    std::vector<std::size_t> sizes;
    for (std::size_t power = 3; power < 48; ++power)
        for (std::size_t eighth = 0; eighth < 8; ++eighth)
            for (const int away : {-1, 0, 1}) {
                const std::size_t border = (std::size_t{1} << power) + (eighth << (power - 3));
                if (border + static_cast<std::size_t>(away) >= 8) sizes.push_back(border + static_cast<std::size_t>(away));
            }
    std::mt19937_64 random(9);
    for (int i = 0; i < 2000; ++i) sizes.push_back(8 + (random() >> (16 + random() % 44)));
    return sizes;
}

TEST(SizeClasses, ASizeLiesBetweenTheCeilingOfTheClassBelowAndItsOwn) {
    for (const std::size_t size : sizesToTry()) {
        const std::size_t bin = binOf(size);
        ASSERT_LT(bin, kBins) << size;
        ASSERT_LE(size, binCeiling(bin)) << size;
        if (size > 8) {
            ASSERT_GT(size, binCeiling(bin - 1)) << size;
        }
        ASSERT_EQ(binOf(binCeiling(bin)), bin) << size;
        ASSERT_EQ(binOf(binCeiling(bin) + 1), bin + 1) << size;
    }
}

TEST(SizeClasses, WhatIsMappedHoldsTheBlockInWholePagesAndIsAtMostAnEighthMore) {
    for (const std::size_t size : sizesToTry()) {
        if (size < kSmallestCached) continue;  // those come from the C library
        const std::size_t mapped = mappingFor(size), page = size >= kHugePage ? kHugePage : kPage;
        ASSERT_GE(mapped, size);
        ASSERT_EQ(mapped % page, 0u) << size;
        ASSERT_LE(mapped, size + size / 8 + kHugePage) << size;
        if (mapped < kHugePage) {
            ASSERT_LE(mapped, size + size / 8 + kPage) << size;
        }
    }
}

TEST(SizeClasses, AnyBlockOfAClassFitsWhereAnotherOfItWas) {
    for (const std::size_t size : sizesToTry()) {
        if (size < kSmallestCached) continue;
        ASSERT_EQ(mappingFor(size), mappingFor(binCeiling(binOf(size)))) << "a freed block serves its whole class: " << size;
    }
}

TEST(SizeClasses, HugePagesBeginAtTheSizeOfOne) {
    EXPECT_EQ(pagesOf(kHugePage - 1), kPage);
    EXPECT_EQ(pagesOf(kHugePage), kHugePage);
    EXPECT_EQ(mappingFor(kHugePage), 2 * kHugePage) << "its class ends above it";
    EXPECT_EQ(mappingFor(kHugePage - 1), kHugePage);
    EXPECT_EQ(mappingFor(64 * 1024), 72u * 1024);
}

}  // namespace
}  // namespace stepscope::size_classes
