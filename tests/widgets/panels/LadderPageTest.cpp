// The page Ladder by itself: what it says of rows that nobody measures any more, when its answer can be used, and why it cannot measure now.
#include <gtest/gtest.h>

#include <QPushButton>

#include "core/analysis/PairedVerdict.h"
#include "core/events/Event.h"
#include "widgets/charts/experiment/StudyChart.h"
#include "widgets/panels/ladder/LadderPage.h"
#include "widgets/panels/ladder/LadderTable.h"

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

}  // namespace
}  // namespace stepscope
