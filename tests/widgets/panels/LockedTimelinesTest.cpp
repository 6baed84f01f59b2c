// Two timelines locked together: whichever is moved or zoomed takes the other with it, also where their clocks and lengths differ, and what is chosen
// on one side stands upon what was found on the other.
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QMouseEvent>
#include <QTest>

#include "TimelineFixture.h"
#include "widgets/timeline/LockedTimelines.h"
#include "widgets/timeline/TimelineLegend.h"

namespace stepscope {
namespace {

// stepAndKernel() twice, the second time `later` ns.
struct TwoTraces {
    MemoryTrace traces[2];
    TraceIndex indices[2]{TraceIndex(traces[0]), TraceIndex(traces[1])};
    LockedTimelines both;

    explicit TwoTraces(qint64 later) {
        for (int side = 0; side < 2; ++side) {
            for (SliceBlock block : stepAndKernel()) {
                for (Slice& slice : block.slices) slice.start += side * later;
                traces[side].add(encodeSlices(block));
            }
            traces[side].finish();
        }
        both.resize(900, 500);
        both.show();
        both.setSides(content(0, 0, millisecondsNs(40)), content(1, later, later + millisecondsNs(40)), 0, later);
        settle();
    }
    TimelineContent content(int side, qint64 begin, qint64 end) {
        TimelineContent made{.session = side + 1, .lanes = {}, .counters = {}};
        auto lanes = indices[side].lanes();
        if (lanes) made.lanes = std::move(*lanes);
        made.lanes.begin = begin;
        made.lanes.end = end;
        return made;
    }
    void settle() { QTest::qWait(20); }
    TraceSlice slice(int side, double ms, int depth) {
        auto found = indices[side].at(kTrainerLane, depth, millisecondsNs(ms) + both.b().content().lanes.begin * side, 0);
        EXPECT_TRUE(found && *found) << ms;
        return found && *found ? **found : TraceSlice{};
    }
};

constexpr qint64 kLater = 5'000'000'000;

TEST(TwoTimelines, AreLockedAtTheirOriginsAndFollowEachOther) {
    TwoTraces two(kLater);
    LockedTimelines& both = two.both;
    EXPECT_EQ(both.a().nsPerPixel(), both.b().nsPerPixel());
    EXPECT_NEAR(both.b().from() - both.a().from(), static_cast<double>(kLater), 1);
    both.a().setView(static_cast<double>(millisecondsNs(10)), 10'000);
    EXPECT_EQ(both.b().nsPerPixel(), 10'000);
    EXPECT_NEAR(both.b().from(), static_cast<double>(kLater + millisecondsNs(10)), 1);
    both.b().setView(static_cast<double>(kLater + millisecondsNs(5)), 20'000);
    EXPECT_EQ(both.a().nsPerPixel(), 20'000);
    EXPECT_NEAR(both.a().from(), static_cast<double>(millisecondsNs(5)), 1);
    both.a().fit();
    const double whole = both.a().nsPerPixel();
    EXPECT_EQ(both.b().nsPerPixel(), whole);
    both.resize(1400, 500);
    two.settle();
    EXPECT_LT(both.a().nsPerPixel(), whole) << "all of it is shown in more room";
    EXPECT_EQ(both.b().nsPerPixel(), both.a().nsPerPixel()) << "the other one follows when it has its room too";
    EXPECT_NEAR(both.b().from() - both.a().from(), static_cast<double>(kLater), 1);
}

TEST(TwoTimelines, StandUponEachOtherAtWhatIsChosenUntilNothingIs) {
    TwoTraces two(kLater);
    LockedTimelines& both = two.both;
    both.a().setView(static_cast<double>(millisecondsNs(8)), 20'000);
    const TraceSlice a = two.slice(0, 12, 1), b = two.slice(1, 3, 1);
    ASSERT_NE(a.name, b.name);
    const double from = both.a().from();
    both.choose(a, b, true);
    EXPECT_EQ(both.a().from(), from) << "the side that was clicked stays";
    EXPECT_NEAR(both.b().xOf(b.slice.start), both.a().xOf(a.slice.start), 0.5);
    ASSERT_TRUE(both.b().selected().has_value());
    EXPECT_EQ(both.b().selected()->name, b.name);
    both.a().setView(from + 100'000, 10'000);
    EXPECT_NEAR(both.b().xOf(b.slice.start), both.a().xOf(a.slice.start), 0.5) << "and they stay locked there";
    both.choose(a, {}, true);
    EXPECT_TRUE(both.a().selected().has_value());
    EXPECT_FALSE(both.b().selected().has_value());
    EXPECT_NEAR(both.offset(), static_cast<double>(kLater), 1) << "where the other side has nothing of it the origins hold";
    both.choose(a, b, false);
    both.choose({}, {}, false);
    EXPECT_FALSE(both.a().selected().has_value());
    EXPECT_NEAR(both.b().from() - both.a().from(), static_cast<double>(kLater), 1);
}

TEST(TwoTimelines, ARangeOfOneIsDrawnInBothAndGoesFromBoth) {
    TwoTraces two(kLater);
    LockedTimelines& both = two.both;
    const QRect lanes = both.b().lanesRect();
    const QPoint left(lanes.left() + 100, lanes.top() + 5), right(lanes.left() + 300, lanes.top() + 5);
    QTest::mousePress(&both.b(), Qt::LeftButton, Qt::ShiftModifier, left);
    QMouseEvent move(QEvent::MouseMove, right, both.b().mapToGlobal(right), Qt::LeftButton, Qt::LeftButton, Qt::ShiftModifier);
    QCoreApplication::sendEvent(&both.b(), &move);
    QTest::mouseRelease(&both.b(), Qt::LeftButton, Qt::ShiftModifier, right);
    ASSERT_TRUE(both.b().range().has_value());
    ASSERT_TRUE(both.a().range().has_value());
    EXPECT_EQ(both.b().range()->first - both.a().range()->first, kLater);
    EXPECT_EQ(both.b().range()->second - both.a().range()->second, kLater);
    both.a().clearSelection();
    EXPECT_FALSE(both.b().range().has_value()) << "whichever side it is taken from";
}

TEST(TwoTimelines, HaveTheColoursOfBothInOneLegend) {
    TwoTraces two(0);
    LockedTimelines& both = two.both;
    both.a().addStyles({{.name = "aten::mm", .role = "mlp/up"}});
    both.b().addStyles({{.name = "aten::mm", .role = "mlp/up"}, {.name = "aten::gelu", .role = "attention/core"}});
    both.b().addTiles({});
    EXPECT_FALSE(both.legend().isHidden());
    EXPECT_EQ(both.legend().accessibleName(), QString("Colours: %1, %2").arg(lookName(LookClass::Attention), lookName(LookClass::Mlp)));
    both.setSentence("Reading the captured steps.");
    EXPECT_TRUE(both.legend().isHidden()) << "of nothing there are no colours";
}

// As on the page Compare: both show places of one session, so that one of them may be held back at an end of it.
TEST(TwoTimelines, StayWhereAPersonMovedThemWhenTheirRoomChanges) {
    TwoTraces two(0);
    TimelineContent content = two.content(0, 0, millisecondsNs(40));
    for (TraceLane lane : std::vector(content.lanes.lanes)) {
        lane.thread.rank = 1;
        content.lanes.lanes.push_back(lane);
    }
    LockedTimelines both;
    both.resize(900, 500);
    both.show();
    both.setContent(content);
    both.showPlace("step", millisecondsNs(2), millisecondsNs(8), millisecondsNs(30), millisecondsNs(36));
    two.settle();
    both.b().setView(millisecondsNs(1), both.b().nsPerPixel());
    const double a = both.a().from(), b = both.b().from();
    ASSERT_GT(a - b, -both.offset()) << "A is held back at the begin of the session";
    both.resize(890, 480);
    two.settle();
    EXPECT_EQ(both.b().from(), b);
    EXPECT_EQ(both.a().from(), a);
}

}  // namespace
}  // namespace stepscope
