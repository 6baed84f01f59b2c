// The dialog of a session's captures by itself: what each row says, one question before a capture is removed, and a sentence for each state.
#include <gtest/gtest.h>

#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableWidget>
#include <QTest>
#include <limits>
#include <tuple>

#include "widgets/panels/sessions/CapturesDialog.h"

namespace stepscope {
namespace {

class CapturesDialogTest : public testing::Test {
protected:
    CapturesDialogTest() { dialog.ask(7, "a run"); }
    QString cell(int row, int column) { return dialog.table()->item(row, column)->text(); }
    void answerWith(const QString& button) {
        auto* question = dialog.findChild<QMessageBox*>();
        ASSERT_NE(question, nullptr);
        for (QAbstractButton* one : question->buttons())
            if (one->text().remove('&') == button) return one->click();
        FAIL() << button.toStdString();
    }
    const CapturesView two{7, {{1, 50, 5, 12'000, 11'000, 240'000, 0.0423}, {2, 90, 1, 300, 0, 9'000}}, 30'000, {}};

    CapturesDialog dialog;
    QSignalSpy removed{&dialog, &CapturesDialog::removeRequested};
};

TEST_F(CapturesDialogTest, SaysStepsLevelAndRoomOfEach) {
    EXPECT_EQ(dialog.sentence(), "Reading the captures.");
    EXPECT_FALSE(dialog.removeButton()->isEnabled());
    dialog.setView(two);
    ASSERT_EQ(dialog.table()->rowCount(), 2);
    EXPECT_EQ(cell(0, 1), "50 to 54");
    EXPECT_EQ(cell(0, 2), "L2");
    EXPECT_EQ(cell(0, 3), QString("+4.2\u202F%"));
    EXPECT_EQ(cell(1, 3), QString("–")) << "not known";
    EXPECT_EQ(cell(0, 5), QString("240\u202FkB"));
    EXPECT_EQ(cell(1, 1), "90");
    EXPECT_EQ(cell(1, 2), "sums");
    EXPECT_TRUE(dialog.sentence().startsWith("2 captures, 249\u202FkB on the disk, and 30.0\u202FkB")) << dialog.sentence().toStdString();
    EXPECT_TRUE(dialog.removeButton()->isEnabled());
    CapturesView many = two;
    many.older = 5000;
    dialog.setView(many);
    EXPECT_TRUE(dialog.sentence().contains("000 before them are not listed")) << dialog.sentence().toStdString();
    dialog.setView({8, {}, 0, "of another session"});
    EXPECT_EQ(dialog.table()->rowCount(), 2) << "an answer that comes late is nobody's";
}

// What is stored may say anything.
TEST_F(CapturesDialogTest, StepsBeyondTheLargestNumberDoNotTurnNegative) {
    dialog.setView({7, {{1, std::numeric_limits<std::int64_t>::max(), 5, 10, 10, 100}}, 0, {}});
    ASSERT_EQ(dialog.table()->rowCount(), 1);
    EXPECT_FALSE(cell(0, 1).contains('-')) << cell(0, 1).toStdString();
}

TEST_F(CapturesDialogTest, AsksOnceBeforeOneIsRemoved) {
    dialog.setView(two);
    dialog.table()->selectRow(1);
    QTest::mouseClick(dialog.removeButton(), Qt::LeftButton);
    answerWith("Cancel");
    EXPECT_EQ(removed.count(), 0);
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    QTest::mouseClick(dialog.removeButton(), Qt::LeftButton);
    EXPECT_TRUE(dialog.findChild<QMessageBox*>()->text().contains("capture 2 of session 7, step 90, for good")) << "which steps go";
    answerWith("Delete");
    ASSERT_EQ(removed.count(), 1);
    EXPECT_EQ(removed[0][0].toLongLong(), 7);
    EXPECT_EQ(removed[0][1].toLongLong(), 2);
    EXPECT_FALSE(dialog.removeButton()->isEnabled()) << "one after the other";
    EXPECT_TRUE(dialog.sentence().contains("Removing capture 2"));
    dialog.setView({7, {{1, 50, 5, 12'000, 11'000, 240'000}}, 0, {}});
    EXPECT_TRUE(dialog.sentence().startsWith("1 capture, 240\u202FkB on the disk.")) << dialog.sentence().toStdString();
    EXPECT_TRUE(dialog.removeButton()->isEnabled());
}

TEST_F(CapturesDialogTest, TwoOfThemCanBeLookedAtSideBySide) {
    QSignalSpy beside(&dialog, &CapturesDialog::sideBySideRequested);
    dialog.setView(two);
    dialog.table()->selectRow(0);
    EXPECT_FALSE(dialog.besideButton()->isEnabled()) << "of the other one only sums are stored";
    dialog.setView({7, {{1, 50, 5, 12, 11, 24}, {2, 60, 5, 12, 0, 24}, {3, 70, 5, 12, 11, 24}, {4, 80, 5, 12, 11, 24}}, 0, {}});
    for (const auto& [row, a, b] : {std::tuple(0, 1, 3), std::tuple(2, 1, 3), std::tuple(3, 3, 4)}) {
        dialog.table()->selectRow(row);
        ASSERT_TRUE(dialog.besideButton()->isEnabled()) << row;
        QTest::mouseClick(dialog.besideButton(), Qt::LeftButton);
        const auto asked = beside.takeFirst();
        EXPECT_EQ(asked[0].toLongLong(), 7);
        EXPECT_EQ(asked[1].toLongLong(), a) << row;
        EXPECT_EQ(asked[2].toLongLong(), b) << row;
    }
    dialog.table()->selectRow(1);
    EXPECT_FALSE(dialog.besideButton()->isEnabled()) << "nothing of it can be shown";
}

TEST_F(CapturesDialogTest, OneIsShownByItsButtonOrADoubleClick) {
    QSignalSpy shown(&dialog, &CapturesDialog::showRequested);
    EXPECT_FALSE(dialog.showButton()->isEnabled()) << "not read yet";
    dialog.setView({7, {{1, 50, 5, 12, 11, 24, 0.1, 1000, 2000}, {2, 60, 5, 12, 11, 24, 0.1, 5000, 7000}, {3, 70, 5, 12, 0, 24}}, 0, {}});
    dialog.show();
    dialog.table()->selectRow(1);
    ASSERT_TRUE(dialog.showButton()->isEnabled());
    QTest::mouseClick(dialog.showButton(), Qt::LeftButton);
    ASSERT_EQ(shown.count(), 1);
    EXPECT_EQ(shown[0], (QVariantList{qint64{7}, qint64{5000}, qint64{7000}}));
    const auto doubleClick = [&](int row) {
        const QPoint at = dialog.table()->visualItemRect(dialog.table()->item(row, 0)).center();
        QTest::mouseClick(dialog.table()->viewport(), Qt::LeftButton, {}, at);
        QTest::mouseDClick(dialog.table()->viewport(), Qt::LeftButton, {}, at);
    };
    doubleClick(0);
    ASSERT_EQ(shown.count(), 2);
    EXPECT_EQ(shown[1][1].toLongLong(), 1000);
    doubleClick(2);
    EXPECT_EQ(shown.count(), 2) << "of sums there is nothing to see";
    EXPECT_FALSE(dialog.showButton()->isEnabled());
}

TEST_F(CapturesDialogTest, SaysWhyItIsEmptyAndWhatWentWrong) {
    dialog.setView({7, {}, 0, {}});
    EXPECT_TRUE(dialog.sentence().contains("Nothing was captured")) << dialog.sentence().toStdString();
    EXPECT_FALSE(dialog.table()->isVisible());
    dialog.setView(two);
    dialog.setProblem("Session 7 is still running; stop it before deleting a capture of it.");
    EXPECT_TRUE(dialog.sentence().contains("still running"));
    EXPECT_TRUE(dialog.removeButton()->isEnabled()) << "to try again";
    dialog.setView({7, {}, 0, "There is no session 7."});
    EXPECT_TRUE(dialog.sentence().contains("still running")) << "what went wrong stays";
    dialog.ask(7, "a run");
    dialog.setView({7, {}, 0, "There is no session 7."});
    EXPECT_EQ(dialog.sentence(), "There is no session 7.");
}

}  // namespace
}  // namespace stepscope
