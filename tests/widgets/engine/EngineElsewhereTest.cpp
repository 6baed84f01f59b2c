// The window whose runs another machine trains: the real window, and the real command line in that machine's place. What it shows of the machine is
// that one's, files are chosen from its list, and what would be measured here is not asked. CTest.
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "app/workbench/engine/detached/EngineFolder.h"
#include "core/events/Event.h"
#include "sessions/wire/Hello.h"
#include "tests/widgets/engine/EngineFixture.h"
#include "widgets/panels/compare/ComparePage.h"
#include "widgets/panels/diagnose/DiagnosePage.h"
#include "widgets/panels/experiment/DataChooser.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/ValueRow.h"
#include "widgets/panels/files/FilesDialog.h"
#include "widgets/panels/inference/InferencePage.h"
#include "widgets/panels/ladder/LadderPage.h"
#include "widgets/panels/sessions/CheckpointsDialog.h"

namespace stepscope {
namespace {

class EngineElsewhereInTheWindow : public EngineFixture {
protected:
    EngineElsewhereInTheWindow() { qputenv("XDG_DATA_HOME", folder.filePath("rack").toUtf8()); }
    ~EngineElsewhereInTheWindow() override {
        place.reset();
        // One that outlives its line would train on.
        for (const ListedEngine& one : listEngines())
            if (const auto left = EngineFolder::open(one.id); left && left->engine().value_or(0) > 0) ::kill(*left->engine(), SIGKILL);
        qunsetenv("XDG_DATA_HOME");
    }
    void openElsewhere(const QStringList& more) {
        options.engineWords = {STEPSCOPE_CLI, "engine"};
        ASSERT_EQ(findEngine(options), "");
        open(more);
    }
    // As an engine on a machine with a GPU would say it.
    void openRack() {
        Machine rack{.cpu = "Rack CPU", .cores = 96, .memory = {400'000'000'000}, .instructions = {"avx2"}};
        rack.gpus.push_back({.name = "NVIDIA H100", .memory = {80'000'000'000}, .computeMajor = 9});
        options.engineWords = {STEPSCOPE_CLI, "engine"};
        options.elsewhere = EngineElsewhere{options.engineWords, "gpu-rack", rack, {"0123456789abcdef: session 4, a long run"}};
        QSettings().clear();
        options.database = folder.filePath("s.db");
        place = std::make_unique<Workplace>(options);
        place->open();
        ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().workbench() != nullptr; }, 30'000));
    }
    // A window of its own process that trains by such words, killed when so many steps are stored.
    void killAWindow(const QString& engineCommand, std::int64_t steps) {
        QProcess window;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert("QT_QPA_PLATFORM", "offscreen");
        environment.insert("XDG_CONFIG_HOME", folder.filePath("config"));
        window.setProcessEnvironment(environment);
        QStringList words{"--demo", "--db", options.database, "--engine-command", engineCommand};
        for (const char* setting : {"data=generated", "layers=1", "heads=2", "width=32", "batch-size=2", "context=32", "validation-every=0",
                                    "threads=1", "warmup=5", "steps=1000000", "checkpoint-at-end=off"})
            words << "--set" << setting;
        window.start(STEPSCOPE_PROGRAM, words);
        const auto stored = [this] {
            const auto reader = SessionReader::open(options.database.toStdString());
            const auto all = reader ? (*reader)->list() : Result<std::vector<SessionSummary>>(reader.error());
            return all && !all->empty() ? all->front().steps : 0;
        };
        EXPECT_TRUE(QTest::qWaitFor([&] { return stored() >= steps; }, 60'000)) << window.readAllStandardError().toStdString();
        window.kill();
        window.waitForFinished(30'000);
    }
    QToolButton* noticeButton(const QString& text) {
        for (auto* button : place->window().notice().findChildren<QToolButton*>())
            if (button->text() == text && button->isVisible()) return button;
        return nullptr;
    }
    static bool says(const QWidget& page, const QString& words) {
        for (const auto* label : page.findChildren<QLabel*>())
            if (label->text().contains(words)) return true;
        return false;
    }
    using EngineFixture::says;
    ExperimentPanel& panel() { return place->window().experiment(); }
    std::string write(const QString& name, const std::string& content) {
        std::string path = folder.filePath(name).toStdString();
        std::ofstream(path) << content;
        return path;
    }
};

TEST_F(EngineElsewhereInTheWindow, ItsRunIsTrainedThereStoredHereAndSaysWhere) {
    openElsewhere({"steps=20", "checkpoint-at-end=on"});
    ASSERT_TRUE(idle()) << place->window().notice().sentence().toStdString();
    EXPECT_EQ(live().state()->state, RunState::Finished) << live().state()->why;
    EXPECT_TRUE(logged("It is trained on " + QString::fromStdString(hostName()) + ":"));
    EXPECT_TRUE(place->window().windowTitle().endsWith("engine on " + QString::fromStdString(hostName())));
    const auto stored = checkpointFolder(options.database.toStdString(), 1);
    ASSERT_TRUE(stored);
    EXPECT_FALSE(std::filesystem::exists(*stored)) << "checkpoints lie on the other machine";
    const std::filesystem::path there(folder.filePath("rack/stepscope/sessions.db.checkpoints").toStdString());
    EXPECT_TRUE(std::filesystem::exists(there / std::filesystem::path(*stored).parent_path().filename() / "1"));
    // Both machines of this test have one disk: as if that folder were on another.
    std::filesystem::remove_all(folder.filePath("rack").toStdString());
    Q_EMIT place->window().sessions().checkpointsRequested(1, "a run");
    auto* list = place->window().findChild<CheckpointsDialog*>();
    ASSERT_NE(list, nullptr);
    const QString where = QString("The checkpoints of this session lie on %1, ").arg(QString::fromStdString(hostName()));
    EXPECT_TRUE(QTest::qWaitFor([&] { return list->sentence().startsWith(where); }, 10'000)) << list->sentence().toStdString();
}

TEST_F(EngineElsewhereInTheWindow, IsResumedThereFromTheCheckpointThatLiesThere) {
    openElsewhere({"steps=20"});
    ASSERT_TRUE(idle()) << place->window().notice().sentence().toStdString();
    choose(1, "Resume from its last checkpoint");
    ASSERT_TRUE(reaches(2, 40)) << place->window().notice().sentence().toStdString();
    ASSERT_TRUE(idle());
    EXPECT_EQ(live().state()->state, RunState::Finished) << live().state()->why;
    EXPECT_EQ(live().info()->firstStep, 20);
    std::filesystem::remove_all(folder.filePath("rack").toStdString());
    choose(2, "Resume from its last checkpoint");
    EXPECT_TRUE(says("cannot go on from")) << place->window().notice().sentence().toStdString();
}

TEST_F(EngineElsewhereInTheWindow, ARunWhoseWindowWasKilledGoesOnInTheNextOne) {
    options.database = folder.filePath("s.db");
    killAWindow(QString("'%1' engine --detach").arg(STEPSCOPE_CLI), 20);
    QSettings().clear();
    options.engineWords = {STEPSCOPE_CLI, "engine", "--detach"};
    ASSERT_EQ(findEngine(options), "");
    ASSERT_EQ(options.elsewhere->going.size(), 1u);
    place = std::make_unique<Workplace>(options);
    place->open();
    ASSERT_TRUE(says("The run of session 1, ")) << place->window().notice().sentence().toStdString();
    EXPECT_TRUE(says("was left behind by a window that was killed"));
    place->window().notice().hide();
    choose(1, "Resume from its last checkpoint");
    EXPECT_TRUE(says("was left behind by a window that was killed")) << "it would be trained twice";
    QToolButton* button = noticeButton("Go on with it here");
    ASSERT_NE(button, nullptr);
    QTest::mouseClick(button, Qt::LeftButton);
    ASSERT_TRUE(reaches(1, 20)) << place->window().notice().sentence().toStdString();
    EXPECT_EQ(live().steps().step.front(), 1) << "what was stored before is seen too";
    const std::int64_t reached = live().numbers(1).step;
    ASSERT_TRUE(reaches(1, reached + 20));
    press("Stop");
    ASSERT_TRUE(idle());
    EXPECT_EQ(live().state()->state, RunState::Stopped) << live().state()->why;
    const auto all = SessionReader::open(options.database.toStdString()).value()->list();
    ASSERT_EQ(all->size(), 1u) << "no other session was begun";
    EXPECT_EQ(all->front().state, RunState::Stopped);
}

TEST_F(EngineElsewhereInTheWindow, OffersThatMachinesDevicesAndSpeaksOfIt) {
    openRack();
    ASSERT_TRUE(QTest::qWaitFor([&] { return panel().row("device") != nullptr; }, 30'000));
    EXPECT_EQ(panel().config().word("device"), "cuda:0") << "its preset is for that GPU";
    EXPECT_TRUE(says(panel(), "For gpu-rack: "));
    EXPECT_TRUE(QTest::qWaitFor([&] { return says(panel(), "of 80.0\u202FGB"); }, 30'000)) << "memory of its GPU";
    EXPECT_TRUE(logged("Runs are trained on gpu-rack: Rack CPU, 96 cores, 400"));
    EXPECT_TRUE(logged("or by one that has gone: 0123456789abcdef: session 4, a long run."));
}

TEST_F(EngineElsewhereInTheWindow, WhatThisProcessWouldMeasureSaysThatItIsNotMeant) {
    openRack();
    MainWindow& window = place->window();
    EXPECT_FALSE(window.diagnosePage().lookButton()->isEnabled());
    EXPECT_TRUE(window.diagnosePage().state().startsWith("Runs are trained on gpu-rack, and this would be measured on this machine"));
    for (QWidget* page : std::initializer_list<QWidget*>{&window.comparePage(), &window.ladderPage(), &window.inferencePage()}) {
        window.pages().setCurrentWidget(page);
        EXPECT_TRUE(QTest::qWaitFor([&] { return says(*page, "Runs are trained on gpu-rack"); }, 10'000)) << window.pages().currentIndex();
    }
    EXPECT_TRUE(QTest::qWaitFor([&] { return !panel().foot()->timeButton()->isVisible(); }, 10'000));
    QSignalSpy failed(&place->runs(), &RunController::measureFailed);
    ExperimentRequest request;
    request.a = request.b = panel().config();
    struct Nobody final : EventSink {
        void publish(Event) override {}
        void publishChunk(ChunkPtr) override {}
    } nobody;
    place->runs().measure(request, nobody);
    ASSERT_EQ(failed.count(), 1);
    EXPECT_TRUE(failed[0][0].toString().contains("gpu-rack"));
    EXPECT_FALSE(place->runs().busy());
}

TEST_F(EngineElsewhereInTheWindow, FilesAreChosenFromItsListAndCheckedThere) {
    openRack();
    std::filesystem::create_directory(folder.filePath("texts").toStdString());
    write("texts/good.txt", "Once upon a time there was a text that is long enough to be read.\n");
    write("texts/bad.txt", std::string("\x00\x01\xff\xfe", 4));
    auto* list = panel().data()->findChild<QComboBox*>();
    ASSERT_NE(list, nullptr);
    const auto choose = [&](const QString& name) {
        Q_EMIT list->activated(list->findText("file…"));
        auto* dialog = panel().data()->findChild<FilesDialog*>();
        ASSERT_NE(dialog, nullptr);
        ASSERT_TRUE(QTest::qWaitFor([&] { return !dialog->path()->text().isEmpty(); }, 30'000)) << dialog->sentence().toStdString();
        dialog->path()->setText(folder.filePath("texts"));
        QTest::keyClick(dialog->path(), Qt::Key_Return);
        ASSERT_TRUE(QTest::qWaitFor([&] { return dialog->path()->text().endsWith("/texts") && dialog->list()->model()->rowCount() == 2; }, 30'000));
        dialog->path()->setText(name);
        QTest::keyClick(dialog->path(), Qt::Key_Return);
        ASSERT_TRUE(QTest::qWaitFor([&] { return panel().config().data == folder.filePath("texts/" + name).toStdString(); }, 30'000));
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    };
    choose("bad.txt");
    EXPECT_TRUE(QTest::qWaitFor([&] { return panel().problem().contains("bad.txt"); }, 30'000)) << panel().problem().toStdString();
    choose("good.txt");
    EXPECT_TRUE(QTest::qWaitFor([&] { return !panel().hasProblem(); }, 30'000)) << panel().problem().toStdString();
}

TEST(AnEngineElsewhereThatDoesNotAnswer, IsOneSentenceBeforeTheWindowOpens) {
    QProcess window;
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert("QT_QPA_PLATFORM", "offscreen");
    window.setProcessEnvironment(environment);
    window.start(STEPSCOPE_PROGRAM, {"--engine-command", "sh -c 'echo \"Host key verification failed.\" >&2; exit 255'"});
    ASSERT_TRUE(window.waitForFinished(30'000));
    EXPECT_EQ(window.exitCode(), 2);
    const QString said = QString::fromUtf8(window.readAllStandardError()).trimmed();
    EXPECT_TRUE(said.startsWith("--engine-command sh -c ")) << said.toStdString();
    EXPECT_TRUE(said.endsWith("cannot be used: the engine ended with status 255: Host key verification failed.")) << said.toStdString();
}

}  // namespace
}  // namespace stepscope
