// The page Operations of the whole window: empty with a reason, filled by a capture of the live run and by a stored session, exported as a trace.
#include <gtest/gtest.h>

#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>

#include "WindowFixture.h"
#include "widgets/panels/operations/OperationsPage.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

class WindowOperationsTest : public WindowTest {
protected:
    OperationsPage& page() { return window().operationsPage(); }
    bool shows(const QString& words) {
        return QTest::qWaitFor([&] { return page().sentence().contains(words); }, 6000);
    }
    void look() { window().pages().setCurrentWidget(&page()); }
};

TEST_F(WindowOperationsTest, SaysWhatWouldFillItAndIsFilledByACaptureOfTheRun) {
    options.size = {1280, 800};
    open();
    look();
    EXPECT_TRUE(shows("start a run")) << page().sentence().toStdString();
    EXPECT_FALSE(page().captureButton()->isEnabled());
    press("Run");
    ASSERT_TRUE(reaches(10));
    EXPECT_TRUE(shows("No step of session 1 was captured")) << page().sentence().toStdString();
    EXPECT_TRUE(page().captureButton()->isEnabled());
    EXPECT_FALSE(page().table()->isVisible());
    EXPECT_FALSE(page().exportButton()->isEnabled());
    QTest::mouseClick(page().captureButton(), Qt::LeftButton);
    ASSERT_TRUE(shows("120 calls of operations in 3 captured steps")) << page().sentence().toStdString();
    EXPECT_TRUE(page().table()->isVisible());
    EXPECT_EQ(page().table()->model()->rowCount(), 4);
    QTest::qWait(100);
    picture(window(), "operations");
    applyStyle(*qApp, Theme::Dark);
    QTest::qWait(100);
    picture(window(), "operations-dark");
    applyStyle(*qApp, Theme::Light);
    place->exports().write(1, folder.filePath("x.pt.trace.json"), {});
    ASSERT_TRUE(QTest::qWaitFor([&] { return QFile::exists(folder.filePath("x.pt.trace.json")); }, 5000));
}

TEST_F(WindowOperationsTest, ShowsWhatAStoredSessionCaptured) {
    open();
    press("Run");
    ASSERT_TRUE(reaches(10));
    place->runs().send(Capture{.steps = 2});
    QTest::qWait(200);
    press("Stop");
    ASSERT_TRUE(idle());
    place = nullptr;
    options.session = 1;
    open();
    look();
    ASSERT_TRUE(shows("80 calls of operations in 2 captured steps")) << page().sentence().toStdString();
    EXPECT_FALSE(page().captureButton()->isEnabled()) << "there is no run";
    EXPECT_TRUE(page().exportButton()->isEnabled());
}

TEST_F(WindowOperationsTest, IsReadableInASmallWindow) {
    options.size = {1024, 640};
    open();
    look();
    picture(window(), "operations-small-empty");
    press("Run");
    ASSERT_TRUE(reaches(10));
    QTest::mouseClick(page().captureButton(), Qt::LeftButton);
    ASSERT_TRUE(shows("captured steps, "));
    QTest::qWait(100);
    picture(window(), "operations-small");
    EXPECT_GT(page().table()->height(), 100);
}

}  // namespace
}  // namespace stepscope
