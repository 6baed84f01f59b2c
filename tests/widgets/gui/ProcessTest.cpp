// The program as a process: options, exit codes, the picture of --screenshot.
#include <gtest/gtest.h>

#include <QElapsedTimer>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "sessions/SessionStore.h"

namespace {

struct Outcome {
    int exitCode = -1;
    QString out, err;
    qint64 milliseconds = 0;
};

Outcome run(const QStringList& arguments, const QString& home, const QString& platform = "offscreen", const QString& display = {}) {
    QProcess process;
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert("QT_QPA_PLATFORM", platform);
    environment.insert("DISPLAY", display);
    environment.remove("WAYLAND_DISPLAY");
    environment.remove("XDG_SESSION_TYPE");
    environment.insert("HOME", home);
    environment.insert("XDG_CONFIG_HOME", home + "/config");
    environment.insert("XDG_DATA_HOME", home + "/data");
    process.setProcessEnvironment(environment);
    QElapsedTimer clock;
    clock.start();
    process.start(STEPSCOPE_FAKE, arguments);
    Outcome outcome;
    if (process.waitForFinished(30'000) && process.exitStatus() == QProcess::NormalExit) outcome.exitCode = process.exitCode();
    outcome.milliseconds = clock.elapsed();
    outcome.out = QString::fromUtf8(process.readAllStandardOutput());
    outcome.err = QString::fromUtf8(process.readAllStandardError());
    return outcome;
}

TEST(Process, SavesAPictureOfTheTrainingWindowAndLeaves) {
    const QTemporaryDir home;
    const Outcome outcome =
        run({"--demo", "--db", home.filePath("s.db"), "--size", "1280x800", "--screenshot", home.filePath("w.png"), "--after", "2"}, home.path());
    EXPECT_EQ(outcome.exitCode, 0) << outcome.err.toStdString();
    EXPECT_LT(outcome.milliseconds, 7000);
    const QImage picture(home.filePath("w.png"));
    EXPECT_EQ(picture.size(), QSize(1280, 800));
    EXPECT_TRUE(QFile::exists(home.filePath("s.db")));
}

struct Ending {
    bool itself = false;  // not by the signal
    int exitCode = -1;
    QString err;
    std::optional<stepscope::RunState> state;  // of the session
};

// A run of the demo that is some steps old when the signal comes.
Ending endedBy(int signal, bool losesCheckpoints = false) {
    std::signal(SIGHUP, SIG_DFL);  // the program leaves it ignored as nohup had it
    const QTemporaryDir home;
    QProcess process;
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert("QT_QPA_PLATFORM", "offscreen");
    environment.insert("HOME", home.path());
    environment.insert("XDG_CONFIG_HOME", home.filePath("config"));
    if (losesCheckpoints) environment.insert("STEPSCOPE_FAKE_LOST", "1");
    process.setProcessEnvironment(environment);
    const std::string database = home.filePath("s.db").toStdString();
    process.start(STEPSCOPE_FAKE, {"--demo", "--db", QString::fromStdString(database)});
    const auto newest = [&]() -> std::optional<stepscope::SessionSummary> {
        auto reader = stepscope::SessionReader::open(database);
        if (!reader) return std::nullopt;
        auto list = (*reader)->list();
        return list && !list->empty() ? std::optional(list->front()) : std::nullopt;
    };
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < 10'000 && !(newest() && newest()->steps > 10)) process.waitForFinished(100);
    Ending ending;
    const auto id = process.processId();
    if (id == 0) return ending;
    ::kill(static_cast<pid_t>(id), signal);
    if (!process.waitForFinished(10'000)) return ending;
    ending.itself = process.exitStatus() == QProcess::NormalExit;
    ending.exitCode = process.exitCode();
    ending.err = QString::fromUtf8(process.readAllStandardError());
    if (const auto session = newest()) ending.state = session->state;
    return ending;
}

TEST(Process, StopsTheRunAndKeepsItWhenItIsInterrupted) {
    for (const int signal : {SIGTERM, SIGHUP}) {
        const Ending ending = endedBy(signal);
        EXPECT_TRUE(ending.itself) << signal;
        EXPECT_EQ(ending.exitCode, 0) << ending.err.toStdString();
        EXPECT_EQ(ending.state, stepscope::RunState::Stopped) << signal;
    }
}

TEST(Process, SaysByItsExitCodeThatTheLastCheckpointIsLostWhenNobodyMayBeThereToReadIt) {
    const Ending ending = endedBy(SIGTERM, true);
    EXPECT_TRUE(ending.itself);
    EXPECT_EQ(ending.exitCode, 7);
    EXPECT_TRUE(ending.err.contains("could not be written")) << ending.err.toStdString();
}

TEST(Process, SaysWhenThePictureCannotBeWritten) {
    const QTemporaryDir home;
    const Outcome outcome = run({"--db", home.filePath("s.db"), "--screenshot", home.filePath("no/folder/w.png"), "--after", "0.2"}, home.path());
    EXPECT_EQ(outcome.exitCode, 1);
    EXPECT_TRUE(outcome.err.contains("could not be written"));
}

TEST(Process, AnswersAWrongOptionWithOneSentenceAndExitCodeTwo) {
    const QTemporaryDir home;
    const Outcome outcome = run({"--fast"}, home.path());
    EXPECT_EQ(outcome.exitCode, 2);
    EXPECT_EQ(outcome.err.trimmed().count('\n'), 0) << outcome.err.toStdString();
    EXPECT_TRUE(outcome.out.isEmpty());
}

TEST(Process, SaysThatADisplayDoesNotAnswerInsteadOfAborting) {
    const QTemporaryDir home;
    for (const QString& platform : {QString(), QString("xcb"), QString("wayland")}) {
        const Outcome outcome = run({"--db", home.filePath("s.db")}, home.path(), platform, ":50123");  // a number that nobody uses
        EXPECT_EQ(outcome.exitCode, 3) << platform.toStdString();
        EXPECT_TRUE(outcome.err.contains(":50123")) << outcome.err.toStdString();
        EXPECT_EQ(outcome.err.trimmed().count('\n'), 0) << outcome.err.toStdString();
    }
}

TEST(Process, SaysByItsExitStatusWhetherAWindowCanBeOpened) {
    const QTemporaryDir home;
    EXPECT_EQ(run({"--can-show"}, home.path(), "", ":50123").exitCode, 3);
    EXPECT_EQ(run({"--can-show"}, home.path(), "xcb;offscreen", ":50123").exitCode, 0) << "Qt takes the first that works";
    EXPECT_FALSE(QFile::exists(home.filePath("data/stepscope/sessions.db"))) << "it only answers";
}

#ifdef STEPSCOPE_TALKING_LIBRARY
// It says something while it is loaded, before main.
TEST(Process, TellsWhatLibrariesWriteInSentencesOrInTheWindowsLog) {
    const QTemporaryDir home;
    ::setenv("LD_PRELOAD", STEPSCOPE_TALKING_LIBRARY, 1);
    ::setenv("TALKING_EARLY", "1", 1);
    const Outcome answered = run({"--can-show"}, home.path());
    const Outcome shown = run({"--db", home.filePath("s.db"), "--screenshot", home.filePath("w.png"), "--after", "0.2"}, home.path());
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("TALKING_EARLY");
    EXPECT_EQ(answered.exitCode, 0);
    EXPECT_EQ(answered.err.toStdString(), "stepscope: A library says: talking: it is early\n") << "there is no window";
    EXPECT_EQ(shown.exitCode, 0);
    EXPECT_FALSE(shown.err.contains("talking")) << shown.err.toStdString();
}
#endif

TEST(Process, PrintsHelpAndVersion) {
    const QTemporaryDir home;
    const Outcome help = run({"--help"}, home.path());
    EXPECT_EQ(help.exitCode, 0);
    EXPECT_TRUE(help.out.startsWith("Usage: stepscope [options]")) << help.out.toStdString();
    EXPECT_TRUE(run({"--version"}, home.path()).out.startsWith("stepscope "));
}

}  // namespace
