// Exports from the window of what several workers captured: where it asks for the file it asks whose part, and writes that one alone.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QFile>
#include <QFileDialog>
#include <QListView>
#include <QMenu>
#include <QPushButton>

#include "WindowFixture.h"
#include "app/gui/stored/ExportWiring.h"
#include "sessions/importers/Import.h"
#include "widgets/panels/compare/ComparePage.h"
#include "widgets/panels/compare/CompareResult.h"
#include "widgets/panels/ladder/LadderPage.h"
#include "widgets/panels/operations/OperationsPage.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/sessions/ExportQuestion.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

class WindowExportTest : public WindowTest {
protected:
    // One operation of each, which is called otherwise.
    void importRanks(int ranks) {
        std::vector<std::string> files;
        for (int rank = 0; rank < ranks; ++rank) {
            QFile file(folder.filePath(QString("rank%1.json").arg(rank)));
            ASSERT_TRUE(file.open(QIODevice::WriteOnly));
            file.write(QString(R"({"distributedInfo": {"rank": %1}, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "own::of%1", "pid": 1, )"
                               R"("tid": 2, "ts": 1, "dur": 2, "args": {"External id": 1}}]})")
                           .arg(rank)
                           .toUtf8());
            files.push_back(file.fileName().toStdString());
        }
        ASSERT_TRUE(importFiles({.database = options.database.toStdString(), .files = files, .name = {}, .progress = {}}));
    }
    void askInMenu(const QString& format) {
        SessionsPanel& sessions = window().sessions();
        ASSERT_TRUE(QTest::qWaitFor([&] { return sessions.filter().rowCount() == 1; }, 8000));
        Q_EMIT sessions.view().customContextMenuRequested(sessions.view().visualRect(sessions.filter().index(0, 0)).center());
        auto* menu = sessions.findChild<QMenu*>();
        ASSERT_NE(menu, nullptr);
        QAction* found = nullptr;
        for (auto* action : menu->findChildren<QAction*>())
            if (action->text() == format) found = action;
        ASSERT_NE(found, nullptr);
        found->trigger();
        menu->close();
    }
    ExportQuestion* question() { return window().findChild<ExportQuestion*>(); }
    bool asks() {
        return QTest::qWaitFor([&] { return question() != nullptr; }, 8000);
    }
    QByteArray written(const QString& path) const {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    // With the last of the parts.
    void answerWithLast(const QString& name) {
        question()->parts()->setFocus();
        QTest::keyClick(question()->parts(), Qt::Key_End);
        question()->dialog().selectFile(folder.filePath(name));
        QMetaObject::invokeMethod(&question()->dialog(), "accept");
    }
};

TEST_F(WindowExportTest, OfSeveralWorkersOneAloneIsWrittenFromTheMenuOfASession) {
    importRanks(2);
    open();
    askInMenu("Trace of PyTorch's profiler…");
    ASSERT_TRUE(asks());
    ASSERT_NE(question()->parts(), nullptr);
    EXPECT_EQ(question()->parts()->count(), 3);
    EXPECT_EQ(question()->parts()->itemText(0), "All ranks");
    EXPECT_EQ(question()->parts()->itemText(2), "Rank 1");
    picture(question()->dialog(), "export-parts");
    const QString path = folder.filePath("one.json");
    answerWithLast("one.json");
    ASSERT_TRUE(QTest::qWaitFor([&] { return written(path).contains("own::of1"); }, 8000)) << window().notice().sentence().toStdString();
    EXPECT_FALSE(written(path).contains("own::of0"));
}

TEST_F(WindowExportTest, ThePageOperationsAsksTheSame) {
    importRanks(2);
    options.session = 1;
    open();
    window().pages().setCurrentWidget(&window().operationsPage());
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().operationsPage().exportButton()->isEnabled(); }, 8000));
    QTest::mouseClick(window().operationsPage().exportButton(), Qt::LeftButton);
    ASSERT_TRUE(asks());
    ASSERT_NE(question()->parts(), nullptr);
    const QString path = folder.filePath("one.pt.trace.json");
    answerWithLast("one.pt.trace.json");
    ASSERT_TRUE(QTest::qWaitFor([&] { return written(path).contains("own::of1"); }, 8000)) << window().notice().sentence().toStdString();
    EXPECT_FALSE(written(path).contains("own::of0"));
}

TEST_F(WindowExportTest, OfOneThereIsNothingToChooseAndAReportIsOfAll) {
    importRanks(1);
    open();
    askInMenu("Perfetto trace…");
    ASSERT_TRUE(asks());
    EXPECT_EQ(question()->parts(), nullptr);
    question()->dialog().close();
    place->exports().write(1, folder.filePath("captured.html"), {}, 1);
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().notice().sentence().contains("A report is of all workers"); }, 8000));
    EXPECT_FALSE(QFile::exists(folder.filePath("captured.html")));
}

// What is stored can be looked at before the engine is there; whoever asks for a report of it then is told what is missing.
TEST_F(WindowExportTest, AReportOfWhatWasMeasuredSaysThatItNeedsTheEngine) {
    for (const bool ladder : {false, true}) {
        place.reset();
        place = std::make_unique<Workplace>(options);
        place->open();
        ASSERT_EQ(place->runs().workbench(), nullptr) << "its answer comes with the event loop";
        const QString path = folder.filePath("report.html");
        if (ladder)
            Q_EMIT window().ladderPage().reportRequested(path);
        else
            Q_EMIT window().comparePage().result().reportRequested(path);
        EXPECT_TRUE(window().notice().sentence().startsWith("A report needs the engine")) << window().notice().sentence().toStdString();
        EXPECT_FALSE(QFile::exists(path));
        ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().workbench() != nullptr; }));
    }
}

}  // namespace
}  // namespace stepscope
