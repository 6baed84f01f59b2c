// The head of a chart keeps every name, and every number as long as there is room for it in either row.
#include <gtest/gtest.h>

#include <QStringList>

#include "widgets/charts/HeadLayout.h"

namespace stepscope {
namespace {

double sevenACharacter(const QString& text) {
    return 7.0 * static_cast<double>(text.size());
}

std::string joined(const std::vector<LegendItem>& items) {
    QStringList parts;
    for (const LegendItem& item : items) parts += item.value.isEmpty() ? item.name : item.name + ' ' + item.value;
    return parts.join('|').toStdString();
}

using Mark = LegendItem::Mark;

// As the step-time chart of a GPU run: all seven layers.
std::vector<LegendItem> phases(const QString& backward = "42") {
    return {{Mark::None, {}, "total", "64.8"},
            {Mark::Area, {}, "batch", "0.01", "batch", "0.01"},
            {Mark::Area, {}, "copy", "0.01", "copy", "0.01"},
            {Mark::Area, {}, "forward", "21.3", "fwd", "21"},
            {Mark::Area, {}, "backward", backward, "bwd", backward},
            {Mark::Area, {}, "clip", "0.31", "clip", "0.3"},
            {Mark::Area, {}, "optimizer", "1.10", "opt", "1.1"},
            {Mark::Area, {}, "other", "0.02", "other", "0.02"}};
}

TEST(HeadLayout, WholeNamesAndNumbersWhereThereIsRoom) {
    const HeadRows rows = layHead(phases(), 300, 900, sevenACharacter);
    EXPECT_EQ(joined(rows.title), "total 64.8");
    EXPECT_EQ(joined(rows.below), "batch 0.01|copy 0.01|forward 21.3|backward 42|clip 0.31|optimizer 1.10|other 0.02");
}

TEST(HeadLayout, WhatHasNoRoomBelowMovesUpBesideTheTitleWithItsNumber) {
    const HeadRows rows = layHead(phases(), 300, 460, sevenACharacter);
    EXPECT_EQ(joined(rows.title), "opt 1.1|other 0.02|total 64.8");
    EXPECT_EQ(joined(rows.below), "batch 0.01|copy 0.01|fwd 21|bwd 42|clip 0.3");
}

TEST(HeadLayout, NothingChangesItsRowWhenANumberGainsADigit) {
    for (double below = 320; below < 520; below += 7) {
        const HeadRows few = layHead(phases("7"), 300, below, sevenACharacter), many = layHead(phases("128"), 300, below, sevenACharacter);
        EXPECT_EQ(few.below.size(), many.below.size()) << below;
    }
}

TEST(HeadLayout, NumbersGoFromTheLastOnBeforeAnyNameWhereNoRowHasRoom) {
    const HeadRows rows = layHead(phases(), 80, 400, sevenACharacter);
    EXPECT_EQ(joined(rows.title), "total 64.8");
    EXPECT_EQ(rows.below.size(), 7u) << joined(rows.below);
    EXPECT_TRUE(rows.below.back().value.isEmpty());
    EXPECT_FALSE(rows.below.front().value.isEmpty());
}

TEST(HeadLayout, OneRowHoldsAllOfItByShortNamesWhereItMust) {
    EXPECT_EQ(joined(layHead(phases(), 900, 0, sevenACharacter).title),
              "total 64.8|batch 0.01|copy 0.01|forward 21.3|backward 42|clip 0.31|optimizer 1.10|other 0.02");
    EXPECT_EQ(joined(layHead(phases(), 640, 0, sevenACharacter).title), "total 64.8|batch 0.01|copy 0.01|fwd 21|bwd 42|clip 0.3|opt 1.1|other 0.02");
    EXPECT_TRUE(layHead(phases(), 640, 0, sevenACharacter).below.empty());
}

}  // namespace
}  // namespace stepscope
