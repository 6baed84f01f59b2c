// What a person does in the window with stored sessions: replay, edit, run again, export.
#include <gtest/gtest.h>

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QListView>
#include <QMessageBox>
#include <QProgressDialog>
#include <QPushButton>
#include <QTimer>
#include <algorithm>

#include "WindowFixture.h"
#include "core/events/Event.h"
#include "sessions/importers/Import.h"
#include "sessions/record/Recorder.h"
#include "widgets/panels/LogPanel.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/ValueRow.h"
#include "widgets/panels/operations/OperationsPage.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/run/TransportBar.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

class WindowSessionsTest : public WindowTest {
protected:
    static bool says(const QWidget& in, const QString& text) {
        for (const auto* label : in.findChildren<QLabel*>())
            if (label->isVisible() && label->text().contains(text)) return true;
        return false;
    }
    void storeLongSession(std::int64_t steps) {
        SessionInfo info;
        info.name = "long";
        info.config = presetConfig("tiny-cpu").value();
        info.config->steps = steps;
        Recorder::Options where;
        where.path = options.database.toStdString();
        auto recorder = Recorder::open(where, info);
        ASSERT_TRUE(recorder.ok());
        for (std::int64_t step = 1; step <= steps; ++step) {
            StepDone done;
            done.step = step;
            done.at = TimeNs{step * 1'000'000};
            done.duration = TimeNs{1'000'000};
            done.loss = 3;
            done.tokens = 1536;
            done.phaseNs = {30'000, 0, 340'000, 500'000, 40'000, 80'000};
            done.residentBytes = 412'000'000;
            (*recorder)->publish(done);
            if (step % 500 == 0) {
                DeviceSample sample;
                sample.at = done.at;
                sample.cpuPct = 93;
                (*recorder)->publish(sample);
            }
        }
        ASSERT_TRUE((*recorder)->finish().ok());
    }
    // Milliseconds until the window's history has the session's last step; `longest`: between two beats of a timer of 5 ms meanwhile.
    qint64 replayToTheEnd(std::size_t steps, qint64& longest) {
        QElapsedTimer all, gap;
        QTimer probe;
        probe.setTimerType(Qt::PreciseTimer);
        QObject::connect(&probe, &QTimer::timeout, &probe, [&] { longest = std::max(longest, gap.restart()); });
        all.start();
        gap.start();
        probe.start(5);
        Q_EMIT window().sessions().replayRequested(1);
        while (place->stage().replay().history()->rows() < steps && all.elapsed() < 20'000)
            QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
        return all.elapsed();
    }
    bool saysNextRun() { return says(window().experiment(), "of the next run"); }
    bool runBarSays(const QString& text) { return says(window().runBar(), text); }
};

TEST_F(WindowSessionsTest, ReplaysAStoredSessionThroughTheSameDoorAndReturnsToLive) {
    open();
    runAndStop(60);
    const std::int64_t steps = stored()[0].steps;
    Q_EMIT window().sessions().replayRequested(stored()[0].id);
    const auto replayed = [&]() -> const RunHistory& { return *place->stage().replay().history(); };
    ASSERT_TRUE(QTest::qWaitFor([&] { return replayed().rows() == static_cast<std::size_t>(steps); }, 5000));
    EXPECT_TRUE(window().transport().isVisible());
    EXPECT_TRUE(window().windowTitle().contains("replay"));
    EXPECT_TRUE(saysNextRun());
    EXPECT_TRUE(QTest::qWaitFor([&] { return runBarSays("stopped"); }));
    EXPECT_FALSE(runBarSays("left"));
    EXPECT_GT(window().log().view().model()->rowCount(), 0);
    for (std::size_t row = 0; row < replayed().rows(); ++row) ASSERT_EQ(replayed().steps().loss[row], live().steps().loss[row]) << row;

    Q_EMIT window().transport().seekRequested(TimeNs{});
    ASSERT_TRUE(QTest::qWaitFor([&] { return replayed().rows() < static_cast<std::size_t>(steps); }, 5000));
    press("Run");
    EXPECT_FALSE(place->stage().replaying());
    EXPECT_FALSE(window().transport().isVisible());
    EXPECT_FALSE(saysNextRun());
    ASSERT_TRUE(becomes(RunState::Running));
}

TEST_F(WindowSessionsTest, ReplaysAHundredThousandStepsToTheirEndInUnderASecond) {
    constexpr std::int64_t kSteps = 100'000;
    storeLongSession(kSteps);
    open();
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 10'000));
    qint64 best = 20'000, longest = 0;
    for (int round = 0; round < 3; ++round) best = std::min(best, replayToTheEnd(kSteps, longest));
    RecordProperty("ms", std::to_string(best));
    RecordProperty("longest_between_beats_ms", std::to_string(longest));
    EXPECT_EQ(place->stage().replay().history()->rows(), static_cast<std::size_t>(kSteps));
    EXPECT_LT(best, 1'000);
    EXPECT_LT(longest, 120) << "a tick works 8 ms; a busy machine may add to that";
}

TEST_F(WindowSessionsTest, JumpsBackInALongSessionWithoutReadingItAnewAndShowsWhatPlayingThereShows) {
    constexpr std::int64_t kSteps = 100'000, kThere = 70'000;
    storeLongSession(kSteps);
    open();
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 10'000));
    qint64 longest = 0;
    replayToTheEnd(kSteps, longest);
    const auto& history = place->stage().replay().history();
    const auto read = [] {
        QFile io("/proc/self/io");
        return io.open(QIODevice::ReadOnly) ? io.readLine().mid(7).trimmed().toLongLong() : -1;
    };
    int restarts = 0;
    QObject::connect(&place->stage().replay(), &LiveFeed::started, &window(), [&] { ++restarts; });
    QTest::qWait(500);  // the list of sessions is read again now and then
    const qint64 before = read();
    QElapsedTimer clock;
    clock.start();
    Q_EMIT window().transport().seekRequested(TimeNs{kThere * 1'000'000});
    ASSERT_TRUE(QTest::qWaitFor([&] { return history->rows() == kThere; }, 5000)) << history->rows();
    const qint64 took = clock.elapsed(), bytes = read() - before;
    RecordProperty("ms", std::to_string(took));
    RecordProperty("bytes_read", std::to_string(bytes));
    EXPECT_LT(bytes, 2'000'000) << "of a database of " << QFileInfo(options.database).size();
    EXPECT_EQ(restarts, 0);

    RunHistory played;
    auto reader = SessionReader::open(options.database.toStdString());
    ASSERT_TRUE(reader.ok());
    const auto events = (*reader)->events(1, 0, kThere + kThere / 500 + 1);
    ASSERT_TRUE(events.ok());
    for (const Event& event : *events) played.append(event);
    ASSERT_EQ(played.rows(), history->rows());
    // What stands behind the last step of a batch comes with the next one.
    EXPECT_TRUE(QTest::qWaitFor([&] { return played.device().place.size() == history->device().place.size(); }, 2000));
    EXPECT_EQ(played.device().place.size(), history->device().place.size());
    EXPECT_EQ(played.numbers().elapsed, history->numbers().elapsed);
    EXPECT_EQ(played.last().tokens, history->last().tokens);
    EXPECT_EQ(played.steps().rateP50.back(), history->steps().rateP50.back());
    EXPECT_FALSE(history->state()) << "the end has not been reached there";

    Q_EMIT window().transport().seekRequested(TimeNs{(kThere + 100) * 1'000'000});
    ASSERT_TRUE(QTest::qWaitFor([&] { return history->rows() == kThere + 100; }, 5000)) << history->rows();
    EXPECT_EQ(restarts, 0);
    Q_EMIT window().transport().endRequested();
    ASSERT_TRUE(QTest::qWaitFor([&] { return history->rows() == static_cast<std::size_t>(kSteps); }, 5000)) << history->rows();
}

TEST_F(WindowSessionsTest, GoesOnTrainingBehindAReplay) {
    open();
    runAndStop(20);
    press("Run");
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return place->runs().phase() == RunController::Phase::Live && live().rows() > 0 && live().session() == 2; }, 5000));
    Q_EMIT window().sessions().replayRequested(1);
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->stage().replay().history()->rows() > 0; }, 5000));
    const auto before = live().rows();
    ASSERT_TRUE(QTest::qWaitFor([&] { return live().rows() > before + 10; }, 5000));
    EXPECT_FALSE(window().operationsPage().captureButton()->isEnabled()) << "the page shows another session than the run in progress";
    press("Back to live");
    EXPECT_TRUE(window().operationsPage().captureButton()->isEnabled());
    EXPECT_FALSE(place->stage().replaying());
    EXPECT_EQ(place->runs().phase(), RunController::Phase::Live);
}

TEST_F(WindowSessionsTest, ExportWithNothingChosenSaysWhatToChoose) {
    open();
    entry("Export session as CSV…")->trigger();
    EXPECT_TRUE(window().notice().sentence().contains("No session is chosen")) << window().notice().sentence().toStdString();
}

TEST_F(WindowSessionsTest, SaysThatASessionIsNotThere) {
    open();
    Q_EMIT window().sessions().replayRequested(77);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !window().notice().sentence().isEmpty(); }, 5000));
    EXPECT_FALSE(place->stage().replaying());
}

TEST_F(WindowSessionsTest, RenamesDeletesAndBringsBackAStoredSession) {
    open();
    runAndStop(10);
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }));
    Q_EMIT window().sessions().renameRequested(1, "first try");
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().at(0).name == "first try"; }, 5000));
    Q_EMIT window().sessions().deleteRequested(1, "first try");
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 0; }, 5000));
    Q_EMIT window().sessions().restoreRequested(1);
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 5000));
}

TEST_F(WindowSessionsTest, RunsAgainWithTheSettingsOfAStoredSession) {
    open();
    Q_EMIT window().experiment().row("layers")->committed("layers", "3");
    runAndStop(10);
    Q_EMIT window().experiment().row("layers")->committed("layers", "5");
    Q_EMIT window().sessions().runAgainRequested(1);
    ASSERT_TRUE(QTest::qWaitFor([&] { return live().session() == 2 && live().rows() > 0; }, 5000));
    EXPECT_EQ(live().info()->config->layers, 3);
    EXPECT_EQ(window().experiment().config().layers, 3);
}

TEST_F(WindowSessionsTest, ExportsASessionAsCsv) {
    open();
    runAndStop(10);
    const QString path = folder.filePath("out.csv");
    place->exports().write(1, path, "csv");
    ASSERT_TRUE(QTest::qWaitFor([&] { return QFile(path).size() > 0; }, 5000));
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_TRUE(file.readLine().startsWith("run,step,time,metric,value"));
}

TEST_F(WindowSessionsTest, ATraceOfSeveralWorkersSaysHowToHaveOneAlone) {
    std::vector<std::string> files;
    for (const int rank : {0, 1}) {
        QFile file(folder.filePath(QString("rank%1.json").arg(rank)));
        ASSERT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(
            QString(R"({"distributedInfo": {"rank": %1}, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, )"
                    R"("ts": 1, "dur": 2, "args": {"External id": 1}}]})")
                .arg(rank)
                .toUtf8());
        files.push_back(file.fileName().toStdString());
    }
    ASSERT_TRUE(importFiles({.database = options.database.toStdString(), .files = files, .name = {}, .progress = {}}));
    open();
    const auto logged = [&](const QString& end) {
        const auto& log = place->stage().shown().log();
        for (int i = 0; i < log.rowCount(); ++i)
            if (log.index(i, 0).data(LogModel::SentenceRole).toString().contains(end)) return true;
        return false;
    };
    place->exports().write(1, folder.filePath("all.json"), "kineto");
    EXPECT_TRUE(QTest::qWaitFor([&] { return logged("all.json. It has ranks 0, 1"); }, 5000));
    place->exports().write(1, folder.filePath("all.perfetto-trace"), "perfetto");
    EXPECT_TRUE(QTest::qWaitFor([&] { return logged("all.perfetto-trace."); }, 5000));
    EXPECT_FALSE(logged("all.perfetto-trace. It has ranks")) << "its readers know several";
}

TEST_F(WindowSessionsTest, AnExportCanBeStopped) {
    open();
    runAndStop(10);
    const QString path = folder.filePath("out.csv");
    place->exports().write(1, path, "csv");
    const auto dialogs = window().findChildren<QProgressDialog*>();
    ASSERT_EQ(dialogs.size(), 1);
    EXPECT_TRUE(dialogs.front()->labelText().contains("out.csv")) << dialogs.front()->labelText().toStdString();
    dialogs.front()->findChild<QPushButton*>()->click();
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().findChildren<QProgressDialog*>().isEmpty(); }, 5000));
    // It was stopped, or there first; half of it never is.
    EXPECT_TRUE(QDir(folder.path()).entryList({"*unfinished*"}).isEmpty());
    EXPECT_TRUE(!QFile::exists(path) || QFile(path).size() > 500);
    const QString again = folder.filePath("again.csv");
    place->exports().write(1, again, "csv");
    EXPECT_TRUE(QTest::qWaitFor([&] { return QFile(again).size() > 0; }, 5000)) << "and the next one is not";
}

TEST_F(WindowSessionsTest, AnExportThatIsAskedForWhileAnotherIsBeingStoppedIsWritten) {
    open();
    runAndStop(10);
    place->exports().write(1, folder.filePath("stopped.csv"), "csv");
    const auto dialogs = window().findChildren<QProgressDialog*>();
    ASSERT_EQ(dialogs.size(), 1);
    auto* stop = dialogs.front()->findChild<QPushButton*>();
    ASSERT_NE(stop, nullptr);
    stop->click();
    // The window has not heard yet that the first one ended.
    const QString path = folder.filePath("wanted.csv");
    place->exports().write(1, path, "csv");
    EXPECT_TRUE(QTest::qWaitFor([&] { return QFile(path).size() > 0; }, 5000));
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().findChildren<QProgressDialog*>().isEmpty(); }, 5000)) << "both dialogs are gone";
}

TEST_F(WindowSessionsTest, OffersEveryFormatOfTheCommandLineAndSaysWhyOneHasNothingToWrite) {
    open();
    runAndStop(10);
    const auto choices = exportChoices();
    QStringList words;
    for (const ExportChoice& choice : choices) words << choice.word;
    EXPECT_EQ(words, (QStringList{"kineto", "perfetto", "memory", "csv", "csv-wide", "tensorboard", "report"}));
    for (const ExportChoice& choice : choices) {
        const QString path = folder.filePath(choice.nameFor(1));
        place->exports().write(1, path, choice.word);
        if (choice.word.startsWith("csv") || choice.word == "tensorboard") {
            EXPECT_TRUE(QTest::qWaitFor([&] { return QFile(path).size() > 0; }, 5000)) << choice.word.toStdString();
            continue;
        }
        // Nothing was captured, and what is refused leaves no file.
        EXPECT_TRUE(QTest::qWaitFor([&] { return window().notice().sentence().contains("session 1", Qt::CaseInsensitive); }, 5000))
            << choice.word.toStdString();
        EXPECT_FALSE(QFile::exists(path));
        window().notice().say(NoticeBar::Kind::Note, "read");
    }
}

TEST_F(WindowSessionsTest, AFileThatIsThereIsWrittenOverOnlyWhenAPersonAgrees) {
    open();
    runAndStop(10);
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    QFile mine(folder.filePath("mine.csv"));
    ASSERT_TRUE(mine.open(QIODevice::WriteOnly));
    mine.write("mine");
    mine.close();
    window().sessions().view().setCurrentIndex(window().sessions().filter().index(0, 0));
    window().sessions().exportSelected();
    auto* dialog = window().findChild<QFileDialog*>();
    ASSERT_NE(dialog, nullptr);
    EXPECT_FALSE(dialog->testOption(QFileDialog::DontConfirmOverwrite));
    dialog->selectFile(mine.fileName());
    bool asked = false;
    QTimer refusing;
    QObject::connect(&refusing, &QTimer::timeout, &refusing, [&] {
        auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (question == nullptr) return;
        asked = true;
        question->button(QMessageBox::No)->click();
    });
    refusing.start(20);
    QMetaObject::invokeMethod(dialog, "accept");
    EXPECT_TRUE(asked);
    QTest::qWait(100);
    ASSERT_TRUE(mine.open(QIODevice::ReadOnly));
    EXPECT_EQ(mine.readAll(), "mine");
    dialog->close();
}

}  // namespace
}  // namespace stepscope
