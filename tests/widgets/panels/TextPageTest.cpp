// The page that writes text: what it asks for, and why it is empty.
#include <gtest/gtest.h>

#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTest>
#include <optional>

#include "widgets/panels/TextPage.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/experiment/NumberEdit.h"

namespace stepscope {
namespace {

class TextPageTest : public testing::Test {
protected:
    TextPageTest() {
        page.show();
        QObject::connect(&page, &TextPage::generateRequested, &page, [this](const GenerateText& wanted) { asked = wanted; });
    }
    QPushButton* generate() const { return page.findChild<QPushButton*>(); }
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
