// The display goes away while a run is on: the program itself, under an X server that is ended.
#include <gtest/gtest.h>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>

#include "sessions/SessionStore.h"

namespace stepscope {
namespace {

// Its name, ":7"; empty where there is no Xvfb.
QString startServer(QProcess& server) {
    server.start("Xvfb", {"-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"});
    if (!server.waitForStarted(10'000) || !server.waitForReadyRead(10'000)) return {};
    return ':' + QString::fromLatin1(server.readLine().trimmed());
}

std::int64_t stepsOf(const std::string& database) {
    const auto reader = SessionReader::open(database);
    if (!reader) return 0;
    const auto sessions = (*reader)->list();
    return sessions && !sessions->empty() ? sessions->front().steps : 0;
}

TEST(ADisplayThatGoesAway, StopsTheRunAndKeepsItWithACheckpoint) {
    QProcess server, window;
    const QString display = startServer(server);
    if (display.isEmpty() && !STEPSCOPE_SETUP_RAN) GTEST_SKIP() << "there is no Xvfb here";
    ASSERT_FALSE(display.isEmpty()) << "set-up installs Xvfb, and it did not start: " << server.errorString().toStdString();
    const QTemporaryDir home;
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert("DISPLAY", display);
    environment.insert("QT_QPA_PLATFORM", "xcb");
    environment.remove("WAYLAND_DISPLAY");
    for (const char* folder : {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"}) environment.insert(folder, home.path());
    window.setProcessEnvironment(environment);
    const std::string database = home.filePath("s.db").toStdString();
    QStringList words{"--demo", "--db", home.filePath("s.db")};
    for (const char* setting :
         {"data=generated", "layers=1", "heads=2", "width=32", "batch-size=2", "context=32", "threads=1", "warmup=5", "steps=10000000"})
        words << "--set" << setting;
    window.start(STEPSCOPE_PROGRAM, words);
    ASSERT_TRUE(QTest::qWaitFor([&] { return stepsOf(database) > 20; }, 30'000)) << window.readAllStandardError().toStdString();

    server.kill();
    server.waitForFinished();
    ASSERT_TRUE(window.waitForFinished(30'000));
    const std::string said = window.readAllStandardError().toStdString();
    EXPECT_EQ(window.exitStatus(), QProcess::NormalExit) << said;
    EXPECT_EQ(window.exitCode(), 1) << said;
    EXPECT_NE(said.find("The run was stopped and kept with a checkpoint"), std::string::npos) << said;
    EXPECT_EQ(said.find("connection broke"), std::string::npos) << "Qt's own line, raw: " << said;
    const auto reader = SessionReader::open(database);
    ASSERT_TRUE(reader);
    EXPECT_EQ((*reader)->list()->front().state, RunState::Stopped);
    bool checkpoint = false;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(home.path().toStdString()))
        checkpoint = checkpoint || entry.path().filename() == "state.json";
    EXPECT_TRUE(checkpoint);
}

}  // namespace
}  // namespace stepscope
