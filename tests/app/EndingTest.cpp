// How a run ends when it is not let to its end: Ctrl-C, SIGTERM, a terminal that is closed, kill -9.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

class Ending : public CliFixture {
protected:
    std::unique_ptr<Process> endless(const Words& more = {}) const {
        std::filesystem::remove(path("log"));
        Words words{STEPSCOPE_CLI};
        for (const auto& word : tiny({"--steps", "100000000", "--step-log", path("log")})) words.push_back(word);
        words.insert(words.end(), more.begin(), more.end());
        auto process = std::make_unique<Process>(words, options());
        EXPECT_TRUE(waitForSteps(path("log"), 20));
        return process;
    }
};

TEST_F(Ending, CtrlCStopsCleanlyAndKeepsTheSession) {
    std::signal(SIGHUP, SIG_DFL);  // the program leaves it ignored as nohup had it
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const auto process = endless({"--json"});
        process->send(signal);
        const auto finished = process->wait();
        EXPECT_EQ(finished.exitCode, kStopped) << finished.err;
        const auto summary = Json::parse(finished.out);
        const auto steps = stepLog(path("log"));
        EXPECT_EQ(summary["steps"], steps.size());
        EXPECT_EQ(newest()["state"], "stopped");
        EXPECT_EQ(newest()["steps"], steps.size());
    }
}

TEST_F(Ending, CtrlCDoesNotWaitForAValidation) {
    const auto process = endless({"--json", "--set", "validation-every=21", "--set", "validation-tokens=100000000"});
    std::this_thread::sleep_for(std::chrono::seconds(1));
    process->send(SIGINT);
    const auto finished = process->wait();
    EXPECT_EQ(finished.exitCode, kStopped) << finished.err;
    EXPECT_TRUE(Json::parse(finished.out)["val_loss"].is_null());
    EXPECT_EQ(newest()["state"], "stopped");
}

TEST_F(Ending, TwoSignalsThatComeTogetherAreOneRequest) {
    const auto process = endless({"--json"});
    std::this_thread::sleep_for(std::chrono::seconds(1));
    // As `timeout` does it: the process, and then its group.
    process->send(SIGTERM);
    process->send(SIGTERM);
    process->send(SIGINT);
    const auto finished = process->wait();
    EXPECT_EQ(finished.exitCode, kStopped) << finished.err;
    EXPECT_FALSE(Json::parse(finished.out)["session"].is_null()) << "its last line is there";
    EXPECT_EQ(newest()["state"], "stopped");
}

TEST_F(Ending, ASecondCtrlCEndsAtOnce) {
    const auto process = endless();
    const auto begin = std::chrono::steady_clock::now();
    // The first may already be enough; what matters is that two never hang and never abort.
    process->send(SIGINT);
    process->send(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    process->send(SIGINT);
    const auto finished = process->wait();
    EXPECT_THAT(finished.exitCode, testing::AnyOf(kStopped, kKilled)) << finished.err;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    EXPECT_THAT(newest()["state"].get<std::string>(), testing::AnyOf("stopped", "interrupted"));
}

// At every moment, also when the run is over and its last words are being written.
TEST_F(Ending, ASecondCtrlCIsNeverTheEndByTheSignalItself) {
    const auto process = endless();
    for (int i = 0; i < 400; ++i) {
        process->send(SIGINT);
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    const auto finished = process->wait();
    EXPECT_EQ(finished.signal, 0);
    EXPECT_THAT(finished.exitCode, testing::AnyOf(kStopped, kKilled)) << finished.err;
}

TEST_F(Ending, KillLosesNoMoreThanAQuarterOfASecond) {
    for (const int wait : {0, 130, 420}) {
        const auto process = endless();
        EXPECT_EQ(newest()["state"], "running");
        std::this_thread::sleep_for(std::chrono::milliseconds(wait));
        process->send(SIGKILL);
        EXPECT_EQ(process->wait().signal, SIGKILL);

        const auto steps = stepLog(path("log"));
        const auto last = steps.back()["t_ns"].get<std::int64_t>();
        std::int64_t due = 0;
        for (const auto& step : steps)
            if (step["t_ns"].get<std::int64_t>() < last - 250'000'000) due = step["step"];
        const auto stored = newest();
        EXPECT_EQ(stored["state"], "interrupted");
        EXPECT_GE(stored["steps"].get<std::int64_t>(), due);
        SQLite::Database file(database(), SQLite::OPEN_READONLY);
        EXPECT_EQ(std::string(file.execAndGet("PRAGMA integrity_check").getText()), "ok");
    }
}

TEST_F(Ending, WhatCannotBeStoredIsGivenUpOnlyWhenAskedAndThenTheRunHasFailed) {
    Words words{STEPSCOPE_CLI};
    for (const auto& word : tiny({"--steps", "200", "--step-log", path("log")})) words.push_back(word);
    Process process(words, options());
    ASSERT_TRUE(waitForSteps(path("log"), 1));
    SQLite::Database holder(database(), SQLite::OPEN_READWRITE);
    holder.setBusyTimeout(5000);
    holder.exec("BEGIN IMMEDIATE");
    std::this_thread::sleep_for(std::chrono::seconds(4));  // more than the recorder waits for a lock before it says so
    process.send(SIGINT);
    const auto finished = process.wait();
    EXPECT_EQ(finished.exitCode, kIo) << finished.err;
    EXPECT_THAT(finished.err, testing::HasSubstr("locked by another program"));
    EXPECT_THAT(finished.err, testing::HasSubstr("are not stored"));
    holder.exec("ROLLBACK");
    EXPECT_EQ(newest()["state"], "interrupted");
}

TEST_F(Ending, TwoRunsRecordIntoOneFile) {
    Words words{STEPSCOPE_CLI};
    for (const auto& word : tiny({"--steps", "300"})) words.push_back(word);
    Process first(words, options()), second(words, options());
    EXPECT_EQ(first.wait().exitCode, 0);
    EXPECT_EQ(second.wait().exitCode, 0);
    const auto list = Json::parse(cli({"sessions", "list", "--db", database(), "--json"}).out);
    ASSERT_EQ(list.size(), 2u);
    for (const auto& stored : list) {
        EXPECT_EQ(stored["state"], "finished");
        EXPECT_EQ(stored["steps"], 300);
    }
}

}  // namespace
}  // namespace stepscope::test
