// "Measure properly" in the window: a switch of the live run takes turns with another value, asked by the strip's button or the row's menu.
#include <QAbstractItemView>
#include <QComboBox>
#include <QElapsedTimer>
#include <QFile>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QTabWidget>

#include "WindowFixture.h"
#include "widgets/charts/LivePage.h"
#include "widgets/charts/overlay/OverlayTable.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/LogPanel.h"
#include "widgets/panels/compare/CompareForm.h"
#include "widgets/panels/compare/ComparePage.h"
#include "widgets/panels/compare/CompareResult.h"
#include "widgets/panels/run/FlipStrip.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

class WindowMeasureTest : public WindowTest {
protected:
    const FlipStripReading& strip() { return window().flipStrip().reading(); }
    QPushButton* action() { return window().flipStrip().findChild<QPushButton*>(); }
    bool says(const QString& words) {
        return QTest::qWaitFor([&] { return window().flipStrip().isVisible() && strip().note.contains(words); }, 20'000);
    }
    void startLong() {
        Q_EMIT window().experiment().row("steps")->committed("steps", "100000");
        press("Run");
        ASSERT_TRUE(reaches(60));
    }
    // The strip's button leads to the page Compare, which is filled in and measures nothing by itself.
    void expectAskedOnCompare() {
        ASSERT_EQ(strip().action, "Ask on the page Compare");
        QTest::qWait(50);  // until it has its place
        QTest::mouseClick(action(), Qt::LeftButton);
        expectHostMemoryOnCompare();
    }
    void expectHostMemoryOnCompare() {
        EXPECT_EQ(window().pages().currentWidget(), &window().comparePage());
        EXPECT_TRUE(window().comparePage().asking());
        EXPECT_EQ(window().experiment().config().word("host-memory"), "system");
        EXPECT_EQ(window().experiment().config().steps, 100'000);
        const std::vector<Difference> asked{{"host-memory", "caching", "system"}};
        EXPECT_TRUE(QTest::qWaitFor([&] { return window().comparePage().form().question().differences == asked; }, 5000));
        QTest::qWait(300);  // it is looked at, and measured when a person wants it
        EXPECT_FALSE(place->runs().measuring());
    }
    void choose(const std::string& id, const QString& words) {
        const auto menu = window().experiment().menuOf(id);
        ASSERT_NE(menu, nullptr);
        for (QAction* entry : menu->actions())
            if (entry->text() == words) return entry->trigger();
        FAIL() << "the menu has no entry " << words.toStdString();
    }
};

TEST_F(WindowMeasureTest, AFlipIsMeasuredInTurnsByTheButtonBesideIt) {
    open();
    startLong();
    Q_EMIT window().experiment().row("host-memory")->committed("host-memory", "system");
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().flipStrip().isVisible() && strip().action == "Measure properly"; }, 10'000))
        << strip().note.toStdString();
    ASSERT_TRUE(action()->isVisible());
    QTest::qWait(50);  // until it has its place
    QTest::mouseClick(action(), Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip().action == "Stop measuring"; }, 10'000)) << strip().note.toStdString();
    EXPECT_TRUE(strip().heading.endsWith("caching → system, in turns")) << strip().heading.toStdString();
    picture(window(), "measure-taking-turns");
    ASSERT_TRUE(says("system stays")) << strip().note.toStdString();
    EXPECT_TRUE(strip().action.isEmpty());
    ASSERT_FALSE(strip().figures.empty());
    EXPECT_EQ(strip().figures.front().verdict, FlipStripReading::Verdict::Better) << "told in the direction of the flip";
    EXPECT_TRUE(strip().note.startsWith("faster by")) << strip().note.toStdString();
    EXPECT_TRUE(strip().figures.front().medians.contains("62.0")) << strip().figures.front().medians.toStdString();
    EXPECT_LT(strip().figures.front().medians.indexOf("62.0"), strip().figures.front().medians.indexOf("50.0")) << "before → after";
    EXPECT_FALSE(live().turns().empty()) << "the charts know which steps had which value";
    picture(window(), "measure-over");
}

TEST_F(WindowMeasureTest, OfFlipsTooNearEachOtherTheNewestIsMeasuredInTurns) {
    open();
    startLong();
    Q_EMIT window().experiment().row("amp")->committed("amp", "bf16");
    Q_EMIT window().experiment().row("host-memory")->committed("host-memory", "system");
    ASSERT_TRUE(says("too near each other to be told apart")) << strip().note.toStdString();
    ASSERT_EQ(strip().action, "Measure properly");
    EXPECT_TRUE(strip().actionHint.contains("caching and system take turns")) << strip().actionHint.toStdString();
    QTest::qWait(50);  // until it has its place
    QTest::mouseClick(action(), Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip().action == "Stop measuring"; }, 10'000)) << strip().note.toStdString();
    EXPECT_TRUE(strip().heading.endsWith("caching → system, in turns")) << strip().heading.toStdString();
}

TEST_F(WindowMeasureTest, AFlipOfARunThatHasEndedIsAskedOnThePageCompare) {
    open();
    startLong();
    Q_EMIT window().experiment().row("host-memory")->committed("host-memory", "system");
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip().action == "Measure properly"; }, 10'000)) << strip().note.toStdString();
    press("Stop");
    ASSERT_TRUE(idle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip().heading.startsWith("Stopped: "); }, 5000)) << strip().heading.toStdString();
    expectAskedOnCompare();
}

TEST_F(WindowMeasureTest, AFlipIsMeasuredInTurnsFromItsRowInTheListOfFlips) {
    open();
    startLong();
    Q_EMIT window().experiment().row("host-memory")->committed("host-memory", "system");
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip().action == "Measure properly"; }, 10'000)) << strip().note.toStdString();
    window().livePage().showFlips();
    ASSERT_EQ(window().livePage().flips().rows(), 1);
    Q_EMIT window().livePage().flips().actionRequested(0);
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip().action == "Stop measuring"; }, 10'000)) << strip().note.toStdString();
    EXPECT_TRUE(strip().heading.endsWith("caching → system, in turns")) << strip().heading.toStdString();
}

TEST_F(WindowMeasureTest, AnEarlierFlipOfARunThatHasEndedIsAskedOnThePageCompareWithTheSettingsOfThen) {
    open();
    startLong();
    Q_EMIT window().experiment().row("host-memory")->committed("host-memory", "system");
    Q_EMIT window().experiment().row("amp")->committed("amp", "bf16");
    ASSERT_TRUE(QTest::qWaitFor([&] { return live().flips().size() == 2; }, 10'000));
    press("Stop");
    ASSERT_TRUE(idle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip().heading.startsWith("Stopped: "); }, 5000)) << strip().heading.toStdString();
    window().livePage().showFlips();
    ASSERT_EQ(window().livePage().flips().rows(), 2);
    Q_EMIT window().livePage().flips().actionRequested(0);
    expectHostMemoryOnCompare();
    EXPECT_EQ(window().experiment().config().word("amp"), "off") << "that was flipped later";
}

TEST_F(WindowMeasureTest, AFlipInAReplayIsAskedOnThePageCompareWithThatRunsSettings) {
    open();
    startLong();
    Q_EMIT window().experiment().row("host-memory")->committed("host-memory", "system");
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip().action == "Measure properly"; }, 10'000)) << strip().note.toStdString();
    press("Stop");
    ASSERT_TRUE(idle());
    Q_EMIT window().experiment().row("host-memory")->committed("host-memory", "caching");
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    Q_EMIT window().sessions().replayRequested(1);
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->stage().replaying() && !place->stage().replay().history()->flips().empty(); }, 20'000));
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip().heading.endsWith("caching → system"); }, 5000)) << strip().heading.toStdString();
    expectAskedOnCompare();
}

TEST_F(WindowMeasureTest, ASecondValueIsNotAskedForBeforeTheRunHasAnsweredTheFirst) {
    open();
    startLong();
    choose("host-memory", "Measure system beside caching in this run");
    choose("amp", "Measure bf16 beside off in this run");
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip().action == "Stop measuring"; }, 10'000)) << strip().note.toStdString();
    EXPECT_TRUE(strip().heading.endsWith("caching → system, in turns")) << strip().heading.toStdString();
}

TEST_F(WindowMeasureTest, WhereTheLossMayMoveThePersonIsAskedAndTheFasterValueStays) {
    open();
    startLong();
    choose("amp", "Measure bf16 beside off in this run");
    ASSERT_TRUE(says("loss of this run may move")) << strip().note.toStdString();
    EXPECT_TRUE(window().experiment().row("amp")->problem().isEmpty()) << "nothing was refused, it was asked";
    EXPECT_EQ(strip().action, "Measure all the same");
    picture(window(), "measure-agree");
    QTest::mouseClick(action(), Qt::LeftButton);
    ASSERT_TRUE(says("bf16 is used from here on")) << strip().note.toStdString();
    EXPECT_EQ(strip().figures.front().verdict, FlipStripReading::Verdict::Better);
    EXPECT_TRUE(strip().note.startsWith("faster by 24.0 %")) << strip().note.toStdString();
    EXPECT_EQ(window().experiment().config().word("amp"), "bf16");
    QTest::qWait(200);
    EXPECT_TRUE(strip().note.startsWith("faster by 24.0 %")) << "the flip that it ends with takes nothing away: " << strip().note.toStdString();
    EXPECT_TRUE(window().experiment().row("amp")->details().contains("Measured in turns here, off → bf16: faster by 24.0 %"))
        << window().experiment().row("amp")->details().toStdString();
}

TEST_F(WindowMeasureTest, WhatWasMeasuredStandsAgainInTheNextStartInItsContextAlone) {
    open();
    startLong();
    choose("amp", "Measure bf16 beside off in this run");
    ASSERT_TRUE(says("loss of this run may move")) << strip().note.toStdString();
    QTest::mouseClick(action(), Qt::LeftButton);
    ASSERT_TRUE(says("bf16 is used from here on")) << strip().note.toStdString();
    press("Stop");
    ASSERT_TRUE(idle());
    place.reset();
    open();
    const auto chip = [&] {
        for (const auto* label : window().experiment().row("amp")->findChildren<QLabel*>())
            if (!label->isHidden() && label->text().startsWith("bf16 ×1.24")) return true;
        return false;
    };
    ASSERT_TRUE(QTest::qWaitFor(chip, 5000)) << "read from the stored session";
    const QString details = window().experiment().row("amp")->details();
    EXPECT_TRUE(details.contains("Measured in turns here, off → bf16: faster by 24.0 %")) << details.toStdString();
    EXPECT_TRUE(details.contains("Session “")) << details.toStdString();
    picture(window(), "measure-chip-after-restart");
    Q_EMIT window().experiment().row("layers")->committed("layers", "6");
    EXPECT_FALSE(chip()) << "another shape";
    Q_EMIT window().experiment().row("layers")->committed("layers", "4");
    EXPECT_TRUE(chip());
}

TEST_F(WindowMeasureTest, TheStripOfALaterFlipSaysWhatWasMeasuredBeforeAndNothingMoves) {
    open();
    startLong();
    choose("amp", "Measure bf16 beside off in this run");
    ASSERT_TRUE(says("loss of this run may move")) << strip().note.toStdString();
    QTest::mouseClick(action(), Qt::LeftButton);
    ASSERT_TRUE(says("bf16 is used from here on")) << strip().note.toStdString();
    ASSERT_TRUE(reaches(live().numbers(1).step + 60));
    Q_EMIT window().experiment().row("amp")->committed("amp", "off");
    ASSERT_TRUE(says("measured before: slower by 19.4 % [")) << "in the flip's direction: " << strip().note.toStdString();
    press("Stop");
    ASSERT_TRUE(idle());
    place.reset();
    setFakeStepMs(40);  // slow enough to be seen while it is measured
    open();
    window().resize(1024, 640);
    startLong();
    Q_EMIT window().experiment().row("amp")->committed("amp", "bf16");
    ASSERT_TRUE(says("measuring:")) << strip().note.toStdString();
    ASSERT_TRUE(strip().heading.endsWith("off → bf16")) << strip().heading.toStdString();
    const QString before = "measured before: faster by 24.0 % [";
    EXPECT_TRUE(strip().note.startsWith(before)) << strip().note.toStdString();
    EXPECT_TRUE(strip().note.contains(" %], once; from step ")) << strip().note.toStdString();
    QCoreApplication::processEvents();
    const auto* label = [&]() -> const ElidedLabel* {
        for (const auto* one : window().flipStrip().findChildren<ElidedLabel*>())
            if (one->isVisible() && one->text().startsWith(before)) return one;
        return nullptr;
    }();
    ASSERT_NE(label, nullptr);
    EXPECT_FALSE(label->isElided()) << "all of it is read in a small window";
    const QRect words = label->geometry(), button = action()->geometry(), all = window().flipStrip().geometry();
    picture(window(), "flip-measured-before-1024");
    ASSERT_TRUE(QTest::qWaitFor([&] { return !strip().note.contains("measuring:"); }, 20'000)) << strip().note.toStdString();
    QCoreApplication::processEvents();
    EXPECT_TRUE(strip().note.startsWith(before)) << strip().note.toStdString();
    EXPECT_FALSE(label->isElided());
    EXPECT_EQ(label->geometry(), words);
    EXPECT_EQ(action()->geometry(), button);
    EXPECT_EQ(window().flipStrip().geometry(), all);
    picture(window(), "flip-measured-before-told-1024");
    // Another switch has no such past.
    ASSERT_TRUE(reaches(live().numbers(1).step + 60));
    Q_EMIT window().experiment().row("host-memory")->committed("host-memory", "system");
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip().heading.endsWith("caching → system"); }, 10'000)) << strip().heading.toStdString();
    EXPECT_FALSE(strip().note.contains("measured before")) << strip().note.toStdString();
}

TEST_F(WindowMeasureTest, AFlipThatCannotBeComparedSaysWhatWasMeasuredBeforeInWords) {
    open();
    startLong();
    choose("amp", "Measure bf16 beside off in this run");
    ASSERT_TRUE(says("loss of this run may move")) << strip().note.toStdString();
    QTest::mouseClick(action(), Qt::LeftButton);
    ASSERT_TRUE(says("bf16 is used from here on")) << strip().note.toStdString();
    press("Stop");
    ASSERT_TRUE(idle());
    place.reset();
    open();
    Q_EMIT window().experiment().row("steps")->committed("steps", "100000");
    Q_EMIT window().experiment().row("amp")->committed("amp", "off");
    setFakeStepMs(100);  // so that the flip comes before there is anything to compare it with
    press("Run");
    ASSERT_TRUE(reaches(2));
    Q_EMIT window().experiment().row("amp")->committed("amp", "bf16");
    ASSERT_TRUE(says("not compared")) << strip().note.toStdString();
    EXPECT_TRUE(strip().note.startsWith("measured before: faster by 24.0 % [")) << strip().note.toStdString();
    EXPECT_TRUE(strip().note.contains(" %], once; from step ")) << strip().note.toStdString();
}

TEST_F(WindowMeasureTest, WhatARunMeasuredIsShownAndReportedOneByOne) {
    open();
    window().resize(1280, 800);
    startLong();
    choose("host-memory", "Measure system beside caching in this run");
    ASSERT_TRUE(says("caching stays")) << strip().note.toStdString();
    choose("amp", "Measure bf16 beside off in this run");
    ASSERT_TRUE(says("loss of this run may move")) << strip().note.toStdString();
    QTest::mouseClick(action(), Qt::LeftButton);
    ASSERT_TRUE(says("bf16 is used from here on")) << strip().note.toStdString();
    press("Stop");
    ASSERT_TRUE(idle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    Q_EMIT window().sessions().measurementsRequested(1);
    CompareResult& result = window().comparePage().result();
    EXPECT_EQ(window().pages().currentWidget(), &window().comparePage());
    ASSERT_TRUE(QTest::qWaitFor([&] { return result.which()->count() == 2; }, 5000));
    EXPECT_TRUE(result.which()->isVisible());
    EXPECT_EQ(result.which()->currentIndex(), 1) << "the newest one first";
    EXPECT_TRUE(result.verdict().startsWith("amp=bf16 is faster than amp=off by 24")) << result.verdict().toStdString();
    picture(window(), "measurements-of-a-run");
    Q_EMIT result.which()->activated(0);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !result.verdict().startsWith("amp=bf16"); }, 5000)) << result.verdict().toStdString();
    EXPECT_EQ(result.which()->currentIndex(), 0);
    const QString file = folder.filePath("first.md");
    Q_EMIT result.reportRequested(file);
    const auto contents = [&] {
        QFile text(file);
        return text.open(QIODevice::ReadOnly) ? QString::fromUtf8(text.readAll()) : QString();
    };
    ASSERT_TRUE(QTest::qWaitFor([&] { return contents().contains("experiment 1 of the 2"); }, 5000)) << contents().toStdString();
    window().resize(1024, 640);
    QCoreApplication::processEvents();
    picture(window(), "measurements-of-a-run-1024");
}

TEST_F(WindowMeasureTest, ARunWithoutMeasurementsSaysHowOneIsMade) {
    open();
    press("Run");
    ASSERT_TRUE(idle());
    Q_EMIT window().sessions().measurementsRequested(1);
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().notice().sentence().contains("holds no measurement"); }, 5000))
        << window().notice().sentence().toStdString();
}

TEST_F(WindowMeasureTest, StoppedItKeepsWhatIsKnownAndTheRunGoesOn) {
    setFakeStepMs(10);
    open();
    startLong();
    choose("host-memory", "Measure system beside caching in this run");
    ASSERT_TRUE(says("takes turns")) << strip().note.toStdString();
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip().action == "Stop measuring"; }, 10'000));
    QTest::mouseClick(action(), Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip().action.isEmpty(); }, 10'000)) << strip().note.toStdString();
    EXPECT_TRUE(place->runs().training());
    const auto before = live().numbers(1).step;
    EXPECT_TRUE(reaches(before + 3));
}

// Drawing takes time from the very steps that are compared.
TEST_F(WindowMeasureTest, TheBarAndEachChartAreRepaintedAtMostOnceASecondWhileValuesTakeTurns) {
    setFakeStepMs(25);  // turns last ten seconds
    open();
    startLong();
    window().livePage().enlarge(0);  // alone it could have all the time that seven share
    choose("host-memory", "Measure system beside caching in this run");
    ASSERT_TRUE(QTest::qWaitFor([&] { return live().measuring(); }, 10'000));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !strip().figures.empty(); }, 10'000));
    QTest::qWait(1000);  // the strip has its height, and what made room for it is drawn
    PaintsOfEach bar, charts;
    bar.lookAt(window().runBar());
    for (QWidget* part : window().runBar().findChildren<QWidget*>()) bar.lookAt(*part);
    for (std::size_t i = 0; i < LivePage::kCharts; ++i) charts.lookAt(window().livePage().chart(i));
    const std::int64_t before = live().numbers(1).step;
    QElapsedTimer clock;
    clock.start();
    QTest::qWait(3000);
    ASSERT_TRUE(live().measuring()) << "it ended too soon to say anything";
    EXPECT_GT(live().numbers(1).step, before + 20);
    const auto allowed = static_cast<int>(clock.elapsed() / 1000) + 2;
    EXPECT_GE(bar.most(), 1);
    EXPECT_LE(bar.most(), allowed);
    EXPECT_GE(charts.most(), 1);
    EXPECT_LE(charts.most(), allowed);
}

TEST_F(WindowMeasureTest, TheStripTheLogAndTheListOfSessionsAreRepaintedAtMostOnceASecondWhileValuesTakeTurns) {
    setFakeStepMs(25);
    open();
    startLong();
    choose("host-memory", "Measure system beside caching in this run");
    ASSERT_TRUE(QTest::qWaitFor([&] { return live().measuring(); }, 10'000));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !strip().figures.empty(); }, 10'000));
    QTest::qWait(1000);  // the strip has its height, and what made room for it is drawn
    PaintsOfEach strips, lists;
    strips.lookAt(window().flipStrip());
    for (QWidget* part : window().flipStrip().findChildren<QWidget*>()) strips.lookAt(*part);
    for (QWidget* panel : {static_cast<QWidget*>(&window().log()), static_cast<QWidget*>(&window().sessions())})
        for (auto* view : panel->findChildren<QAbstractItemView*>()) lists.lookAt(*view->viewport());
    ASSERT_GE(lists.painted.size(), 2u);
    QElapsedTimer clock;
    clock.start();
    QTest::qWait(3000);
    ASSERT_TRUE(live().measuring()) << "it ended too soon to say anything";
    const auto allowed = static_cast<int>(clock.elapsed() / 1000) + 2;
    EXPECT_GE(strips.most(), 1);
    EXPECT_LE(strips.most(), allowed);
    EXPECT_LE(lists.most(), allowed);
}

// As where memory was short, or its loss was no number, behind the pairs that had found it faster.
TEST_F(WindowMeasureTest, AFasterValueThatBrokeBehindItsPairsIsNotSaidToBeUsed) {
    setFakeStepMs(10);
    open();
    startLong();
    choose("host-memory", "Measure system beside caching in this run");
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip().action == "Stop measuring"; }, 10'000)) << strip().note.toStdString();
    place->stage().live().publish(
        ExperimentJudged{.over = true, .outcome = "faster", .why = "It cannot go on.", .ratio = 1.2, .low = 1.1, .high = 1.3, .pairs = 9});
    ASSERT_TRUE(says("in 9 pairs of blocks; caching stays. It cannot go on.")) << strip().note.toStdString();
    EXPECT_TRUE(strip().note.startsWith("faster by")) << strip().note.toStdString();
    EXPECT_TRUE(strip().action.isEmpty());
}

TEST_F(WindowMeasureTest, ARunThatEndsMeanwhileIsSummedUp) {
    setFakeStepMs(10);
    open();
    startLong();
    choose("host-memory", "Measure system beside caching in this run");
    ASSERT_TRUE(says("takes turns")) << strip().note.toStdString();
    press("Stop");
    ASSERT_TRUE(idle());
    EXPECT_TRUE(QTest::qWaitFor([&] { return strip().heading.startsWith("Stopped: "); }, 5000)) << strip().heading.toStdString();
}

TEST_F(WindowMeasureTest, WithoutARunTheMenuSaysWhereToMeasure) {
    open();
    const auto menu = window().experiment().menuOf("amp");
    ASSERT_NE(menu, nullptr);
    ASSERT_EQ(menu->actions().size(), 1);
    EXPECT_TRUE(menu->actions().front()->text().contains("page Compare"));
    EXPECT_FALSE(menu->actions().front()->isEnabled());
    EXPECT_EQ(window().experiment().menuOf("layers"), nullptr) << "a setting is no switch";
}

}  // namespace
}  // namespace stepscope
