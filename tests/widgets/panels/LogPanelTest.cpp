// The log: sentences with time, errors marked, a click that jumps to the step.
#include <gtest/gtest.h>

#include <QLabel>
#include <QListView>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

#include "widgets/panels/LogModel.h"
#include "widgets/panels/LogPanel.h"
#include "widgets/panels/run/NoticeBar.h"

namespace stepscope {
namespace {

class LogPanelTest : public testing::Test {
protected:
    LogPanelTest() {
        panel.setModel(&log);
        panel.resize(600, 100);
        panel.show();
    }
    void fill(int lines) {
        std::vector<LogEntry> entries;
        for (int i = 0; i < lines; ++i) entries.push_back({QDateTime::currentDateTime(), LogLevel::Info, QString("line %1").arg(i), i + 1});
        log.add(entries);
        QTest::qWait(1);
    }
    LogModel log;
    LogPanel panel;
};

TEST_F(LogPanelTest, SaysWhyItIsEmptyAtFirst) {
    bool told = false;
    for (const auto* label : panel.findChildren<QLabel*>()) told = told || (label->isVisible() && label->text().contains("The log is empty"));
    EXPECT_TRUE(told);
}

TEST_F(LogPanelTest, JumpsToTheStepOfALineThatIsClicked) {
    fill(3);
    QSignalSpy jumped(&panel, &LogPanel::jumpToStep);
    QTest::mouseClick(panel.view().viewport(), Qt::LeftButton, {}, panel.view().visualRect(log.index(1)).center());
    ASSERT_EQ(jumped.size(), 1);
    EXPECT_EQ(jumped[0][0].toLongLong(), 2);
}

TEST_F(LogPanelTest, LeadsNowhereFromLinesOfAnEarlierSession) {
    fill(3);
    log.forgetSteps();
    QSignalSpy jumped(&panel, &LogPanel::jumpToStep);
    QTest::mouseClick(panel.view().viewport(), Qt::LeftButton, {}, panel.view().visualRect(log.index(1)).center());
    EXPECT_EQ(jumped.size(), 0);
}

TEST_F(LogPanelTest, FollowsTheEndUntilOneScrollsUp) {
    fill(100);
    auto* bar = panel.view().verticalScrollBar();
    EXPECT_EQ(bar->value(), bar->maximum());
    bar->setValue(5);
    fill(10);
    EXPECT_EQ(bar->value(), 5);
    bar->setValue(bar->maximum());
    fill(10);
    EXPECT_EQ(bar->value(), bar->maximum());
}

TEST_F(LogPanelTest, KeepsAShortLogOutOfWhatLiesOverIt) {
    NoticeBar notice(&panel, Qt::TopEdge);
    QObject::connect(&notice, &NoticeBar::coveredChanged, &panel, &LogPanel::setCovered);
    const auto topOf = [this](QWidget& part) { return part.mapTo(&panel, QPoint(0, 0)).y(); };
    auto* empty = panel.findChild<QLabel*>();
    notice.say(NoticeBar::Kind::Error, "The file is gone.");
    EXPECT_GE(topOf(*empty), notice.height()) << "the sentence of an empty log";
    fill(2);
    QTest::qWait(1);
    EXPECT_GE(topOf(*panel.view().viewport()) + panel.view().visualRect(log.index(0)).top(), notice.height());
    notice.hide();
    QTest::qWait(1);
    EXPECT_EQ(topOf(panel.view()), 0);
    fill(100);
    panel.view().verticalScrollBar()->setValue(5);
    const QRect before = panel.view().visualRect(log.index(8));
    notice.say(NoticeBar::Kind::Error, "The file is gone.");
    QTest::qWait(1);
    EXPECT_EQ(topOf(panel.view()), 0) << "where one reads nothing moves";
    EXPECT_EQ(panel.view().visualRect(log.index(8)), before);
}

TEST_F(LogPanelTest, SaysWarningsAndErrorsInWords) {
    log.add({{QDateTime::currentDateTime(), LogLevel::Error, "the disk is full.", 0}});
    EXPECT_EQ(log.index(0).data(LogModel::SentenceRole).toString(), "Error: the disk is full.");
}

TEST(LogModel, KeepsTheNewestLinesOnly) {
    LogModel log;
    std::vector<LogEntry> many;
    for (int i = 0; i < LogModel::kMost + 7; ++i) many.push_back({QDateTime(), LogLevel::Info, QString::number(i), 0});
    log.add(many);
    EXPECT_EQ(log.rowCount(), LogModel::kMost);
    EXPECT_EQ(log.index(0).data(LogModel::SentenceRole).toString(), "7");
    log.add({{QDateTime(), LogLevel::Info, "last", 0}});
    EXPECT_EQ(log.rowCount(), LogModel::kMost);
    EXPECT_EQ(log.index(log.rowCount() - 1).data(LogModel::SentenceRole).toString(), "last");
}

}  // namespace
}  // namespace stepscope
