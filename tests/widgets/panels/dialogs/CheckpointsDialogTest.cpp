// The dialog of a session's checkpoints by itself: what each row says, what the buttons ask for, one question before one is removed, and a sentence
// for each state.
#include <gtest/gtest.h>

#include <QFileDialog>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableWidget>
#include <QTest>

#include "widgets/panels/sessions/CheckpointsDialog.h"

namespace stepscope {
namespace {

class CheckpointsDialogTest : public testing::Test {
protected:
    CheckpointsDialogTest() { dialog.ask(7, "a run"); }
    QString cell(int row, int column) { return dialog.table()->item(row, column)->text(); }
    QMessageBox* question() { return dialog.findChild<QMessageBox*>(); }
    void answerWith(const QString& button) {
        ASSERT_NE(question(), nullptr);
        for (QAbstractButton* one : question()->buttons())
            if (one->text().remove('&') == button) return one->click();
        FAIL() << button.toStdString();
    }
    const CheckpointsView three{
        7, {{"/c/step-0000200", 200, 10'000'000, 2.5}, {"/c/step-0000400", 400, 10'000'000, 2.25}, {"/c/step-0000500", 500, 10'100'000}}, {}, {}, {}};

    CheckpointsDialog dialog;
    QSignalSpy resumed{&dialog, &CheckpointsDialog::resumeRequested}, written{&dialog, &CheckpointsDialog::textRequested},
        exported{&dialog, &CheckpointsDialog::exportRequested}, removed{&dialog, &CheckpointsDialog::removeRequested};
};

TEST_F(CheckpointsDialogTest, SaysStepLossAndRoomOfEachAndOfAll) {
    EXPECT_EQ(dialog.sentence(), "Reading the checkpoints.");
    EXPECT_FALSE(dialog.removeButton()->isEnabled());
    dialog.setView(three);
    ASSERT_EQ(dialog.table()->rowCount(), 3);
    EXPECT_EQ(cell(0, 0), "200");
    EXPECT_EQ(cell(0, 1), "2.5000");
    EXPECT_EQ(cell(0, 2), QString("10.0\u202FMB"));
    EXPECT_EQ(cell(1, 3), "best");
    EXPECT_EQ(cell(0, 3), "");
    EXPECT_EQ(cell(2, 1), QString("–")) << "that step was not validated";
    EXPECT_EQ(dialog.sentence(), QString("3 checkpoints, 30.1\u202FMB on the disk. The lowest validation loss of them has step 400."));
    dialog.setView({8, {}, "of another session", {}, {}});
    EXPECT_EQ(dialog.table()->rowCount(), 3) << "an answer that comes late is nobody's";
}

TEST_F(CheckpointsDialogTest, TheNewestIsChosenAtFirstAndTheButtonsAskForTheChosenOne) {
    dialog.setView(three);
    QTest::mouseClick(dialog.resumeButton(), Qt::LeftButton);
    ASSERT_EQ(resumed.count(), 1);
    EXPECT_EQ(resumed[0][0].toLongLong(), 7);
    EXPECT_EQ(resumed[0][1].toString(), "/c/step-0000500");
    EXPECT_EQ(resumed[0][2].toLongLong(), 500);
    dialog.table()->selectRow(1);
    dialog.setView(three);
    EXPECT_EQ(dialog.table()->currentRow(), 1) << "what was chosen stays when they are read anew";
    QTest::mouseClick(dialog.textButton(), Qt::LeftButton);
    ASSERT_EQ(written.count(), 1);
    EXPECT_EQ(written[0][2].toLongLong(), 400);
    QTest::mouseClick(dialog.exportButton(), Qt::LeftButton);
    auto* folder = dialog.findChild<QFileDialog*>();
    ASSERT_NE(folder, nullptr);
    Q_EMIT folder->fileSelected("/out/here");
    folder->close();
    ASSERT_EQ(exported.count(), 1);
    EXPECT_EQ(exported[0][1].toString(), "/c/step-0000400");
    EXPECT_EQ(exported[0][3].toString(), "/out/here");
}

TEST_F(CheckpointsDialogTest, AsksOnceBeforeOneIsRemovedAndSaysWhatIsLost) {
    dialog.setView(three);
    dialog.table()->selectRow(1);
    QTest::mouseClick(dialog.removeButton(), Qt::LeftButton);
    ASSERT_NE(question(), nullptr);
    EXPECT_TRUE(question()->text().contains("step 400 of session 7")) << question()->text().toStdString();
    EXPECT_TRUE(question()->text().contains("10.0\u202FMB are given back"));
    EXPECT_TRUE(question()->text().endsWith("the lowest validation loss."));
    answerWith("Cancel");
    EXPECT_EQ(removed.count(), 0);
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    QTest::mouseClick(dialog.removeButton(), Qt::LeftButton);
    answerWith("Delete");
    ASSERT_EQ(removed.count(), 1);
    EXPECT_EQ(removed[0][1].toString(), "/c/step-0000400");
    EXPECT_FALSE(dialog.removeButton()->isEnabled()) << "one after the other";
    EXPECT_EQ(dialog.sentence(), "Removing the checkpoint of step 400.");
    dialog.setDone("10.0 MB are free again.");
    dialog.setView({7, {{"/c/step-0000500", 500, 10'100'000}}, {}, {}, {}});
    EXPECT_EQ(dialog.sentence(), QString("10.0 MB are free again. 1 checkpoint, 10.1\u202FMB on the disk."));
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    QTest::mouseClick(dialog.removeButton(), Qt::LeftButton);
    EXPECT_TRUE(question()->text().endsWith("It is the last one: the session cannot be resumed after that."));
    answerWith("Cancel");
}

TEST_F(CheckpointsDialogTest, SaysWhyItIsEmptyAndWhatWentWrong) {
    dialog.setView({7, {}, {}, {}, {}});
    EXPECT_TRUE(dialog.sentence().startsWith("This session has no checkpoint.")) << dialog.sentence().toStdString();
    EXPECT_FALSE(dialog.table()->isVisible());
    EXPECT_FALSE(dialog.resumeButton()->isEnabled());
    dialog.setView({7, {}, {}, "/there/db-1/7/step-0000500", "gpu-rack"});
    EXPECT_TRUE(
        dialog.sentence().startsWith("The checkpoints of this session lie on gpu-rack, which trained it: the newest is /there/db-1/7/step-0000500."))
        << dialog.sentence().toStdString();
    EXPECT_FALSE(dialog.resumeButton()->isEnabled());
    dialog.setView({7, {}, {}, "/c/step-0000500", {}});
    EXPECT_EQ(dialog.sentence(), "None of this session's checkpoints is on the disk any more; the newest was written to /c/step-0000500.");
    dialog.setView(three);
    dialog.setBusy("Writing the weights of step 500 to /out…");
    EXPECT_FALSE(dialog.exportButton()->isEnabled());
    dialog.setProblem("There is no room.");
    EXPECT_EQ(dialog.sentence(), "There is no room.");
    EXPECT_TRUE(dialog.exportButton()->isEnabled()) << "to try again";
    dialog.ask(7, "a run");
    dialog.setView({7, {}, "There is no session 7.", {}, {}});
    EXPECT_EQ(dialog.sentence(), "There is no session 7.");
}

}  // namespace
}  // namespace stepscope
