// The pairs of an experiment on the page Compare: gone through one by one when it is over, drawn around 1, read by keys.
#include <gtest/gtest.h>

#include <QApplication>
#include <QFocusEvent>
#include <QLabel>
#include <QTest>
#include <cmath>
#include <limits>

#include "tests/widgets/panels/compare/CompareResultFixture.h"
#include "widgets/charts/experiment/RatioChart.h"
#include "widgets/panels/compare/CompareFacts.h"
#include "widgets/panels/compare/PairReplay.h"
#include "widgets/panels/run/ScrubBar.h"

namespace stepscope {
namespace {

TEST_F(CompareResultTest, OneThatIsOverIsGoneThroughPairByPairAndNothingMoves) {
    begin();
    for (int i = 0; i < 9; ++i) pair(i, 1.2 + 0.01 * i, i == 3, 1.1, 1.3);
    show(CompareView::Stage::Pairs, true);
    EXPECT_FALSE(result.replay()->isVisible()) << "it goes on";
    QCoreApplication::processEvents();
    const QPoint chart = result.chart()->mapTo(&result, QPoint());
    history->add(ExperimentJudged{.over = true, .outcome = "faster", .ratio = 1.24, .low = 1.1, .high = 1.3, .floor = 1.01, .pairs = 8, .left = 1});
    show(CompareView::Stage::Over);
    QCoreApplication::processEvents();
    ASSERT_TRUE(result.replay()->isVisible());
    EXPECT_EQ(result.chart()->mapTo(&result, QPoint()), chart);
    const QString verdict = result.verdict(), basis = result.basis();
    EXPECT_TRUE(result.replay()->place().startsWith("pair 9 of 9")) << result.replay()->place().toStdString();
    ScrubBar* bar = result.replay()->bar();
    const QRect place = bar->geometry();
    for (const auto* label : result.replay()->findChildren<QLabel*>()) {
        EXPECT_TRUE(label->isVisible());
        EXPECT_GE(label->width(), label->fontMetrics().horizontalAdvance(label->text())) << "all of it is read";
        EXPECT_TRUE(result.replay()->rect().contains(label->geometry())) << label->x() << " " << label->width() << " of " << result.replay()->width();
    }
    for (int i = 0; i < 5; ++i) QTest::keyClick(bar, Qt::Key_Left);
    EXPECT_TRUE(result.replay()->place().startsWith("pair 4 of 9")) << result.replay()->place().toStdString();
    EXPECT_TRUE(result.verdict().startsWith("After pair 4: ")) << result.verdict().toStdString();
    EXPECT_EQ(result.chart()->pairs().size(), 4u);
    EXPECT_TRUE(result.chart()->pairs().back().left);
    EXPECT_TRUE(result.basis().contains("1.230 [1.100, 1.300]")) << result.basis().toStdString();
    EXPECT_EQ(result.facts()->cell("mean step", 0), "60.5\u202Fms") << "of the three pairs that count by then";
    QCoreApplication::processEvents();
    EXPECT_EQ(bar->geometry(), place);
    EXPECT_EQ(result.chart()->mapTo(&result, QPoint()), chart);
    show(CompareView::Stage::Over);  // the same again, as when its memory was looked up
    EXPECT_TRUE(result.verdict().startsWith("After pair 4: ")) << result.verdict().toStdString();
    QTest::keyClick(bar, Qt::Key_Home);
    EXPECT_EQ(result.verdict(), "Before the first pair");
    EXPECT_TRUE(result.chart()->pairs().empty());
    EXPECT_EQ(result.basis(), "");
    QTest::keyClick(bar, Qt::Key_End);
    EXPECT_EQ(result.verdict(), verdict);
    EXPECT_EQ(result.basis(), basis);
    EXPECT_EQ(result.chart()->pairs().size(), 9u);
    QTest::mouseClick(bar, Qt::LeftButton, {}, QPoint(bar->width() * 5 / 9 + 6, bar->height() / 2));
    EXPECT_EQ(result.chart()->pairs().size(), 5u) << "the nearest pair, not between two";
    history = std::make_shared<ExperimentHistory>(*history);
    show(CompareView::Stage::Over);
    EXPECT_EQ(result.verdict(), verdict) << "another one is shown at its end";
}

TEST_F(CompareResultTest, OfFewerThanTwoPairsThereIsNothingToGoThrough) {
    begin();
    pair(0, 1.2);
    show(CompareView::Stage::CutOff);
    EXPECT_FALSE(result.replay()->isVisible());
    EXPECT_EQ(result.chart()->pairs().size(), 1u);
}

TEST_F(CompareResultTest, OneIsInViewAndAsFarUpAsDownUnlessAllPairsLieFarFromIt) {
    RatioChart chart;
    chart.resize(400, 240);
    chart.setPairs({{.ratio = 1.03}, {.ratio = 0.99, .number = 1}}, 0.01);
    EXPECT_NEAR(chart.scale().high * chart.scale().low, 1, 1e-9);
    EXPECT_GT(chart.scale().high, 1.03);
    chart.setPairs({{.ratio = 3.3}, {.ratio = 3.4, .number = 1}}, 0.01);
    EXPECT_LT(chart.scale().low, 1);
    EXPECT_GT(chart.scale().low, 0.7);
    const double before = chart.scale().high;
    chart.setPairs({{.ratio = 3.3}, {.ratio = 3.4, .number = 1}, {.ratio = 40, .left = true, .number = 2}}, 0.01);
    EXPECT_EQ(chart.scale().high, before) << "what is left out squeezes nothing";
    // Twice as fast and half as fast are equally far from 1.
    chart.setPairs({{.ratio = 2}, {.ratio = 0.5, .number = 1}, {.ratio = 1, .number = 2}}, 0.01);
    EXPECT_NEAR(chart.placeOf(2).y() - chart.placeOf(0).y(), chart.placeOf(1).y() - chart.placeOf(2).y(), 0.01);
}

TEST_F(CompareResultTest, AllPairsAreReadByKeysAndALeftOutOneSaysSo) {
    RatioChart chart;
    chart.resize(400, 240);
    chart.show();
    chart.setPairs({{.ratio = 1.031}, {.ratio = 0.9, .left = true, .number = 1}}, 0.01);
    EXPECT_EQ(chart.readOut(0), "pair 1: B 3.10 % faster");
    EXPECT_TRUE(chart.readOut(1).startsWith("pair 2: A 11.1 % faster, left out")) << chart.readOut(1).toStdString();
    QTest::keyClick(&chart, Qt::Key_End);
    EXPECT_EQ(chart.accessibleDescription(), chart.readOut(1));
    QTest::keyClick(&chart, Qt::Key_Left);
    EXPECT_EQ(chart.accessibleDescription(), chart.readOut(0));
}

TEST_F(CompareResultTest, APairThatIsLookedAtNoMoreIsNotReadOutAnyMore) {
    RatioChart chart;
    chart.resize(400, 240);
    chart.show();
    EXPECT_EQ(chart.accessibleDescription(), "No pair has been measured yet.");
    chart.setPairs({{.ratio = 1.031}, {.ratio = 0.9, .number = 1}}, 0.01);
    const QString all = chart.accessibleDescription();
    EXPECT_TRUE(all.startsWith("2 pairs, 0 of them left out.")) << all.toStdString();
    QTest::keyClick(&chart, Qt::Key_End);
    chart.setPairs({{.ratio = 1.031}, {.ratio = 0.9, .number = 1}, {.ratio = 1.02, .number = 2}}, 0.01);
    EXPECT_EQ(chart.accessibleDescription(), chart.readOut(1)) << "it is looked at while others come";
    QFocusEvent away(QEvent::FocusOut);
    QApplication::sendEvent(&chart, &away);
    EXPECT_TRUE(chart.accessibleDescription().startsWith("3 pairs")) << chart.accessibleDescription().toStdString();
}

TEST_F(CompareResultTest, NumbersThatAreNoneAreNotDrawn) {
    RatioChart chart;
    chart.resize(400, 240);
    chart.setPairs({{.ratio = kUnknown}, {.ratio = std::numeric_limits<double>::infinity(), .number = 1}, {.ratio = 0, .number = 2}}, 0.01);
    EXPECT_FALSE(chart.grab().isNull());
    EXPECT_TRUE(std::isfinite(chart.scale().high));
}

}  // namespace
}  // namespace stepscope
