// The page Query by itself: what it asks and when, what it says in each state, rows sorted by what they hold, cells that obey nothing, charts and the
// words of those that cannot be.
#include <gmock/gmock.h>

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHeaderView>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <ctime>

#include "widgets/charts/query/QueryChart.h"
#include "widgets/panels/query/QueryPage.h"
#include "widgets/panels/query/QueryTable.h"

namespace stepscope {
namespace {

QueryAnswer answerOf(std::vector<std::string> columns, std::vector<std::vector<QueryValue>> rows, bool more = false) {
    QueryResult result{.columns = std::move(columns), .rows = std::move(rows), .more = more, .seconds = 0.012};
    return {.session = 7, .result = std::make_shared<const QueryResult>(std::move(result)), .problem = {}, .place = {}};
}

class QueryPageTest : public testing::Test {
protected:
    QueryPageTest() {
        page.setQueries({{"op", "an operation", {{"name", "text", "what it is called"}, {"dur_ns", "integer", "how long"}}}},
                        {{"top", "Operations by time", "SELECT name FROM op"}, {"loss", "Loss of steps", "SELECT step, loss FROM steps"}},
                        {.seconds = 30, .rows = 1000});
        page.setSessions({{9, "newest"}, {7, "an older one"}});
        page.resize(640, 560);
        page.show();
    }
    static QString cell(const QTableView& table, int row, int column) { return table.model()->index(row, column).data().toString(); }

    QueryPage page;
    QSignalSpy asked{&page, &QueryPage::runRequested}, stopped{&page, &QueryPage::stopRequested};
};

TEST_F(QueryPageTest, ASavedQueryThatIsChangedIsNoLongerCalledSo) {
    page.saved()->setCurrentIndex(1);
    Q_EMIT page.saved()->activated(1);
    EXPECT_EQ(page.saved()->currentIndex(), 1);
    page.editor()->insertPlainText("x");
    EXPECT_EQ(page.saved()->currentIndex(), 0);
    page.saved()->setCurrentIndex(2);
    Q_EMIT page.saved()->activated(2);
    EXPECT_EQ(page.saved()->currentIndex(), 2);
    page.editor()->undo();
    EXPECT_EQ(page.saved()->currentIndex(), 0) << "what stood there before";
}

TEST_F(QueryPageTest, AsksTheSessionThatIsShownUntilAPersonChoosesAnother) {
    EXPECT_EQ(page.session(), 9) << "the newest";
    page.setShown(7);
    EXPECT_EQ(page.session(), 7);
    page.sessions()->setCurrentIndex(0);
    Q_EMIT page.sessions()->activated(0);
    page.setShown(7);
    EXPECT_EQ(page.session(), 9);
    page.setSessions({{11, "another"}, {9, "newest"}, {7, "an older one"}});
    EXPECT_EQ(page.session(), 9) << "the list is read anew";
    page.setSessions({{11, "another"}, {7, "an older one"}});
    EXPECT_EQ(page.session(), 7) << "the chosen one is deleted: what is shown again";
}

TEST_F(QueryPageTest, CtrlReturnRunsAndEscEnds) {
    page.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&page));
    page.editor()->setFocus();
    QTest::keyClicks(page.editor(), "SELECT 1");
    QTest::keyClick(page.editor(), Qt::Key_Return, Qt::ControlModifier);
    ASSERT_TRUE(QTest::qWaitFor([&] { return asked.count() == 1; }, 2000)) << "a button shows that it is pressed first";
    EXPECT_EQ(asked[0][0].toLongLong(), 9);
    EXPECT_EQ(asked[0][1].toString(), "SELECT 1");
    EXPECT_EQ(asked[0][2].toInt(), 30);
    EXPECT_TRUE(page.isRunning());
    EXPECT_EQ(page.runButton()->text(), "Stop");
    EXPECT_TRUE(page.sentence().contains("Esc")) << page.sentence().toStdString();
    QTest::keyClick(page.editor(), Qt::Key_Escape);
    EXPECT_EQ(stopped.count(), 1);
    EXPECT_FALSE(page.runButton()->isEnabled()) << "it is ending";
    page.setAnswer({.session = 9, .result = {}, .problem = "The query was cancelled.", .place = {}, .cancelled = true});
    EXPECT_FALSE(page.isRunning());
    EXPECT_EQ(page.runButton()->text(), "Run");
    EXPECT_TRUE(page.sentence().contains("cancelled"));
    QTest::keyClick(page.editor(), Qt::Key_Escape);
    EXPECT_EQ(stopped.count(), 1);
    EXPECT_FALSE(page.editor()->hasFocus()) << "the window's keys act again";
}

TEST_F(QueryPageTest, ASavedQueryIsWrittenAndRunAndOnesOwnComesBack) {
    page.editor()->setPlainText("SELECT mine");
    page.saved()->setCurrentIndex(2);
    Q_EMIT page.saved()->activated(2);
    ASSERT_EQ(asked.count(), 1);
    EXPECT_EQ(asked[0][1].toString(), "SELECT step, loss FROM steps");
    // Another one while it runs: that is ended, this begins.
    Q_EMIT page.saved()->activated(1);
    EXPECT_EQ(stopped.count(), 1);
    EXPECT_EQ(asked.count(), 2);
    EXPECT_TRUE(page.isRunning());
    page.editor()->undo();
    page.editor()->undo();
    EXPECT_EQ(page.editor()->toPlainText(), "SELECT mine");
    Q_EMIT page.saved()->activated(0);
    EXPECT_EQ(asked.count(), 2) << "the list's head is none";
}

TEST_F(QueryPageTest, ViewsAreAMenuWhoseNamesAreWritten) {
    QMenu* menu = page.viewsButton()->menu();
    ASSERT_EQ(menu->actions().size(), 1);
    QMenu* op = menu->actions().front()->menu();
    ASSERT_EQ(op->actions().size(), 4) << "the view, a line, two columns";
    page.editor()->setPlainText("SELECT ");
    page.editor()->moveCursor(QTextCursor::End);
    op->actions().at(3)->trigger();
    EXPECT_EQ(page.editor()->toPlainText(), "SELECT dur_ns");
}

TEST_F(QueryPageTest, SortsByWhatCellsHoldAndCopiesAsInSight) {
    page.setAnswer(answerOf({"name", "n"}, {{std::string("b"), std::int64_t{9}}, {std::string("a\tb"), std::int64_t{11'000}}, {{}, 9.5}}));
    EXPECT_TRUE(page.sentence().contains("3 rows of session 7 in 12")) << page.sentence().toStdString();
    EXPECT_EQ(cell(*page.table(), 0, 0), "b") << "as the query gave them";
    page.table()->sortByColumn(1, Qt::DescendingOrder);
    EXPECT_EQ(cell(*page.table(), 0, 1),
              "11\u202F"
              "000");
    EXPECT_EQ(cell(*page.table(), 1, 0), "NULL");
    QTest::qWait(20);  // laid out
    QTest::mouseClick(page.copyButton(), Qt::LeftButton);
    EXPECT_EQ(QGuiApplication::clipboard()->text(), QString("name\tn\na\uFFFD"
                                                            "b\t11000\n\t9.5\nb\t9\n"));
    EXPECT_TRUE(page.sentence().contains("Copied all")) << page.sentence().toStdString();
    page.table()->selectionModel()->select(page.table()->model()->index(0, 1), QItemSelectionModel::ClearAndSelect);
    QTest::mouseClick(page.copyButton(), Qt::LeftButton);
    EXPECT_EQ(QGuiApplication::clipboard()->text(), "11000") << "one cell is its text";
    page.table()->sortByColumn(-1, Qt::AscendingOrder);
    EXPECT_EQ(cell(*page.table(), 0, 0), "b");
    EXPECT_TRUE(page.table()->selectionModel()->isSelected(page.table()->model()->index(1, 1))) << "it went with its row";
    EXPECT_FALSE(page.table()->selectionModel()->isSelected(page.table()->model()->index(0, 1)));
}

TEST_F(QueryPageTest, CellsAndTitlesObeyNothingAndAreBounded) {
    const std::string hostile = std::string("x\0y", 3) + "\xe2\x80\xae<b>z\xff\n";
    page.setAnswer(answerOf({hostile, "long"}, {{hostile, std::string(100'000, 'm')}}));
    EXPECT_EQ(cell(*page.table(), 0, 0), QString("x\uFFFDy\uFFFD<b>z\uFFFD\uFFFD"));
    EXPECT_EQ(page.table()->model()->headerData(0, Qt::Horizontal).toString(), cell(*page.table(), 0, 0));
    EXPECT_LE(cell(*page.table(), 0, 1).size(), 301);
    EXPECT_LT(page.table()->columnWidth(1), 600);
    const QString tip = page.table()->model()->index(0, 1).data(Qt::ToolTipRole).toString();
    EXPECT_LT(tip.size(), 1000);
    EXPECT_FALSE(page.table()->model()->headerData(0, Qt::Horizontal, Qt::ToolTipRole).toString().contains("<b>")) << "no markup of a stranger's";
}

TEST_F(QueryPageTest, AnErrorIsASentenceAndMarksItsPlace) {
    page.editor()->setPlainText("SELECT \xf0\x9f\x98\x80,\n  nam FROM op");
    QTest::mouseClick(page.runButton(), Qt::LeftButton);
    page.setAnswer(
        {.session = 9, .result = {}, .problem = "The query is wrong at line 2, column 3: there is no column \"nam\".", .place = QueryPlace{2, 3}});
    EXPECT_TRUE(page.sentence().contains("no column"));
    ASSERT_EQ(page.editor()->extraSelections().size(), 1);
    EXPECT_EQ(page.editor()->extraSelections().front().cursor.selectedText(), "nam");
    EXPECT_FALSE(page.csvButton()->isVisible());
    // A place beyond the text, or of another text, marks nothing and harms nothing.
    page.setAnswer({.session = 9, .result = {}, .problem = "wrong", .place = QueryPlace{90, 3}});
    EXPECT_TRUE(page.editor()->extraSelections().isEmpty());
    page.editor()->setPlainText("x");
    page.setAnswer({.session = 9, .result = {}, .problem = "wrong", .place = QueryPlace{1, 1}});
    EXPECT_TRUE(page.editor()->extraSelections().isEmpty());
}

TEST_F(QueryPageTest, NoRowsSayWhy) {
    QueryAnswer none = answerOf({"a"}, {});
    page.setAnswer(none);
    EXPECT_TRUE(page.sentence().contains("Nothing of the session fits")) << page.sentence().toStdString();
    none.captured = false;
    page.setAnswer(none);
    EXPECT_TRUE(page.sentence().contains("Nothing was captured")) << page.sentence().toStdString();
    EXPECT_TRUE(page.sentence().contains("Capture now"));
    EXPECT_FALSE(page.copyButton()->isEnabled());
    page.setAnswer(answerOf({"a"}, {{std::int64_t{1}}}, true));
    EXPECT_TRUE(page.sentence().contains("There are more")) << page.sentence().toStdString();
    page.setSessions({});
    EXPECT_TRUE(page.sentence().contains("no session to ask")) << page.sentence().toStdString();
    EXPECT_FALSE(page.runButton()->isEnabled());
    page.setUnavailable("The database cannot be read.");
    EXPECT_EQ(page.sentence(), "The database cannot be read.");
}

TEST_F(QueryPageTest, AChartDrawsOneColumnOrAllAndSaysWhatItCannot) {
    page.forms()->setCurrentIndex(1);
    page.setAnswer(answerOf({"step", "loss", "ms"}, {{std::int64_t{1}, 3.0, std::int64_t{5}}, {std::int64_t{2}, 2.0, std::int64_t{7}}}));
    EXPECT_EQ(page.chart()->picture().kind, QueryPicture::Kind::Line);
    EXPECT_EQ(page.chart()->picture().lines.size(), 2u);
    ASSERT_TRUE(page.columns()->isVisible());
    page.columns()->setCurrentIndex(2);
    ASSERT_EQ(page.chart()->picture().lines.size(), 1u);
    EXPECT_EQ(page.chart()->picture().lines[0].name, "ms");
    page.chart()->setFocus();
    QTest::keyClick(page.chart(), Qt::Key_Right);
    QTest::keyClick(page.chart(), Qt::Key_Right);
    EXPECT_EQ(page.chart()->chosen(), 1);
    EXPECT_EQ(page.chart()->readOut(1), "step 2: ms 7");
    EXPECT_EQ(page.chart()->accessibleDescription(), "step 2: ms 7") << "what the head says is said to who reads the screen";
    EXPECT_GT(page.chart()->placeOf(1, 0).x(), page.chart()->placeOf(0, 0).x());
    EXPECT_LT(page.chart()->placeOf(1, 0).y(), page.chart()->placeOf(0, 0).y()) << "more is further up";
    page.setAnswer(answerOf({"name"}, {{std::string("a")}}));
    EXPECT_TRUE(page.chart()->accessibleDescription().contains("two columns")) << page.chart()->accessibleDescription().toStdString();
}

TEST_F(QueryPageTest, AChartOfRowsOfOneRankIsOverTheirNames) {
    page.forms()->setCurrentIndex(1);
    page.setAnswer(
        answerOf({"rank", "place", "gap_us"}, {{std::int64_t{0}, std::string("thread 1"), 3.0}, {std::int64_t{0}, std::string("thread 2"), 2.0}}));
    EXPECT_EQ(page.chart()->picture().kind, QueryPicture::Kind::Bars);
    EXPECT_EQ(page.chart()->picture().names.at(1), "thread 2");
    EXPECT_EQ(page.chart()->picture().lines.size(), 1u);
    // One place alone stands in the middle.
    page.setAnswer(answerOf({"x", "y"}, {{std::int64_t{0}, 3.0}, {std::int64_t{0}, 2.0}}));
    QTest::qWait(20);
    EXPECT_NEAR(page.chart()->placeOf(0, 0).x(), page.chart()->width() / 2.0, page.chart()->width() / 8.0);
}

TEST_F(QueryPageTest, NumbersOfAColumnHaveTheirPointsBelowEachOther) {
    page.setAnswer(answerOf({"name", "ms"},
                            {{std::string("a"), 12.5}, {std::string("b"), 0.125}, {std::string("c"), 3.0}, {std::string("d"), std::int64_t{4}}}));
    EXPECT_EQ(cell(*page.table(), 0, 1), "12.500");
    EXPECT_EQ(cell(*page.table(), 1, 1), "0.125");
    EXPECT_EQ(cell(*page.table(), 2, 1), "3.000");
    EXPECT_EQ(cell(*page.table(), 3, 1), "4") << "a whole number of the query is one";
    page.setAnswer(answerOf({"name", "x"}, {{std::string("a"), 1e-9}, {std::string("b"), 2.5}}));
    EXPECT_EQ(cell(*page.table(), 0, 1), "1e-09") << "no digit is lost to the others";
    EXPECT_EQ(cell(*page.table(), 1, 1), "2.5");
}

TEST_F(QueryPageTest, ANameThatIsCutGetsTheRoomThatIsFree) {
    page.resize(1600, 560);
    const std::string name = "void at::native::" + std::string(100, 'x') + "<float>";
    page.setAnswer(answerOf({"name", "ms"}, {{name, 2.5}}));
    QTest::qWait(20);
    const QTableView& table = *page.table();
    EXPECT_GE(table.columnWidth(0), table.fontMetrics().horizontalAdvance(QString::fromStdString(name)));
    EXPECT_LE(table.horizontalHeader()->length(), table.viewport()->width()) << "no more than there is";
    EXPECT_EQ(table.textElideMode(), Qt::ElideMiddle);
    page.resize(640, 560);
    page.setAnswer(answerOf({"name", "ms"}, {{name, 2.5}}));
    QTest::qWait(20);
    const int narrow = table.columnWidth(0);
    page.resize(1600, 560);
    QTest::qWait(20);
    EXPECT_GT(table.columnWidth(0), narrow) << "also when the window grows";
    page.resize(640, 560);
    QTest::qWait(20);
    EXPECT_EQ(table.columnWidth(0), narrow) << "and back";
    page.table()->setColumnWidth(0, 90);
    page.resize(1600, 560);
    QTest::qWait(20);
    EXPECT_EQ(table.columnWidth(0), 90) << "what a person chose stays";
}

TEST_F(QueryPageTest, TheBarThatTheKeysAreAtIsInSight) {
    page.forms()->setCurrentIndex(1);
    std::vector<std::vector<QueryValue>> rows;
    for (std::int64_t i = 0; i < 150; ++i) rows.push_back({std::string("name ") + std::to_string(i), i});
    page.setAnswer(answerOf({"name", "n"}, std::move(rows)));
    QueryChart& chart = *page.chart();
    ASSERT_EQ(chart.picture().kind, QueryPicture::Kind::Bars);
    const int last = static_cast<int>(chart.picture().names.size()) - 1;
    ASSERT_TRUE(QTest::qWaitFor([&] { return chart.visibleRegion().boundingRect().height() > 0; }));
    ASSERT_LT(chart.visibleRegion().boundingRect().bottom(), chart.height() - 100) << "not all of them have room";
    for (int i = 0; i <= last; ++i) QTest::keyClick(&chart, Qt::Key_Down);
    EXPECT_EQ(chart.chosen(), last);
    EXPECT_GT(chart.visibleRegion().boundingRect().bottom(), chart.height() - 40) << "the last one";
}

// Numbers that a scale could not be divided by, or that have no difference: drawn in a moment, or said not to be.
TEST_F(QueryPageTest, AChartOfAnyNumbersIsDrawnAtOnce) {
    page.forms()->setCurrentIndex(1);
    const std::vector<std::pair<double, double>> ranges{{1.7e18, 1.7e18 + 256}, {-1e300, 1e300}, {5, 5},           {0, 0},
                                                        {1e-300, 2e-300},       {-3, -2},        {1e17, 1e17 + 16}};
    for (const auto& [low, high] : ranges) {
        for (const bool words : {false, true}) {
            const auto x = [&](double value) { return words ? QueryValue(std::string("row")) : QueryValue(value); };
            page.setAnswer(answerOf({"x", "y"}, {{x(low), low}, {x(high), high}}));
            QElapsedTimer clock;
            clock.start();
            EXPECT_FALSE(page.chart()->grab().isNull());
            EXPECT_LT(clock.elapsed(), 5000) << low << " " << high;
        }
    }
}

TEST_F(QueryPageTest, TwoHundredThousandRowsAreSortedAndDrawnWithoutAWait) {
    std::vector<std::vector<QueryValue>> rows;
    for (std::int64_t i = 0; i < 200'000; ++i) rows.push_back({i, std::string("operation ") + std::to_string(i * 7919 % 200'000), (i * 31) % 1000});
    // Of this thread's processor time: others may have the machine.
    const auto spent = [] {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    };
    const double before = spent();
    page.setAnswer(answerOf({"n", "name", "m"}, std::move(rows)));
    page.table()->sortByColumn(1, Qt::AscendingOrder);
    page.forms()->setCurrentIndex(1);
    EXPECT_FALSE(page.chart()->grab().isNull());
    EXPECT_LT(spent() - before, 3);
    EXPECT_EQ(cell(*page.table(), 1, 1), "operation 1");
}

TEST_F(QueryPageTest, KeepsWhatWasWritten) {
    page.editor()->setPlainText("SELECT 42");
    page.seconds()->setValue(90);
    QSettings settings;
    page.save(settings);
    QueryPage other;
    other.restore(settings);
    EXPECT_EQ(other.editor()->toPlainText(), "SELECT 42");
    EXPECT_EQ(other.seconds()->value(), 90);
}

TEST_F(QueryPageTest, EveryPartIsReachedByTabAndHasAName) {
    page.setAnswer(answerOf({"a", "b"}, {{std::int64_t{1}, std::int64_t{2}}}));
    for (const QWidget* part :
         {static_cast<QWidget*>(page.sessions()), static_cast<QWidget*>(page.saved()), static_cast<QWidget*>(page.viewsButton()),
          static_cast<QWidget*>(page.editor()), static_cast<QWidget*>(page.runButton()), static_cast<QWidget*>(page.seconds()),
          static_cast<QWidget*>(page.forms()), static_cast<QWidget*>(page.table()), static_cast<QWidget*>(page.chart()),
          static_cast<QWidget*>(page.copyButton()), static_cast<QWidget*>(page.csvButton())}) {
        EXPECT_TRUE((part->focusPolicy() & Qt::TabFocus) != 0) << part->metaObject()->className();
        const auto* button = qobject_cast<const QAbstractButton*>(part);
        EXPECT_FALSE(part->accessibleName().isEmpty() && (button == nullptr || button->text().isEmpty())) << part->metaObject()->className();
    }
}

}  // namespace
}  // namespace stepscope
