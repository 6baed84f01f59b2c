// The page Operations of the whole window: empty with a reason, filled by a capture of the live run and by a stored session, exported as a trace.
#include <gtest/gtest.h>

#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <algorithm>
#include <map>

#include "WindowFixture.h"
#include "sessions/Slices.h"
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

TEST_F(WindowOperationsTest, TheSlowestOperationAndItsLayerAreThreeClicksAway) {
    options.size = {1280, 800};
    open();
    press("Run");
    ASSERT_TRUE(reaches(10));
    QTabBar* tabs = window().pages().tabBar();
    QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(window().pages().indexOf(&page())).center());
    ASSERT_EQ(window().pages().currentWidget(), &page());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().captureButton()->isEnabled(); }, 6000));
    QTest::mouseClick(page().captureButton(), Qt::LeftButton);
    ASSERT_TRUE(shows("3 captured steps")) << page().sentence().toStdString();
    // From what is stored, without the table.
    struct Spent {
        std::int64_t self = 0;
        std::map<std::int32_t, std::int64_t> ofLayer;
    };
    std::map<std::string, Spent> all;
    auto reader = SessionReader::open(options.database.toStdString());
    ASSERT_TRUE(reader);
    ASSERT_TRUE(forEachSliceBlock(**reader, 1, [&](const SliceBlock& block) -> Status {
        for (const Slice& one : block.slices) {
            if (!isOperation(one.kind)) continue;
            Spent& spent = all[block.strings.at(one.name)];
            spent.self += one.self();
            spent.ofLayer[one.layer] += one.self();
        }
        return {};
    }));
    ASSERT_EQ(all.size(), 4u);
    const auto slowest = std::ranges::max_element(all, {}, [](const auto& one) { return one.second.self; });
    EXPECT_EQ(std::ranges::count_if(all, [&](const auto& one) { return one.second.self == slowest->second.self; }), 1) << "one is the slowest";
    const auto& layers = slowest->second.ofLayer;
    const auto layer = std::ranges::max_element(layers, {}, [](const auto& one) { return one.second; });
    ASSERT_GE(layer->first, 0);
    const QAbstractItemModel* rows = page().table()->model();
    const auto inFirstRow = [&](const QString& title) {
        for (int column = 0; column < rows->columnCount(); ++column) {
            if (rows->headerData(column, Qt::Horizontal).toString() != title) continue;
            const QRect cell = page().table()->visualRect(rows->index(0, column));
            EXPECT_TRUE(page().table()->viewport()->rect().contains(cell)) << title.toStdString() << " is out of sight";
            return rows->index(0, column).data().toString();
        }
        return QString("no such column");
    };
    ASSERT_TRUE(page().table()->isVisible());
    EXPECT_EQ(inFirstRow("Name"), QString::fromStdString(slowest->first));
    EXPECT_EQ(inFirstRow("Layer"), QString::number(layer->first));
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
