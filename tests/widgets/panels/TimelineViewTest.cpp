// What a timeline draws: each slice where it lies in the colour of its part, what is narrower than a pixel as a fold, folded lanes, counters, what is
// selected; tiny, empty and on a fine screen; and what it keeps when a session grows or another one comes.
#include <gtest/gtest.h>

#include <QApplication>
#include <QLineEdit>
#include <QSettings>
#include <QSplitter>
#include <QTabBar>
#include <QTest>
#include <QTextBrowser>
#include <cmath>
#include <limits>

#include "TimelineFixture.h"
#include "widgets/style/Theme.h"
#include "widgets/timeline/TimelineLegend.h"
#include "widgets/timeline/TimelinePage.h"
#include "widgets/timeline/panes/PaneStrip.h"
#include "widgets/timeline/panes/RooflinePane.h"

namespace stepscope {
namespace {

QColor groundOf(const QWidget& widget) {
    return widget.palette().color(QPalette::Base);
}

int pixelsOf(const QImage& image, const QColor& colour, QRect within) {
    int count = 0;
    within = within.intersected(image.rect());
    for (int y = within.top(); y <= within.bottom(); ++y)
        for (int x = within.left(); x <= within.right(); ++x) count += image.pixelColor(x, y).rgb() == colour.rgb() ? 1 : 0;
    return count;
}

int differing(const QImage& a, const QImage& b, QRect within) {
    int count = 0;
    within = within.intersected(a.rect());
    for (int y = within.top(); y <= within.bottom(); ++y)
        for (int x = within.left(); x <= within.right(); ++x) count += a.pixel(x, y) != b.pixel(x, y) ? 1 : 0;
    return count;
}

// As many slices of half a microsecond in 30 ms as are asked for.
std::vector<SliceBlock> tinySlices(std::int64_t many) {
    SliceBlock block;
    block.thread = {.process = 1, .thread = 10, .name = "trainer", .lane = kTrainerLane};
    block.strings = {"", "aten::add_", toString(Role::MlpUp)};
    for (std::int64_t i = 0; i < many; ++i) {
        Slice slice;
        slice.start = i * (millisecondsNs(30) / many);
        slice.duration = 500;
        slice.name = 1;
        slice.role = 2;
        block.slices.push_back(slice);
    }
    return {block};
}

TEST(TimelineView, DrawsEachSliceInTheColourOfItsPartWhereItLies) {
    ShownTimeline shown;
    EXPECT_EQ(shown.colourAt(25, kTrainerLane, 0), lookColour(LookClass::Step, false));
    EXPECT_EQ(shown.colourAt(8, kTrainerLane, 1), lookColour(LookClass::Attention, false));
    EXPECT_EQ(shown.colourAt(15, kTrainerLane, 1), lookColour(LookClass::Mlp, false));
    EXPECT_EQ(shown.colourAt(4, kTrainerLane, 2), lookColour(LookClass::Attention, false));
    EXPECT_EQ(shown.colourAt(15, kStreamLane, 0), lookColour(LookClass::Kernel, false));
    EXPECT_EQ(shown.colourAt(10.5, kTrainerLane, 1), groundOf(shown.view)) << "between two operations nothing ran";
    EXPECT_EQ(shown.colourAt(8, kTrainerLane, 2), groundOf(shown.view));
    EXPECT_EQ(shown.colourAt(11, kStreamLane, 0), groundOf(shown.view));
    EXPECT_EQ(shown.colourAt(19, kStreamLane, 0), groundOf(shown.view));
}

TEST(TimelineView, TakesTheColoursOfTheThemeAtOnce) {
    ShownTimeline shown;
    shown.view.show();
    applyStyle(*qApp, Theme::Dark);
    QCoreApplication::processEvents();
    EXPECT_EQ(shown.colourAt(25, kTrainerLane, 0), lookColour(LookClass::Step, true));
    EXPECT_EQ(shown.colourAt(15, kTrainerLane, 1), lookColour(LookClass::Mlp, true));
    EXPECT_EQ(shown.colourAt(10.5, kTrainerLane, 1), groundOf(shown.view));
    applyStyle(*qApp, Theme::Light);
    QCoreApplication::processEvents();
    EXPECT_EQ(shown.colourAt(25, kTrainerLane, 0), lookColour(LookClass::Step, false));
}

TEST(TimelineView, WhatIsNarrowerThanAPixelIsHatchedAndBecomesBarsWhenZoomedInto) {
    ShownTimeline shown(tinySlices(4000));
    const QColor whole = lookColour(LookClass::Mlp, false);
    const QRect row(shown.view.lanesRect().left(), shown.view.yOf(kTrainerLane, 0) - 8, shown.view.lanesRect().width(), 16);
    const QImage folded = shown.picture();
    EXPECT_EQ(pixelsOf(folded, whole, row), 0) << "a fold is fainter than a slice";
    const int x = static_cast<int>(shown.view.xOf(millisecondsNs(15)));
    std::set<QRgb> down;
    for (int y = row.top(); y < row.top() + 4; ++y) down.insert(folded.pixel(x, y));
    EXPECT_EQ(down.size(), 2u) << "one of four pixels is darker";
    EXPECT_FALSE(down.contains(groundOf(shown.view).rgb()));
    shown.view.setView(static_cast<double>(millisecondsNs(15)) - 1000, 20);
    shown.settle();
    EXPECT_GT(pixelsOf(shown.picture(), whole, row), 100);
}

TEST(TimelineView, AsksForAsManyTilesAsThereArePixelsNotAsThereAreSlices) {
    ShownTimeline few(tinySlices(40)), many(tinySlices(40'000));
    EXPECT_LT(many.asked.size(), 60u);
    EXPECT_LT(many.asked.size(), few.asked.size() + 40);
    EXPECT_TRUE(many.view.asText().contains("40\u202F000 slices")) << many.view.asText().toStdString();
}

TEST(TimelineView, AFoldedLaneIsOneRowAndWhatIsBelowMovesUp) {
    ShownTimeline shown;
    const int below = shown.view.yOf(kStreamLane, 0);
    shown.view.setFolded(kTrainerLane, true);
    EXPECT_EQ(shown.view.yOf(kTrainerLane, 2), shown.view.yOf(kTrainerLane, 0));
    EXPECT_EQ(shown.view.yOf(kStreamLane, 0), below - 2 * (TimelineLayout::kBar + TimelineLayout::kGap));
    EXPECT_EQ(shown.colourAt(15, kStreamLane, 0), lookColour(LookClass::Kernel, false));
    EXPECT_EQ(pixelsOf(shown.picture(), lookColour(LookClass::Attention, false), shown.view.lanesRect()), 0);
    shown.view.setFolded(kTrainerLane, false);
    EXPECT_EQ(shown.view.yOf(kStreamLane, 0), below);
    EXPECT_EQ(shown.view.yOf(4711, 0), -1) << "there is no such lane";
}

TEST(TimelineView, AViewOfAnySizeIsDrawnWithAndWithoutContent) {
    ShownTimeline shown;
    TimelineView empty;
    for (TimelineView* view : {&shown.view, &empty})
        for (const QSize size : {QSize(1, 1), QSize(40, 20), QSize(72, 400), QSize(320, 160), QSize(4000, 60)}) {
            view->resize(size);
            view->fit();
            EXPECT_FALSE(view->grab().isNull());
            EXPECT_TRUE(std::isfinite(view->from()) && view->nsPerPixel() >= 0.5) << size.width() << " by " << size.height();
            view->setView(1e15, 1e15);
            EXPECT_LE(view->from(), static_cast<double>(view->content().lanes.end)) << "never so far that nothing is seen";
            view->setView(-1e15, 0);
            EXPECT_GE(view->nsPerPixel(), 0.5);
            EXPECT_FALSE(view->grab().isNull());
        }
}

TEST(TimelineView, ATraceShorterThanItsLeastLengthBeginsAtTheLeft) {
    SliceBlock block;
    block.thread = {.thread = 10, .lane = kTrainerLane};
    block.strings = {"", "aten::add_"};
    block.slices = {{.start = 5000, .duration = 400, .name = 1}};
    for (const int wide : {900, 4000}) {
        ShownTimeline shown({block}, {wide, 300});
        const QRect lanes = shown.view.lanesRect();
        EXPECT_GE(shown.view.xOf(5000), lanes.left()) << wide;
        EXPECT_LT(shown.view.xOf(5000), lanes.left() + 0.05 * lanes.width()) << wide;
    }
}

// Of the rulers' lines, one pixel each.
int ticksOf(TimelineView& view) {
    const QRect lanes = view.lanesRect();
    return pixelsOf(view.grab().toImage(), view.palette().color(QPalette::Mid), {lanes.left(), lanes.top() - 4, lanes.width(), 1});
}

TEST(TimelineView, TheRulerOfATraceWithATimeOfZeroBesideTimesOfTodayIsDrawnAtFullZoom) {
    TimelineView view;
    view.resize(900, 300);
    TimelineContent content;
    content.session = 1;
    content.lanes.end = 1'700'000'000'000'000'000;
    content.lanes.lanes.push_back({.lane = kTrainerLane, .depths = 1, .slices = 2, .end = content.lanes.end});
    view.setContent(content);
    view.setView(0, 0.5);
    const int usual = ticksOf(view);
    EXPECT_GE(usual, 3);
    // Doubles are 256 ns apart here, and ticks 100: each is drawn where its double lies.
    view.setView(1.7e18, 0.5);
    const int far = ticksOf(view);
    EXPECT_GE(far, 1);
    EXPECT_LE(far, usual);
}

class FineTimeline : public TimelineView {
protected:
    int metric(PaintDeviceMetric which) const override {
        if (which == PdmDevicePixelRatio) return 2;
        if (which == PdmDevicePixelRatioScaled) return static_cast<int>(2 * devicePixelRatioFScale());
        return TimelineView::metric(which);
    }
};

TEST(TimelineView, OnAFineScreenEveryFinePixelIsDrawn) {
    TimelineOver<FineTimeline> shown;
    const QImage image = shown.picture();
    ASSERT_EQ(image.size(), shown.view.size() * 2);
    const int y = 2 * (shown.view.yOf(kTrainerLane, 1) - TimelineLayout::kBar / 2 + 1);
    const double begin = 2 * shown.view.xOf(millisecondsNs(11)), end = 2 * shown.view.xOf(millisecondsNs(20));
    EXPECT_EQ(QColor(image.pixel(static_cast<int>(begin) - 2, y)), groundOf(shown.view));
    EXPECT_EQ(QColor(image.pixel(static_cast<int>(begin) + 2, y)), lookColour(LookClass::Mlp, false));
    EXPECT_EQ(QColor(image.pixel(static_cast<int>(end) - 3, y)), lookColour(LookClass::Mlp, false));
    EXPECT_EQ(QColor(image.pixel(static_cast<int>(end) + 2, y)), groundOf(shown.view));
}

TEST(TimelineView, ACounterIsAStaircaseAndAValueThatIsNoNumberCountsAsNothing) {
    ShownTimeline shown;
    TimelineContent content = shown.content();
    content.counters.push_back({"memory", "MB", {{0, 1}, {millisecondsNs(10), 2}, {millisecondsNs(20), std::numeric_limits<double>::quiet_NaN()}}});
    content.counters.push_back({"nothing", "", {}});
    shown.view.setContent(content);
    shown.settle();
    QImage image = shown.picture();
    const QColor line = accentColour(false);
    const auto topAt = [&](double ms) {
        const int x = static_cast<int>(shown.view.xOf(millisecondsNs(ms)));
        for (int y = shown.view.lanesRect().top(); y < image.height(); ++y)
            if (image.pixelColor(x, y).rgb() == line.rgb()) return y;
        return -1;
    };
    ASSERT_GT(topAt(5), 0);
    ASSERT_GT(topAt(15), 0);
    EXPECT_NEAR(topAt(5) - topAt(15), (TimelineLayout::kCounter - 4) / 2.0, 2) << "half as much is half as high";
    EXPECT_NEAR(topAt(25) - topAt(15), TimelineLayout::kCounter - 4, 2);
    EXPECT_EQ(topAt(5), topAt(9)) << "a value holds until the next";
    content.counters = {{"reward", "", {{0, -4}, {millisecondsNs(10), -2}}}};
    shown.view.setContent(content);
    image = shown.picture();
    EXPECT_NEAR(topAt(5) - topAt(15), (TimelineLayout::kCounter - 4) / 2.0, 2) << "the lowest is at the bottom, not what is below 0";
}

// Whether the line of the one counter is seen at a time, in the upper part of its row.
bool isCounterDrawn(ShownTimeline& shown, double ms, int height = TimelineLayout::kCounter) {
    const int top = shown.view.yOf(kStreamLane, 0) + TimelineLayout::kBar / 2 + TimelineLayout::kBetween;
    return pixelsOf(shown.picture(), accentColour(false), {static_cast<int>(shown.view.xOf(millisecondsNs(ms))), top, 1, height}) > 0;
}

TEST(TimelineView, ACounterOfCapturesIsBrokenBetweenThemAndOneOfTheMachineIsNot) {
    for (const bool ofCaptures : {true, false}) {
        ShownTimeline shown;
        TimelineContent content = shown.content();
        content.counters.push_back({"queue", "waiting", {{millisecondsNs(1), 2}, {millisecondsNs(9), 1}, {millisecondsNs(22), 2}}});
        content.counters.back().ofCaptures = ofCaptures;
        shown.view.setContent(content);
        EXPECT_TRUE(isCounterDrawn(shown, 12)) << "nobody has told that there are two captures";
        shown.view.setCaptures({{0, millisecondsNs(8)}, {millisecondsNs(20), millisecondsNs(30)}});
        EXPECT_TRUE(isCounterDrawn(shown, 5));
        EXPECT_EQ(isCounterDrawn(shown, 12), !ofCaptures);
        EXPECT_EQ(isCounterDrawn(shown, 21), !ofCaptures) << "nothing was measured before the first value";
        EXPECT_TRUE(isCounterDrawn(shown, 25));
    }
}

TEST(TimelineView, ACounterThatGoesOnBehindTheLastSliceDoesNotRunBack) {
    ShownTimeline shown(stepAndKernel(), {9000, 300});  // so wide that the hundredth behind the end can be seen
    TimelineContent content = shown.content();
    content.counters.push_back({"CPU", "%", {{0, 1}, {content.lanes.end + millisecondsNs(0.15), 4}}});
    shown.view.setContent(content);
    EXPECT_TRUE(isCounterDrawn(shown, 30.03));
    EXPECT_FALSE(isCounterDrawn(shown, 30.03, TimelineLayout::kCounter / 2)) << "4 is reached later";
}

TEST(TimelineView, WhereSlicesCouldNotBeKeptALineMarksTheirLane) {
    auto blocks = stepAndKernel();
    blocks[1].lost = 5;
    blocks[1].invalid = 2;
    ShownTimeline shown(blocks);
    const auto losses = shown.index.losses();
    ASSERT_TRUE(losses);
    ASSERT_EQ(shown.colourAt(15, kStreamLane, 0), lookColour(LookClass::Kernel, false));
    shown.view.setLosses(*losses);
    EXPECT_EQ(shown.colourAt(15, kStreamLane, 0), warningColour(false));
    EXPECT_EQ(shown.colourAt(19, kStreamLane, 0), groundOf(shown.view)) << "only where its block is";
    EXPECT_EQ(shown.colourAt(25, kTrainerLane, 0), lookColour(LookClass::Step, false)) << "nothing of this lane is missing";
    EXPECT_EQ(shown.view.lostWords(kStreamLane), "5 lost, 2 invalid");
    EXPECT_EQ(shown.view.lostWords(kTrainerLane), "");
    TimelineContent other = shown.content(2);
    shown.view.setContent(other);
    EXPECT_EQ(shown.view.lostWords(kStreamLane), "") << "another session has its own";
}

TEST(TimelinePage, SaysHowManySlicesCouldNotBeKept) {
    ShownTimeline shown;
    TimelinePage page;
    page.setContent(shown.content());
    EXPECT_EQ(page.sentence(), "");
    page.setLosses({{kStreamLane, 0, 10, 5, 2}});
    EXPECT_TRUE(page.sentence().contains("5 slices were lost and 2 were invalid")) << page.sentence().toStdString();
    page.setLosses({});
    EXPECT_EQ(page.sentence(), "");
}

TEST(TimelinePage, SaysHowManySamplesOfCountersCouldNotBeKept) {
    ShownTimeline shown;
    TimelinePage page;
    page.setContent(shown.content());
    CounterSeries power{"GPU power", "W", {{0, 1}}};
    EXPECT_EQ(power.range(), "to 1 W");
    power.missing = 7;
    EXPECT_EQ(power.range(), "to 1 W, 7 missing") << "below its name";
    page.setCounters({power}, 7);
    EXPECT_EQ(page.view().content().counters.size(), 1u);
    EXPECT_TRUE(page.sentence().contains("7 samples of counters were lost or invalid")) << page.sentence().toStdString();
    page.setLosses({{kStreamLane, 0, 10, 5, 2}});
    EXPECT_TRUE(page.sentence().contains("5 slices were lost")) << "both, where both are";
    EXPECT_TRUE(page.sentence().contains("7 samples of counters")) << page.sentence().toStdString();
    page.setLosses({});
    page.setCounters({power}, 1);
    EXPECT_TRUE(page.sentence().startsWith("1 sample of counters was lost or invalid")) << page.sentence().toStdString();
    page.setContent(shown.content(2));
    EXPECT_EQ(page.sentence(), "") << "another session has its own";
}

TEST(TimelinePage, WhatCannotBeReadBesideTheLanesHidesNone) {
    ShownTimeline shown;
    TimelinePage page;
    page.setContent(shown.content());
    page.setUnread("One block is damaged.");
    EXPECT_EQ(page.sentence(), "One block is damaged.");
    EXPECT_TRUE(page.view().isVisibleTo(&page));
    page.setProblem("The file is gone.");
    EXPECT_FALSE(page.view().isVisibleTo(&page));
}

TEST(TimelineView, ASelectedSliceHasAnArrowToWhereItLeads) {
    ShownTimeline shown;
    auto operation = shown.index.at(kTrainerLane, 2, millisecondsNs(3), 0), kernel = shown.index.at(kStreamLane, 0, millisecondsNs(14), 0);
    ASSERT_TRUE(operation && operation->has_value() && kernel && kernel->has_value());
    const QRect between(QPoint(static_cast<int>(shown.view.xOf(millisecondsNs(7))), shown.view.lanesRect().top()),
                        QPoint(static_cast<int>(shown.view.xOf(millisecondsNs(11))) - 2, shown.view.height()));
    const QImage without = shown.picture();
    shown.view.setSelected(**operation);
    EXPECT_EQ(differing(shown.picture(), without, between), 0) << "a frame alone";
    EXPECT_GT(differing(shown.picture(), without, shown.view.lanesRect()), 100);
    shown.view.setSelected(**operation, {**kernel});
    EXPECT_GT(differing(shown.picture(), without, between), 100);
    shown.view.setSelected({});
    EXPECT_EQ(differing(shown.picture(), without, between), 0);
}

TEST(TimelineView, RevealsASliceThatIsOutOfSightAndUnfoldsItsLane) {
    ShownTimeline shown;
    auto inner = shown.index.at(kTrainerLane, 2, millisecondsNs(3), 0);
    ASSERT_TRUE(inner && inner->has_value());
    shown.view.setFolded(kTrainerLane, true);
    shown.view.setView(static_cast<double>(millisecondsNs(25)), 1000);
    shown.view.reveal(**inner);
    EXPECT_FALSE(shown.view.isFolded(kTrainerLane));
    const QRect lanes = shown.view.lanesRect();
    EXPECT_GE(shown.view.xOf(millisecondsNs(2)), lanes.left());
    EXPECT_LE(shown.view.xOf(millisecondsNs(6)), lanes.right() + 1);
    const double from = shown.view.from();
    shown.view.reveal(**inner);
    EXPECT_EQ(shown.view.from(), from) << "what is in sight is left where it is";
}

TEST(TimelineView, FollowsASessionThatGrowsUntilAPersonZooms) {
    ShownTimeline shown;
    const double whole = shown.view.nsPerPixel();
    TimelineContent grown = shown.content();
    grown.lanes.end *= 2;
    shown.view.setContent(grown);
    EXPECT_NEAR(shown.view.nsPerPixel(), 2 * whole, 0.01 * whole);
    shown.view.setView(static_cast<double>(millisecondsNs(5)), 1000);
    shown.view.setSelected(TraceSlice{});
    grown.lanes.end *= 2;
    shown.view.setContent(grown);
    EXPECT_EQ(shown.view.nsPerPixel(), 1000);
    EXPECT_EQ(shown.view.from(), static_cast<double>(millisecondsNs(5)));
    EXPECT_TRUE(shown.view.selected().has_value());
    grown.session = 2;
    shown.view.setContent(grown);
    EXPECT_FALSE(shown.view.selected().has_value()) << "another session has other slices";
    EXPECT_EQ(shown.view.styles(), 0u);
    EXPECT_GT(shown.view.nsPerPixel(), whole) << "all of it";
}

// Of a run of minutes two captures are less than a pixel each.
TEST(TimelineView, ShowsTheNewestPartOfWhatGrowsUntilAPersonWantsAllOfIt) {
    ShownTimeline shown;
    TimelineContent grown = shown.content();
    const qint64 begin = grown.lanes.end * 1000, end = begin + millisecondsNs(20);
    grown.lanes.end = end;
    shown.view.setContent(grown);
    shown.view.showNewest(begin, end);
    const auto shows = [&](qint64 time) {
        return shown.view.xOf(time) >= shown.view.lanesRect().left() && shown.view.xOf(time) <= shown.view.width();
    };
    EXPECT_TRUE(shows(begin));
    EXPECT_TRUE(shows(end));
    EXPECT_FALSE(shows(grown.lanes.begin));
    EXPECT_GT(shown.view.xOf(end) - shown.view.xOf(begin), shown.view.lanesRect().width() / 2);
    shown.view.resize(700, 300);
    shown.view.setContent(grown);
    EXPECT_TRUE(shows(begin) && shows(end)) << "also in another size, and read anew";
    EXPECT_FALSE(shows(grown.lanes.begin));
    shown.view.fit();
    EXPECT_TRUE(shows(grown.lanes.begin) && shows(end));
    shown.view.setView(static_cast<double>(millisecondsNs(5)), 1000);
    shown.view.showNewest(begin, end);
    EXPECT_EQ(shown.view.from(), static_cast<double>(millisecondsNs(5))) << "a person has zoomed";
}

TEST(TimelineLegend, NamesTheColoursThatAreInSightAndWrapsWhereItIsNarrow) {
    ShownTimeline shown;
    TimelineLegend legend;
    legend.setLooks(shown.view.looks());
    EXPECT_EQ(legend.accessibleName(), "Colours: self-attention, MLP, step, kernel");
    EXPECT_GT(legend.heightForWidth(90), legend.heightForWidth(900));
    EXPECT_EQ(legend.heightForWidth(1), legend.heightForWidth(20)) << "one a line is the most";
    legend.resize(900, 20);
    const QImage image = legend.grab().toImage();
    for (const LookClass look : shown.view.looks())
        EXPECT_GE(pixelsOf(image, lookColour(look, false), image.rect()), 100) << lookName(look).toStdString();
}

// A page of its usual size with what was captured in it.
struct ShownPage {
    ShownTimeline shown;
    TimelinePage page;
    QTextBrowser* details = page.findChild<QTextBrowser*>();

    ShownPage() {
        page.resize(1200, 700);
        page.show();
        page.setContent(shown.content());
    }
};

// In a narrow page what is selected is one of the panes.
TEST(TimelinePage, WhatIsSelectedLiesOverNoOtherPane) {
    QSettings().clear();
    ShownTimeline shown;
    TimelinePage page;
    page.resize(640, 700);
    page.show();
    page.panes().showTab(PaneStrip::Roofline);
    page.setContent(shown.content());
    auto* details = page.findChild<QTextBrowser*>();
    ASSERT_NE(details, nullptr);
    ASSERT_TRUE(QTest::qWaitFor([&] { return page.panes().isVisible() && page.panes().tabs()->count() == PaneStrip::Tabs + 1; }));
    QCoreApplication::processEvents();
    EXPECT_FALSE(details->isVisible()) << "the tab Roofline is the current one";
    EXPECT_TRUE(page.panes().roofline().isVisible());
    page.panes().showGuest();
    EXPECT_TRUE(details->isVisible());
    EXPECT_FALSE(page.panes().roofline().isVisible());
    page.resize(1200, 700);
    QCoreApplication::processEvents();
    EXPECT_TRUE(details->isVisible()) << "beside the lanes they have their place";
    EXPECT_TRUE(details->toPlainText().contains("Nothing is selected"));
}

TEST(TimelinePage, AFirstClickMovesNoSliceAndTheWidthOfTheDetailsIsRemembered) {
    QSettings().clear();
    {
        ShownPage first;
        TimelinePage& page = first.page;
        QTextBrowser* details = first.details;
        ASSERT_NE(details, nullptr);
        ASSERT_TRUE(QTest::qWaitFor([&] { return details->isVisible() && page.view().isVisible(); }));
        QCoreApplication::processEvents();
        const double at = page.view().xOf(millisecondsNs(15));
        page.setSlice(TraceSlice{}, {}, {});
        QCoreApplication::processEvents();
        EXPECT_EQ(page.view().xOf(millisecondsNs(15)), at);
        auto* split = qobject_cast<QSplitter*>(details->parentWidget());
        ASSERT_NE(split, nullptr);
        split->setSizes({700, 500});
        Q_EMIT split->splitterMoved(700, 1);
        page.resize(1300, 700);
        QCoreApplication::processEvents();
        EXPECT_GT(details->width(), 450) << "it is a share of the width";
    }
    const ShownPage another;
    ASSERT_NE(another.details, nullptr);
    EXPECT_TRUE(QTest::qWaitFor([&] { return another.details->isVisible() && another.details->width() > 450; }));
    QSettings().clear();
}

TEST(TimelinePage, EnterLooksForOtherWordsFromTheFirstSliceOn) {
    QSettings().clear();
    ShownPage shown;
    TimelinePage& page = shown.page;
    std::vector<TracePlace> asked;
    QObject::connect(&page, &TimelinePage::findWanted, &page, [&](const QString&, const TracePlace& from, bool) { asked.push_back(from); });
    const TracePlace first = TracePlace::before(page.view().content().lanes.begin);
    TraceSlice late;
    late.slice.start = millisecondsNs(20);
    page.setSlice(late, {}, {});
    page.search()->setText("linear");
    QTest::keyClick(page.search(), Qt::Key_Return);
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_TRUE(asked[0] == first) << "not behind the slice that is selected";
    page.setFound({}, true);
    EXPECT_EQ(page.details(), "No slice has “linear” in its name.");
    page.setFound(late, true);
    QTest::keyClick(page.search(), Qt::Key_Return);
    ASSERT_EQ(asked.size(), 2u);
    EXPECT_TRUE(asked[1] == late.place()) << "the same words: the next one";
    page.setFound({}, true);
    EXPECT_EQ(page.details(), "No slice with “linear” in its name begins after here.");
}

}  // namespace
}  // namespace stepscope
