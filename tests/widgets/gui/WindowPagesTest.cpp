// Which page a stored session opens on, what the window says of what is no run, and where the keyboard stays.
#include <gtest/gtest.h>

#include <QLabel>
#include <QPushButton>
#include <QTabWidget>

#include "WindowFixture.h"
#include "sessions/record/Recorder.h"
#include "widgets/charts/LivePage.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/compare/ComparePage.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/ValueRow.h"
#include "widgets/panels/ladder/LadderPage.h"
#include "widgets/panels/operations/OperationsPage.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

class WindowPagesTest : public WindowTest {
protected:
    void store(SessionKind kind, const std::string& name) {
        SessionInfo info;
        info.kind = kind;
        info.name = name;
        if (kind == SessionKind::Trace) {
            info.config.reset();
            info.machine.reset();
        } else {
            info.config = presetConfig("tiny-cpu").value();
        }
        Recorder::Options where;
        where.path = options.database.toStdString();
        auto recorder = Recorder::open(where, info);
        ASSERT_TRUE(recorder.ok());
        (*recorder)->publish(StateChanged{{}, 0, RunState::Finished, ""});
        ASSERT_TRUE((*recorder)->finish().ok());
    }
    bool showsPage(const QWidget& page) {
        return QTest::qWaitFor([&] { return window().pages().currentWidget() == &page; }, 8000);
    }
    bool sessionsSay(const QString& text) {
        for (const auto* label : window().sessions().findChildren<QLabel*>())
            if (label->isVisible() && label->text().contains(text)) return true;
        return false;
    }
    QString barText(const QString& name) {
        for (const auto* label : window().runBar().findChildren<QLabel*>())
            if (label->accessibleName() == name) return label->text();
        return {};
    }
};

TEST_F(WindowPagesTest, AReplayFromTheListIsSeenInTheCharts) {
    open();
    runAndStop(10);
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    window().pages().setCurrentWidget(&window().comparePage());
    Q_EMIT window().sessions().replayRequested(1);
    EXPECT_EQ(window().pages().currentWidget(), &window().livePage());
    window().pages().setCurrentWidget(&window().operationsPage());
    Q_EMIT window().sessions().replayRequested(1);
    EXPECT_EQ(window().pages().currentWidget(), &window().operationsPage()) << "it fills with what is replayed";
}

TEST_F(WindowPagesTest, ALadderNamedAtTheStartOpensItsPage) {
    store(SessionKind::Ladder, "a ladder");
    options.session = 1;
    open();
    EXPECT_TRUE(showsPage(window().ladderPage()));
    EXPECT_TRUE(QTest::qWaitFor([&] { return !place->stage().replaying(); }, 5000)) << "it is no run to replay";
}

TEST_F(WindowPagesTest, AnImportedTraceNamedAtTheStartOpensOperationsAndIsNotToldAsARun) {
    store(SessionKind::Trace, "v100");
    options.session = 1;
    open();
    EXPECT_TRUE(showsPage(window().operationsPage()));
    const LogModel& log = place->stage().replay().log();
    ASSERT_TRUE(QTest::qWaitFor([&] { return log.rowCount() > 0; }, 5000));
    EXPECT_TRUE(log.index(0).data().toString().contains("imported trace")) << log.index(0).data().toString().toStdString();
    for (int row = 0; row < log.rowCount(); ++row) EXPECT_FALSE(log.index(row).data().toString().contains("0 steps"));
    window().pages().setCurrentWidget(&window().livePage());
    QTest::qWait(100);
    picture(window(), "trace-live");
}

TEST_F(WindowPagesTest, ASessionThatIsNotThereIsToldInTheWindowsOwnWords) {
    options.session = 9999;
    open();
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().notice().sentence().contains("There is no session 9999"); }, 8000));
    EXPECT_TRUE(window().notice().sentence().contains("list at the right")) << window().notice().sentence().toStdString();
}

TEST_F(WindowPagesTest, ADatabaseThatCannotBeMadeIsToldAtTheStart) {
    options.database = "/proc/nope/x.db";
    open();
    EXPECT_TRUE(QTest::qWaitFor([&] { return sessionsSay("No run can be recorded"); }, 8000));
    EXPECT_FALSE(sessionsSay("every run is recorded"));
    options.database = folder.filePath("new/folder/s.db");
    open();
    EXPECT_TRUE(QTest::qWaitFor([&] { return sessionsSay("every run is recorded"); }, 8000));
    EXPECT_FALSE(QFile::exists(folder.filePath("new"))) << "looking makes nothing";
}

TEST_F(WindowPagesTest, TheKeyboardStaysOnThePageWhenCaptureNowIsPressed) {
    open();
    window().activateWindow();
    window().pages().setCurrentWidget(&window().operationsPage());
    press("Run");
    ASSERT_TRUE(reaches(10));
    QPushButton* capture = window().operationsPage().captureButton();
    ASSERT_TRUE(QTest::qWaitFor([&] { return capture->isEnabled(); }, 5000));
    capture->setFocus();
    QTest::keyClick(capture, Qt::Key_Space);
    EXPECT_EQ(QApplication::focusWidget(), &window().operationsPage());
    key(Qt::Key_Space);
    EXPECT_TRUE(becomes(RunState::Paused));
}

TEST_F(WindowPagesTest, ANoteAboutASettingCoversNeitherTabsNorTools) {
    options.size = {1280, 800};
    open();
    Q_EMIT window().experiment().row("heads")->committed("heads", "3");
    press("Run");
    ASSERT_TRUE(window().notice().sentence().contains("heads"));
    const QRect note(window().notice().mapTo(&window(), QPoint()), window().notice().size());
    EXPECT_FALSE(note.intersects(QRect(window().pages().mapTo(&window(), QPoint()), window().pages().size())));
    picture(window(), "notice");
}

TEST_F(WindowPagesTest, TheTopBarForgetsTheUseOfARunThatHasEnded) {
    open();
    runAndStop(40);
    EXPECT_TRUE(QTest::qWaitFor([&] { return barText("Device utilisation") == "CPU –"; }, 3000)) << barText("Device utilisation").toStdString();
    EXPECT_NE(barText("Training loss"), "loss –") << "what it reached stays";
}

}  // namespace
}  // namespace stepscope
