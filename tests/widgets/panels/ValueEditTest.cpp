// One editable value: what may be typed, and the sentence for what may not.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTest>
#include <limits>

#include "widgets/panels/experiment/NumberEdit.h"
#include "widgets/panels/experiment/ToggleSwitch.h"
#include "widgets/panels/experiment/ValueEdit.h"

namespace stepscope {
namespace {

TEST(ValueEdit, TogglesBetweenTwoWords) {
    ValueEdit edit(Choices{{"system", "caching"}}, "CPU memory");
    edit.setText("caching");
    QSignalSpy committed(&edit, &ValueEdit::committed);
    auto* toggle = edit.findChild<ToggleSwitch*>();
    ASSERT_NE(toggle, nullptr);
    QTest::mouseClick(toggle, Qt::LeftButton);
    ASSERT_EQ(committed.size(), 1);
    EXPECT_EQ(committed[0][0].toString(), "system");
    QTest::keyClick(toggle, Qt::Key_Space);
    EXPECT_EQ(committed[1][0].toString(), "caching");
}

TEST(ValueEdit, AToggleShowsBothWordsAndTheChosenOneWhereItsTextIs) {
    for (const auto& words : {std::pair("system", "caching"), std::pair("pre", "post"), std::pair("on", "off")}) {
        ValueEdit edit(Choices{{words.first, words.second}}, "A choice");
        auto* toggle = edit.findChild<ToggleSwitch*>();
        toggle->resize(toggle->sizeHint());
        const QRect first = toggle->placeOf(words.first), second = toggle->placeOf(words.second);
        for (const auto& [word, place] : {std::pair(QString(words.first), first), std::pair(QString(words.second), second)}) {
            EXPECT_LE(toggle->fontMetrics().horizontalAdvance(word), place.width()) << "read whole: " << word.toStdString();
            EXPECT_TRUE(toggle->rect().contains(place));
            edit.setText(word);
            EXPECT_EQ(edit.text(), word);
            // Filled where the word is, and only there.
            const QImage picture = toggle->grab().toImage();
            const QPoint inside(place.left() + 3, place.center().y());
            const QRect other = place == first ? second : first;
            EXPECT_EQ(picture.pixelColor(inside).rgb(), toggle->palette().color(QPalette::Highlight).rgb()) << word.toStdString();
            EXPECT_NE(picture.pixelColor(QPoint(other.left() + 3, other.center().y())).rgb(), toggle->palette().color(QPalette::Highlight).rgb());
        }
        EXPECT_FALSE(first.intersects(second));
    }
    ValueEdit edit(Choices{{"on", "off"}}, "Tied head");
    auto* toggle = edit.findChild<ToggleSwitch*>();
    toggle->resize(toggle->sizeHint());
    EXPECT_LT(toggle->placeOf("off").left(), toggle->placeOf("on").left()) << "on stands right whatever the order of the words";
}

TEST(ValueEdit, TheWordsOfAToggleNeverTouchHoweverNarrowItIs) {
    ToggleSwitch toggle;
    const QString left = "blank-line", right = "endoftext";
    toggle.setWords(left, right);
    const int whole = toggle.sizeHint().width();
    for (int wide = whole; wide > 40; wide -= 3) {
        toggle.resize(wide, toggle.sizeHint().height());
        const QRect first = toggle.placeOf(left), second = toggle.placeOf(right);
        EXPECT_FALSE(first.intersects(second)) << wide;
        EXPECT_TRUE(toggle.rect().contains(first) && toggle.rect().contains(second)) << wide;
        for (const QString& word : {left, right})
            EXPECT_LE(toggle.fontMetrics().horizontalAdvance(toggle.shownWord(word)), toggle.placeOf(word).width() - 6) << wide << word.toStdString();
    }
    toggle.resize(whole, toggle.sizeHint().height());
    EXPECT_EQ(toggle.shownWord(left), left);
    EXPECT_EQ(toggle.shownWord(right), right);
    toggle.resize(whole * 2 / 3, toggle.sizeHint().height());
    EXPECT_TRUE(toggle.shownWord(left).endsWith("…")) << "it says that it goes on";
}

TEST(ValueEdit, OffersMoreThanTwoWordsAsAListAndGreysTheRefusedOnes) {
    ValueEdit edit(Choices{{"off", "bf16", "fp16"}}, "Mixed precision");
    edit.setText("off");
    edit.setRefused({{"fp16", "This CPU has no float16."}});
    auto* list = edit.findChild<QComboBox*>();
    ASSERT_NE(list, nullptr);
    const auto* items = qobject_cast<QStandardItemModel*>(list->model());
    EXPECT_TRUE(items->item(1)->isEnabled());
    EXPECT_FALSE(items->item(2)->isEnabled());
    EXPECT_EQ(items->item(2)->toolTip(), "This CPU has no float16.");
    QSignalSpy committed(&edit, &ValueEdit::committed);
    QTest::keyClick(list, Qt::Key_Down);
    ASSERT_EQ(committed.size(), 1);
    EXPECT_EQ(committed[0][0].toString(), "bf16");
}

TEST(ValueEdit, DisablesAToggleWhoseOtherWordIsRefused) {
    ValueEdit edit(Choices{{"cpu", "cuda:0"}}, "Device");
    edit.setText("cpu");
    edit.setRefused({{"cuda:0", "No driver."}});
    EXPECT_FALSE(edit.findChild<ToggleSwitch*>()->isEnabled());
}

TEST(ValueEdit, ATextThroughWhichTheKeyboardOnlyPassedIsNotCommitted) {
    ValueEdit edit(Choices{}, "Validation text");
    edit.setText("split");
    QSignalSpy committed(&edit, &ValueEdit::committed);
    auto* line = edit.findChild<QLineEdit*>();
    ASSERT_NE(line, nullptr);
    QTest::keyClick(line, Qt::Key_Return);
    EXPECT_EQ(committed.size(), 0) << "nothing was typed";
    line->setText("/texts/held-out.txt");
    for (int i = 0; i < 2; ++i) QTest::keyClick(line, Qt::Key_Return);
    ASSERT_EQ(committed.size(), 1);
    EXPECT_EQ(committed[0][0].toString(), "/texts/held-out.txt");
}

TEST(NumberEdit, CommitsOnceWhenEnterIsPressedAndKeepsAWrongText) {
    NumberEdit edit;
    edit.setRange(IntegerRange{1, 100});
    edit.setText("4");
    QSignalSpy committed(&edit, &NumberEdit::committed);
    auto* line = edit.findChild<QLineEdit*>();
    line->setText("four");
    QTest::keyClick(&edit, Qt::Key_Return);
    QTest::keyClick(&edit, Qt::Key_Return);
    ASSERT_EQ(committed.size(), 1);
    EXPECT_EQ(committed[0][0].toString(), "four");
    EXPECT_EQ(line->text(), "four");
}

TEST(NumberEdit, KeepsWhatIsBeingTypedWhenItIsToldTheSameAgain) {
    NumberEdit edit;
    edit.setRange(IntegerRange{1, 100});
    edit.setText("4");
    auto* line = edit.findChild<QLineEdit*>();
    line->setText("12");
    edit.setText("4");
    EXPECT_EQ(line->text(), "12");
    edit.setText("5");
    EXPECT_EQ(line->text(), "5");
}

TEST(NumberEdit, StepsWholeNumbersByOneInsideTheRangeAndCommitsAfterTheLastStep) {
    NumberEdit edit;
    edit.setRange(IntegerRange{1, 6});
    edit.setText("4");
    QSignalSpy committed(&edit, &NumberEdit::committed);
    for (int i = 0; i < 5; ++i) QTest::keyClick(&edit, Qt::Key_Up);
    EXPECT_EQ(edit.text(), "6");
    EXPECT_EQ(committed.size(), 0);
    ASSERT_TRUE(committed.wait(1000));
    EXPECT_EQ(committed.size(), 1);
}

TEST(NumberEdit, StepsFromTheLargestNumberThatThereIsBackIntoTheRange) {
    NumberEdit edit;
    edit.setRange(IntegerRange{-5, 6});
    edit.setText(QString::number(std::numeric_limits<qint64>::max()));
    edit.stepBy(1);
    EXPECT_EQ(edit.text(), "6");
    edit.setText(QString::number(std::numeric_limits<qint64>::min()));
    edit.stepBy(-1);
    EXPECT_EQ(edit.text(), "-5");
}

TEST(NumberEdit, StepsRealNumbersAlongOneTwoFive) {
    NumberEdit edit;
    edit.setRange(RealRange{0, 100});
    edit.setText("0.001");
    QStringList seen;
    for (int i = 0; i < 4; ++i) {
        edit.stepBy(1);
        seen << edit.text();
    }
    EXPECT_EQ(seen, (QStringList{"0.002", "0.005", "0.01", "0.02"}));
    for (int i = 0; i < 3; ++i) edit.stepBy(-1);
    EXPECT_EQ(edit.text(), "0.002");
}

TEST(NumberEdit, LeavesTheWheelToTheScrollingPanel) {
    NumberEdit edit;
    edit.setRange(IntegerRange{1, 100});
    edit.setText("4");
    QWheelEvent wheel(QPointF(5, 5), QPointF(5, 5), {}, QPoint(0, 120), Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(&edit, &wheel);
    EXPECT_FALSE(wheel.isAccepted());
    EXPECT_EQ(edit.text(), "4");
}

}  // namespace
}  // namespace stepscope
