// The bar and the table around runs that lie over each other: progress from 200 ms on, columns, sorting with what is not known last.
#include <gtest/gtest.h>

#include <QApplication>
#include <QContextMenuEvent>
#include <QMenu>
#include <QProgressBar>
#include <QTest>
#include <QTimer>

#include "core/analysis/overlay/RunsOverlay.h"
#include "widgets/panels/overlay/OverlayPane.h"
#include "widgets/panels/overlay/RunsTable.h"

namespace stepscope {
namespace {

std::shared_ptr<const OverlaidRun> shortRun(std::int64_t session, std::int64_t layers, double validation) {
    auto info = std::make_shared<SessionInfo>();
    info->name = "run";
    info->config->layers = layers;
    OverlaidRunBuilder builder(session, info);
    for (int step = 1; step <= 40; ++step)
        builder.add({.step = step, .seconds = 0.1 * step, .ms = 10.0 * static_cast<double>(layers), .tokens = 10, .loss = 2});
    builder.addValidation(validation);
    return builder.finish();
}

TEST(OverlayPane, ShowsProgressFromAFifthOfASecondOnAndNeverForWhatIsQuick) {
    QWidget page;
    OverlayPane pane(&page);
    RunsOverlay overlay({1, 2});
    pane.begin();
    pane.show(overlay);
    pane.setProgress(0.4);
    EXPECT_FALSE(pane.showsProgress());
    EXPECT_TRUE(QTest::qWaitFor([&] { return pane.showsProgress(); }, 2'000));
    EXPECT_EQ(pane.head().findChild<QProgressBar*>()->value(), 400);
    pane.setProgress(1);
    EXPECT_FALSE(pane.showsProgress());
    pane.begin();
    pane.setProgress(1);
    QTest::qWait(260);
    EXPECT_FALSE(pane.showsProgress());
}

TEST(OverlayPane, SortsUnknownFiguresLastAndLeavesOutTheColumnsNobodyWants) {
    QWidget page;
    OverlayPane pane(&page);
    RunsOverlay overlay({5, 6, 7});
    overlay.put(shortRun(5, 4, 2.5));
    overlay.put(shortRun(6, 6, kUnknown));
    overlay.put(shortRun(7, 8, 1.5));
    pane.show(overlay);
    RunsTable& table = pane.table();
    EXPECT_TRUE(table.shownColumns().contains("layers"));
    EXPECT_FALSE(table.shownColumns().contains("heads")) << "it does not differ";
    const int validation = static_cast<int>(table.shownColumns().indexOf("validation"));
    for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
        table.sortByColumn(validation, order);
        EXPECT_EQ(table.session(2), 6);
        EXPECT_EQ(table.session(0), order == Qt::AscendingOrder ? 7 : 5);
    }
    pane.show(overlay);
    EXPECT_EQ(table.session(0), 5) << "it stays sorted when runs come";
    const auto menu = table.columnsMenu();
    for (QAction* action : menu->actions()) action->setChecked(false);
    EXPECT_EQ(table.shownColumns(), QStringList{"session"}) << "the legend stays";
}

TEST(OverlayPane, HidesTheChosenRunByItsKey) {
    QWidget page;
    OverlayPane pane(&page);
    RunsOverlay overlay({5, 6});
    overlay.put(shortRun(5, 4, 2.5));
    overlay.put(shortRun(6, 6, 2));
    pane.show(overlay);
    std::vector<std::pair<qint64, bool>> asked;
    QObject::connect(&pane.table(), &RunsTable::hideWanted, &pane, [&](qint64 session, bool hidden) { asked.emplace_back(session, hidden); });
    pane.table().setCurrentCell(1, 0);
    QTest::keyClick(&pane.table(), Qt::Key_H);
    QTest::keyClick(&pane.table(), Qt::Key_H);
    EXPECT_EQ(asked, (std::vector<std::pair<qint64, bool>>{{6, true}, {6, false}}));
}

// More of them are read while it is open.
TEST(OverlayPane, TheMenuOfARunHidesItsLineWhereverItsRowHasGone) {
    QWidget page;
    OverlayPane pane(&page);
    RunsOverlay overlay({5, 6});
    overlay.put(shortRun(5, 4, 2.5));
    overlay.put(shortRun(6, 6, 2));
    pane.show(overlay);
    RunsTable& table = pane.table();
    std::vector<std::pair<qint64, bool>> asked;
    QObject::connect(&table, &RunsTable::hideWanted, &pane, [&](qint64 session, bool hidden) { asked.emplace_back(session, hidden); });
    table.setCurrentCell(0, 0);
    ASSERT_EQ(table.session(0), 5);
    QTimer::singleShot(0, &table, [&] {
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        ASSERT_NE(menu, nullptr);
        table.sortByColumn(0, Qt::DescendingOrder);
        EXPECT_EQ(table.session(1), 5);
        menu->actions().front()->trigger();
        menu->close();
    });
    QContextMenuEvent wanted(QContextMenuEvent::Keyboard, QPoint(4, 4), page.mapToGlobal(QPoint(4, 4)));
    QApplication::sendEvent(&table, &wanted);
    EXPECT_EQ(asked, (std::vector<std::pair<qint64, bool>>{{5, true}}));
}

}  // namespace
}  // namespace stepscope
