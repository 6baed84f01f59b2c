// The page Ladder by itself: what it says of rows that nobody measures any more, when its answer can be used, and why it cannot measure now.
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QPushButton>
#include <QTest>

#include "core/analysis/PairedVerdict.h"
#include "core/events/Event.h"
#include "widgets/charts/experiment/StudyChart.h"
#include "widgets/panels/experiment/NumberEdit.h"
#include "widgets/panels/ladder/LadderForm.h"
#include "widgets/panels/ladder/LadderPage.h"
#include "widgets/panels/ladder/LadderTable.h"
#include "widgets/panels/ladder/StudyReplay.h"

namespace stepscope {
namespace {

std::shared_ptr<StudyHistory> raceOf(const std::vector<StudyRow>& more = {}) {
    auto history = std::make_shared<StudyHistory>();
    StudyBegan began;
    began.kind = "tune";
    history->add(began);
    StudyRow row;
    row.role = study::kCandidate;
    row.state = study::kRunning;
    row.name = "the present settings";
    row.pairs = 2;
    history->add(row);
    row.row = 1;
    row.name = row.settings = "amp=bf16";
    row.ratio = row.total = 1.2;
    history->add(row);
    row.row = 2;
    row.name = row.settings = "amp=fp16";
    row.state = study::kRejected;
    row.why = "Slow here.";
    history->add(row);
    for (const StudyRow& one : more) history->add(one);
    return history;
}

StudyRow finalRow(const char* state, const char* settings) {
    StudyRow row;
    row.row = 3;
    row.role = study::kFinal;
    row.state = state;
    row.name = row.settings = settings;
    row.ratio = 1.2;
    return row;
}

QPushButton* ladderPageButton(LadderPage& page, const QString& text) {
    for (auto* found : page.findChildren<QPushButton*>())
        if (found->text() == text) return found;
    return nullptr;
}

LadderView viewOf(const std::shared_ptr<const StudyHistory>& history) {
    LadderView view;
    view.history = history;
    view.canUse = studyUsable(*history);
    return view;
}

TEST(LadderPage, RowsOfASearchThatWasStoppedWereNotDecided) {
    LadderPage page;
    LadderView view = viewOf(raceOf());
    view.live = true;
    page.setView(view);
    EXPECT_EQ(page.table().cell("amp=bf16", "what came of it"), "racing");
    EXPECT_TRUE(page.progress().endsWith("2 racing, 1 rejected")) << page.progress().toStdString();
    StudyRow untried;
    untried.row = 4;
    untried.role = study::kCandidate;
    untried.state = study::kRejected;
    LadderView more = viewOf(raceOf({untried}));
    more.live = true;
    page.setView(more);
    EXPECT_TRUE(page.progress().endsWith("2 racing, 1 rejected, 1 not raced")) << page.progress().toStdString();
    view.live = false;
    page.setView(view);
    EXPECT_EQ(page.table().cell("amp=bf16", "what came of it"), "not decided");
    EXPECT_EQ(page.table().cell("amp=fp16", "what came of it"), "Slow here.") << "which was";
    view.goesOn = true;
    page.setView(view);
    EXPECT_EQ(page.table().cell("amp=bf16", "what came of it"), "racing") << "another program measures it";
}

TEST(LadderPage, OnlyAnAnswerOfASearchCanBeUsed) {
    EXPECT_FALSE(studyUsable(*raceOf())) << "stopped early";
    EXPECT_FALSE(studyUsable(*raceOf({finalRow(study::kRunning, "amp=bf16")}))) << "or while the best was measured anew";
    EXPECT_FALSE(studyUsable(*raceOf({finalRow(study::kWaiting, "amp=bf16")})));
    EXPECT_TRUE(studyUsable(*raceOf({finalRow(study::kChosen, "amp=bf16")})));
    EXPECT_TRUE(studyUsable(*raceOf({finalRow(study::kRejected, "amp=bf16")}))) << "the present ones are the fastest";
    StudyRow open = finalRow(study::kMeasured, "");
    open.outcome = toString(PairedOutcome::Inconclusive);
    EXPECT_FALSE(studyUsable(*raceOf({open})));
    LadderPage page;
    page.setView(viewOf(raceOf()));
    QPushButton* use = ladderPageButton(page, "Use it");
    ASSERT_NE(use, nullptr);
    EXPECT_FALSE(use->isEnabled());
    EXPECT_TRUE(use->toolTip().contains("Nothing is recommended")) << use->toolTip().toStdString();
    page.setView(viewOf(raceOf({finalRow(study::kChosen, "amp=bf16")})));
    EXPECT_TRUE(use->isEnabled());
}

TEST(LadderPage, OfWhatWonOnlyTheIntervalThatWasMeasuredAnewIsShown) {
    StudyRow won;
    won.row = 1;
    won.role = study::kCandidate;
    won.state = study::kChosen;
    won.name = won.settings = "amp=bf16";
    won.total = 1.3, won.totalLow = 1.25, won.totalHigh = 1.35;
    StudyRow last = finalRow(study::kChosen, "amp=bf16");
    last.low = 1.1, last.high = 1.3;
    LadderPage page;
    page.setView(viewOf(raceOf({won})));
    EXPECT_EQ(page.table().cell("amp=bf16", "× present"), "×1.30 [1.25, 1.35]") << "as long as there is no other";
    page.setView(viewOf(raceOf({won, last})));
    EXPECT_EQ(page.table().cell("amp=bf16", "× present"), "×1.30, before it was measured anew");
    EXPECT_EQ(page.table().cell("amp=bf16, measured anew", "× present"), "×1.20 [1.10, 1.30]");
}

TEST(LadderPage, ARungOfWhichNothingIsKnownIsNoAnswer) {
    StudyRow rung;
    rung.row = 1;
    rung.role = study::kRung;
    rung.state = study::kMeasured;
    rung.name = "fusion";
    auto history = std::make_shared<StudyHistory>();
    history->add(StudyBegan{.kind = "ladder"});
    history->add(rung);
    EXPECT_EQ(studyAnswer(*history), "");
    rung.total = 1.5;
    history->add(rung);
    EXPECT_TRUE(studyAnswer(*history).startsWith("So far, up to fusion: ×1.50")) << studyAnswer(*history).toStdString();
}

TEST(LadderPage, WhatWonAndWasNotMeasuredAnewIsNoRecommendation) {
    const auto history = raceOf({finalRow(study::kRunning, "amp=bf16")});
    EXPECT_TRUE(studyAnswer(*history).contains("is measured anew"));
    EXPECT_TRUE(studyAnswer(*history, /*over=*/true).contains("nothing is recommended")) << studyAnswer(*history, true).toStdString();
}

TEST(LadderPage, SaysThatARunIsInTheWay) {
    LadderPage page;
    page.setForecast("7 measurements, about 3 min.", false);
    page.setBusy(LadderBusy::Free);
    EXPECT_EQ(page.forecast(), "7 measurements, about 3 min.");
    page.setBusy(LadderBusy::Training);
    EXPECT_FALSE(ladderPageButton(page, "Measure")->isEnabled());
    EXPECT_TRUE(page.forecast().startsWith("A run is in progress")) << page.forecast().toStdString();
    page.setForecast("8 measurements, about 4 min.", false);
    EXPECT_TRUE(page.forecast().startsWith("A run is in progress")) << "another question does not take it away";
    page.setBusy(LadderBusy::Free);
    EXPECT_EQ(page.forecast(), "8 measurements, about 4 min.");
    EXPECT_TRUE(ladderPageButton(page, "Measure")->isEnabled());
}

NumberEdit* ladderPageNumber(LadderPage& page, const QString& name) {
    for (auto* found : page.findChildren<NumberEdit*>())
        if (found->accessibleName() == name) return found;
    return nullptr;
}

TEST(LadderPage, AsksForWhatCountsAsEqualTheSeedAndTheMemoryBoundAsTheCommandLineDoes) {
    LadderPage page;
    page.setBusy(LadderBusy::Free);
    page.setForecast("All values race.", false);
    NumberEdit* memory = ladderPageNumber(page, "Memory, GB");
    ASSERT_NE(memory, nullptr);
    EXPECT_FALSE(memory->isVisibleTo(&page)) << "folded away";
    for (auto* box : page.findChildren<QCheckBox*>())
        if (box->text() == "More") box->setChecked(true);
    EXPECT_TRUE(memory->isVisibleTo(&page));
    ladderPageNumber(page, "Equal ± %")->setText("2.5");
    ladderPageNumber(page, "Seed")->setText("12345678901");
    memory->setText("0.5");
    EXPECT_DOUBLE_EQ(page.form().question().delta, 0.025);
    EXPECT_EQ(page.form().question().seed, 12345678901);
    EXPECT_DOUBLE_EQ(page.form().question().memoryGb, 0.5);
    memory->setText("0.001");
    page.setForecast("All values race.", false);
    EXPECT_TRUE(page.forecast().startsWith("Memory, GB takes 0")) << page.forecast().toStdString();
    EXPECT_FALSE(ladderPageButton(page, "Measure")->isEnabled());
    page.form().setLadders({{"a-ladder"}});
    page.form().setQuestion({.search = false, .ladder = "a-ladder", .delta = 0.02, .seed = 7});
    EXPECT_FALSE(memory->isVisibleTo(&page)) << "a ladder has no such bound";
    EXPECT_EQ(page.form().question().seed, 7);
    EXPECT_DOUBLE_EQ(page.form().question().delta, 0.02);
    EXPECT_TRUE(ladderPageButton(page, "Measure")->isEnabled());
}

TEST(LadderPage, SaysTheLossOfWhatIsRecommendedAndThatItComputesOtherwise) {
    LadderPage page;
    StudyRow last = finalRow(study::kChosen, "amp=bf16");
    last.loss = 0.0123;
    last.arithmetic = study::kOther;
    last.why = kOtherArithmetic;
    page.setView(viewOf(raceOf({last})));
    EXPECT_TRUE(page.beside().contains("0.0123 higher than with the present settings")) << page.beside().toStdString();
    EXPECT_TRUE(page.beside().contains("the loss may move")) << page.beside().toStdString();
    last.state = study::kRejected;
    page.setView(viewOf(raceOf({last})));
    EXPECT_EQ(page.beside(), "") << "nothing is recommended";
}

TEST(LadderPage, SaysOfWhatIsRecommendedThatMeasuringItAnewLeftItOpen) {
    LadderPage page;
    StudyRow last = finalRow(study::kChosen, "amp=bf16");
    last.outcome = toString(PairedOutcome::Faster);
    page.setView(viewOf(raceOf({last})));
    EXPECT_TRUE(page.answer().startsWith("Recommended: amp=bf16")) << page.answer().toStdString();
    last.outcome = toString(PairedOutcome::Inconclusive);
    last.why = "Measuring it anew did not confirm that for sure.";
    page.setView(viewOf(raceOf({last})));
    EXPECT_TRUE(page.answer().startsWith("Recommended, not confirmed: amp=bf16")) << page.answer().toStdString();
    EXPECT_TRUE(page.beside().startsWith("Measuring it anew did not confirm")) << page.beside().toStdString();
    EXPECT_EQ(studyHeadline(*raceOf({last})).rfind("recommended, not confirmed: amp=bf16", 0), 0u);
}

TEST(LadderPage, SaysHowOftenTheSameWasAskedBeforeAndWhatItCameTo) {
    LadderPage page;
    LadderView view = viewOf(raceOf());
    page.setView(view);
    EXPECT_EQ(page.earlier(), "");
    view.earlier = {{7, "3 h ago", "recommended: amp=bf16, ×1.30 [1.20, 1.40]"}, {4, "2 days ago", "recommended: the present settings"}};
    view.earlierCount = 2;
    page.setView(view);
    EXPECT_TRUE(page.earlier().startsWith("Asked 2 times before here, the last time in session 7")) << page.earlier().toStdString();
    EXPECT_TRUE(page.earlier().contains("[1.20, 1.40]"));
    qint64 opened = 0;
    QObject::connect(&page, &LadderPage::earlierRequested, &page, [&](qint64 session) { opened = session; });
    for (auto* link : page.findChildren<QAbstractButton*>())
        if (link->text() == page.earlier()) link->click();
    EXPECT_EQ(opened, 7);
}

TEST(LadderPage, SaysOfARowWhichEarlierSessionMeasuredIt) {
    auto history = std::make_shared<StudyHistory>();
    history->add(StudyBegan{.kind = "ladder"});
    history->add(StudyRow{.row = 1,
                          .role = study::kRung,
                          .state = study::kMeasured,
                          .name = "amp=bf16",
                          .why = "Too few pairs.",
                          .ratio = 1.2,
                          .keptSession = 4,
                          .keptVersions = "Stepscope 0.9"});
    LadderPage page;
    page.setView(viewOf(history));
    EXPECT_EQ(page.table().cell("amp=bf16", "what to know"), "Measured in session 4 by another version (Stepscope 0.9). Too few pairs.");
}

TEST(LadderPage, TellsBesideARowAtWhichClocksItWasMeasured) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "ladder"});
    history.add(StudyRow{.row = 1, .role = study::kRung, .state = study::kRunning, .name = "<b>half</b>"});
    history.add(ExperimentBegan{});
    history.add(BlockDone{.at = TimeNs::fromSeconds(1), .duration = TimeNs::fromSeconds(1), .pair = 0});
    history.add(BlockDone{.at = TimeNs::fromSeconds(10), .duration = TimeNs::fromSeconds(1), .pair = 0, .arm = Arm::B});
    history.add(ExperimentJudged{.over = true, .pair = 0});
    history.add(StudyRow{.row = 1, .role = study::kRung, .state = study::kMeasured, .name = "<b>half</b>", .ratio = 1.2, .pairs = 9});
    for (double at = 0; at < 10; at += 0.5) {
        DeviceSample sample;
        sample.at = TimeNs::fromSeconds(at);
        sample.cpuClockMhz = at < 5 ? 3000 : 2000;
        history.add(sample);
    }
    LadderTable table;
    table.setHistory(history, true);
    ASSERT_EQ(table.rowCount(), 1);
    for (const int column : {3, table.columnCount() - 1})
        EXPECT_TRUE(table.item(0, column)->toolTip().contains("The processors ran at 2\u202F000 to 3\u202F000 MHz"))
            << column << table.item(0, column)->toolTip().toStdString();
    EXPECT_EQ(table.item(0, 0)->toolTip(), "<p>&lt;b&gt;half&lt;/b&gt;</p>");
}

TEST(LadderPage, OffersToGoOnForRowsThatHadNoTime) {
    auto history = std::make_shared<StudyHistory>();
    history->add(StudyBegan{.kind = "ladder"});
    history->add(StudyRow{.row = 1, .role = study::kRung, .state = study::kMeasured, .name = "amp=bf16", .ratio = 1.2});
    history->add(StudyRow{.row = 2,
                          .role = study::kWithout,
                          .state = study::kSkipped,
                          .name = "without amp=bf16",
                          .why = "Not measured: the 290 s of this ladder were spent on its rungs. A larger budget measures it.",
                          .waits = true});
    LadderPage page;
    LadderView view = viewOf(history);
    view.resumable = true;
    page.setView(view);
    page.setBusy(LadderBusy::Free);
    QPushButton* goOn = ladderPageButton(page, "Go on");
    ASSERT_NE(goOn, nullptr);
    EXPECT_TRUE(goOn->isEnabled());
    EXPECT_TRUE(goOn->toolTip().contains("minutes that are set above")) << goOn->toolTip().toStdString();
}

TEST(LadderPage, OneThatIsOverIsGoneThroughRowByRowAndNothingMoves) {
    std::vector<StudyRow> told;
    const auto tell = [&](std::int64_t number, const char* role, const char* state, const char* settings, double ratio) {
        StudyRow row;
        row.at = TimeNs::fromSeconds(10.0 * static_cast<double>(told.size() + 1));
        row.row = number;
        row.role = role;
        row.state = state;
        row.name = row.settings = settings;
        row.ratio = row.total = ratio;
        row.pairs = 3;
        told.push_back(row);
    };
    tell(1, study::kCandidate, study::kRunning, "amp=bf16", 1.1);
    tell(1, study::kCandidate, study::kRunning, "amp=bf16", 1.2);
    tell(2, study::kCandidate, study::kRejected, "amp=fp16", 0.9);
    tell(3, study::kFinal, study::kRunning, "amp=bf16", 1.15);
    tell(3, study::kFinal, study::kChosen, "amp=bf16", 1.2);
    auto history = std::make_shared<StudyHistory>();
    StudyBegan began;
    began.kind = "tune";
    history->add(began);
    for (const StudyRow& row : told) history->add(row);
    LadderPage page;
    page.resize(1000, 700);
    LadderView view = viewOf(history);
    view.live = true;
    page.setView(view);
    page.show();
    EXPECT_FALSE(page.replay().isVisible()) << "it goes on, and nobody kept what was told";
    view.live = false;
    view.told = std::make_shared<const std::vector<StudyRow>>(told);
    page.setView(view);
    QCoreApplication::processEvents();
    ASSERT_TRUE(page.replay().isVisible());
    EXPECT_EQ(page.replay().place(), "00:50 of 00:50");
    EXPECT_TRUE(page.answer().startsWith("Recommended")) << page.answer().toStdString();
    const int rows = page.table().rowCount();
    const QPoint bar = page.replay().mapTo(&page, QPoint());
    for (int i = 0; i < 2; ++i) QTest::keyClick(page.replay().bar(), Qt::Key_Left);
    QCoreApplication::processEvents();
    EXPECT_EQ(page.replay().place(), "00:30 of 00:50");
    EXPECT_EQ(page.table().rowCount(), rows - 1) << "nothing was measured anew yet";
    EXPECT_EQ(page.answer(), "At 00:30 it was not decided yet");
    EXPECT_EQ(page.replay().mapTo(&page, QPoint()), bar);
    page.setView(view);  // the same again keeps its place
    EXPECT_EQ(page.replay().place(), "00:30 of 00:50");
    QTest::keyClick(page.replay().bar(), Qt::Key_End);
    EXPECT_TRUE(page.answer().startsWith("Recommended"));
    EXPECT_EQ(page.table().rowCount(), rows);
}

TEST(LadderPage, AGreyMeasureHasItsReasonInSight) {
    LadderPage page;
    QPushButton* measure = ladderPageButton(page, "Measure");
    EXPECT_TRUE(page.forecast().contains("still being looked at")) << "the engine starts: " << page.forecast().toStdString();
    page.setBusy(LadderBusy::Free);
    page.setForecast("A search takes at least 20 s: give it 0.4 min or more.", true);
    EXPECT_FALSE(measure->isEnabled());
    EXPECT_EQ(measure->toolTip(), page.forecast()) << "nothing begins";
    page.setForecast("All values race.", false);
    EXPECT_EQ(measure->toolTip(), "Begins");
    page.setBusy(LadderBusy::Measuring);  // on another page
    EXPECT_FALSE(measure->isEnabled());
    EXPECT_TRUE(page.forecast().startsWith("Something is being measured")) << page.forecast().toStdString();
    LadderView own = viewOf(raceOf());
    own.live = true;
    page.setView(own);
    EXPECT_EQ(page.forecast(), "All values race.") << "how far it is stands below";
}

TEST(LadderPage, SaysWhatEachOfTheListDoesBeforeOneIsChosen) {
    LadderPage page;
    page.form().setLadders({{"four-hours", "batch 256 → batch 128 → <b>TF32</b>"}, {"other", "plain → fusion"}});
    EXPECT_TRUE(page.form().described().startsWith("Tries every value of every switch")) << page.form().described().toStdString();
    auto* what = page.findChild<QComboBox*>();
    ASSERT_NE(what, nullptr);
    ASSERT_EQ(what->count(), 3);
    EXPECT_EQ(what->itemData(1, Qt::ToolTipRole).toString(), "<p>Adds one after the other: batch 256 → batch 128 → &lt;b&gt;TF32&lt;/b&gt;</p>");
    what->setCurrentIndex(2);
    EXPECT_EQ(page.form().described(), "Adds one after the other: plain → fusion");
    page.form().setFile("/old/mine.yaml");
    EXPECT_EQ(page.form().described(), "/old/mine.yaml");
}

TEST(LadderPage, EveryColumnInSightSaysWhatItIs) {
    auto ladder = std::make_shared<StudyHistory>();
    StudyBegan began;
    began.kind = "ladder";
    ladder->add(began);
    StudyRow row;
    row.role = study::kBottom;
    row.name = "plain";
    ladder->add(row);
    LadderPage page;
    for (const auto& history : {std::shared_ptr<const StudyHistory>(ladder), std::shared_ptr<const StudyHistory>(raceOf())}) {
        page.setView(viewOf(history));
        const LadderTable& table = page.table();
        for (int column = 0; column < table.columnCount(); ++column) {
            const QTableWidgetItem* head = table.horizontalHeaderItem(column);
            EXPECT_TRUE(table.isColumnHidden(column) || head->toolTip().size() > 15) << head->text().toStdString();
        }
        EXPECT_EQ(table.horizontalHeaderItem(0)->toolTip().contains("present settings"), history->began()->kind == "tune");
    }
}

TEST(LadderPage, FilesOfOneNameInTwoFoldersAreToldApart) {
    LadderPage page;
    page.form().setFile("/old/mine.yaml");
    page.form().setFile("/new/mine.yaml");
    page.form().setFile("/old/mine.yaml");
    EXPECT_EQ(page.form().question().ladder, "/old/mine.yaml");
    const auto* what = page.findChild<QComboBox*>();
    ASSERT_NE(what, nullptr);
    ASSERT_EQ(what->count(), 3) << "with the search";
    EXPECT_EQ(what->itemText(1), "Ladder of mine.yaml");
    EXPECT_EQ(what->itemText(2), "Ladder of mine.yaml in new");
}

// A ladder whose second rung is being measured: of it only what it is beside the first is told.
std::shared_ptr<StudyHistory> halfMeasuredLadder() {
    auto ladder = std::make_shared<StudyHistory>();
    StudyBegan began;
    began.kind = "ladder";
    ladder->add(began);
    StudyRow row;
    row.role = study::kBottom;
    row.state = study::kMeasured;
    row.name = "plain";
    ladder->add(row);
    row.row = 1;
    row.role = study::kRung;
    row.name = "amp=bf16";
    row.ratio = row.total = 1.8;
    row.low = row.totalLow = 1.5;
    row.high = row.totalHigh = 2;
    ladder->add(row);
    row = {};
    row.row = 2;
    row.role = study::kRung;
    row.state = study::kRunning;
    row.name = "fusion=step";
    row.ratio = 1.5;
    row.low = 0.9;
    row.high = 2.5;
    ladder->add(row);
    return ladder;
}

TEST(LadderPage, DrawsARungThatIsNotDecidedBesideTheBottomAsItsAxisSays) {
    LadderPage page;
    page.setView(viewOf(halfMeasuredLadder()));
    ASSERT_EQ(page.chart().bars().size(), 3u);
    const StudyBar& bar = page.chart().bars()[2];
    EXPECT_DOUBLE_EQ(bar.ratio, 1.8 * 1.5);
    EXPECT_DOUBLE_EQ(bar.low, 1.5 * 0.9);
    EXPECT_DOUBLE_EQ(bar.high, 2 * 2.5);
    EXPECT_DOUBLE_EQ(page.chart().bars()[1].ratio, 1.8);
}

TEST(LadderPage, OfASmallWindowScrollsInsteadOfLayingItsChartOverItsTable) {
    LadderPage page;
    page.resize(400, 380);
    page.show();
    const int least = page.minimumSizeHint().height();
    page.setView(viewOf(halfMeasuredLadder()));
    for (int i = 0; i < 5; ++i) QCoreApplication::processEvents();
    EXPECT_EQ(page.height(), 380);
    EXPECT_EQ(page.minimumSizeHint().height(), least) << "what it shows takes nothing from the log below it";
    const auto placeOf = [&](QWidget& part) { return QRect(part.mapTo(&page, QPoint()), part.size()); };
    QWidget* chart = page.chart().parentWidget()->parentWidget();
    EXPECT_FALSE(placeOf(*chart).intersects(placeOf(page.table())));
    EXPECT_GE(chart->height(), 100);
    EXPECT_GE(page.table().height(), 100) << "its head and some rows";
    for (auto* button : page.findChildren<QPushButton*>())
        if (button->isVisible()) {
            EXPECT_TRUE(page.rect().contains(placeOf(*button))) << button->text().toStdString();
        }
}

}  // namespace
}  // namespace stepscope
