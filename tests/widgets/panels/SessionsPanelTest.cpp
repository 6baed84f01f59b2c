// The list of sessions: order, filter, editing, deleting with undo.
#include <gtest/gtest.h>

#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QStyle>
#include <QTest>
#include <QTimer>
#include <QToolButton>

#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/sessions/RelativeTime.h"
#include "widgets/panels/sessions/SessionDelegate.h"
#include "widgets/panels/sessions/SessionEditor.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

SessionRow session(std::int64_t id, const QString& name, std::int64_t started, RunState state = RunState::Finished) {
    SessionRow row;
    row.id = id;
    row.name = name;
    row.startedUnixMs = started;
    row.state = state;
    row.steps = 100;
    row.msPerStep = 24.4;
    row.config = {{"amp", "off"}};
    return row;
}

class SessionsPanelTest : public testing::Test {
protected:
    SessionsPanelTest() {
        rows = {session(1, "baseline", 1000), session(2, "bf16", 2000), session(3, "old but live", 500, RunState::Running)};
        rows[1].config = {{"amp", "bf16"}};
        rows[1].tags = {"night"};
        rows[2].here = true;
        panel.resize(260, 500);
        panel.show();
        panel.setRows(rows);
    }
    QStringList names() {
        QStringList all;
        for (int i = 0; i < panel.filter().rowCount(); ++i) all << panel.filter().index(i, 0).data().toString();
        return all;
    }
    void search(const QString& text) { panel.findChild<QLineEdit*>()->setText(text); }
    void select(int row) { panel.view().setCurrentIndex(panel.filter().index(row, 0)); }
    QString empty() const {
        for (const auto* label : panel.findChildren<ToneLabel*>())
            if (label->isVisible()) return label->text();
        return {};
    }

    std::vector<SessionRow> rows;
    SessionsPanel panel;
};

TEST_F(SessionsPanelTest, ListsTheNewestFirstWithTheLiveRunOnTop) {
    EXPECT_EQ(names(), (QStringList{"old but live", "bf16", "baseline"}));
}

TEST_F(SessionsPanelTest, FiltersByNameTagStateAndSwitchAsOneTypes) {
    search("BASE");
    EXPECT_EQ(names(), QStringList{"baseline"});
    search("night");
    EXPECT_EQ(names(), QStringList{"bf16"});
    search("amp=bf16");
    EXPECT_EQ(names(), QStringList{"bf16"});
    search("running");
    EXPECT_EQ(names(), QStringList{"old but live"});
    search("amp=off finished");
    EXPECT_EQ(names(), QStringList{"baseline"});
}

TEST_F(SessionsPanelTest, SaysWhyItIsEmpty) {
    search("nothing like this");
    EXPECT_TRUE(empty().contains("No session matches"));
    search("");
    panel.setRows({});
    EXPECT_TRUE(empty().contains("Press Run"));
    panel.setUnavailable("The file s.db is not a database of sessions.");
    EXPECT_EQ(empty(), "The file s.db is not a database of sessions.");
}

TEST_F(SessionsPanelTest, ReplaysOnADoubleClickAndOnEnter) {
    QSignalSpy replay(&panel, &SessionsPanel::replayRequested);
    const QPoint at = panel.view().visualRect(panel.filter().index(1, 0)).center();
    QTest::mouseClick(panel.view().viewport(), Qt::LeftButton, {}, at);
    QTest::mouseDClick(panel.view().viewport(), Qt::LeftButton, {}, at);
    ASSERT_EQ(replay.size(), 1);
    EXPECT_EQ(replay[0][0].toLongLong(), 2);
    select(2);
    QTest::keyClick(&panel.view(), Qt::Key_Return);
    EXPECT_EQ(replay[1][0].toLongLong(), 1);
}

TEST_F(SessionsPanelTest, KeepsTheSelectionWhenTheListIsReadAnew) {
    select(1);
    rows.push_back(session(4, "newer", 9000));
    panel.setRows(rows);
    EXPECT_EQ(panel.selected(), 2);
}

TEST_F(SessionsPanelTest, RenamesInPlace) {
    select(1);
    QTest::keyClick(&panel.view(), Qt::Key_F2);
    QSignalSpy renamed(&panel, &SessionsPanel::renameRequested);
    auto* name = panel.findChild<SessionEditor*>()->findChild<QLineEdit*>();
    ASSERT_TRUE(name->isVisible());
    name->setText("bf16, second try");
    QTest::keyClick(name, Qt::Key_Return);
    ASSERT_EQ(renamed.size(), 1);
    EXPECT_EQ(renamed[0][0].toLongLong(), 2);
    EXPECT_EQ(renamed[0][1].toString(), "bf16, second try");
}

TEST_F(SessionsPanelTest, KeepsNotesAndTags) {
    auto* editor = panel.findChild<SessionEditor*>();
    editor->edit(rows[1], SessionEditor::Field::Tags);
    editor->findChildren<QLineEdit*>()[1]->setText("night, second ,");
    editor->findChild<QPlainTextEdit*>()->setPlainText("window open");
    QSignalSpy annotated(&panel, &SessionsPanel::annotateRequested), renamed(&panel, &SessionsPanel::renameRequested);
    for (auto* button : editor->findChildren<QPushButton*>())
        if (button->text() == "Save") QTest::mouseClick(button, Qt::LeftButton);
    ASSERT_EQ(annotated.size(), 1);
    EXPECT_EQ(annotated[0][1].toString(), "window open");
    EXPECT_EQ(annotated[0][2].toStringList(), (QStringList{"night", "second"}));
    EXPECT_EQ(renamed.size(), 0);
}

TEST_F(SessionsPanelTest, DeletesWithAWayBackAndNeverALiveRun) {
    QSignalSpy deleted(&panel, &SessionsPanel::deleteRequested), restored(&panel, &SessionsPanel::restoreRequested);
    select(0);
    QTest::keyClick(&panel.view(), Qt::Key_Delete);
    EXPECT_EQ(deleted.size(), 0);
    select(1);
    QTest::keyClick(&panel.view(), Qt::Key_Delete);
    ASSERT_EQ(deleted.size(), 1);
    panel.offerUndo(2, "bf16");
    auto* bar = panel.findChild<NoticeBar*>();
    EXPECT_TRUE(bar->sentence().contains("bf16"));
    for (auto* button : bar->findChildren<QToolButton*>())
        if (button->text() == "Undo") QTest::mouseClick(button, Qt::LeftButton);
    ASSERT_EQ(restored.size(), 1);
    EXPECT_EQ(restored[0][0].toLongLong(), 2);
}

TEST_F(SessionsPanelTest, SeveralAreChosenWithShiftAndControlComparedAndDeletedButNoneThatIsRecorded) {
    const auto at = [&](int row) { return panel.view().visualRect(panel.filter().index(row, 0)).center(); };
    QSignalSpy deleted(&panel, &SessionsPanel::deleteRequested);
    std::vector<std::int64_t> compared;
    QObject::connect(&panel, &SessionsPanel::compareRequested, &panel, [&](const std::vector<std::int64_t>& all) { compared = all; });
    QTest::mouseClick(panel.view().viewport(), Qt::LeftButton, {}, at(0));
    QTest::mouseClick(panel.view().viewport(), Qt::LeftButton, Qt::ShiftModifier, at(2));
    QTest::keyClick(&panel.view(), Qt::Key_C);
    EXPECT_EQ(compared, (std::vector<std::int64_t>{1, 2, 3}));
    QTest::mouseClick(panel.view().viewport(), Qt::LeftButton, Qt::ControlModifier, at(1));
    QTest::keyClick(&panel.view(), Qt::Key_C);
    EXPECT_EQ(compared, (std::vector<std::int64_t>{1, 3})) << "taken out again";
    rows.push_back(session(4, "newer", 9000));
    panel.setRows(rows);
    QTest::keyClick(&panel.view(), Qt::Key_C);
    EXPECT_EQ(compared, (std::vector<std::int64_t>{1, 3})) << "the list was read anew";

    const auto last = panel.view().visualRect(panel.filter().index(3, 0)).center();
    Q_EMIT panel.view().customContextMenuRequested(last);
    QStringList texts;
    for (const auto* action : panel.findChild<QMenu*>()->actions()) texts << action->text();
    EXPECT_TRUE(texts.contains("Compare 2 sessions") && texts.contains("Delete 2 sessions")) << texts.join(", ").toStdString();
    for (auto* action : panel.findChild<QMenu*>()->actions())
        if (action->text() == "Delete 2 sessions") action->trigger();
    ASSERT_EQ(deleted.size(), 1) << "the run in progress stays";
    EXPECT_EQ(deleted[0][0].toLongLong(), 1);
}

TEST_F(SessionsPanelTest, WhatWasImportedOffersNothingThatNeedsSettings) {
    rows.push_back(session(4, "v100", 9000));
    rows.back().kind = SessionKind::Trace;
    panel.setRows(rows);
    const auto enabled = [&](int row) {
        Q_EMIT panel.view().customContextMenuRequested(panel.view().visualRect(panel.filter().index(row, 0)).center());
        auto* menu = panel.findChild<QMenu*>();
        int count = 0;
        for (const auto* action : menu->actions())
            if (action->text().startsWith("Run again") || action->text().startsWith("Load these") || action->text().startsWith("Resume"))
                count += action->isEnabled() ? 1 : 0;
        delete menu;
        return count;
    };
    EXPECT_EQ(enabled(1), 0) << "the import, below what is recorded now";
    EXPECT_EQ(enabled(2), 3);
}

TEST_F(SessionsPanelTest, AgesGoOnWithoutAnybodyTouchingTheList) {
    class Paints : public QObject {
    public:
        int count = 0;
        bool eventFilter(QObject*, QEvent* event) override {
            count += event->type() == QEvent::Paint ? 1 : 0;
            return false;
        }
    } paints;
    panel.view().viewport()->installEventFilter(&paints);
    auto* ages = panel.view().findChild<QTimer*>("ages");
    ASSERT_NE(ages, nullptr);
    EXPECT_TRUE(ages->isActive());
    EXPECT_LE(ages->interval(), 60'000);
    QCoreApplication::processEvents();
    const int before = paints.count;
    ages->setInterval(1);
    EXPECT_TRUE(QTest::qWaitFor([&] { return paints.count > before; }, 5000));
}

TEST_F(SessionsPanelTest, TheNoteOfASessionThatIsDeletedIsNotWrittenOn) {
    auto* editor = panel.findChild<SessionEditor*>();
    QSignalSpy annotated(&panel, &SessionsPanel::annotateRequested);
    editor->edit(rows[1], SessionEditor::Field::Note);
    ASSERT_EQ(editor->session(), 2);
    select(1);
    QTest::keyClick(&panel.view(), Qt::Key_Delete);
    EXPECT_TRUE(editor->isHidden()) << "deleted here";
    editor->edit(rows[0], SessionEditor::Field::Note);
    editor->findChild<QPlainTextEdit*>()->setPlainText("half a senten");
    rows[2].steps = 200;
    panel.setRows(rows);
    EXPECT_TRUE(editor->isVisible()) << "its session is still there";
    EXPECT_EQ(editor->findChild<QPlainTextEdit*>()->toPlainText(), "half a senten");
    rows.erase(rows.begin());
    panel.setRows(rows);
    EXPECT_TRUE(editor->isHidden()) << "deleted by another program";
    EXPECT_EQ(editor->session(), 0);
    EXPECT_EQ(annotated.size(), 0);
}

TEST_F(SessionsPanelTest, OffersEverythingInTheContextMenu) {
    Q_EMIT panel.view().customContextMenuRequested(panel.view().visualRect(panel.filter().index(1, 0)).center());
    const auto* menu = panel.findChild<QMenu*>();
    ASSERT_NE(menu, nullptr);
    QStringList texts;
    for (const auto* action : menu->actions())
        if (!action->isSeparator()) texts << action->text();
    EXPECT_EQ(texts, (QStringList{"Replay", "Run again with these settings", "Load these settings", "Details", "What was measured in it",
                                  "Resume from its last checkpoint", "Rename", "Note", "Tags", "Checkpoints…", "Captures…", "Export", "Delete"}));
}

TEST_F(SessionsPanelTest, OffersWhatWorkersTookOnlyOfARunThatSeveralMade) {
    QSignalSpy wanted(&panel, &SessionsPanel::workersRequested);
    for (SessionRow& row : rows) row.severalWorkers = true;
    panel.setRows(rows);
    Q_EMIT panel.view().customContextMenuRequested(panel.view().visualRect(panel.filter().index(1, 0)).center());
    for (auto* action : panel.findChild<QMenu*>()->actions())
        if (action->text() == "Workers…") action->trigger();
    ASSERT_EQ(wanted.size(), 1);
    EXPECT_EQ(wanted[0][0].toLongLong(), panel.filter().index(1, 0).data(SessionsModel::IdRole).toLongLong());
}

TEST_F(SessionsPanelTest, OffersEachFormatThatASessionCanBeExportedIn) {
    panel.setExports({{"csv", "CSV, a line a value", {"*.csv"}, "session-%.csv"},
                      {"tensorboard", "TensorBoard events", {"events.out.tfevents*"}, "events.out.tfevents.session-%"}});
    Q_EMIT panel.view().customContextMenuRequested(panel.view().visualRect(panel.filter().index(1, 0)).center());
    QStringList texts;
    for (const auto* action : panel.findChild<QMenu*>()->findChildren<QAction*>()) texts << action->text();
    EXPECT_TRUE(texts.contains("CSV, a line a value…")) << texts.join(", ").toStdString();
    EXPECT_TRUE(texts.contains("TensorBoard events…")) << texts.join(", ").toStdString();
    const ExportChoice trace{"kineto", "Trace", {"*.pt.trace.json.gz", "*.json"}, "session-%.pt.trace.json.gz"};
    EXPECT_EQ(trace.filter(), "Trace (*.pt.trace.json.gz *.json)");
    EXPECT_EQ(trace.nameFor(7), "session-7.pt.trace.json.gz");
    EXPECT_EQ(trace.ending(), "pt.trace.json.gz");
    EXPECT_EQ((ExportChoice{"tensorboard", "Events", {"events.out.tfevents*"}, "events.out.tfevents.session-%"}.ending()), "");
}

TEST_F(SessionsPanelTest, OffersToLaySeveralOverEachOtherInTheMenuAndByItsKey) {
    std::vector<std::int64_t> asked;
    QObject::connect(&panel, &SessionsPanel::overlayRequested, &panel, [&](const std::vector<std::int64_t>& sessions) { asked = sessions; });
    panel.view().setCurrentIndex(panel.filter().index(0, 0));
    panel.view().selectAll();
    Q_EMIT panel.view().customContextMenuRequested(panel.view().visualRect(panel.filter().index(1, 0)).center());
    const int many = panel.filter().rowCount();
    ASSERT_GT(many, 1);
    for (auto* action : panel.findChild<QMenu*>()->actions())
        if (action->text() == QString("Lay %1 sessions over each other").arg(many)) action->trigger();
    EXPECT_EQ(asked, panel.allSelected());
    asked.clear();
    QTest::keyClick(&panel.view(), Qt::Key_O);
    EXPECT_EQ(asked, panel.allSelected());
}

TEST_F(SessionsPanelTest, OffersTwoTimelinesSideBySideInTheMenuAndByTheirKey) {
    std::pair<qint64, qint64> asked;
    QObject::connect(&panel, &SessionsPanel::sideBySideRequested, &panel, [&](qint64 a, qint64 b) { asked = {a, b}; });
    const auto offered = [&] {
        Q_EMIT panel.view().customContextMenuRequested(panel.view().visualRect(panel.filter().index(0, 0)).center());
        auto* menu = panel.findChild<QMenu*>();
        QAction* found = nullptr;
        for (auto* action : menu->actions())
            if (action->text() == "Timelines side by side") found = action;
        if (found != nullptr) found->trigger();
        delete menu;
        return found != nullptr;
    };
    panel.view().setCurrentIndex(panel.filter().index(0, 0));
    EXPECT_FALSE(offered()) << "one has nothing beside it";
    panel.view().selectionModel()->select(panel.filter().index(1, 0), QItemSelectionModel::Select);
    const auto two = panel.allSelected();
    ASSERT_EQ(two.size(), 2u);
    EXPECT_TRUE(offered());
    EXPECT_EQ(asked, (std::pair<qint64, qint64>(two[0], two[1]))) << "the older one is A";
    asked = {};
    QTest::keyClick(&panel.view(), Qt::Key_T);
    EXPECT_EQ(asked, (std::pair<qint64, qint64>(two[0], two[1])));
}

TEST_F(SessionsPanelTest, BringsTheLiveRowUpToDateWithoutReadingTheDatabase) {
    panel.model().setLive(3, RunState::Paused, 412, 20.0, 1.5);
    const SessionRow* row = panel.model().find(3);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->steps, 412);
    EXPECT_EQ(row->state, RunState::Paused);
}

TEST_F(SessionsPanelTest, TheLongestStateLeavesRoomForTheNumberOfStepsInItsDefaultWidth) {
    panel.resize(248, 500);
    const QFontMetrics metrics(panel.view().font());
    // The row without its margins, its dot, the state's word, and the scroll bar of a long list.
    const int scrollBar = panel.style()->pixelMetric(QStyle::PM_ScrollBarExtent);
    const int room = panel.view().viewport()->width() - scrollBar - 28 - metrics.horizontalAdvance("interrupted") - 8;
    SessionRow row = session(1, "baseline", 1000);
    row.msPerStep = 65.6;
    const std::pair<std::int64_t, const char*> expected[]{
        {1, "1 step"}, {355, "355 steps"}, {1909, "1\u202F909 steps"}, {123'456, "123\u202FK steps"}};
    for (const auto& [steps, word] : expected) {
        row.steps = steps;
        const QString text = SessionDelegate::figures(row, metrics, room);
        EXPECT_TRUE(text.endsWith(word)) << text.toStdString();
        EXPECT_TRUE(text.contains("ms  ")) << text.toStdString();
        EXPECT_LE(metrics.horizontalAdvance(text), room);
    }
    row.steps = 1909;
    EXPECT_EQ(SessionDelegate::figures(row, metrics, 1000), "65.6\u202Fms  1\u202F909 steps") << "all of it where there is room";
    EXPECT_EQ(SessionDelegate::figures(row, metrics, metrics.horizontalAdvance("1\u202F909 steps")), "1\u202F909 steps");
}

TEST(RelativeTime, SaysWhenAsAPersonWould) {
    const QDateTime now(QDate(2025, 3, 14), QTime(15, 0));
    EXPECT_EQ(relativeTime(now.addSecs(-10), now), "just now");
    EXPECT_EQ(relativeTime(now.addSecs(60), now), "just now") << "a clock that ran backwards";
    EXPECT_EQ(relativeTime(now.addSecs(-60 * 12), now), "12 min ago");
    EXPECT_EQ(relativeTime(now.addSecs(-3600 * 3), now), "today 12:00");
    EXPECT_EQ(relativeTime(now.addDays(-1), now), "yesterday 15:00");
    EXPECT_EQ(relativeTime(now.addDays(-30), now), "12 Feb 15:00");
    EXPECT_EQ(relativeTime(now.addDays(-400), now), "8 Feb 2024");
}

}  // namespace
}  // namespace stepscope
