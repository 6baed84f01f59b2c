// The shared view: it follows the live edge in jumps, lets go when a person zooms, and never leaves the run.
#include <gtest/gtest.h>

#include <random>

#include "widgets/charts/MarkerLayout.h"
#include "widgets/charts/RedrawBudget.h"
#include "widgets/charts/ViewRange.h"

namespace stepscope {
namespace {

Extent live(double last, double planned = 2000) {
    return {0, 1, last, planned, 1, true};
}

TEST(ViewRange, ShowsThePlanBeforeTheRun) {
    ViewRange range;
    range.setExtent({0, 1, 0, 2000, 1, false});
    EXPECT_EQ(range.scale().low, 0);
    EXPECT_EQ(range.scale().high, 2000);
}

TEST(ViewRange, MovesWithTheLiveEdgeInJumpsThatAlwaysHoldIt) {
    ViewRange range;
    int jumps = 0;
    QObject::connect(&range, &ViewRange::changed, [&] { ++jumps; });
    for (double step = 1; step <= 2000; ++step) {
        range.setExtent(live(step));
        ASSERT_GE(range.scale().high, step);
        ASSERT_LE(range.scale().high, 2000);
    }
    EXPECT_GT(jumps, 3);
    EXPECT_LT(jumps, 30);
    EXPECT_TRUE(range.following());
}

TEST(ViewRange, LetsGoOfTheEdgeWhenZoomedAndComesBackOnFit) {
    ViewRange range;
    range.setExtent(live(1000));
    range.zoom(0.5, 0.5);
    EXPECT_FALSE(range.following());
    const Scale zoomed = range.scale();
    range.setExtent(live(1900));
    EXPECT_EQ(range.scale().high, zoomed.high);
    range.fit();
    EXPECT_TRUE(range.following());
    EXPECT_GE(range.scale().high, 1900);
}

TEST(ViewRange, KeepsThePlaceUnderTheMouseWhileZooming) {
    for (const bool logarithmic : {false, true}) {
        ViewRange range;
        range.setExtent(live(1000));
        range.setLogarithmic(logarithmic);
        const double before = range.scale().fromShare(0.3);
        range.zoom(0.5, 0.3);
        EXPECT_NEAR(range.scale().fromShare(0.3), before, 1e-6 * before);
    }
}

TEST(ViewRange, StaysInsideTheRunWhateverThePersonDoes) {
    std::mt19937 random(2);
    for (const bool logarithmic : {false, true}) {
        ViewRange range;
        range.setExtent(live(1000));
        range.setLogarithmic(logarithmic);
        for (int i = 0; i < 5000; ++i) {
            if (random() % 2 == 0)
                range.zoom(0.3 + 0.001 * (random() % 2000), 0.001 * (random() % 1000));
            else
                range.pan(0.01 * (static_cast<int>(random() % 400) - 200));
            const Scale scale = range.scale();
            ASSERT_GE(scale.low, logarithmic ? 1 - 1e-9 : -1e-9);
            ASSERT_LE(scale.high, 2000 + 1e-6);
            ASSERT_GE(scale.high - scale.low, 4 - 1e-6);
        }
    }
}

TEST(ViewRange, PanningAgainstTheEndDoesNotZoom) {
    ViewRange range;
    range.setExtent(live(1000));
    range.zoom(0.25, 0.5);
    const double width = range.scale().high - range.scale().low;
    for (int i = 0; i < 50; ++i) range.pan(1);
    EXPECT_NEAR(range.scale().high - range.scale().low, width, 1e-6);
    EXPECT_NEAR(range.scale().high, 2000, 1e-6);
}

TEST(ViewRange, BringsAStepIntoView) {
    ViewRange range;
    range.setExtent(live(1000));
    range.zoom(0.05, 0.1);
    range.show(900);
    EXPECT_LT(range.scale().low, 900);
    EXPECT_GT(range.scale().high, 900);
}

TEST(ViewRange, ShowsABoxButNeverLessThanAFewSteps) {
    for (const bool logarithmic : {false, true}) {
        ViewRange range;
        range.setExtent(live(1000));
        range.setLogarithmic(logarithmic);
        range.showOnly(200, 300);
        EXPECT_NEAR(range.scale().low, 200, 1e-6);
        EXPECT_NEAR(range.scale().high, 300, 1e-6);
        EXPECT_FALSE(range.following());
        range.showOnly(250, 250.5);
        EXPECT_GE(range.scale().high - range.scale().low, 4);
        EXPECT_LT(range.scale().high - range.scale().low, 5);
        EXPECT_LT(range.scale().low, 250);
        EXPECT_GT(range.scale().high, 250.5);
    }
}

TEST(ViewRange, KeepsASelectionInOrderAndForgetsItWithItsAxis) {
    ViewRange range;
    range.setExtent(live(1000));
    range.setSelection(Stretch{30, 10});
    EXPECT_EQ(range.selection(), (Stretch{10, 30}));
    range.setAxis(XAxis::Tokens, live(1000));
    EXPECT_FALSE(range.selection());
}

TEST(MarkerLayout, PutsNoLabelOverAnotherAndNoneOutside) {
    std::mt19937 random(3);
    for (int round = 0; round < 500; ++round) {
        std::vector<MarkerRequest> requests;
        double x = -20;
        for (unsigned i = 0; i < random() % 40; ++i) requests.push_back({x += random() % 40, 20.0 + random() % 150, random() % 2 == 0});
        const auto placed = placeMarkers(requests, 400, 1 + round % 3);
        for (std::size_t a = 0; a < placed.size(); ++a) {
            if (placed[a].row < 0) continue;
            ASSERT_GE(placed[a].labelLeft, 0);
            ASSERT_LE(placed[a].labelLeft + placed[a].labelWidth, 400);
            for (std::size_t b = a + 1; b < placed.size(); ++b) {
                if (placed[b].row != placed[a].row) continue;
                ASSERT_TRUE(placed[a].labelLeft + placed[a].labelWidth <= placed[b].labelLeft ||
                            placed[b].labelLeft + placed[b].labelWidth <= placed[a].labelLeft);
            }
        }
    }
}

TEST(MarkerLayout, LabelsAFlipBeforeACheckpoint) {
    const auto placed = placeMarkers({{100, 80, false}, {120, 80, true}}, 210, 1);
    ASSERT_EQ(placed.size(), 2u);
    EXPECT_EQ(placed[1].row, 0);
    EXPECT_EQ(placed[1].labelWidth, 80);
}

TEST(RedrawBudget, SpendsNoMoreThanItsShareOverTime) {
    RedrawBudget budget;
    budget.setShare(0.02);
    double spent = 0;
    for (std::int64_t ms = 0; ms < 60'000; ms += 33) {
        const TimeNs now{ms * 1'000'000};
        if (!budget.allows(now)) continue;
        budget.spent(now, {5'000'000});
        spent += 5;
    }
    EXPECT_LE(spent / 60'000, 0.0215);
    EXPECT_GE(spent / 60'000, 0.018);
}

TEST(RedrawBudget, AnswersThePersonAtOnceAndPaysForItAfterwards) {
    RedrawBudget budget;
    budget.setShare(0.02);
    budget.spent({0}, {50'000'000});
    EXPECT_FALSE(budget.allows({33'000'000}));
    budget.hurry({500'000'000});
    EXPECT_TRUE(budget.allows({66'000'000}));
    EXPECT_FALSE(budget.allows({600'000'000}));
    EXPECT_TRUE(budget.allows({2'600'000'000}));
}

}  // namespace
}  // namespace stepscope
