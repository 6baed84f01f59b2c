// What a hand does to a timeline: the wheel about the pointer, dragging, clicks on slices, names, ruler and overview, ranges, keys and tool tips.
#include <gtest/gtest.h>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QTest>
#include <QToolTip>
#include <QWheelEvent>
#include <cmath>

#include "TimelineFixture.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

class TimelineInput : public testing::Test {
protected:
    ShownTimeline shown;
    TimelineView& view = shown.view;

    void SetUp() override { view.show(); }

    QPoint at(double ms, int y) { return {static_cast<int>(std::lround(view.xOf(millisecondsNs(ms)))), y}; }
    QPoint onSlice(double ms, qint64 lane, int depth) { return at(ms, view.yOf(lane, depth)); }
    double timeOf(int x) { return view.from() + (x - view.lanesRect().left()) * view.nsPerPixel(); }
    void wheel(QPoint place, QPoint angle, Qt::KeyboardModifiers modifiers = {}) {
        QWheelEvent event(place, view.mapToGlobal(place), {}, angle, Qt::NoButton, modifiers, Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(&view, &event);
    }
    void drag(QPoint from, QPoint to, Qt::KeyboardModifiers modifiers = {}) {
        QTest::mousePress(&view, Qt::LeftButton, modifiers, from);
        for (const QPoint place : {(from + to) / 2, to}) {
            QMouseEvent move(QEvent::MouseMove, place, view.mapToGlobal(place), Qt::NoButton, Qt::LeftButton, modifiers);
            QCoreApplication::sendEvent(&view, &move);
        }
        QTest::mouseRelease(&view, Qt::LeftButton, modifiers, to);
    }
    QImage picture() { return shown.picture(); }
    QString toolTip(QPoint place) {
        QHelpEvent event(QEvent::ToolTip, place, view.mapToGlobal(place));
        QCoreApplication::sendEvent(&view, &event);
        return QToolTip::text();
    }
};

TEST_F(TimelineInput, TheWheelZoomsAboutThePointerAndNeverFurtherThanThereIsSomethingToSee) {
    const double whole = view.nsPerPixel();
    const QPoint place = at(20, 200);
    wheel(place, {0, 480});
    EXPECT_LT(view.nsPerPixel(), whole);
    EXPECT_NEAR(timeOf(place.x()), static_cast<double>(millisecondsNs(20)), whole) << "what is under the pointer stays there";
    wheel(place, {0, -240});
    EXPECT_NEAR(timeOf(place.x()), static_cast<double>(millisecondsNs(20)), whole);
    for (int i = 0; i < 100; ++i) wheel(place, {0, 1200});
    EXPECT_EQ(view.nsPerPixel(), 0.5);
    EXPECT_NEAR(timeOf(place.x()), static_cast<double>(millisecondsNs(20)), whole);
    for (int i = 0; i < 100; ++i) wheel(place, {0, -1200});
    EXPECT_DOUBLE_EQ(view.nsPerPixel(), whole) << "all of it, and no more";
}

TEST_F(TimelineInput, ShiftAndTheWheelPanAndControlScrollsAsTheNamesDo) {
    view.resize(900, 130);  // fewer rows than there are
    view.setView(static_cast<double>(millisecondsNs(10)), 10'000);
    const double from = view.from();
    wheel(at(12, 100), {0, -120}, Qt::ShiftModifier);
    EXPECT_DOUBLE_EQ(view.from(), from + 60 * 10'000);
    wheel(at(12, 100), {120, 0});
    EXPECT_DOUBLE_EQ(view.from(), from) << "sideways without a key";
    const int y = view.yOf(kTrainerLane, 0);
    wheel(at(12, 100), {0, -8}, Qt::ControlModifier);
    EXPECT_EQ(view.yOf(kTrainerLane, 0), y - 4);
    wheel({20, 100}, {0, 8});
    EXPECT_EQ(view.yOf(kTrainerLane, 0), y);
    wheel({20, 100}, {0, 4000});
    EXPECT_EQ(view.yOf(kTrainerLane, 0), y) << "nothing is above the first row";
    wheel({20, 100}, {0, -4000});
    EXPECT_EQ(view.yOf(kStreamLane, 0) + TimelineLayout::kBar / 2 + TimelineLayout::kGap + TimelineLayout::kBetween, view.height())
        << "nor below the last";
    EXPECT_EQ(view.nsPerPixel(), 10'000);
}

TEST_F(TimelineInput, DraggingMovesAsFarAsTheHandAndATremblingClickMovesNothing) {
    view.setView(static_cast<double>(millisecondsNs(10)), 10'000);
    QSignalSpy wanted(&view, &TimelineView::sliceWanted);
    drag({500, 200}, {440, 200});
    EXPECT_DOUBLE_EQ(view.from(), static_cast<double>(millisecondsNs(10)) + 60 * 10'000);
    EXPECT_EQ(wanted.count(), 0);
    const QPoint slice = onSlice(14, kTrainerLane, 1);
    drag(slice, slice + QPoint(2, 1));
    EXPECT_DOUBLE_EQ(view.from(), static_cast<double>(millisecondsNs(10)) + 60 * 10'000);
    EXPECT_EQ(wanted.count(), 1) << "that was a click";
}

TEST_F(TimelineInput, AClickAsksForTheSliceOfItsRowAndTime) {
    QSignalSpy wanted(&view, &TimelineView::sliceWanted), cleared(&view, &TimelineView::selectionCleared), clicked(&view, &TimelineView::clicked);
    QTest::mouseClick(&view, Qt::LeftButton, {}, onSlice(15, kStreamLane, 0));
    ASSERT_EQ(wanted.count(), 1);
    EXPECT_EQ(wanted.at(0).at(0).toLongLong(), kStreamLane);
    EXPECT_EQ(wanted.at(0).at(1).toInt(), 0);
    EXPECT_NEAR(wanted.at(0).at(2).toDouble(), static_cast<double>(millisecondsNs(15)), view.nsPerPixel());
    EXPECT_EQ(wanted.at(0).at(3).toLongLong(), static_cast<qint64>(2 * view.nsPerPixel())) << "two pixels beside it is near enough";
    QTest::mouseClick(&view, Qt::LeftButton, {}, onSlice(4, kTrainerLane, 2));
    ASSERT_EQ(wanted.count(), 2);
    EXPECT_EQ(wanted.at(1).at(0).toLongLong(), kTrainerLane);
    EXPECT_EQ(wanted.at(1).at(1).toInt(), 2);
    EXPECT_EQ(cleared.count(), 0);
    QTest::mouseClick(&view, Qt::LeftButton, {}, QPoint(600, view.height() - 5));
    EXPECT_EQ(cleared.count(), 1) << "below all rows";
    EXPECT_EQ(clicked.count(), 3);
    QTest::mouseClick(&view, Qt::LeftButton, {}, QPoint(600, view.lanesRect().top() - 5));
    QTest::mouseClick(&view, Qt::RightButton, {}, onSlice(15, kStreamLane, 0));
    EXPECT_EQ(clicked.count(), 3) << "neither the ruler nor another button";
    EXPECT_EQ(wanted.count(), 2);
}

TEST_F(TimelineInput, AClickOnAnyRowOfANameFoldsThatLaneAlone) {
    QTest::mouseClick(&view, Qt::LeftButton, {}, QPoint(20, view.yOf(kTrainerLane, 2)));
    EXPECT_TRUE(view.isFolded(kTrainerLane));
    EXPECT_FALSE(view.isFolded(kStreamLane));
    QTest::mouseClick(&view, Qt::LeftButton, {}, QPoint(20, view.yOf(kTrainerLane, 0)));
    EXPECT_FALSE(view.isFolded(kTrainerLane));
}

TEST_F(TimelineInput, ShiftSelectsARangeInEitherDirection) {
    QSignalSpy sums(&view, &TimelineView::sumsWanted);
    const double from = view.from();
    drag(at(20, 200), at(10, 200), Qt::ShiftModifier);
    ASSERT_EQ(sums.count(), 1);
    EXPECT_NEAR(sums.at(0).at(0).toDouble(), static_cast<double>(millisecondsNs(10)), view.nsPerPixel());
    EXPECT_NEAR(sums.at(0).at(1).toDouble(), static_cast<double>(millisecondsNs(20)), view.nsPerPixel());
    ASSERT_TRUE(view.range().has_value());
    EXPECT_EQ(view.range()->first, sums.at(0).at(0).toLongLong());
    EXPECT_EQ(view.range()->second, sums.at(0).at(1).toLongLong());
    EXPECT_EQ(view.from(), from);
}

TEST_F(TimelineInput, AShiftClickThatTremblesLeavesTheRangeThatIsSummedUp) {
    QSignalSpy sums(&view, &TimelineView::sumsWanted);
    drag(at(15, 200), at(15, 200) + QPoint(3, 0), Qt::ShiftModifier);
    EXPECT_FALSE(view.range().has_value()) << "nobody was asked for its sums";
    drag(at(10, 200), at(20, 200), Qt::ShiftModifier);
    const auto before = view.range();
    ASSERT_TRUE(before.has_value());
    drag(at(5, 200), at(5, 200) + QPoint(3, 0), Qt::ShiftModifier);
    EXPECT_EQ(view.range(), before);
    EXPECT_EQ(sums.count(), 1);
}

TEST_F(TimelineInput, TheOverviewGoesWhereItIsPressedAndFollowsTheHand) {
    view.setView(0, 5'000);
    const QRect lanes = view.lanesRect();
    const auto middle = [&] { return timeOf(lanes.left()) + lanes.width() * view.nsPerPixel() / 2; };
    const int half = lanes.left() + lanes.width() / 2;
    QTest::mousePress(&view, Qt::LeftButton, {}, QPoint(half, 10));
    EXPECT_NEAR(middle(), static_cast<double>(millisecondsNs(15)), static_cast<double>(millisecondsNs(0.1)));
    const QPoint right(lanes.left() + lanes.width() * 2 / 3, 200);  // also where the hand leaves the strip
    QMouseEvent move(QEvent::MouseMove, right, view.mapToGlobal(right), Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&view, &move);
    EXPECT_NEAR(middle(), static_cast<double>(millisecondsNs(20)), static_cast<double>(millisecondsNs(0.1)));
    QSignalSpy clicked(&view, &TimelineView::clicked);
    QTest::mouseRelease(&view, Qt::LeftButton, {}, right);
    EXPECT_EQ(clicked.count(), 0);
    EXPECT_EQ(view.nsPerPixel(), 5'000);
}

TEST_F(TimelineInput, ADoubleClickShowsTheSelectedSliceAlone) {
    auto inner = shown.index.at(kTrainerLane, 2, millisecondsNs(3), 0);
    ASSERT_TRUE(inner && inner->has_value());
    const double whole = view.nsPerPixel();
    QTest::mouseDClick(&view, Qt::LeftButton, {}, onSlice(3, kTrainerLane, 2));
    EXPECT_EQ(view.nsPerPixel(), whole) << "nothing is selected";
    view.setSelected(**inner);
    QTest::mouseDClick(&view, Qt::LeftButton, {}, QPoint(300, 40));
    EXPECT_EQ(view.nsPerPixel(), whole) << "the ruler is no slice";
    QTest::mouseDClick(&view, Qt::LeftButton, {}, onSlice(3, kTrainerLane, 2));
    const QRect lanes = view.lanesRect();
    EXPECT_NEAR((view.xOf(millisecondsNs(6)) - view.xOf(millisecondsNs(2))) / lanes.width(), 1 / 1.1, 0.01);
    EXPECT_GE(view.xOf(millisecondsNs(2)), lanes.left());
    EXPECT_LE(view.xOf(millisecondsNs(6)), lanes.right() + 1);
}

TEST_F(TimelineInput, KeysZoomPanAndAskAndWhatTheyDoNotKnowIsLeftToOthers) {
    const double whole = view.nsPerPixel();
    QTest::keyClick(&view, Qt::Key_Plus);
    EXPECT_NEAR(view.nsPerPixel(), whole / 1.4, 1e-6 * whole);
    QTest::keyClick(&view, Qt::Key_W);
    const double from = view.from();
    QTest::keyClick(&view, Qt::Key_Right);
    EXPECT_GT(view.from(), from);
    QTest::keyClick(&view, Qt::Key_Left);
    EXPECT_NEAR(view.from(), from, 1);
    QTest::keyClick(&view, Qt::Key_Minus);
    QTest::keyClick(&view, Qt::Key_Home);
    EXPECT_DOUBLE_EQ(view.nsPerPixel(), whole);
    QSignalSpy search(&view, &TimelineView::searchWanted), help(&view, &TimelineView::helpWanted), next(&view, &TimelineView::nextWanted),
        flow(&view, &TimelineView::flowWanted);
    QTest::keyClicks(&view, "/?[]");
    EXPECT_EQ(search.count(), 1);
    EXPECT_EQ(help.count(), 1);
    ASSERT_EQ(flow.count(), 2);
    EXPECT_FALSE(flow.at(0).at(0).toBool()) << "where it comes from";
    EXPECT_TRUE(flow.at(1).at(0).toBool());
    QTest::keyClick(&view, Qt::Key_N);
    QTest::keyClick(&view, Qt::Key_F3, Qt::ShiftModifier);
    ASSERT_EQ(next.count(), 2);
    EXPECT_TRUE(next.at(0).at(0).toBool());
    EXPECT_FALSE(next.at(1).at(0).toBool());
    QKeyEvent unknown(QEvent::KeyPress, Qt::Key_X, Qt::NoModifier, "x");
    QCoreApplication::sendEvent(&view, &unknown);
    EXPECT_FALSE(unknown.isAccepted());
}

TEST_F(TimelineInput, AMarkIsSetOnWhatIsSelectedAndTakenAwayAgain) {
    auto inner = shown.index.at(kTrainerLane, 2, millisecondsNs(3), 0);
    ASSERT_TRUE(inner && inner->has_value());
    view.setSelected(**inner);
    QTest::keyClick(&view, Qt::Key_M);
    EXPECT_EQ(view.marks(), std::vector<qint64>{millisecondsNs(2)}) << "the begin of the slice";
    EXPECT_TRUE(view.asText().contains("mark\t0.002000000 s")) << view.asText().toStdString();
    view.setSelected({});
    QTest::keyClick(&view, Qt::Key_M);
    ASSERT_EQ(view.marks().size(), 2u) << "without one it is in the middle of what is seen";
    EXPECT_NEAR(static_cast<double>(view.marks().back()), timeOf(view.lanesRect().center().x()), 2 * view.nsPerPixel());
    QTest::keyClick(&view, Qt::Key_M);
    EXPECT_EQ(view.marks().size(), 1u);
}

TEST_F(TimelineInput, TwoMarksTellWhereTheyAreAndHowFarApart) {
    const QRect ruler(view.lanesRect().left(), view.lanesRect().top() - 21, view.lanesRect().width(), 19);
    const QImage before = picture().copy(ruler);
    auto kernel = shown.index.at(kStreamLane, 0, millisecondsNs(15), 0), inner = shown.index.at(kTrainerLane, 2, millisecondsNs(3), 0);
    ASSERT_TRUE(kernel && kernel->has_value() && inner && inner->has_value());
    view.setSelected(**kernel);
    QTest::keyClick(&view, Qt::Key_M);
    EXPECT_EQ(view.markTexts(), QStringList("0.012000000 s"));
    const QImage one = picture().copy(ruler);
    EXPECT_NE(one, before) << "the ruler says it";
    view.setSelected(**inner);
    QTest::keyClick(&view, Qt::Key_M);
    EXPECT_EQ(view.markTexts(), (QStringList{"0.002000000 s", QString("0.012000000 s, 10.0\u202Fms after the mark before")})) << "by time";
    EXPECT_NE(picture().copy(ruler), one);
    EXPECT_TRUE(view.asText().contains("mark\t0.012000000 s\t+0.010000000 s")) << view.asText().toStdString();
}

TEST_F(TimelineInput, PageUpAndPageDownGoFromOneCaptureToTheNext) {
    const std::vector<std::pair<qint64, qint64>> captures{{millisecondsNs(1), millisecondsNs(6)}, {millisecondsNs(12), millisecondsNs(18)}};
    const auto press = [&](Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
        QKeyEvent event(QEvent::KeyPress, key, modifiers);
        QCoreApplication::sendEvent(&view, &event);
        return event.isAccepted();
    };
    const auto isShown = [&](std::size_t place) {
        const auto [from, to] = captures[place];
        const double wide = view.nsPerPixel() * view.lanesRect().width();
        return view.from() < static_cast<double>(from) && view.from() + wide > static_cast<double>(to) && wide < 1.2 * static_cast<double>(to - from);
    };
    EXPECT_FALSE(press(Qt::Key_PageDown)) << "no capture is known";
    view.setCaptures(captures);
    EXPECT_FALSE(press(Qt::Key_PageDown, Qt::ControlModifier)) << "that is of the pages of the window";
    EXPECT_TRUE(press(Qt::Key_PageDown));
    EXPECT_TRUE(isShown(0)) << "with all of it in sight the first";
    EXPECT_TRUE(press(Qt::Key_PageDown));
    EXPECT_TRUE(isShown(1));
    EXPECT_FALSE(press(Qt::Key_PageDown));
    EXPECT_TRUE(isShown(1)) << "it is the last";
    EXPECT_TRUE(press(Qt::Key_PageUp));
    EXPECT_TRUE(isShown(0));
    EXPECT_FALSE(press(Qt::Key_PageUp));
    view.fit();
    EXPECT_TRUE(press(Qt::Key_PageUp));
    EXPECT_TRUE(isShown(1)) << "with all of it in sight the last";
    view.setView(static_cast<double>(millisecondsNs(8)), 1000);
    EXPECT_TRUE(press(Qt::Key_PageUp));
    EXPECT_TRUE(isShown(0)) << "from between them";
    EXPECT_TRUE(toolTip({view.lanesRect().center().x(), 10}).startsWith("2 captures: Page Up")) << QToolTip::text().toStdString();
    QToolTip::hideText();
}

TEST_F(TimelineInput, TheOverviewMarksWhereEachCaptureLies) {
    view.fit();
    const auto marked = [&](double ms) {
        const QRect lanes = view.lanesRect();
        const int x = lanes.left() + static_cast<int>(std::lround(lanes.width() * ms / 30));
        return QColor(picture().pixel(x, 24)) == accentColour(isDark(view.palette()));
    };
    EXPECT_FALSE(marked(10));
    view.setCaptures({{millisecondsNs(10), millisecondsNs(10) + 1000}, {millisecondsNs(20), millisecondsNs(20) + 1000}});
    EXPECT_TRUE(marked(10.05)) << "though it is less than a pixel wide";
    EXPECT_TRUE(marked(20.05));
    EXPECT_FALSE(marked(15));
}

TEST_F(TimelineInput, EscapeForgetsTheRangeAndTellsThatNothingIsSelected) {
    QSignalSpy cleared(&view, &TimelineView::selectionCleared);
    drag(at(10, 200), at(20, 200), Qt::ShiftModifier);
    QTest::keyClick(&view, Qt::Key_Escape);
    EXPECT_FALSE(view.range().has_value());
    EXPECT_EQ(cleared.count(), 1);
}

TEST_F(TimelineInput, AToolTipSaysTheNameAndDurationOfWhatIsUnderThePointer) {
    EXPECT_EQ(toolTip(onSlice(15, kTrainerLane, 1)), "aten::gelu, 9.00\u202Fms");
    EXPECT_EQ(toolTip(onSlice(15, kStreamLane, 0)), "gemm, 6.00\u202Fms");
    EXPECT_TRUE(toolTip(QPoint(30, view.yOf(kStreamLane, 0))).endsWith("GPU 0 stream 7, 1 slices")) << QToolTip::text().toStdString();
    QToolTip::hideText();
}

TEST(TimelineToolTip, IsOfTheSliceUnderThePointerNotOfItsNeighbour) {
    SliceBlock block;
    block.thread = {.thread = 10, .lane = kTrainerLane};
    block.strings = {"", "first", "second"};
    for (std::uint32_t name : {1U, 2U}) {
        Slice slice;
        slice.start = name == 1 ? 0 : millisecondsNs(10);
        slice.duration = millisecondsNs(10);
        slice.name = name;
        block.slices.push_back(slice);
    }
    ShownTimeline shown({block});
    TimelineView& view = shown.view;
    view.show();
    const auto toolTip = [&](int x) {
        const QPoint place(x, view.yOf(kTrainerLane, 0));
        QHelpEvent event(QEvent::ToolTip, place, view.mapToGlobal(place));
        QCoreApplication::sendEvent(&view, &event);
        return QToolTip::text();
    };
    const int border = static_cast<int>(view.xOf(millisecondsNs(10)));
    EXPECT_EQ(toolTip(border - 1), "first, 10.0\u202Fms");
    EXPECT_EQ(toolTip(border + 2), "second, 10.0\u202Fms");
    const int end = static_cast<int>(view.xOf(millisecondsNs(20)));
    EXPECT_EQ(toolTip(end + 2), "second, 10.0\u202Fms") << "two pixels beside it is near enough where there is nothing else";
    QToolTip::hideText();
}

TEST(TimelineToolTip, SaysHowManyFoldedSlicesThereAre) {
    SliceBlock block;
    block.thread = {.thread = 10, .lane = kTrainerLane};
    block.strings = {"", "aten::add_"};
    for (int i = 0; i < 3000; ++i) {
        Slice slice;
        slice.start = i * std::int64_t{10'000};
        slice.duration = 500;
        slice.name = 1;
        block.slices.push_back(slice);
    }
    ShownTimeline shown({block});
    shown.view.show();
    const QPoint place(static_cast<int>(shown.view.xOf(millisecondsNs(15))), shown.view.yOf(kTrainerLane, 0));
    QHelpEvent event(QEvent::ToolTip, place, shown.view.mapToGlobal(place));
    QCoreApplication::sendEvent(&shown.view, &event);
    const QString text = QToolTip::text();
    EXPECT_TRUE(text.endsWith(" slices, each narrower than a pixel: zoom in")) << text.toStdString();
    const int many = text.section(' ', 0, 0).toInt();
    EXPECT_GE(many, 15) << "five pixels of 41 us, a slice every 10 us";
    EXPECT_LE(many, 26);
    QToolTip::hideText();
}

}  // namespace
}  // namespace stepscope
