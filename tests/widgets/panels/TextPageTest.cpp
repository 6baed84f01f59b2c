// The page that writes text: what it asks for, and why it is empty.
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTest>
#include <optional>

#include "widgets/panels/FoldSection.h"
#include "widgets/panels/TextPage.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/experiment/NumberEdit.h"

namespace stepscope {
namespace {

class TextPageTest : public testing::Test {
protected:
    TextPageTest() {
        page.show();
        QObject::connect(&page, &TextPage::generateRequested, &page, [this](const TextWish& wanted) {
            wish = wanted;
            asked = wanted.how;
        });
    }
    QPushButton* generate() const { return page.findChild<QPushButton*>(); }
    // A button below Generate; null: there is none.
    QPushButton* button(const QString& text) const {
        for (auto* found : page.findChildren<QPushButton*>())
            if (found->text() == text) return found;
        return nullptr;
    }
    FoldSection& more() const { return *page.findChild<FoldSection*>(); }
    QLineEdit* stops() const {
        for (auto* edit : page.findChildren<QLineEdit*>())
            if (edit->accessibleName() == "Texts to stop at") return edit;
        return nullptr;
    }
    QString output() const { return page.findChildren<QPlainTextEdit*>()[1]->toPlainText(); }
    bool says(const QString& text) const {
        for (const auto* label : page.findChildren<ToneLabel*>())
            if (label->isVisible() && label->text().contains(text)) return true;
        return false;
    }
    void set(const QString& name, const QString& text) {
        for (auto* edit : page.findChildren<NumberEdit*>()) {
            if (edit->accessibleName() != name) continue;
            edit->findChild<QLineEdit*>()->setText(text);
            QTest::keyClick(edit, Qt::Key_Return);
        }
    }

    TextPage page;
    std::optional<TextWish> wish;
    std::optional<GenerateText> asked;
};

TEST_F(TextPageTest, SaysWhyNothingCanBeWrittenAndWhatToDo) {
    EXPECT_FALSE(generate()->isEnabled());
    EXPECT_TRUE(says("press Run"));
}

TEST_F(TextPageTest, AsksForTextWithWhatIsSet) {
    page.setReady(true, {});
    set("Temperature", "0.5");
    set("Top-k", "40");
    set("Top-p", "0.9");
    set("Tokens", "64");
    set("Seed", "7");
    QTest::mouseClick(generate(), Qt::LeftButton);
    ASSERT_TRUE(asked.has_value());
    EXPECT_EQ(asked->prompt, "In the beginning");
    EXPECT_EQ(asked->tokens, 64);
    EXPECT_DOUBLE_EQ(asked->temperature, 0.5);
    EXPECT_EQ(asked->topK, 40);
    EXPECT_DOUBLE_EQ(asked->topP, 0.9);
    EXPECT_EQ(asked->seed, 7);
    EXPECT_EQ(generate()->text(), "Stop") << "one at a time";
}

TEST(StopTexts, AreSeparatedByBarsAndHaveLinesEndsAndBars) {
    using Texts = std::vector<std::string>;
    EXPECT_EQ(stopTexts(""), Texts{});
    EXPECT_EQ(stopTexts("END"), Texts{"END"});
    EXPECT_EQ(stopTexts("\\n\\n|END. | a"), (Texts{"\n\n", "END. ", " a"}));
    EXPECT_EQ(stopTexts("|a||b|"), (Texts{"a", "b"})) << "none is empty";
    EXPECT_EQ(stopTexts("a\\|b|\\\\n|\\x\\"), (Texts{"a|b", "\\n", "\\x\\"}));
}

TEST_F(TextPageTest, AsksUnderMoreForStopsPenaltiesPromptsAndTheTypeOfTheWeights) {
    page.setReady(true, {});
    page.setSource("Written with the checkpoint of step 4.");
    more().setOpen(true);
    QTest::keyClicks(stops(), "\\n\\n|END");
    set("Repetition", "1.2");
    set("Frequency", "0.5");
    set("Presence", "-1");
    auto* type = page.findChild<QComboBox*>();
    type->setCurrentIndex(type->findData("int8"));
    page.findChild<QCheckBox*>()->setChecked(true);
    page.findChild<QPlainTextEdit*>()->setPlainText("One\n\nAnother");
    QTest::mouseClick(generate(), Qt::LeftButton);
    ASSERT_TRUE(wish.has_value());
    EXPECT_EQ(wish->how.stop, (std::vector<std::string>{"\n\n", "END"}));
    EXPECT_DOUBLE_EQ(wish->how.repetitionPenalty, 1.2);
    EXPECT_DOUBLE_EQ(wish->how.frequencyPenalty, 0.5);
    EXPECT_DOUBLE_EQ(wish->how.presencePenalty, -1);
    EXPECT_EQ(wish->dtype, "int8");
    EXPECT_EQ(wish->prompts, (std::vector<std::string>{"One", "Another"}));
    EXPECT_EQ(wish->how.prompt, "One");
    QStringList tips;
    for (const auto* label : more().findChildren<ToneLabel*>()) tips << label->toolTip();
    EXPECT_TRUE(tips.contains("2 stops, repetition 1.2, frequency 0.5, presence -1, int8, a prompt in each line")) << "what is folded is told";
    more().setOpen(false);
}

TEST_F(TextPageTest, WritesOnePromptOfSeveralLinesUnlessLinesArePrompts) {
    page.setReady(true, {});
    page.findChild<QPlainTextEdit*>()->setPlainText("One\nAnother");
    QTest::mouseClick(generate(), Qt::LeftButton);
    ASSERT_TRUE(wish.has_value());
    EXPECT_EQ(wish->prompts, (std::vector<std::string>{"One\nAnother"}));
    EXPECT_EQ(wish->dtype, "f32");
    EXPECT_TRUE(wish->how.stop.empty());
    page.setText({12, {}, "One\nAnother", " and", true});
    page.findChild<QCheckBox*>()->setChecked(true);
    page.findChild<QPlainTextEdit*>()->setPlainText(QString("a\n").repeated(65));
    EXPECT_TRUE(says("1 to 64 prompts at a time; these are 65 lines."));
    EXPECT_FALSE(generate()->isEnabled());
}

TEST_F(TextPageTest, ShowsSeveralTextsBelowEachOtherAndNoneOfThemAlone) {
    page.setReady(true, {});
    page.findChild<QCheckBox*>()->setChecked(true);
    page.findChild<QPlainTextEdit*>()->setPlainText("One\nAnother");
    QTest::mouseClick(generate(), Qt::LeftButton);
    page.setText({12, {}, "One", " is", false});
    EXPECT_EQ(output(), "") << "it is one of them";
    page.setTexts({{12, {}, "One", " is", false}}, 2, false);
    EXPECT_EQ(output(), "--- 1 of 2\nOne is");
    EXPECT_EQ(generate()->text(), "Stop");
    page.setTexts({{12, {}, "One", " is one", true}, {12, {}, "Another", " is", true}}, 2, true);
    EXPECT_EQ(output(), "--- 1 of 2\nOne is one\n\n--- 2 of 2\nAnother is");
    EXPECT_EQ(generate()->text(), "Generate");
    EXPECT_TRUE(says("step 12."));
    page.setText({13, {}, "A sample", " of the run", true});
    EXPECT_EQ(output(), "A sample of the run");
}

TEST_F(TextPageTest, OffersTheTypeOfTheWeightsWhereTheyAreNotThoseOfARun) {
    page.setReady(true, {});
    page.setLiveWeights(true);
    EXPECT_FALSE(page.findChild<QComboBox*>()->isEnabled());
    page.setLiveWeights(false);
    EXPECT_TRUE(page.findChild<QComboBox*>()->isEnabled());
    QStringList words;
    for (int i = 0; i < page.findChild<QComboBox*>()->count(); ++i) words << page.findChild<QComboBox*>()->itemData(i).toString();
    EXPECT_EQ(words, (QStringList{"f32", "bf16", "int8", "int8-dynamic", "int4"}));
    EXPECT_EQ(page.findChild<QComboBox*>()->currentText(), "f32") << "short enough for the narrowest page";
}

TEST_F(TextPageTest, SaysWhichWeightsWereChosenAndGivesTheSessionsBack) {
    std::optional<QString> chosen;
    QObject::connect(&page, &TextPage::weightsRequested, &page, [&](const QString& path) { chosen = path; });
    page.setReady(true, {});
    ASSERT_NE(button("File…"), nullptr);
    ASSERT_NE(button("Folder…"), nullptr);
    EXPECT_FALSE(button("Session's")->isEnabled());
    more().setOpen(true);
    page.setSource("Written with the weights in /weights/gpt2.", true);
    EXPECT_TRUE(says("/weights/gpt2"));
    ASSERT_TRUE(button("Session's")->isEnabled());
    button("Session's")->click();
    EXPECT_EQ(chosen, QString());
    page.setText({-1, {}, "In the", " beg", true});
    EXPECT_TRUE(says("With the weights that were chosen."));
}

TEST_F(TextPageTest, KeepsItsPlaceAndItsTextInASmallWindowWithMoreOpen) {
    page.setReady(true, {});
    page.resize(620, 420);  // as in a window of 1024 by 640, beside the panel of the experiment
    QTest::qWait(1);
    const QPoint before = generate()->mapTo(&page, QPoint(0, 0));
    auto* fields = page.findChildren<NumberEdit*>().first();
    const QPoint number = fields->mapTo(&page, QPoint(0, 0));
    more().setOpen(true);
    QTest::qWait(1);
    EXPECT_EQ(generate()->mapTo(&page, QPoint(0, 0)), before) << "what is above does not move";
    EXPECT_EQ(fields->mapTo(&page, QPoint(0, 0)), number);
    EXPECT_LE(page.minimumSizeHint().height(), 420);
    EXPECT_LE(page.minimumSizeHint().width(), 620);
    for (const auto* child : page.findChildren<QWidget*>()) {
        if (!child->isVisible() || child->accessibleName().isEmpty()) continue;
        EXPECT_LE(child->mapTo(&page, QPoint(child->width(), 0)).x(), page.width()) << child->accessibleName().toStdString();
    }
    auto* output = page.findChildren<QPlainTextEdit*>()[1];
    EXPECT_GE(output->height(), 4 * output->fontMetrics().height());
    more().setOpen(false);
}

TEST_F(TextPageTest, StopsTheTextByTheSameButtonAndTheSameKeys) {
    int stops = 0;
    QObject::connect(&page, &TextPage::stopRequested, &page, [&] { ++stops; });
    page.setReady(true, {});
    QTest::mouseClick(generate(), Qt::LeftButton);
    EXPECT_EQ(stops, 0);
    QTest::mouseClick(generate(), Qt::LeftButton);
    EXPECT_EQ(stops, 1);
    EXPECT_EQ(generate()->shortcut(), QKeySequence("Ctrl+Return")) << "a new text on a button clears its keys";
    page.setText({12, {}, "In the", " beg", true});
    EXPECT_EQ(generate()->text(), "Generate") << "what was written stays, and another one can be asked for";
    EXPECT_EQ(output(), "In the beg");
}

TEST_F(TextPageTest, RefusesANumberOutsideItsRangeWithASentence) {
    page.setReady(true, {});
    set("Top-p", "1.5");
    EXPECT_TRUE(says("top-p cannot be \"1.5\""));
    EXPECT_FALSE(generate()->isEnabled());
}

TEST_F(TextPageTest, ShowsTheTextAsItComes) {
    page.setReady(true, {});
    QTest::mouseClick(generate(), Qt::LeftButton);
    page.setText({12, {}, "In the", " beg", false});
    EXPECT_EQ(output(), "In the beg");
    EXPECT_EQ(generate()->text(), "Stop");
    page.setText({12, {}, "In the", " beginning", true});
    EXPECT_EQ(output(), "In the beginning");
    EXPECT_EQ(generate()->text(), "Generate");
    EXPECT_TRUE(generate()->isEnabled());
    EXPECT_TRUE(says("step 12"));
}

TEST_F(TextPageTest, SaysHowFastPromptAndTextAreWhereThatIsKnown) {
    page.setReady(true, {});
    page.setText({12, {}, "In the", " beg", false, 1250, 41.5});
    EXPECT_TRUE(says("Prompt read at 1.25\u202fK tok/s"));
    EXPECT_TRUE(says("written at 41.5\u202ftok/s"));
    page.setText({12, {}, "In the", " beginning", true});
    EXPECT_FALSE(says("tok/s")) << "a stored text has no speed";
}

TEST_F(TextPageTest, SaysWhyATextDoesNotComeAndLetsOneTryAgain) {
    page.setReady(true, {});
    QTest::mouseClick(generate(), Qt::LeftButton);
    page.refuse("No text: the prompt holds a letter that the data do not.");
    EXPECT_TRUE(says("the prompt holds a letter"));
    EXPECT_TRUE(generate()->isEnabled());
    QTest::mouseClick(generate(), Qt::LeftButton);
    EXPECT_FALSE(says("the prompt holds a letter"));
}

TEST_F(TextPageTest, WhyWeightsCouldNotWriteGoesWhenOthersAreChosen) {
    page.setReady(true, {});
    page.setSource("Written with the weights in /weights/broken.", true);
    QTest::mouseClick(generate(), Qt::LeftButton);
    page.refuse("/weights/broken has no config.json.");
    page.setSource("Written with the weights in /weights/broken.", true);
    EXPECT_TRUE(says("has no config.json")) << "of the same weights it stays";
    page.setSource("Written with the checkpoint of step 42.", false);
    EXPECT_FALSE(says("has no config.json"));
    EXPECT_TRUE(says("the checkpoint of step 42"));
}

TEST_F(TextPageTest, EscLeavesTheFieldThatOneTypesIn) {
    page.setFocusPolicy(Qt::StrongFocus);
    page.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&page));
    for (QWidget* field : {static_cast<QWidget*>(page.findChild<QPlainTextEdit*>()), static_cast<QWidget*>(page.findChild<NumberEdit*>())}) {
        field->setFocus();
        ASSERT_TRUE(field->hasFocus());
        QTest::keyClick(field, Qt::Key_Escape);
        EXPECT_TRUE(page.hasFocus()) << field->accessibleName().toStdString();
    }
}

TEST_F(TextPageTest, StopsWaitingWhenTheRunIsGone) {
    page.setReady(true, {});
    QTest::mouseClick(generate(), Qt::LeftButton);
    page.setReady(false, "Gone.");
    page.setReady(true, {});
    EXPECT_TRUE(generate()->isEnabled());
}

}  // namespace
}  // namespace stepscope
