// The table of sessions: it sorts numbers as numbers, shows what differs, and what it exports another program can read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTableWidget>
#include <QTest>

#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPage.h"
#include "widgets/panels/sessions/SessionsTable.h"

namespace stepscope {
namespace {

SessionRow row(std::int64_t id, const QString& name, double ms, double loss, const QString& amp, RunState state = RunState::Finished) {
    SessionRow made;
    made.id = id;
    made.name = name;
    made.state = state;
    made.startedUnixMs = 1'795'262'400'000 + id * 1000;
    made.steps = 100 * id;
    made.msPerStep = ms;
    made.tokensPerSecond = 1e6 / ms;
    made.loss = loss;
    made.config = {{"layers", "4"}, {"amp", amp}};
    return made;
}

class SessionsPageTest : public testing::Test {
protected:
    SessionsPageTest() {
        SessionRow tagged = row(3, "with, a comma", 9.5, kUnknown, "bf16");
        tagged.tags = {"try", "good"};
        model.setRows({row(1, "slow", 100, 2.5, "off"), row(2, "fast", 20, 2.25, "bf16"), tagged, row(4, "live", 30, 3, "off", RunState::Running)});
        page.resize(900, 600);
        page.show();
    }
    QList<qlonglong> ids() {
        QList<qlonglong> all;
        for (int i = 0; i < page.order().rowCount(); ++i) all << page.order().index(i, SessionsTable::Number).data().toLongLong();
        return all;
    }
    QPushButton* button(const QString& text) {
        for (auto* found : page.findChildren<QPushButton*>())
            if (found->text() == text) return found;
        return nullptr;
    }
    QStringList keys() {
        QStringList all;
        for (int i = 0; i < page.settings().rowCount(); ++i) all << page.settings().item(i, 0)->text();
        return all;
    }
    SessionsModel model;
    SessionsPage page{model};
};

TEST_F(SessionsPageTest, ADoubleClickReplaysTheSessionUnderThePointerWhicheverOthersAreChosen) {
    page.choose({1, 2, 3, 4});
    QSignalSpy replay(&page, &SessionsPage::replayRequested);
    for (int row = 0; row < page.order().rowCount(); ++row) Q_EMIT page.table().doubleClicked(page.order().index(row, SessionsTable::Name));
    ASSERT_EQ(replay.size(), 4);
    for (int row = 0; row < 4; ++row) EXPECT_EQ(replay[row][0].toLongLong(), ids()[row]) << row;
}

// Their names and settings may be a stranger's.
TEST_F(SessionsPageTest, ToolTipsSayWhatIsStoredLetterByLetter) {
    model.setRows({row(1, "<b>bold</b>", 100, 2.5, "<i>off</i>")});
    page.choose({1});
    EXPECT_EQ(page.order().index(0, SessionsTable::Name).data(Qt::ToolTipRole).toString(), "<p>&lt;b&gt;bold&lt;/b&gt;</p>");
    EXPECT_TRUE(model.index(0).data(Qt::ToolTipRole).toString().startsWith("<p>&lt;b&gt;bold&lt;/b&gt;<br>session 1, "));
    ASSERT_EQ(page.settings().rowCount(), 2);
    EXPECT_EQ(page.settings().item(1, 1)->toolTip(), "<p>&lt;i&gt;off&lt;/i&gt;</p>");
}

TEST_F(SessionsPageTest, SaysThatEqualSettingsDoNotDiffer) {
    model.setRows({row(1, "slow", 100, 2.5, "off"), row(2, "again", 99, 2.5, "off")});
    page.choose({1, 2});
    const auto says = [&](const QString& text) {
        for (const auto* label : page.findChildren<QLabel*>())
            if (label->isVisible() && label->text() == text) return true;
        return false;
    };
    EXPECT_TRUE(keys().isEmpty());
    EXPECT_TRUE(says("Settings of 2 sessions: nothing differs"));
    page.findChild<QCheckBox*>()->setChecked(false);
    EXPECT_FALSE(keys().isEmpty());
    EXPECT_TRUE(says("Settings of 2 sessions"));
}

TEST_F(SessionsPageTest, WhatWasImportedHasNoSettingsToLoadOrRun) {
    SessionRow trace = row(1, "v100", kUnknown, kUnknown, "off");
    trace.kind = SessionKind::Trace;
    model.setRows({trace});
    page.choose({1});
    EXPECT_TRUE(button("Replay")->isEnabled());
    EXPECT_FALSE(button("Load settings")->isEnabled());
    EXPECT_FALSE(button("Run again")->isEnabled());
}

TEST_F(SessionsPageTest, SortsFiguresByTheirValueAndUnknownOnesLast) {
    EXPECT_EQ(ids(), (QList<qlonglong>{4, 3, 2, 1})) << "the newest first";
    page.table().sortByColumn(SessionsTable::StepTime, Qt::AscendingOrder);
    EXPECT_EQ(ids(), (QList<qlonglong>{3, 2, 4, 1})) << "9.5 before 20 before 100";
    page.table().sortByColumn(SessionsTable::Loss, Qt::AscendingOrder);
    EXPECT_EQ(ids(), (QList<qlonglong>{2, 1, 4, 3}));
    page.table().sortByColumn(SessionsTable::Loss, Qt::DescendingOrder);
    EXPECT_EQ(ids(), (QList<qlonglong>{4, 1, 2, 3})) << "unknown is not the largest either";
}

TEST_F(SessionsPageTest, ShowsTheSettingsOfOneAndWhatDiffersBetweenSeveral) {
    page.choose({2});
    EXPECT_EQ(keys(), (QStringList{"layers", "amp"})) << "all of them";
    page.choose({1, 2});
    EXPECT_EQ(page.chosen(), (std::vector<std::int64_t>{2, 1}));
    EXPECT_EQ(keys(), QStringList{"amp"});
    EXPECT_EQ(page.settings().item(0, 1)->text(), "bf16");
    EXPECT_EQ(page.settings().item(0, 2)->text(), "off");
    EXPECT_TRUE(page.settings().item(0, 1)->font().bold());
    page.findChild<QCheckBox*>()->setChecked(false);
    EXPECT_EQ(keys(), (QStringList{"layers", "amp"}));
    EXPECT_FALSE(page.settings().item(0, 1)->font().bold()) << "the same";
}

TEST_F(SessionsPageTest, NarrowsAsOneTypes) {
    auto* search = page.findChild<QLineEdit*>();
    QTest::keyClicks(search, "amp=bf16");
    EXPECT_EQ(ids(), (QList<qlonglong>{3, 2}));
    search->setText("good");
    EXPECT_EQ(ids(), (QList<qlonglong>{3}));
    search->setText("nothing like it");
    EXPECT_TRUE(ids().isEmpty());
}

TEST_F(SessionsPageTest, ActsOnWhatIsChosen) {
    for (const char* text : {"Replay", "Load settings", "Run again", "Delete"}) EXPECT_FALSE(button(text)->isEnabled()) << text;
    page.choose({1, 4});
    EXPECT_FALSE(button("Load settings")->isEnabled()) << "of which?";
    QSignalSpy deleted(&page, &SessionsPage::deleteRequested);
    QTest::mouseClick(button("Delete"), Qt::LeftButton);
    ASSERT_EQ(deleted.size(), 1) << "what is still recorded stays";
    EXPECT_EQ(deleted[0][0].toLongLong(), 1);
    page.choose({2});
    QSignalSpy loaded(&page, &SessionsPage::loadRequested);
    QTest::mouseClick(button("Load settings"), Qt::LeftButton);
    ASSERT_EQ(loaded.size(), 1);
    EXPECT_EQ(loaded[0][0].toLongLong(), 2);
}

TEST_F(SessionsPageTest, ExportsWhatIsSeenInItsOrderWithPlainNumbers) {
    page.table().sortByColumn(SessionsTable::StepTime, Qt::AscendingOrder);
    page.findChild<QLineEdit*>()->setText("amp=bf16");
    const QStringList lines = page.order().csv().split('\n');
    ASSERT_EQ(lines.size(), 4);
    EXPECT_EQ(lines[0], "session,name,state,started,steps,loss,validation_loss,ms_per_step,tokens_per_s,tags");
    EXPECT_TRUE(lines[1].startsWith("3,\"with, a comma\",finished,")) << lines[1].toStdString();
    EXPECT_TRUE(lines[1].endsWith(",300,,,9.5,105263.1579,\"try, good\"")) << lines[1].toStdString();
    EXPECT_TRUE(lines[2].startsWith("2,fast,finished,"));
}

TEST_F(SessionsPageTest, KeepsUpWithTheList) {
    page.choose({2});
    model.setLive(4, RunState::Running, 450, 30, 2.0);
    page.table().sortByColumn(SessionsTable::Loss, Qt::AscendingOrder);
    EXPECT_EQ(ids().front(), 4);
    EXPECT_EQ(page.chosen(), std::vector<std::int64_t>{2}) << "figures that change do not take the choice away";
    page.choose({2, 4});
    model.setRows({row(5, "new", 1, 1, "off"), row(2, "fast", 20, 2.25, "bf16"), row(1, "slow", 100, 2.5, "off")});
    EXPECT_EQ(page.chosen(), std::vector<std::int64_t>{2}) << "of what was chosen, what is still there";
    EXPECT_EQ(page.settings().columnCount(), 2);
}

}  // namespace
}  // namespace stepscope
