// The experiment panel under a person's hands: rows made from the catalogue, reasons in place, resets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QLabel>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "ExperimentPanelFixture.h"
#include "core/base/Format.h"
#include "widgets/panels/experiment/WeightsChooser.h"

namespace stepscope {
namespace {

TEST_F(ExperimentPanelTest, HasARowForEverySwitchAndEverySettingOfTheTables) {
    for (const auto& entry : smallCatalogue()) EXPECT_NE(panel.row(entry.id), nullptr) << entry.id;
    for (const auto& key : configKeys()) {
        if (key.id == "data" || key.id == "init") continue;  // have choosers of their own
        EXPECT_NE(panel.row(key.id), nullptr) << key.id;
    }
}

TEST_F(ExperimentPanelTest, ShowsTheReasonInPlaceOfTheControlWhenASwitchCannotBeUsedHere) {
    EXPECT_FALSE(panel.row("device")->editor()->isEnabled());
    EXPECT_THAT(sentences("device"), testing::Contains(QString("Needs a GPU.")));
}

TEST_F(ExperimentPanelTest, SaysWhatRunsInPlaceOfAChoiceThatStaysAsItIs) {
    SwitchCatalogue catalogue = smallCatalogue();
    catalogue[1].fallback = "amp=bf16 does not go with this: amp=off is used.";
    panel.setCatalogue(catalogue);
    EXPECT_TRUE(panel.row("amp")->editor()->isEnabled());
    EXPECT_THAT(sentences("amp"), testing::Contains(QString("amp=bf16 does not go with this: amp=off is used.")));
    panel.setCatalogue(smallCatalogue());
    EXPECT_FALSE(sentences("amp").join(' ').contains("is used"));
}

TEST_F(ExperimentPanelTest, SaysOfAValueThatRunsThatItDoesNothingBesideTheOthers) {
    SwitchCatalogue catalogue = smallCatalogue();
    catalogue[1].note = "amp=bf16 does nothing beside the others.";
    panel.setCatalogue(catalogue);
    EXPECT_TRUE(panel.row("amp")->editor()->isEnabled());
    EXPECT_THAT(sentences("amp"), testing::Contains(QString("amp=bf16 does nothing beside the others.")));
    panel.setCatalogue(smallCatalogue());
    EXPECT_FALSE(sentences("amp").join(' ').contains("does nothing"));
}

TEST_F(ExperimentPanelTest, UnfoldsWhatASwitchDoesWhatItCostsAndWhatOthersReport) {
    EXPECT_FALSE(panel.row("amp")->isUnfolded());
    QTest::mouseClick(button("amp", "Mixed precision"), Qt::LeftButton);
    EXPECT_TRUE(panel.row("amp")->isUnfolded());
    const QString all = sentences("amp").join(' ');
    for (const char* part : {"Products in 16 bits.", "Rounding.", "Reported elsewhere", "1.5–3x"}) EXPECT_TRUE(all.contains(part)) << part;
}

TEST_F(ExperimentPanelTest, EveryNameSaysInALineWhatItsRowDoesWithoutBeingUnfolded) {
    SwitchCatalogue catalogue = smallCatalogue();
    catalogue[1].why = "Flash attention (Dao et al. 2022) never stores 0.5 of it. \"auto\" lets LibTorch choose.";
    ExperimentPanel other;
    other.setCatalogue(catalogue);
    const auto line = [](const ExperimentPanel& of, const std::string& key, const QString& title) {
        for (const auto* found : of.row(key)->findChildren<TitleButton*>())
            if (found->text() == title) return found->accessibleDescription();
        return QString();
    };
    EXPECT_EQ(line(other, "amp", "Mixed precision"), "Flash attention (Dao et al. 2022) never stores 0.5 of it.");
    EXPECT_EQ(line(panel, "grad-clip", "Gradient clipping"), "Scales gradients down.");
    EXPECT_EQ(line(panel, "layers", "Layers"), "Transformer blocks.");
    for (const auto& key : configKeys()) {
        if (key.id == "data" || key.id == "init") continue;  // have choosers of their own
        EXPECT_FALSE(line(panel, key.id, QString::fromStdString(key.title)).isEmpty()) << key.id;
    }
    EXPECT_TRUE(button("amp", "Mixed precision")->toolTip().contains("Mixed precision<br>Products in 16 bits."));
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

TEST_F(ExperimentPanelTest, SaysWhatWasFoundInTheChosenWeightsAndTakesTheirShape) {
    WeightsChooser* chooser = panel.weights();
    EXPECT_EQ(chooser->weights(), "random");
    EXPECT_FALSE(chooser->shapeLink()->isVisibleTo(&panel));
    Q_EMIT chooser->chosen("/models/gpt2");
    EXPECT_EQ(panel.config().init, "/models/gpt2");
    EXPECT_EQ(chooser->list()->currentText(), "start from gpt2");

    RunConfig shaped = panel.config();
    shaped.layers = shaped.heads = 12;
    shaped.width = 768;
    panel.setWeightsLook("12 layers, 12 heads, 768 wide.", "They are of another model: layers 12 instead of 4.", shaped);
    EXPECT_EQ(panel.problem(), "They are of another model: layers 12 instead of 4.");
    EXPECT_EQ(chooser->note(), panel.problem());
    EXPECT_TRUE(chooser->shapeLink()->isVisibleTo(&panel));
    QTest::mouseClick(chooser->shapeLink(), Qt::LeftButton);
    EXPECT_EQ(panel.config().layers, 12);
    EXPECT_EQ(panel.config().width, 768);
    EXPECT_EQ(panel.config().init, "/models/gpt2");
    panel.setWeightsLook("12 layers, 12 heads, 768 wide.", {}, {});
    EXPECT_FALSE(panel.hasProblem());
    EXPECT_EQ(chooser->note(), "12 layers, 12 heads, 768 wide.");
    EXPECT_FALSE(chooser->shapeLink()->isVisibleTo(&panel));

    for (auto* reset : chooser->findChildren<TitleButton*>())
        if (reset->text() == "reset") QTest::mouseClick(reset, Qt::LeftButton);
    EXPECT_EQ(panel.config().init, "random") << "a way back";
}

TEST_F(ExperimentPanelTest, WeightsAreThereAgainAtTheNextStart) {
    const QTemporaryDir folder;
    QSettings settings(folder.filePath("settings"), QSettings::IniFormat);
    Q_EMIT panel.weights()->chosen("/models/gpt2");
    panel.save(settings);
    ExperimentPanel other;
    other.setCatalogue(smallCatalogue());
    ASSERT_TRUE(other.restore(settings));
    EXPECT_EQ(other.config().init, "/models/gpt2");
    EXPECT_EQ(other.weights()->weights(), "/models/gpt2");
}

TEST_F(ExperimentPanelTest, ChoosesWorkersUpToTheCoresAndShowsTheBatchOfAllOfThem) {
    EXPECT_EQ(panel.workers(), 1);
    type("workers", "2");
    EXPECT_EQ(panel.workers(), 1) << "until the cores are known";
    EXPECT_TRUE(panel.hasProblem());
    panel.setCores(4);
    type("workers", "3");
    EXPECT_FALSE(panel.hasProblem()) << panel.problem().toStdString();
    EXPECT_EQ(panel.workers(), 3);
    type("workers", "5");
    EXPECT_TRUE(panel.problem().contains("workers cannot be \"5\"; it takes a whole number from 1 to 4")) << panel.problem().toStdString();
    EXPECT_EQ(panel.workers(), 3);

    RunConfig config = panel.config();
    config.switches["batch-size"] = std::int64_t{12};
    config.switches["grad-accumulation"] = std::int64_t{2};
    panel.adopt(config);
    EXPECT_EQ(panel.workers(), 3);
    EXPECT_FALSE(panel.hasProblem());
    EXPECT_TRUE(panel.row("workers")->details().endsWith("3 workers with 24 sequences each: an update takes 72."))
        << panel.row("workers")->details().toStdString();
    EXPECT_THAT(sentences("workers"), testing::Contains(QString("batch 72")));
    QTest::mouseClick(button("workers", "reset"), Qt::LeftButton);
    EXPECT_EQ(panel.workers(), 1);
    EXPECT_THAT(sentences("workers"), testing::Not(testing::Contains(QString("batch 24"))));
}

TEST_F(ExperimentPanelTest, WorkersAreThereAgainAtTheNextStart) {
    const QTemporaryDir folder;
    QSettings settings(folder.filePath("settings"), QSettings::IniFormat);
    panel.setCores(4);
    type("workers", "4");
    panel.save(settings);
    ExperimentPanel other;
    other.setCatalogue(smallCatalogue());
    other.setCores(2);
    ASSERT_TRUE(other.restore(settings));
    EXPECT_EQ(other.workers(), 2) << "no more than this machine has cores";
}

TEST_F(ExperimentPanelTest, AsksNobodyToFlipWhileNothingRuns) {
    choose("amp", "bf16");
    EXPECT_EQ(std::get<std::string>(panel.config().switches.at("amp")), "bf16");
    EXPECT_TRUE(flips.isEmpty());
    EXPECT_EQ(edits, 1);
}

TEST_F(ExperimentPanelTest, EverySettingThatWaitsForANewRunCarriesASignThatSaysWhy) {
    for (const auto& key : configKeys()) {
        if (key.id == "data" || key.id == "init") continue;
        ASSERT_NE(sign(key.id), nullptr) << key.id;
        EXPECT_TRUE(sign(key.id)->toolTip().startsWith("Takes effect in a new run: ")) << key.id;
    }
    EXPECT_TRUE(sign("layers")->toolTip().contains("weights")) << sign("layers")->toolTip().toStdString();
    EXPECT_NE(sign("context"), nullptr);
    EXPECT_EQ(sign("grad-clip"), nullptr) << "it takes effect at the next step";
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
    panel.setMeasured("amp", "bf16 ×2.20", "");
    const int usual = least();
    panel.setMeasured("amp", "sdpa-flash ×1.20 vs sdpa-efficient", "Measured here, sdpa-efficient → sdpa-flash: 20 → 17 ms a step.");
    EXPECT_LE(least(), usual);
    EXPECT_THAT(sentences("amp"), testing::Contains(QString("sdpa-flash ×1.20 vs sdpa-efficient")));
}

TEST_F(ExperimentPanelTest, TheFilterLeavesTheSwitchesThatHaveItsWordsAndTheirHeadings) {
    auto* filter = panel.findChild<QLineEdit*>("", Qt::FindChildrenRecursively);
    for (auto* line : panel.findChildren<QLineEdit*>())
        if (line->accessibleName() == "Filter switches") filter = line;
    ASSERT_EQ(filter->accessibleName(), "Filter switches");
    const auto left = [&] {
        QStringList ids;
        for (const auto& entry : smallCatalogue())
            if (!panel.row(entry.id)->isHidden()) ids << QString::fromStdString(entry.id);
        return ids;
    };
    const auto says = [&](const QString& text) {
        const auto labels = panel.findChildren<ToneLabel*>();
        return std::ranges::any_of(labels, [&](const auto* label) { return !label->isHidden() && label->text() == text; });
    };
    EXPECT_EQ(left().size(), 5);
    QTest::keyClicks(filter, "precision");
    EXPECT_EQ(left(), QStringList{"amp"}) << "by title";
    EXPECT_FALSE(says("memory")) << "a group without any has no heading";
    EXPECT_TRUE(says("precision"));
    filter->setText("host-mem");
    EXPECT_EQ(left(), QStringList{"host-memory"}) << "by key";
    filter->setText("gradients down");
    EXPECT_EQ(left(), QStringList{"grad-clip"}) << "by what it does";
    filter->setText("nothing of the kind");
    EXPECT_TRUE(left().isEmpty());
    EXPECT_TRUE(says("No switch matches. Fewer letters find more."));
    filter->clear();
    EXPECT_EQ(left().size(), 5);
    EXPECT_FALSE(says("No switch matches. Fewer letters find more."));
}

TEST_F(ExperimentPanelTest, AMistakeIsToldAtTheFootAndNothingAboveMoves) {
    QCoreApplication::processEvents();
    const auto places = [&] {
        QCoreApplication::processEvents();
        std::vector<QPoint> all;
        for (const auto* row : panel.findChildren<ValueRow*>()) all.push_back(row->mapTo(&panel, QPoint()));
        return all;
    };
    const auto before = places();
    const auto foot = [&] { return panel.findChild<ForecastFoot*>()->problem(); };
    type("layers", "-3");
    EXPECT_TRUE(foot().contains("layers cannot be")) << foot().toStdString();
    EXPECT_EQ(places(), before);
    type("layers", "5");
    EXPECT_TRUE(foot().isEmpty());
    panel.setProblem("A sentence of what keeps these settings from running, which is long enough for three lines of the foot of a panel.");
    EXPECT_EQ(places(), before);
    panel.setProblem({});
    panel.setDataProblem("essay.txt is empty.");
    EXPECT_EQ(foot(), "essay.txt is empty.");
    EXPECT_EQ(panel.problem(), "essay.txt is empty.");
    panel.setMeasured("amp", "bf16 ×2.20", "Measured here.");
    panel.setReplaying(true);
    const RunConfig running = panel.config();
    panel.setRunning(&running);
    choosePreset("gpu-8gb");
    EXPECT_EQ(places(), before);
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

TEST_F(ExperimentPanelTest, KeepsWhatIsStoredUntilItHasReadThat) {
    const QTemporaryDir folder;
    QSettings settings(folder.filePath("s.ini"), QSettings::IniFormat);
    settings.setValue("experiment/preset", "gpu-8gb");
    ExperimentPanel closedEarly;  // before the engine was there
    closedEarly.save(settings);
    EXPECT_EQ(settings.value("experiment/preset").toString(), "gpu-8gb");
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
    for (const auto* label : panel.findChildren<ToneLabel*>())
        told = told || label->toolTip().endsWith("logits and loss 40 MB\nq, k, v 12 MB\nMLP 9 MB");
    EXPECT_TRUE(told);
}

TEST_F(ExperimentPanelTest, OnlyATimeThatIsKnownIsSaidToBeOfTheNextRun) {
    const auto said = [&] {
        for (const auto* label : panel.foot()->findChildren<QLabel*>())
            if (label->accessibleName() == "Predicted time") return label->text();
        return QString();
    };
    panel.foot()->setRunning(true);
    panel.setTimeForecast("about that nothing is known", "", /*isKnown=*/false);
    EXPECT_FALSE(said().startsWith("next run")) << said().toStdString();
    panel.setTimeForecast("02:11 for 2 000 steps", "", /*isKnown=*/true);
    EXPECT_TRUE(said().startsWith("next run: 02:11")) << said().toStdString();
    panel.foot()->setRunning(false);
    EXPECT_TRUE(said().startsWith("02:11")) << said().toStdString();
}

TEST_F(ExperimentPanelTest, TheLearningRateRowHasTheTypicalRatesOfTheModelsSize) {
    MemoryForecast forecast;
    forecast.parameters = 354'000'000;
    panel.setForecast(forecast);
    EXPECT_TRUE(panel.row("lr")->details().contains("355 M parameters: 1e-4 to 3e-4")) << panel.row("lr")->details().toStdString();
    EXPECT_TRUE(panel.row("lr")->details().contains("Key: lr")) << "beside what it is";
    EXPECT_TRUE(panel.row("lr")->editor()->toolTip().contains("355 M"));
}

TEST_F(ExperimentPanelTest, TheRowsOfCheckpointsSayWhatOneTakesWithThisModel) {
    for (const std::int64_t parameters : {124'000'000, 3'000'000}) {
        MemoryForecast forecast;
        forecast.parameters = parameters;
        panel.setForecast(forecast);
        // Weights and both moments, in float32.
        const QString size = "One takes about " + QString::fromStdString(format::bytes({parameters * 12})) + " with this model.";
        for (const char* key : {"checkpoint-every", "checkpoint-at-end"}) {
            EXPECT_TRUE(panel.row(key)->details().endsWith(size)) << panel.row(key)->details().toStdString();
            EXPECT_EQ(panel.row(key)->editor()->toolTip(), size) << key;
        }
    }
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
