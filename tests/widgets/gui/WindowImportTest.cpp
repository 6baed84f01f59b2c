// Files that are dropped on the window or named at its start: imported beside everything else, shown on the page Operations, or refused in a
// sentence.
#include <gtest/gtest.h>

#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QMimeData>
#include <QProgressDialog>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QUrl>

#include "WindowFixture.h"
#include "core/events/SessionInfo.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/operations/OperationsPage.h"
#include "widgets/panels/run/NoticeBar.h"

namespace stepscope {
namespace {

class WindowImportTest : public WindowTest {
protected:
    QString trace(const QString& name, int operations = 3) {
        QFile file(folder.filePath(name));
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write("{\"traceEvents\": [");
        for (int i = 0; i < operations; ++i)
            file.write(QString("%1{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::operation_%2\", \"pid\": 1, \"tid\": 1, \"ts\": %3, "
                               "\"dur\": 5, \"args\": {}}")
                           .arg(i > 0 ? "," : "")
                           .arg(i % 3)
                           .arg(i * 10)
                           .toUtf8());
        file.write("]}");
        return file.fileName();
    }
    bool shows(const QString& words) {
        return QTest::qWaitFor([&] { return window().operationsPage().sentence().contains(words); }, 10'000);
    }
};

TEST_F(WindowImportTest, AFileThatIsDroppedIsImportedAndShown) {
    options.size = {1280, 800};
    open();
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(trace("run.pt.trace.json"))});
    QDragEnterEvent enter({100, 100}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);  // what is dropped came in before
    QApplication::sendEvent(&window(), &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent drop({100, 100}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QSignalSpy imported(&place->import(), &ImportWiring::imported);
    QApplication::sendEvent(&window(), &drop);
    EXPECT_TRUE(drop.isAccepted());
    ASSERT_TRUE(QTest::qWaitFor([&] { return imported.count() == 1; }, 10'000));
    EXPECT_EQ(window().pages().currentWidget(), &window().operationsPage());
    EXPECT_TRUE(shows("3 calls of operations")) << window().operationsPage().sentence().toStdString();
    EXPECT_EQ(window().operationsPage().table()->model()->rowCount(), 3);
    EXPECT_FALSE(place->import().importing());
    EXPECT_EQ(stored().at(0).kind, SessionKind::Trace);
    QTest::qWait(100);
    picture(window(), "imported");
}

TEST_F(WindowImportTest, TheLogCountsInThousands) {
    options.files = {trace("many.json", 2345)};
    open();
    const auto says = [&](const QString& part) {
        const LogModel& log = place->stage().shown().log();  // of what is looked at, which the import changes
        for (int row = 0; row < log.rowCount(); ++row)
            if (log.index(row).data().toString().contains(part)) return true;
        return false;
    };
    ASSERT_TRUE(QTest::qWaitFor([&] { return says("Imported as session"); }, 10'000));
    EXPECT_TRUE(says("2\u202F345 operations"));
}

TEST_F(WindowImportTest, FilesNamedAtTheStartAreImported) {
    options.files = {trace("a.json")};
    open();
    EXPECT_TRUE(shows("3 calls of operations"));
}

TEST_F(WindowImportTest, WhatCannotBeImportedIsASentenceAndNothingIsStored) {
    open();
    QFile report(folder.filePath("r.nsys-rep"));
    ASSERT_TRUE(report.open(QIODevice::WriteOnly));
    report.write("x");
    report.close();
    QSignalSpy refused(&place->import(), &ImportWiring::refused);
    place->import().import({report.fileName()});
    ASSERT_TRUE(QTest::qWaitFor([&] { return refused.count() == 1; }, 10'000));
    EXPECT_TRUE(refused.at(0).at(0).toString().contains("nsys export --type sqlite"));
    EXPECT_TRUE(stored().empty());
}

TEST_F(WindowImportTest, WhatWasSaidOfAFileThatWasRefusedGoesWithTheNextThatComesIn) {
    open();
    QFile nothing(folder.filePath("notes.txt"));
    ASSERT_TRUE(nothing.open(QIODevice::WriteOnly));
    nothing.write("hello");
    nothing.close();
    QSignalSpy refused(&place->import(), &ImportWiring::refused), imported(&place->import(), &ImportWiring::imported);
    place->import().import({nothing.fileName()});
    ASSERT_TRUE(QTest::qWaitFor([&] { return refused.count() == 1; }, 10'000));
    EXPECT_TRUE(window().notice().sentence().contains("notes.txt"));
    place->import().import({trace("good.json")});
    ASSERT_TRUE(QTest::qWaitFor([&] { return imported.count() == 1; }, 10'000));
    EXPECT_EQ(window().notice().sentence(), "");
}

TEST_F(WindowImportTest, AFileThatIsNamedWhileAnotherIsBeingStoppedIsImported) {
    open();
    place->import().import({trace("stopped.json", 3)});
    ASSERT_NE(place->import().dialog(), nullptr);
    auto* stop = place->import().dialog()->findChild<QPushButton*>();
    ASSERT_NE(stop, nullptr);
    stop->click();
    // The window has not heard yet that the first one ended.
    place->import().import({trace("wanted.json", 7)});
    EXPECT_TRUE(shows("7 calls of operations")) << window().operationsPage().sentence().toStdString();
    EXPECT_TRUE(QTest::qWaitFor([&] { return !place->import().importing(); }, 5000));
}

}  // namespace
}  // namespace stepscope
