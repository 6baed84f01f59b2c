// The tiles of a timeline in bounded memory: what was not drawn for longest goes first, what is in sight stays, and what grew is read anew.
#include <gtest/gtest.h>

#include "widgets/timeline/TileShelf.h"

namespace stepscope {
namespace {

LodTilePtr tile(std::int64_t index, int level = 1, std::size_t folds = 100) {
    auto made = std::make_shared<LodTile>();
    made->lane = 7;
    made->level = level;
    made->index = index;
    made->rows.resize(1);
    made->rows[0].folds.resize(folds);
    return made;
}

TEST(TileShelf, FindsWhatIsThereAndCountsItsBytes) {
    TileShelf shelf;
    const LodTilePtr one = tile(3);
    shelf.add(one);
    EXPECT_EQ(shelf.find({7, 1, 3}), one.get());
    EXPECT_EQ(shelf.find({7, 1, 4}), nullptr);
    EXPECT_EQ(shelf.find({7, 2, 3}), nullptr);
    EXPECT_EQ(shelf.find({8, 1, 3}), nullptr);
    EXPECT_EQ(shelf.bytes(), one->bytes());
    const LodTilePtr larger = tile(3, 1, 200);
    shelf.add(larger);
    EXPECT_EQ(shelf.size(), 1u) << "in the place of the older one";
    EXPECT_EQ(shelf.bytes(), larger->bytes());
    shelf.clear();
    EXPECT_EQ(shelf.size(), 0u);
    EXPECT_EQ(shelf.bytes(), 0u);
}

TEST(TileShelf, WhatWasNotDrawnForLongestGoesFirstAndWhatIsInSightStays) {
    const std::size_t each = tile(0)->bytes();
    TileShelf shelf(10 * each);
    for (std::int64_t i = 0; i < 10; ++i) shelf.add(tile(i));
    for (int frame = 0; frame < 5; ++frame) {
        shelf.frame();
        for (const std::int64_t seen : {0, 1, 2}) EXPECT_NE(shelf.find({7, 1, seen}), nullptr);
    }
    EXPECT_EQ(shelf.size(), 10u) << "all fit";
    shelf.add(tile(10));
    shelf.frame();
    EXPECT_LE(shelf.bytes(), 10 * each * 3 / 4);
    for (const std::int64_t seen : {0, 1, 2, 10}) EXPECT_NE(shelf.find({7, 1, seen}), nullptr) << seen;
    EXPECT_EQ(shelf.find({7, 1, 3}), nullptr) << "one of those that nobody has seen for longest";
}

TEST(TileShelf, MoreInSightThanTheBoundAllowsStaysAllTheSame) {
    TileShelf shelf(1);
    for (int frame = 0; frame < 4; ++frame) {
        shelf.frame();
        for (std::int64_t i = 0; i < 20; ++i) {
            if (shelf.find({7, 1, i}) == nullptr) shelf.add(tile(i));
        }
    }
    EXPECT_EQ(shelf.size(), 20u) << "else it would be read again at every frame";
}

TEST(TileShelf, ForgetsTilesThatReachBeyondAMomentOfEveryLevel) {
    TileShelf shelf;
    const auto finest = [](std::int64_t) { return 1; };
    std::size_t kept = 0;
    const std::int64_t moment = std::int64_t{5} << tileShift(1, 1);
    for (const int level : {0, 1, 2})
        for (std::int64_t i = 0; i < 8; ++i) {
            shelf.add(tile(i, level));
            if ((i + 1) << tileShift(level, 1) <= moment) kept += tile(i, level)->bytes();
        }
    shelf.forgetFrom(moment, finest);
    EXPECT_NE(shelf.find({7, 1, 4}), nullptr) << "ends there";
    EXPECT_EQ(shelf.find({7, 1, 5}), nullptr);
    EXPECT_EQ(shelf.find({7, 2, 7}), nullptr);
    EXPECT_EQ(shelf.bytes(), kept);
}

}  // namespace
}  // namespace stepscope
