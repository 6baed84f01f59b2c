// The page Query of the whole window over real sessions: asked and answered, ended by a person and by its limits, what a query may not do, a session
// that goes meanwhile, a window that closes meanwhile, files, and pictures in the sizes and themes that people have.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QElapsedTimer>
#include <QFile>
#include <QHeaderView>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>

#include "WindowFixture.h"
#include "sessions/SessionStore.h"
#include "widgets/charts/query/QueryChart.h"
#include "widgets/panels/query/QueryPage.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

constexpr const char* kForEver = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";

class WindowQueryTest : public WindowTest {
protected:
    QueryPage& page() { return window().queryPage(); }
    bool says(const QString& text, int ms = 10'000) {
        return QTest::qWaitFor([&] { return page().sentence().contains(text); }, ms);
    }
    bool knowsASession() {
        window().pages().setCurrentWidget(&page());
        return QTest::qWaitFor([&] { return page().session() > 0; }, 10'000);
    }
    void capture() {
        press("Run");
        ASSERT_TRUE(reaches(30));
        bool captured = false;
        QObject until;
        QObject::connect(&place->stage().live(), &LiveFeed::captured, &until, [&] { captured = true; });
        place->runs().send(Capture{.steps = 3});
        ASSERT_TRUE(QTest::qWaitFor([&] { return captured; }, 5000));
        press("Stop");
        ASSERT_TRUE(idle());
        ASSERT_TRUE(knowsASession());
    }
    // Asks, and waits until it is answered.
    QString ask(const QString& sql) {
        page().editor()->setPlainText(sql);
        QTest::mouseClick(page().runButton(), Qt::LeftButton);
        EXPECT_TRUE(QTest::qWaitFor([&] { return !page().isRunning(); }, 40'000)) << sql.toStdString();
        return page().sentence();
    }
    void choose(const QString& title) {
        const int at = page().saved()->findText(title);
        ASSERT_GT(at, 0) << title.toStdString();
        page().saved()->setCurrentIndex(at);
        Q_EMIT page().saved()->activated(at);
        ASSERT_TRUE(QTest::qWaitFor([&] { return !page().isRunning(); }, 10'000));
    }
    int rows() { return page().table()->model()->rowCount(); }
};

TEST_F(WindowQueryTest, IsAskedAboutWhatACaptureSawInATableAndAChart) {
    options.size = {1280, 800};
    open();
    window().pages().setCurrentWidget(&page());
    EXPECT_TRUE(says("no session to ask yet")) << page().sentence().toStdString();
    picture(window(), "query-empty");
    capture();
    picture(window(), "query-first");
    choose("Operations by their own time");
    EXPECT_TRUE(says("4 rows of session 1")) << page().sentence().toStdString();
    EXPECT_EQ(rows(), 4);
    QTest::qWait(100);
    picture(window(), "query-table");
    page().forms()->setCurrentIndex(1);
    EXPECT_EQ(page().chart()->picture().kind, QueryPicture::Kind::Bars);
    page().columns()->setCurrentIndex(2);
    QTest::qWait(100);
    picture(window(), "query-bars");
    choose("Loss and time of every step of the run");
    EXPECT_EQ(page().chart()->picture().kind, QueryPicture::Kind::Line);
    QTest::qWait(100);
    picture(window(), "query-chart");
    applyStyle(*qApp, Theme::Dark);
    QTest::qWait(100);
    picture(window(), "query-chart-dark");
    page().forms()->setCurrentIndex(0);
    QTest::qWait(100);
    picture(window(), "query-table-dark");
    applyStyle(*qApp, Theme::Light);
    for (int saved = 1; saved < page().saved()->count(); ++saved) {
        Q_EMIT page().saved()->activated(saved);
        ASSERT_TRUE(QTest::qWaitFor([&] { return !page().isRunning(); }, 10'000));
        EXPECT_TRUE(page().sentence().contains("of session 1 in")) << page().sentence().toStdString();
    }
}

TEST_F(WindowQueryTest, WritesItsRowsToAFileThatIsWholeOrNot) {
    open();
    capture();
    ask("SELECT 1 AS a, 'b,\"c' AS b, NULL AS c");
    Q_EMIT page().csvRequested(folder.filePath("x.csv"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return QFile::exists(folder.filePath("x.csv")); }, 5000));
    QFile file(folder.filePath("x.csv"));
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_EQ(file.readAll(), "a,b,c\r\n1,\"b,\"\"c\",\r\n");
    Q_EMIT page().csvRequested("/proc/nope/x.csv");
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().notice().sentence().contains("cannot be written"); }, 5000));
}

TEST_F(WindowQueryTest, WhatRunsForEverEndsByEscByTheButtonAndByItsTime) {
    open();
    capture();
    window().activateWindow();
    page().editor()->setPlainText(kForEver);
    QTest::mouseClick(page().runButton(), Qt::LeftButton);
    QTest::qWait(300);
    EXPECT_TRUE(page().isRunning());
    picture(window(), "query-running");
    page().setFocus();
    key(Qt::Key_Escape);
    EXPECT_TRUE(says("cancelled", 3000)) << page().sentence().toStdString();
    QTest::mouseClick(page().runButton(), Qt::LeftButton);
    QTest::qWait(100);
    QTest::mouseClick(page().runButton(), Qt::LeftButton);
    EXPECT_TRUE(says("cancelled", 3000)) << page().sentence().toStdString();
    page().seconds()->setValue(1);
    EXPECT_TRUE(ask(kForEver).contains("limit of 1")) << page().sentence().toStdString();
    QTest::qWait(50);
    picture(window(), "query-limit");
    // The next one is answered as if nothing had been; by the keyboard.
    page().editor()->setPlainText("SELECT 2, 3");
    page().editor()->setFocus();
    QTest::keyClick(page().editor(), Qt::Key_Return, Qt::ControlModifier);
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().table()->model()->columnCount() == 2; }, 5000)) << page().sentence().toStdString();
    EXPECT_TRUE(ask("SELECT 1").contains("1 row of")) << page().sentence().toStdString();
}

TEST_F(WindowQueryTest, AnotherQueryTakesThePlaceOfTheOneThatRuns) {
    open();
    capture();
    page().editor()->setPlainText(kForEver);
    QTest::mouseClick(page().runButton(), Qt::LeftButton);
    QTest::qWait(50);
    choose("Loss and time of every step of the run");
    EXPECT_TRUE(page().sentence().contains("of session 1 in")) << page().sentence().toStdString();
    EXPECT_EQ(page().table()->model()->columnCount(), 4);
}

TEST_F(WindowQueryTest, WhatWouldWriteOrReachOutsideIsRefusedInASentence) {
    open();
    capture();
    for (const char* sql :
         {"ATTACH 'x.db' AS x", "PRAGMA user_version", "DELETE FROM op", "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')",
          "CREATE TABLE t (x)", "SELECT 1; SELECT 2", "VACUUM", "SELEC", "", "SELECT ?", "SELECT '\xe2\x80\xae' FROM nowhere"}) {
        const QString told = ask(QString::fromUtf8(sql));
        EXPECT_TRUE(told.endsWith('.') || told.endsWith('?')) << sql << ": " << told.toStdString();
        EXPECT_TRUE(told.contains("query", Qt::CaseInsensitive)) << sql << ": " << told.toStdString();
        EXPECT_FALSE(told.contains("of session 1 in")) << sql << ": " << told.toStdString();
        EXPECT_EQ(rows(), 0) << sql;
    }
    QTest::qWait(50);
    picture(window(), "query-refused");
    EXPECT_EQ(stored().size(), 1u);
    // A character 0 cannot be typed here, and what a cell holds of it is seen.
    ask("SELECT char(0, 8238, 60, 98, 62) AS x");
    EXPECT_EQ(page().table()->model()->index(0, 0).data().toString(), QString("\uFFFD\uFFFD<b>"));
}

TEST_F(WindowQueryTest, AMillionRowsAreCutAndTheWindowGoesOn) {
    open();
    capture();
    QElapsedTimer clock;
    clock.start();
    const QString told = ask("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1000000) SELECT x, x * 3 AS y FROM n");
    EXPECT_TRUE(told.contains("There are more")) << told.toStdString();
    EXPECT_EQ(rows(), 200'000);
    RecordProperty("ms_for_a_million_rows", static_cast<int>(clock.elapsed()));
    EXPECT_TRUE(ask("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 100000) SELECT format('%.*c', 100000, 'x') FROM n")
                    .contains("larger than"))
        << page().sentence().toStdString();
    EXPECT_TRUE(ask("WITH RECURSIVE n(x) AS (SELECT format('%.*c', 100000, 'x') UNION ALL SELECT x || '' FROM n LIMIT 100000) SELECT count(DISTINCT "
                    "x || rowid_) "
                    "FROM (SELECT x, row_number() OVER () AS rowid_ FROM n)")
                    .contains("memory"))
        << page().sentence().toStdString();
}

TEST_F(WindowQueryTest, ASessionWithoutCapturesSaysThatItHasNone) {
    open();
    runAndStop(20);
    ASSERT_TRUE(knowsASession());
    EXPECT_TRUE(ask("SELECT name FROM op").contains("Nothing was captured")) << page().sentence().toStdString();
    QTest::qWait(50);
    picture(window(), "query-no-captures");
    EXPECT_TRUE(ask("SELECT count(*) FROM steps").contains("1 row of")) << page().sentence().toStdString();
    EXPECT_TRUE(ask("SELECT step FROM steps WHERE step < 0").contains("Nothing")) << page().sentence().toStdString();
}

TEST_F(WindowQueryTest, AnImportedSessionIsAsked) {
    open();
    QFile file(folder.filePath("t.json"));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 3, "dur": 5, "args": {}}]})");
    file.close();
    place->import().import({file.fileName()});
    ASSERT_TRUE(knowsASession());
    ask("SELECT name, dur_ns FROM op");
    EXPECT_EQ(rows(), 1);
    EXPECT_EQ(page().table()->model()->index(0, 0).data().toString(), "aten::mm");
}

TEST_F(WindowQueryTest, ASessionThatIsDeletedMeanwhileIsASentenceAndTheListGoesOn) {
    open();
    capture();
    page().editor()->setPlainText(kForEver);
    page().seconds()->setValue(2);
    QTest::mouseClick(page().runButton(), Qt::LeftButton);
    QTest::qWait(100);
    place->reader().remove(1, "it");
    ASSERT_TRUE(QTest::qWaitFor([&] { return stored().empty(); }, 5000));
    ASSERT_TRUE(purgeDeletedSessions(options.database.toStdString()).ok());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !page().isRunning(); }, 10'000));
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().session() == 0; }, 10'000));
    EXPECT_TRUE(says("no session to ask yet")) << page().sentence().toStdString();
    EXPECT_FALSE(page().runButton()->isEnabled());
}

TEST_F(WindowQueryTest, AWindowThatClosesWhileAQueryRunsDoesNotWaitForIt) {
    open();
    capture();
    page().editor()->setPlainText(kForEver);
    QTest::mouseClick(page().runButton(), Qt::LeftButton);
    QTest::qWait(100);
    ASSERT_TRUE(page().isRunning());
    QElapsedTimer clock;
    clock.start();
    place = nullptr;
    EXPECT_LT(clock.elapsed(), 5000);
}

TEST_F(WindowQueryTest, IsReadableInASmallAndInALargeWindow) {
    for (const auto& [size, name] : {std::pair(QSize(1024, 640), "query-small"), {QSize(1920, 1080), "query-large"}}) {
        options.size = size;
        open();
        if (stored().empty()) capture();
        ASSERT_TRUE(knowsASession());
        choose("Operations by their own time");
        page().forms()->setCurrentIndex(0);
        QTest::qWait(150);
        picture(window(), name);
        EXPECT_GE(page().table()->height(), 60);
        page().forms()->setCurrentIndex(1);
        QTest::qWait(150);
        picture(window(), QString(name) + "-chart");
        place = nullptr;
    }
}

}  // namespace
}  // namespace stepscope
