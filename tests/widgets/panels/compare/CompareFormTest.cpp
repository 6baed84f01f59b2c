// The question of the page Compare: its rows, what is wrong with them, its numbers, what keeps it from being measured now.
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "tests/widgets/panels/PanelFixture.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/compare/CompareForm.h"
#include "widgets/panels/compare/DifferenceRow.h"
#include "widgets/panels/compare/StartChooser.h"
#include "widgets/panels/experiment/NumberEdit.h"
#include "widgets/panels/experiment/ValueEdit.h"

namespace stepscope {
namespace {

class CompareFormTest : public testing::Test {
protected:
    CompareFormTest() {
        for (const auto& entry : smallCatalogue()) settings.switches[entry.id] = entry.byDefault;
        form.resize(640, 600);
        form.show();
        form.setSettings(settings, smallCatalogue());
        form.setBusy(CompareBusy::Free);
        QCoreApplication::processEvents();
    }
    QPushButton* button(const QString& text) const {
        for (auto* found : form.findChildren<QPushButton*>())
            if (found->text() == text) return found;
        return nullptr;
    }
    NumberEdit* number(const QString& name) const {
        for (auto* found : form.findChildren<NumberEdit*>())
            if (found->accessibleName() == name) return found;
        return nullptr;
    }
    void type(const QString& name, const QString& text) const {
        NumberEdit* edit = number(name);
        ASSERT_NE(edit, nullptr) << name.toStdString();
        edit->findChild<QLineEdit*>()->setText(text);
        QTest::keyClick(edit, Qt::Key_Return);
    }
    QString said() const {
        for (auto* label : form.findChildren<ToneLabel*>())
            if (label->accessibleName() == "Whether it can be measured") return label->text();
        return {};
    }
    RunConfig settings;
    CompareForm form;
};

TEST_F(CompareFormTest, BIsAnotherValueThanAAsLongAsNobodyChoseIt) {
    settings.switches["amp"] = std::string("bf16");  // flipped in the panel at the left
    form.setSettings(settings, smallCatalogue());
    EXPECT_EQ(form.question().differences[0], (Difference{"amp", "bf16", "off"}));
    settings.switches["amp"] = std::string("off");
    form.setSettings(settings, smallCatalogue());
    EXPECT_EQ(form.question().differences[0], (Difference{"amp", "off", "bf16"}));
    CompareQuestion chosen = form.question();
    form.setQuestion(chosen);
    settings.switches["amp"] = std::string("bf16");
    form.setSettings(settings, smallCatalogue());
    EXPECT_EQ(form.question().differences[0].b, "bf16") << "somebody chose it";
}

TEST_F(CompareFormTest, FitsTheSmallestWindow) {
    form.resize(380, 400);
    QCoreApplication::processEvents();
    EXPECT_LE(form.widget()->width(), form.viewport()->width()) << "nothing is cut at the right";
}

TEST_F(CompareFormTest, BeginsWithAQuestionThatCanBeAskedAtOnce) {
    const CompareQuestion question = form.question();
    ASSERT_EQ(question.differences.size(), 1u);
    EXPECT_EQ(question.differences[0], (Difference{"amp", "off", "bf16"}));
    EXPECT_EQ(question.budgetSeconds, 180);
    EXPECT_EQ(question.delta, 0.01);
    EXPECT_EQ(question.seed, 0) << "other coins each time";
    form.setCheck({.rows = {QString()}, .problem = {}, .notes = {}});
    EXPECT_TRUE(form.measureButton()->isEnabled());
    QSignalSpy asked(&form, &CompareForm::measureRequested);
    QTest::mouseClick(form.measureButton(), Qt::LeftButton);
    EXPECT_EQ(asked.size(), 1);
}

TEST_F(CompareFormTest, AddsAndRemovesDifferencesAndKeepsTheirOrder) {
    QTest::mouseClick(button("Another difference"), Qt::LeftButton);
    ASSERT_EQ(form.rows().size(), 2u);
    DifferenceRow* second = form.rows()[1];
    second->keys()->setCurrentIndex(second->keys()->findData("host-memory"));
    Q_EMIT second->keys()->activated(second->keys()->currentIndex());
    EXPECT_EQ(form.question().differences[1], (Difference{"host-memory", "caching", "system"}));
    Q_EMIT form.rows()[0]->removeRequested();
    QCoreApplication::processEvents();
    ASSERT_EQ(form.rows().size(), 1u);
    EXPECT_EQ(form.question().differences[0].key, "host-memory");
    Q_EMIT form.rows()[0]->removeRequested();
    QCoreApplication::processEvents();
    EXPECT_EQ(form.rows().size(), 1u) << "the last one stays";
}

TEST_F(CompareFormTest, SideAFollowsTheSettingsUntilItIsChanged) {
    settings.switches["amp"] = std::string("bf16");
    form.setSettings(settings, smallCatalogue());
    EXPECT_EQ(form.question().differences[0].a, "bf16");
    ValueEdit* a = form.rows()[0]->editor(true);
    a->setText("off");
    Q_EMIT a->committed("off");
    settings.switches["amp"] = std::string("fp16");
    form.setSettings(settings, smallCatalogue());
    EXPECT_EQ(form.question().differences[0].a, "off");
}

TEST_F(CompareFormTest, SaysAMistakeBesideItsRowAndNothingMoves) {
    form.setCheck({.rows = {QString()}, .problem = {}, .notes = {}});
    QCoreApplication::processEvents();
    const QPoint before = form.measureButton()->mapTo(&form, QPoint());
    form.setCheck({.rows = {"B: amp takes off, bf16 or fp16, not \"both\"."}, .problem = {}, .notes = {}});
    QCoreApplication::processEvents();
    EXPECT_EQ(form.rows()[0]->problem(), "B: amp takes off, bf16 or fp16, not \"both\".");
    EXPECT_FALSE(form.measureButton()->isEnabled());
    EXPECT_FALSE(said().isEmpty());
    form.setCheck({.rows = {QString()}, .problem = "A: these need 90 GB, and 8 GB are available.", .notes = {}});
    QCoreApplication::processEvents();
    EXPECT_EQ(said(), "A: these need 90 GB, and 8 GB are available.");
    EXPECT_EQ(form.measureButton()->mapTo(&form, QPoint()), before);
}

TEST_F(CompareFormTest, ANumberThatCannotBeIsSaidAndTheLastGoodOneStays) {
    form.setCheck({.rows = {QString()}, .problem = {}, .notes = {}});
    type("Minutes", "0");
    EXPECT_TRUE(said().contains("Minutes")) << said().toStdString();
    EXPECT_FALSE(form.measureButton()->isEnabled());
    EXPECT_EQ(form.question().budgetSeconds, 180);
    type("Minutes", "0.5");
    EXPECT_EQ(form.question().budgetSeconds, 30);
    type("Equal ± %", "2");
    EXPECT_DOUBLE_EQ(form.question().delta, 0.02);
    EXPECT_TRUE(form.measureButton()->isEnabled());
}

TEST_F(CompareFormTest, WhileARunTrainsItOffersToStopItOrToWait) {
    form.setCheck({.rows = {QString()}, .problem = {}, .notes = {}});
    EXPECT_FALSE(button("Stop the run and measure")->isVisible());
    form.setBusy(CompareBusy::Training);
    EXPECT_FALSE(form.measureButton()->isEnabled());
    EXPECT_TRUE(said().contains("trains on this machine"));
    QSignalSpy stop(&form, &CompareForm::stopRunRequested), wait(&form, &CompareForm::waitRequested);
    QTest::mouseClick(button("Stop the run and measure"), Qt::LeftButton);
    QTest::mouseClick(button("Measure when it ends"), Qt::LeftButton);
    EXPECT_EQ(stop.size(), 1);
    ASSERT_EQ(wait.size(), 1);
    EXPECT_TRUE(wait[0][0].toBool());
    form.setBusy(CompareBusy::Waiting);
    EXPECT_TRUE(button("Measure when it ends")->isChecked());
    QTest::mouseClick(button("Measure when it ends"), Qt::LeftButton);
    EXPECT_FALSE(wait[1][0].toBool());
}

TEST_F(CompareFormTest, TheMachineBesideItselfNeedsNoDifference) {
    auto* same = form.findChild<QCheckBox*>();
    same->click();
    EXPECT_TRUE(form.question().same);
    EXPECT_FALSE(form.rows()[0]->isEnabled());
}

TEST_F(CompareFormTest, PutsAWholeQuestionBack) {
    const CompareQuestion asked{
        .differences = {{"grad-clip", "1", "0"}, {"amp", "bf16", "off"}}, .same = false, .budgetSeconds = 90, .delta = 0.005, .seed = 7};
    form.setQuestion(asked);
    EXPECT_EQ(form.question(), asked);
}

TEST_F(CompareFormTest, AQuestionThatComesBeforeTheEngineHasSaidWhatThereIsIsKept) {
    CompareForm early;
    const CompareQuestion asked{.differences = {{"grad-clip", "1", "0"}}, .budgetSeconds = 90, .delta = 0.01, .seed = 1};
    early.setQuestion(asked);
    early.setSettings(settings, smallCatalogue());
    EXPECT_EQ(early.question(), asked);
}

TEST_F(CompareFormTest, BothBeginWithFreshWeightsOrWithACheckpointThatIsChosen) {
    EXPECT_TRUE(form.question().start.empty());
    CompareQuestion asked = form.question();
    asked.start = "/runs/checkpoint-42";
    form.setQuestion(asked);
    QComboBox* list = form.start()->list();
    EXPECT_EQ(form.question(), asked);
    EXPECT_EQ(list->currentText(), "checkpoint-42");
    EXPECT_EQ(list->toolTip(), "/runs/checkpoint-42");
    QSignalSpy edited(&form, &CompareForm::edited);
    list->setCurrentIndex(0);
    Q_EMIT list->activated(0);
    EXPECT_EQ(edited.size(), 1) << "another question: it is looked at anew";
    EXPECT_TRUE(form.question().start.empty());
}

TEST_F(CompareFormTest, EarlierAnswersAreCountedAndOpenOnAClick) {
    form.setCheck({.rows = {QString()},
                   .problem = {},
                   .notes = {},
                   .earlier = {{12, "3 h ago", "faster by 12 %"}, {9, "2 d ago", "inconclusive"}},
                   .earlierCount = 2});
    TitleButton* link = nullptr;
    for (auto* found : form.findChildren<TitleButton*>())
        if (found->text().startsWith("session 12")) link = found;
    ASSERT_NE(link, nullptr);
    QSignalSpy opened(&form, &CompareForm::earlierRequested);
    QTest::mouseClick(link, Qt::LeftButton);
    ASSERT_EQ(opened.size(), 1);
    EXPECT_EQ(opened[0][0].toLongLong(), 12);
}

TEST_F(CompareFormTest, EveryFieldHasANameAndCanBeReachedByTab) {
    std::set<const QWidget*> reached;
    for (QWidget* next = form.nextInFocusChain(); next != &form; next = next->nextInFocusChain()) reached.insert(next);
    for (auto* field : form.findChildren<QWidget*>()) {
        const bool isField = qobject_cast<QComboBox*>(field) != nullptr || qobject_cast<NumberEdit*>(field) != nullptr;
        if (!isField) continue;
        EXPECT_FALSE(field->accessibleName().isEmpty()) << field->metaObject()->className();
        EXPECT_TRUE(reached.contains(field)) << field->accessibleName().toStdString();
    }
}

TEST_F(CompareFormTest, TheLeastMinutesAreANumberThatCanBeTyped) {
    type("Minutes", "0");
    EXPECT_TRUE(said().contains("from 0.08 to 1440")) << said().toStdString();
    CompareQuestion shortest = form.question();
    shortest.budgetSeconds = 5;  // as the command line takes it, and as it is stored
    form.setQuestion(shortest);
    EXPECT_EQ(said(), "");
    type("Minutes", "0.08");
    EXPECT_EQ(form.question().budgetSeconds, 5) << "what the engine takes at least";
}

}  // namespace
}  // namespace stepscope
