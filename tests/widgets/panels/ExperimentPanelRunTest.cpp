// The experiment panel beside a run in progress: what is flipped at once, what waits, what the run has instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QTest>
#include <algorithm>

#include "ExperimentPanelFixture.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/experiment/DataChooser.h"
#include "widgets/panels/experiment/RowRemark.h"

namespace stepscope {
namespace {

class ExperimentPanelRunTest : public ExperimentPanelTest {
protected:
    TitleButton* link(const std::string& key, const QString& text) const {
        panel.row(key)->remark()->openCard();
        TitleButton* found = button(key, text);
        return found != nullptr && found->isVisible() ? found : nullptr;
    }
    bool dataSays(const QString& sentence) const {
        const auto labels = panel.findChild<DataChooser*>()->findChildren<ElidedLabel*>();
        return std::ranges::any_of(labels, [&](const auto* label) { return label->isVisible() && label->text() == sentence; });
    }
    void chooseData(const QString& id) {
        auto* list = panel.findChild<DataChooser*>()->findChild<QComboBox*>();
        list->setCurrentIndex(list->findData(id));
        Q_EMIT list->activated(list->currentIndex());
    }
};

TEST_F(ExperimentPanelRunTest, FlipsAStepSwitchOfALiveRunAtOnceAndLetsOthersWait) {
    const RunConfig running = panel.config();
    panel.setRunning(&running);
    choose("amp", "bf16");
    EXPECT_EQ(flips, QStringList{"amp=bf16"});
    type("context", "256");
    EXPECT_EQ(flips.size(), 1);
    EXPECT_THAT(sentences("context"), testing::Contains(QString("waits for the next run")));
    type("layers", "8");
    EXPECT_THAT(sentences("layers"), testing::Contains(QString("waits for the next run")));
    panel.setRunning(nullptr);
    EXPECT_TRUE(sentences("context").isEmpty());
}

TEST_F(ExperimentPanelRunTest, SaysWhichValueTheRunInProgressHasWhereAPresetChoseAnother) {
    const RunConfig running = panel.config();
    panel.setRunning(&running);
    choosePreset("gpu-8gb");
    EXPECT_EQ(panel.row("amp")->editor()->text(), "bf16");
    EXPECT_TRUE(flips.isEmpty()) << "a preset is of the next run";
    EXPECT_THAT(sentences("amp"), testing::Contains(QString("the run in progress has off")));
    EXPECT_THAT(sentences("context"), testing::Contains(QString("waits for the next run")));
    EXPECT_TRUE(sentences("host-memory").isEmpty());
    panel.setRunning(nullptr);
    EXPECT_TRUE(sentences("amp").isEmpty());
}

TEST_F(ExperimentPanelRunTest, SaysThatAFlipHasNotArrivedOnlyWhenTheRunTakesItsTime) {
    const RunConfig running = panel.config();
    panel.setRunning(&running);
    choose("amp", "bf16");
    EXPECT_TRUE(sentences("amp").isEmpty()) << "most answers come at once";
    ASSERT_TRUE(QTest::qWaitFor([&] { return sentences("amp").contains(QString("the run in progress has off")); }, 5000));
    panel.applied("amp", std::string("bf16"));
    EXPECT_TRUE(sentences("amp").isEmpty());
}

TEST_F(ExperimentPanelRunTest, FlipsWhatWasMovedWhileTheRunWasPreparedAsSoonAsTheRunIsKnown) {
    commit("amp", "bf16");
    const RunConfig running = panel.config();
    panel.setPreparing();
    commit("host-memory", "system");
    commit("grad-clip", "0.5");
    commit("grad-clip", "1");
    commit("context", "256");
    EXPECT_TRUE(flips.isEmpty());
    panel.setRunning(&running);
    EXPECT_EQ(flips, QStringList{"host-memory=system"}) << "what was moved back and what waits for a new run stay";
    EXPECT_THAT(sentences("context"), testing::Contains(QString("waits for the next run")));
    panel.setRunning(&running);
    EXPECT_EQ(flips.size(), 1) << "each once";
}

TEST_F(ExperimentPanelRunTest, FlipsNothingThatAPresetChangedWhileTheRunWasPrepared) {
    const RunConfig running = panel.config();
    panel.setPreparing();
    commit("amp", "bf16");
    choosePreset("gpu-8gb");
    panel.setRunning(&running);
    EXPECT_TRUE(flips.isEmpty());
    EXPECT_THAT(sentences("amp"), testing::Contains(QString("the run in progress has off")));
    panel.setRunning(nullptr);
    panel.setPreparing();
    commit("host-memory", "system");
    panel.setRunning(nullptr);
    panel.setRunning(&running);
    EXPECT_TRUE(flips.isEmpty()) << "the run that it was moved for never began";
}

TEST_F(ExperimentPanelRunTest, GoesBackToTheRunningValueWhenTheRunRefusesAndSaysWhy) {
    const RunConfig running = panel.config();
    panel.setRunning(&running);
    choose("amp", "bf16");
    panel.refused("amp", "This build has no bf16.");
    EXPECT_EQ(panel.row("amp")->editor()->text(), "off");
    EXPECT_EQ(std::get<std::string>(panel.config().switches.at("amp")), "off");
    EXPECT_THAT(sentences("amp"), testing::Contains(QString("This build has no bf16.")));
    EXPECT_FALSE(panel.hasProblem()) << "a refused flip does not stand in the way of the next run";
}

TEST_F(ExperimentPanelRunTest, ShowsWhatTheRunCameToThoughAnotherValueWasRefusedBefore) {
    const RunConfig running = panel.config();
    panel.setRunning(&running);
    choose("amp", "bf16");
    panel.refused("amp", "There is not enough memory.");
    panel.applied("amp", std::string("bf16"));
    EXPECT_EQ(panel.row("amp")->editor()->text(), "bf16");
    EXPECT_TRUE(panel.row("amp")->problem().isEmpty());
    EXPECT_FALSE(panel.hasProblem());
}

TEST_F(ExperimentPanelRunTest, OffersToFlipTheRunToWhatAPresetChose) {
    const RunConfig running = panel.config();
    panel.setRunning(&running);
    EXPECT_EQ(link("amp", "flip it to bf16"), nullptr);
    choosePreset("gpu-8gb");
    TitleButton* flip = link("amp", "flip it to bf16");
    ASSERT_NE(flip, nullptr);
    EXPECT_EQ(flip->accessibleName(), "Flip Mixed precision of the run in progress to bf16");
    EXPECT_TRUE((flip->focusPolicy() & Qt::TabFocus) != 0);
    flip->setFocus();
    QTest::keyClick(flip, Qt::Key_Space);
    EXPECT_EQ(flips, QStringList{"amp=bf16"});
    EXPECT_EQ(link("amp", "flip it to bf16"), nullptr) << "it is on its way";
    panel.applied("amp", std::string("bf16"));
    EXPECT_TRUE(sentences("amp").isEmpty());
    EXPECT_EQ(panel.config().word("amp"), "bf16");
}

TEST_F(ExperimentPanelRunTest, OffersToTakeTheRunsValueBack) {
    const RunConfig running = panel.config();
    panel.setRunning(&running);
    choosePreset("gpu-8gb");
    TitleButton* takeBack = link("amp", "back to off");
    ASSERT_NE(takeBack, nullptr);
    EXPECT_EQ(takeBack->accessibleName(), "Set Mixed precision back to off, which the run in progress has");
    const int before = edits;
    QTest::mouseClick(takeBack, Qt::LeftButton);
    EXPECT_EQ(panel.config().word("amp"), "off");
    EXPECT_EQ(panel.row("amp")->editor()->text(), "off");
    EXPECT_TRUE(sentences("amp").isEmpty());
    EXPECT_TRUE(flips.isEmpty()) << "the run has it already";
    EXPECT_EQ(edits, before + 1);
}

TEST_F(ExperimentPanelRunTest, OffersNeitherForWhatWaitsForANewRun) {
    const RunConfig running = panel.config();
    panel.setRunning(&running);
    type("context", "256");
    panel.row("context")->remark()->openCard();
    for (const auto* found : panel.row("context")->findChildren<TitleButton*>())
        EXPECT_FALSE(found->isVisible() && (found->text().startsWith("flip") || found->text().startsWith("back"))) << found->text().toStdString();
}

TEST_F(ExperimentPanelRunTest, LongNamesOfValuesDoNotWidenThePanel) {
    constexpr int kMargins = 40;  // and the scroll bar
    ValueRow* row = panel.row("amp");
    row->setValue("sdpa-efficient-attention", false);
    row->setInRun("sdpa-flash-attention");
    QCoreApplication::processEvents();
    EXPECT_LE(row->minimumSizeHint().width(), panel.minimumWidth() - kMargins);
}

TEST_F(ExperimentPanelRunTest, OtherDataWaitForTheNextRunAndSaySo) {
    const RunConfig running = panel.config();
    chooseData("generated");
    EXPECT_FALSE(dataSays("waits for the next run")) << "nothing runs";
    chooseData("kjv");
    panel.setRunning(&running);
    EXPECT_FALSE(dataSays("waits for the next run"));
    chooseData("random");
    EXPECT_TRUE(dataSays("waits for the next run"));
    chooseData("kjv");
    EXPECT_FALSE(dataSays("waits for the next run"));
    chooseData("generated");
    panel.setRunning(nullptr);
    EXPECT_FALSE(dataSays("waits for the next run"));
}

TEST_F(ExperimentPanelRunTest, OtherDataThanThePresetsAreBoldWithAWayBackAndCarryTheSign) {
    auto* chooser = panel.findChild<DataChooser*>();
    auto* list = chooser->findChild<QComboBox*>();
    auto* reset = chooser->findChild<TitleButton*>();
    EXPECT_FALSE(list->font().bold());
    EXPECT_FALSE(reset->isVisible());
    chooseData("generated");
    EXPECT_TRUE(list->font().bold());
    EXPECT_FALSE(list->view()->font().bold()) << "only what is chosen";
    ASSERT_TRUE(reset->isVisible());
    EXPECT_EQ(reset->accessibleName(), "Reset Training data to the preset");
    QTest::mouseClick(reset, Qt::LeftButton);
    EXPECT_EQ(panel.config().data, "kjv");
    EXPECT_FALSE(list->font().bold());
    const auto labels = chooser->findChildren<QLabel*>();
    const auto isSign = [](const auto* label) { return label->isVisible() && label->toolTip().startsWith("Takes effect in a new run: "); };
    EXPECT_TRUE(std::ranges::any_of(labels, isSign));
}

}  // namespace
}  // namespace stepscope
