// The experiment panel under a person's hands: rows made from the catalogue, reasons in place, resets.
#include "widgets/panels/ExperimentPanel.h"

#include "PanelFixture.h"
#include "widgets/panels/NumberEdit.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/panels/ToggleSwitch.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/ValueEdit.h"
#include "widgets/panels/ValueRow.h"

#include <QComboBox>
#include <QLineEdit>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepscope {
namespace {

class ExperimentPanelTest : public testing::Test {
protected:
    ExperimentPanelTest() {
        panel.setChoice({"tiny-cpu", "No GPU here."});
        panel.setCatalogue(smallCatalogue());
        panel.resize(320, 900);
        panel.show();
        QObject::connect(&panel, &ExperimentPanel::edited, &panel, [this] { ++edits; });
        QObject::connect(&panel, &ExperimentPanel::flipRequested, &panel,
                         [this](const QString& id, const Value& value) { flips << id + "=" + QString::fromStdString(toString(value)); });
    }
    void type(const std::string& key, const QString& text) {
        auto* edit = panel.row(key)->findChild<NumberEdit*>();
        edit->findChild<QLineEdit*>()->setText(text);
        QTest::keyClick(edit, Qt::Key_Return);
    }
    void choose(const std::string& key, const QString& word) {
        auto* list = panel.row(key)->findChild<QComboBox*>();
        list->setCurrentText(word);
        Q_EMIT list->activated(list->currentIndex());
    }
    void choosePreset(const QString& id) {
        for (auto* list : panel.findChildren<QComboBox*>()) {
            if (list->accessibleName() != "Preset") continue;
            list->setCurrentIndex(list->findData(id));
            Q_EMIT list->activated(list->currentIndex());
        }
    }
    void commit(const std::string& key, const QString& text) { Q_EMIT panel.row(key)->committed(QString::fromStdString(key), text); }
    const QLabel* sign(const std::string& key) const {
        for (const auto* label : panel.row(key)->findChildren<QLabel*>())
            if (label->accessibleName() == "takes effect in a new run" && !label->isHidden()) return label;
        return nullptr;
    }
    QStringList sentences(const std::string& key) const {
        QStringList all;
        for (const auto* label : panel.row(key)->findChildren<ToneLabel*>())
            if (!label->isHidden() && !label->text().isEmpty()) all << label->text();
        return all;
    }
    TitleButton* button(const std::string& key, const QString& text) const {
        for (auto* found : panel.row(key)->findChildren<TitleButton*>())
            if (found->text() == text) return found;
        return nullptr;
    }

    ExperimentPanel panel;
    int edits = 0;
    QStringList flips;
};

TEST_F(ExperimentPanelTest, HasARowForEverySwitchAndEverySettingOfTheTables) {
    for (const auto& entry : smallCatalogue()) EXPECT_NE(panel.row(entry.id), nullptr) << entry.id;
    for (const auto& key : configKeys()) {
        if (key.id == "data") continue;  // has a chooser of its own
        EXPECT_NE(panel.row(key.id), nullptr) << key.id;
    }
}

TEST_F(ExperimentPanelTest, ShowsTheReasonInPlaceOfTheControlWhenASwitchCannotBeUsedHere) {
    EXPECT_FALSE(panel.row("device")->editor()->isEnabled());
    EXPECT_THAT(sentences("device"), testing::Contains(QString("Needs a GPU.")));
}

TEST_F(ExperimentPanelTest, SaysWhatRunsInPlaceOfAChoiceThatStaysAsItIs) {
    SwitchCatalogue catalogue = smallCatalogue();
    catalogue[1].instead = "amp=bf16 does not go with this: amp=off is used.";
    panel.setCatalogue(catalogue);
    EXPECT_TRUE(panel.row("amp")->editor()->isEnabled());
    EXPECT_THAT(sentences("amp"), testing::Contains(QString("amp=bf16 does not go with this: amp=off is used.")));
    panel.setCatalogue(smallCatalogue());
    EXPECT_FALSE(sentences("amp").join(' ').contains("is used"));
}

TEST_F(ExperimentPanelTest, UnfoldsWhatASwitchDoesWhatItCostsAndWhatOthersReport) {
    EXPECT_FALSE(panel.row("amp")->isUnfolded());
    QTest::mouseClick(button("amp", "Mixed precision"), Qt::LeftButton);
    EXPECT_TRUE(panel.row("amp")->isUnfolded());
    const QString all = sentences("amp").join(' ');
    for (const char* part : {"Products in 16 bits.", "Rounding.", "Reported elsewhere", "1.5–3x"}) EXPECT_TRUE(all.contains(part)) << part;
}

TEST_F(ExperimentPanelTest, KeepsAWrongTextAndAnswersWithASentenceInPlace) {
    type("layers", "-3");
    EXPECT_EQ(panel.row("layers")->findChild<NumberEdit*>()->text(), "-3");
    EXPECT_THAT(sentences("layers").join(' ').toStdString(), testing::HasSubstr("layers cannot be \"-3\""));
    EXPECT_TRUE(panel.hasProblem());
    EXPECT_EQ(panel.config().layers, 4);
    type("layers", "5");
    EXPECT_FALSE(panel.hasProblem());
    EXPECT_EQ(panel.config().layers, 5);
}

TEST_F(ExperimentPanelTest, ShowsWhatDiffersFromThePresetInBoldWithAWayBack) {
    type("layers", "6");
    EXPECT_TRUE(button("layers", "Layers")->font().bold());
    QTest::mouseClick(button("layers", "reset"), Qt::LeftButton);
    EXPECT_FALSE(button("layers", "Layers")->font().bold());
    EXPECT_EQ(panel.config().layers, 4);
    EXPECT_EQ(panel.row("layers")->findChild<NumberEdit*>()->text(), "4");
}

TEST_F(ExperimentPanelTest, AsksNobodyToFlipWhileNothingRuns) {
    choose("amp", "bf16");
    EXPECT_EQ(std::get<std::string>(panel.config().switches.at("amp")), "bf16");
    EXPECT_TRUE(flips.isEmpty());
    EXPECT_EQ(edits, 1);
}

TEST_F(ExperimentPanelTest, FlipsAStepSwitchOfALiveRunAtOnceAndLetsOthersWait) {
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

TEST_F(ExperimentPanelTest, SaysWhichValueTheRunInProgressHasWhereAPresetChoseAnother) {
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

TEST_F(ExperimentPanelTest, SaysThatAFlipHasNotArrivedOnlyWhenTheRunTakesItsTime) {
    const RunConfig running = panel.config();
    panel.setRunning(&running);
    choose("amp", "bf16");
    EXPECT_TRUE(sentences("amp").isEmpty()) << "most answers come at once";
    ASSERT_TRUE(QTest::qWaitFor([&] { return sentences("amp").contains(QString("the run in progress has off")); }, 5000));
    panel.applied("amp", std::string("bf16"));
    EXPECT_TRUE(sentences("amp").isEmpty());
}

TEST_F(ExperimentPanelTest, FlipsWhatWasMovedWhileTheRunWasPreparedAsSoonAsTheRunIsKnown) {
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

TEST_F(ExperimentPanelTest, FlipsNothingThatAPresetChangedWhileTheRunWasPrepared) {
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

TEST_F(ExperimentPanelTest, EverySettingThatWaitsForANewRunCarriesASignThatSaysWhy) {
    for (const auto& key : configKeys()) {
        if (key.id == "data") continue;
        ASSERT_NE(sign(key.id), nullptr) << key.id;
        EXPECT_TRUE(sign(key.id)->toolTip().startsWith("Takes effect in a new run: ")) << key.id;
    }
    EXPECT_TRUE(sign("layers")->toolTip().contains("weights")) << sign("layers")->toolTip().toStdString();
    EXPECT_NE(sign("context"), nullptr);
    EXPECT_EQ(sign("grad-clip"), nullptr) << "it takes effect at the next step";
    QCoreApplication::processEvents();
    EXPECT_EQ(button("validation-fraction", "Validation share")->width(), button("grad-clip", "Gradient clipping")->width())
        << "the sign takes nothing from the name";
}

TEST_F(ExperimentPanelTest, GoesBackToTheRunningValueWhenTheRunRefusesAndSaysWhy) {
    const RunConfig running = panel.config();
    panel.setRunning(&running);
    choose("amp", "bf16");
    panel.refused("amp", "This build has no bf16.");
    EXPECT_EQ(panel.row("amp")->editor()->text(), "off");
    EXPECT_EQ(std::get<std::string>(panel.config().switches.at("amp")), "off");
    EXPECT_THAT(sentences("amp"), testing::Contains(QString("This build has no bf16.")));
    EXPECT_FALSE(panel.hasProblem()) << "a refused flip does not stand in the way of the next run";
}

TEST_F(ExperimentPanelTest, ShowsWhatThisMachineMeasuredAsAChipAndOnTheCard) {
    panel.setMeasured("amp", "×2.2", "Measured here, off → bf16: 20 → 9 ms a step.");
    panel.setMemory("amp", "Predicted memory against now: bf16 −30 MB.");
    QTest::mouseClick(button("amp", "Mixed precision"), Qt::LeftButton);
    const auto card = [&] { return sentences("amp").join("|"); };
    EXPECT_THAT(sentences("amp"), testing::Contains(QString("×2.2")));
    EXPECT_TRUE(card().contains("Measured here, off → bf16")) << card().toStdString();
    EXPECT_TRUE(card().contains("bf16 −30 MB")) << card().toStdString();
    type("layers", "6");
    EXPECT_TRUE(card().contains("Measured here")) << "an edit does not take it away";
    EXPECT_TRUE(card().contains("Reported elsewhere")) << card().toStdString();
}

TEST_F(ExperimentPanelTest, AChipThatNamesAnotherValueNeedsNoMoreRoomThanItsFigure) {
    const auto least = [&] {
        QCoreApplication::processEvents();
        return panel.row("amp")->minimumSizeHint().width();
    };
    panel.setMeasured("amp", "inconclusive", "");
    const int usual = least();
    panel.setMeasured("amp", "×1.20 vs sdpa-efficient", "Measured here, sdpa-efficient → sdpa-flash: 20 → 17 ms a step.");
    EXPECT_LE(least(), usual);
    EXPECT_THAT(sentences("amp"), testing::Contains(QString("×1.20 vs sdpa-efficient")));
}

TEST_F(ExperimentPanelTest, RemembersThePresetAndTheChangesBetweenStarts) {
    const QTemporaryDir folder;
    QSettings settings(folder.filePath("s.ini"), QSettings::IniFormat);
    type("layers", "6");
    choose("amp", "bf16");
    panel.save(settings);
    ExperimentPanel next;
    next.setCatalogue(smallCatalogue());
    EXPECT_TRUE(next.restore(settings));
    next.setChoice({"gpt2-small", "Another machine."});
    EXPECT_EQ(next.config().preset, "tiny-cpu");
    EXPECT_EQ(next.config().layers, 6);
    EXPECT_EQ(std::get<std::string>(next.config().switches.at("amp")), "bf16");
}

TEST_F(ExperimentPanelTest, ChoosesTheMachinesPresetOnAFirstStartAndSaysWhy) {
    ExperimentPanel first;
    const QTemporaryDir folder;
    const QSettings empty(folder.filePath("s.ini"), QSettings::IniFormat);
    EXPECT_FALSE(first.restore(empty));
    first.setChoice({"gpu-8gb", "It has 8 GB."});
    EXPECT_EQ(first.config().preset, "gpu-8gb");
    bool told = false;
    for (const auto* label : first.findChildren<ToneLabel*>()) told = told || label->text().contains("It has 8 GB.");
    EXPECT_TRUE(told);
}

TEST_F(ExperimentPanelTest, WarnsWhenThePredictedMemoryIsMoreThanThereIs) {
    MemoryForecast forecast;
    forecast.parameters = 124'000'000;
    forecast.total = {9'000'000'000};
    forecast.available = {8'000'000'000};
    panel.setForecast(forecast);
    bool warned = false;
    for (const auto* label : panel.findChildren<ToneLabel*>()) warned = warned || label->text().contains("too much for this machine");
    EXPECT_TRUE(warned);
}

TEST_F(ExperimentPanelTest, TheForecastSaysWhatTheMemoryIsForByKind) {
    MemoryForecast forecast;
    forecast.parameters = 124'000'000;
    forecast.parts = "logits and loss 40 MB, q, k, v 12 MB, MLP 9 MB";
    panel.setForecast(forecast);
    bool told = false;
    for (const auto* label : panel.findChildren<ToneLabel*>()) told = told || label->toolTip().endsWith("logits and loss 40 MB\nq, k, v 12 MB\nMLP 9 MB");
    EXPECT_TRUE(told);
}

TEST_F(ExperimentPanelTest, TheLearningRateRowHasTheTypicalRatesOfTheModelsSize) {
    MemoryForecast forecast;
    forecast.parameters = 354'000'000;
    panel.setForecast(forecast);
    EXPECT_TRUE(panel.row("lr")->details().contains("355 M parameters: 1e-4 to 3e-4")) << panel.row("lr")->details().toStdString();
    EXPECT_TRUE(panel.row("lr")->details().contains("Key: lr")) << "beside what it is";
    EXPECT_TRUE(panel.row("lr")->editor()->toolTip().contains("355 M"));
}

TEST_F(ExperimentPanelTest, GivesEveryControlAnAccessibleNameAndAPlaceInTheTabOrder) {
    for (const auto& entry : smallCatalogue()) {
        const QWidget* editor = panel.row(entry.id)->editor()->focusProxy();
        ASSERT_NE(editor, nullptr);
        EXPECT_EQ(editor->accessibleName().toStdString(), entry.title);
        EXPECT_TRUE((editor->focusPolicy() & Qt::TabFocus) != 0);
    }
}

}  // namespace
}  // namespace stepscope
