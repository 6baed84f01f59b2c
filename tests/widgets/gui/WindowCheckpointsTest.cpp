// The checkpoints of a stored session in the window: listed, one removed, its weights written, and text and a new run from the chosen one.
#include <gtest/gtest.h>

#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QTableWidget>
#include <filesystem>
#include <fstream>

#include "WindowFixture.h"
#include "widgets/panels/TextPage.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/sessions/CheckpointsDialog.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

class WindowCheckpointsTest : public WindowTest {
protected:
    ~WindowCheckpointsTest() override { setFakeCheckpoints(false); }
    CheckpointsDialog& dialog() { return place->checkpoints().dialog(); }
    bool says(const QString& text) {
        return QTest::qWaitFor([&] { return dialog().sentence().contains(text); }, 8000);
    }
    QString written() { return window().textPage().findChildren<QPlainTextEdit*>()[1]->toPlainText(); }
    // The fake engine writes none.
    void makeCheckpoint(int step) {
        const auto folder = checkpointFolder(options.database.toStdString(), 1);
        ASSERT_TRUE(folder) << folder.error().sentence;
        const std::filesystem::path made = *folder + "/step-" + QString("%1").arg(step, 7, 10, QChar('0')).toStdString();
        std::filesystem::create_directories(made);
        std::ofstream(made / "state.json") << "{}";
        std::ofstream(made / "model.safetensors") << std::string(10'000, 'x');
    }
    void answerWith(const QString& question, const QString& name) {
        auto* box = dialog().findChild<QMessageBox*>();
        ASSERT_NE(box, nullptr);
        picture(*box, question);
        for (QAbstractButton* one : box->buttons())
            if (one->text().remove('&') == name) return one->click();
    }
};

TEST_F(WindowCheckpointsTest, AreListedExportedAndRemoved) {
    setFakeCheckpoints(true);
    options.size = {1280, 800};
    open();
    runAndStop(5);
    Q_EMIT window().sessions().checkpointsRequested(1, "a run");
    ASSERT_TRUE(says("This session has no checkpoint.")) << dialog().sentence().toStdString();
    picture(dialog(), "checkpoints-none");
    for (const int step : {200, 400, 1200}) makeCheckpoint(step);
    Q_EMIT window().sessions().checkpointsRequested(1, "a run");
    ASSERT_TRUE(says("3 checkpoints")) << dialog().sentence().toStdString();
    QTest::qWait(50);
    picture(dialog(), "checkpoints");
    applyStyle(*qApp, Theme::Dark);
    QTest::qWait(50);
    picture(dialog(), "checkpoints-dark");
    applyStyle(*qApp, Theme::Light);

    const QString chosen = dialog().table()->item(2, 0)->toolTip();
    Q_EMIT dialog().exportRequested(1, chosen, 1200, folder.filePath("out"));
    ASSERT_TRUE(says("are in " + folder.filePath("out"))) << dialog().sentence().toStdString();
    EXPECT_TRUE(dialog().sentence().contains("Padding was left out."));

    dialog().table()->selectRow(0);
    QTest::mouseClick(dialog().removeButton(), Qt::LeftButton);
    answerWith("checkpoints-question", "Delete");
    ASSERT_TRUE(says("are free again. 2 checkpoints")) << dialog().sentence().toStdString();
    EXPECT_EQ(listCheckpoints(options.database.toStdString(), 1)->front().step, 400);

    Q_EMIT window().sessions().checkpointsRequested(99, "gone");
    EXPECT_TRUE(says("no session 99")) << dialog().sentence().toStdString();
}

TEST_F(WindowCheckpointsTest, TheChosenOneWritesTheTextOfItsSession) {
    setFakeCheckpoints(true);
    open();
    runAndStop(5);
    makeCheckpoint(200);
    Q_EMIT window().sessions().checkpointsRequested(1, "a run");
    ASSERT_TRUE(says("1 checkpoint"));
    const QString path = dialog().table()->item(0, 0)->toolTip();
    QTest::mouseClick(dialog().textButton(), Qt::LeftButton);
    EXPECT_EQ(window().pages().currentWidget(), &window().textPage());
    EXPECT_FALSE(dialog().isVisible()) << "it would lie over the page";
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->stage().shown().history()->session() == 1 && place->stage().replaying(); }, 8000));
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {
            Q_EMIT window().textPage().generateRequested({.how = {.prompt = "once"}, .prompts = {"once"}});
            QTest::qWait(100);
            return written().contains("out of " + path);
        },
        8000))
        << written().toStdString();
}

TEST_F(WindowCheckpointsTest, WhileARunIsInProgressNoneIsResumedOrRemoved) {
    setFakeCheckpoints(true);
    open();
    Q_EMIT window().experiment().row("steps")->committed("steps", "100000");
    press("Run");
    ASSERT_TRUE(reaches(5));
    QTest::qWait(300);  // the recorder stores every 100 ms
    makeCheckpoint(200);
    Q_EMIT window().sessions().checkpointsRequested(1, "the live run");
    ASSERT_TRUE(says("1 checkpoint"));
    QTest::mouseClick(dialog().resumeButton(), Qt::LeftButton);
    EXPECT_TRUE(window().notice().sentence().contains("A run is in progress")) << window().notice().sentence().toStdString();
    EXPECT_TRUE(dialog().isVisible());
    QTest::mouseClick(dialog().removeButton(), Qt::LeftButton);
    answerWith("checkpoints-question-live", "Delete");
    EXPECT_TRUE(says("still running")) << dialog().sentence().toStdString();
    press("Stop");
    ASSERT_TRUE(idle());
    QTest::mouseClick(dialog().resumeButton(), Qt::LeftButton);
    EXPECT_FALSE(dialog().isVisible()) << "the run that goes on is seen";
    ASSERT_TRUE(QTest::qWaitFor([&] { return live().session() == 2; }, 8000)) << window().notice().sentence().toStdString();
    press("Stop");
    ASSERT_TRUE(idle());
}

}  // namespace
}  // namespace stepscope
