// An experiment on the page Compare: what is said while it goes on and at its end, its table, one that was cut off. Its pairs: ComparePairsTest.
#include <gtest/gtest.h>

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "core/analysis/JudgedSentence.h"
#include "core/events/ConfigJson.h"
#include "core/events/Event.h"
#include "tests/widgets/panels/compare/CompareResultFixture.h"
#include "widgets/charts/experiment/RatioChart.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/compare/CompareFacts.h"
#include "widgets/panels/compare/MemoryBars.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

TEST_F(CompareResultTest, SaysThePhaseAndTheTimeAgainstTheBudget) {
    show(CompareView::Stage::Data, true);
    EXPECT_TRUE(result.progress().contains("being prepared"));
    begin();
    show(CompareView::Stage::Pilot, true);
    EXPECT_TRUE(result.progress().contains("pilot")) << result.progress().toStdString();
    EXPECT_TRUE(result.progress().contains("00:12 of at most 01:00")) << result.progress().toStdString();
    EXPECT_EQ(method(), "") << "how pairs are judged is said when there is one";
    pair(0, 1.1);
    pair(1, 1.1);
    show(CompareView::Stage::Pairs, true);
    EXPECT_TRUE(result.progress().contains("pair 3"));
    EXPECT_TRUE(method().startsWith("Method: ")) << method().toStdString();
    EXPECT_EQ(result.findChild<QProgressBar*>()->value(), 200);
    EXPECT_EQ(result.verdict(), "Not decided yet");
    EXPECT_TRUE(button("Stop")->isEnabled());
    EXPECT_FALSE(button("Repeat")->isEnabled());
}

TEST_F(CompareResultTest, SaysWhereWhatAllStepsTookIsNotWhatThePairsSay) {
    begin();
    for (int number = 0; number < 9; ++number) pair(number, 1.1, false, 1.05, 1.15);
    ExperimentJudged last = *history->newest();
    last.over = true;
    last.outcome = "faster";
    history->add(last);
    show(CompareView::Stage::Over);
    const auto said = [&] {
        QStringList all;
        for (const auto* label : result.findChildren<QLabel*>()) all << label->text();
        return all.join('\n');
    };
    EXPECT_FALSE(said().contains("Over all counted steps together")) << "the two are alike";
    EXPECT_FALSE(result.facts()->cell("median step", 0).isEmpty());
    // One pair in which the machine was asleep for a while: of all steps it is most, of the pairs one.
    BlockDone slow{.step = 9, .pair = 3, .arm = Arm::A};
    slow.steps = 10;
    slow.tokens = 1000;
    slow.duration = TimeNs::fromSeconds(9);
    history->add(slow);
    show(CompareView::Stage::Over);
    EXPECT_TRUE(said().contains("Over all counted steps together B trained")) << said().toStdString();
}

TEST_F(CompareResultTest, MemoryByKindSaysWhetherItWasSeenOrForetold) {
    CompareView view;
    view.history = history;
    view.memoryA = {.parts = {{"weights", 4e6}, {"MLP", 2e7}}, .seen = true, .measured = 2.5e7};
    view.memoryB = {.parts = {{"activations", 3e7}}, .seen = false, .measured = 3.1e7};
    result.setView(view);
    EXPECT_TRUE(result.memory()->heading().contains("of A as captured, of B as predicted")) << result.memory()->heading().toStdString();
    EXPECT_TRUE(result.memory()->segments()[1].tip.startsWith("A: MLP 20.0")) << result.memory()->segments()[1].tip.toStdString();
    EXPECT_TRUE(result.memory()->segments()[1].tip.endsWith("captured"));
    EXPECT_TRUE(result.memory()->segments()[2].tip.endsWith("predicted"));
    view.memoryB.seen = true;
    result.setView(view);
    EXPECT_TRUE(result.memory()->heading().contains("by kind as captured,"));
}

TEST_F(CompareResultTest, EndsWithASentenceAndWhatItRestsOn) {
    begin();
    for (int i = 0; i < 12; ++i) pair(i, 1.2 + 0.01 * (i % 3), i == 4, 1.18, 1.23);
    history->add(ExperimentJudged{.over = true,
                                  .outcome = "faster",
                                  .ratio = 1.21,
                                  .low = 1.18,
                                  .high = 1.23,
                                  .floor = 1.007,
                                  .pairs = 11,
                                  .left = 1,
                                  .rebuilds = 4,
                                  .seconds = 41});
    show(CompareView::Stage::Over);
    EXPECT_EQ(result.verdict(), "B is faster by 21.0 % [18.0 %, 23.0 %]");
    EXPECT_TRUE(result.basis().contains("11 pairs, 1 left out · both programs built again 4 times")) << result.basis().toStdString();
    EXPECT_TRUE(result.basis().contains("floor, a side beside itself: within 0.70 %. A smaller difference should not be believed."))
        << result.basis().toStdString();
    EXPECT_TRUE(result.basis().contains("1.210 [1.180, 1.230] at 95 %")) << result.basis().toStdString();
    ASSERT_EQ(result.facts()->cell("loss", 1), "unknown");
    EXPECT_EQ(result.facts()->item(result.facts()->rowCount() - 1, 2)->toolTip(), "Unknown: " + QString::fromStdString(history->whyNoLoss()));
    EXPECT_FALSE(history->whyNoLoss().empty());
    EXPECT_FALSE(button("Stop")->isEnabled());
    EXPECT_TRUE(button("Repeat")->isEnabled());
    QSignalSpy use(&result, &CompareResult::useRequested);
    QTest::mouseClick(button("Use B"), Qt::LeftButton);
    EXPECT_EQ(use.size(), 1);
}

TEST_F(CompareResultTest, NamesTheTwoValuesWhereOneSettingDiffers) {
    RunConfig a, b;
    a.switches["amp"] = std::string("off");
    b.switches["amp"] = std::string("bf16");
    history->add(ExperimentBegan{.configA = configToJson(a), .configB = configToJson(b), .budgetSeconds = 60});
    for (int i = 0; i < 9; ++i) pair(i, 1.2, false, 1.15, 1.25);
    ExperimentJudged last = *history->newest();
    last.over = true;
    last.outcome = "faster";
    history->add(last);
    show(CompareView::Stage::Over);
    EXPECT_EQ(result.verdict(), "amp=bf16 is faster than amp=off by 20.0 % [15.0 %, 25.0 %]");
}

TEST_F(CompareResultTest, SaysWhatHadBeenForetoldOnceItIsMeasured) {
    begin();
    for (int i = 0; i < 9; ++i) pair(i, 1.2, false, 1.1, 1.3);
    CompareView view;
    view.stage = CompareView::Stage::Pairs;
    view.history = history;
    view.foretold = 1.5;
    view.foretoldBasis = "products";
    const auto notes = [&] {
        for (const auto* label : result.findChildren<QLabel*>())
            if (label->accessibleName() == "What is compared") return label->text();
        return QString();
    };
    result.setView(view);
    EXPECT_FALSE(notes().contains("oretold")) << "not before the answer is there";
    ExperimentJudged last = *history->newest();
    last.over = true;
    last.outcome = "faster";
    history->add(last);
    result.setView(view);
    EXPECT_EQ(notes(),
              "Foretold before it was measured: B 1.50 times as fast as A (from products); measured 1.20 [1.10, 1.30], which does not hold it.");
}

TEST_F(CompareResultTest, SaysWhyItIsInconclusive) {
    begin();
    for (int i = 0; i < 9; ++i) pair(i, 1.01, false, 0.98, 1.05);
    history->add(ExperimentJudged{.over = true,
                                  .outcome = "inconclusive",
                                  .reason = "too-wide",
                                  .why = "The interval [0.980, 1.050] holds both \"equal\" and \"different\". About 4 minutes more would decide it.",
                                  .ratio = 1.01,
                                  .low = 0.98,
                                  .high = 1.05,
                                  .pairs = 9,
                                  .secondsToGo = 240,
                                  .seconds = 58});
    EXPECT_NE(button("Repeat"), nullptr);
    show(CompareView::Stage::Over);
    auto* again = button("Longer");  // this page is narrow
    ASSERT_NE(again, nullptr);
    EXPECT_TRUE(again->toolTip().contains("08:08")) << again->toolTip().toStdString();
    EXPECT_EQ(result.verdict(), "Inconclusive");
    EXPECT_TRUE(result.why().contains("4 minutes more")) << result.why().toStdString();
}

TEST_F(CompareResultTest, AnAnswerThatWasFoundStandsBesideWhatFailedBehindIt) {
    begin();
    for (int i = 0; i < 9; ++i) pair(i, 1.2);
    ExperimentJudged judged{.pair = 8, .ratio = 1.2, .low = 1.15, .high = 1.25, .pairs = 9};
    judged.over = true;
    judged.outcome = "faster";
    history->add(judged);
    CompareView view;
    view.stage = CompareView::Stage::Failed;
    view.history = history;
    view.doing = "B diverged in the training behind it.";
    result.setView(view);
    EXPECT_TRUE(result.verdict().contains("faster")) << result.verdict().toStdString();
    EXPECT_TRUE(result.why().contains("B diverged")) << result.why().toStdString();
    judged.outcome = "inconclusive";
    history->add(judged);
    result.setView(view);
    EXPECT_EQ(result.verdict(), "No answer");
}

TEST_F(CompareResultTest, OneThatWasCutOffShowsWhatItHad) {
    begin();
    for (int i = 0; i < 5; ++i) pair(i, 1.1);
    show(CompareView::Stage::CutOff);
    EXPECT_TRUE(result.progress().contains("cut off"));
    EXPECT_EQ(result.verdict(), "No verdict: it was cut off");
    EXPECT_EQ(result.chart()->pairs().size(), 5u);
    EXPECT_EQ(result.facts()->cell("mean step", 0), "55.0\u202Fms");
}

TEST_F(CompareResultTest, TheTableSaysUnknownWhereNothingTells) {
    begin();
    EXPECT_EQ(result.facts()->cell("energy a token", 0), QString("–"));
    pair(0, 1.2);
    show(CompareView::Stage::Pairs, true);
    EXPECT_EQ(result.facts()->cell("faults a step", 1), "2");
    EXPECT_EQ(result.facts()->cell("operations", 0), "253");
    EXPECT_EQ(result.facts()->cell("energy a token", 0), "unknown");
    EXPECT_EQ(result.facts()->cell("tensor memory", 1), "50.0\u202FMB");
    // What a stranger's file holds may be any number.
    history->add(BlockDone{.duration = TimeNs::fromSeconds(1), .pair = 0, .arm = Arm::B, .steps = 1, .tokens = 100, .peakBytes = 1e300});
    show(CompareView::Stage::Pairs, true);
    EXPECT_FALSE(result.facts()->cell("tensor memory", 1).startsWith('-')) << result.facts()->cell("tensor memory", 1).toStdString();
}

TEST_F(CompareResultTest, SaysWhyEnergyIsUnknownWhereTheMachineKnowsIt) {
    begin();
    CompareView view;
    view.stage = CompareView::Stage::Pairs;
    view.history = history;
    view.whyNoEnergy = "This machine exposes no energy counters.";
    const auto tip = [&](int side) {
        for (int row = 0; row < result.facts()->rowCount(); ++row)
            if (result.facts()->item(row, 0)->text() == "energy a token") return result.facts()->item(row, side + 1)->toolTip();
        return QString("there is no such row");
    };
    result.setView(view);
    EXPECT_EQ(tip(0), "") << "nothing is measured yet";
    pair(0, 1.2);
    result.setView(view);
    for (const int side : {0, 1}) EXPECT_EQ(tip(side), "Unknown: This machine exposes no energy counters.");
    SideFacts known = history->facts(Arm::A);
    known.joulesPerToken = 0.002;
    result.facts()->setFacts(known, history->facts(Arm::B), kUnknown, {}, view.whyNoEnergy);
    EXPECT_EQ(tip(0), "") << "of this side it is known";
    EXPECT_NE(tip(1), "");
    view.whyNoEnergy.clear();
    result.setView(view);
    EXPECT_EQ(tip(1), "");
}

TEST_F(CompareResultTest, ASideHasItsColourInTheLineThatSaysWhatItIs) {
    begin();
    CompareView view;
    view.history = history;
    view.settingsA = "amp=off";
    view.settingsB = "amp=bf16";
    view.sameKeys = 32;
    result.setView(view);
    const ElidedLabel* sides = nullptr;
    for (const auto* label : result.findChildren<ElidedLabel*>())
        if (label->text().startsWith("A: ")) sides = label;
    ASSERT_NE(sides, nullptr);
    EXPECT_EQ(sides->text(), "A: amp=off   B: amp=bf16   all else alike (32 settings)");
    const bool dark = isDark(sides->palette());
    const auto b = sides->text().indexOf("B: "), rest = sides->text().indexOf("all else");
    for (const qsizetype at : {qsizetype(0), qsizetype(9)}) EXPECT_EQ(sides->inkAt(at), seriesColour(SeriesRole::A, dark)) << at;
    for (const qsizetype at : {b, b + 10}) EXPECT_EQ(sides->inkAt(at), seriesColour(SeriesRole::B, dark)) << at;
    for (const qsizetype at : {rest, sides->text().size() - 1}) EXPECT_EQ(sides->inkAt(at), sides->palette().color(QPalette::WindowText)) << at;
    view.sameKeys = 0;
    result.setView(view);
    EXPECT_EQ(sides->text(), "A: amp=off   B: amp=bf16") << "how many they share is not known";
    history->add(ExperimentBegan{.same = true});
    result.setView(view);
    EXPECT_EQ(sides->inkAt(0), sides->palette().color(QPalette::WindowText)) << "both are the same settings";
}

TEST_F(CompareResultTest, NothingMovesFromTheFirstMomentToTheLast) {
    show(CompareView::Stage::Data, true);
    QCoreApplication::processEvents();
    const QPoint stop = button("Stop")->mapTo(&result, QPoint()), chart = result.chart()->mapTo(&result, QPoint());
    begin();
    for (int i = 0; i < 9; ++i) pair(i, 1.2, false, 1.1, 1.3);
    show(CompareView::Stage::Pairs, true);
    history->add(ExperimentJudged{.over = true,
                                  .outcome = "faster",
                                  .why = "A sentence that is quite long, so that it would need a second line in any window of a usual size.",
                                  .ratio = 1.2,
                                  .low = 1.1,
                                  .high = 1.3,
                                  .floor = 1.01,
                                  .pairs = 9});
    show(CompareView::Stage::Over);
    QCoreApplication::processEvents();
    EXPECT_EQ(button("Stop")->mapTo(&result, QPoint()), stop);
    EXPECT_EQ(result.chart()->mapTo(&result, QPoint()), chart);
}

TEST_F(CompareResultTest, AVerdictIsShownWhileReasonsAreStillLookedForWithinTheBudget) {
    begin();
    for (int i = 0; i < 9; ++i) pair(i, 1.2, false, 1.15, 1.25);
    history->add(ExperimentJudged{.over = true, .outcome = "faster", .ratio = 1.2, .low = 1.15, .high = 1.25, .pairs = 9, .seconds = 41});
    CompareView view;
    view.stage = CompareView::Stage::Pairs;
    view.live = true;
    view.history = history;
    view.elapsed = 43;
    view.doing = kLookingWhy;
    result.setView(view);
    EXPECT_EQ(result.verdict(), "B is faster by 20.0 % [15.0 %, 25.0 %]");
    EXPECT_EQ(result.progress(), "00:43 of at most 01:00 · still looking at why: both sides are captured");
    EXPECT_TRUE(button("Stop")->isEnabled());
    view.stage = CompareView::Stage::Over;
    view.live = false;
    view.doing.clear();
    history->add(ExperimentJudged{.over = true, .outcome = "faster", .ratio = 1.2, .low = 1.15, .high = 1.25, .pairs = 9, .seconds = 49});
    result.setView(view);
    EXPECT_EQ(result.progress(), "measured in 00:41, 00:49 with what came behind it");
}

}  // namespace
}  // namespace stepscope
