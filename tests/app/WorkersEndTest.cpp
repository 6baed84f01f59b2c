// How several workers end when one of them is killed, hangs, is told to stop, cannot begin or meets nobody, and what the others say of it.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/app/WorkersFixture.h"

namespace stepscope::test {
namespace {

// Another program takes connections at MASTER_PORT and never says a word.
TEST_F(Workers, OneThatNobodyAnswersEndsWhenItIsTold) {
    const int silent = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(silent, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(silent, 5), 0);
    ASSERT_EQ(::getsockname(silent, reinterpret_cast<sockaddr*>(&address), &size), 0);
    meetAtAPort(ntohs(address.sin_port));
    const auto worker = start(1, {"--patience", "600"});
    pollfd comes{.fd = silent, .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&comes, 1, 60'000), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // it looks whether somebody listens, and connects then
    worker->send(SIGTERM);
    const Finished finished = worker->wait(std::chrono::seconds(30));
    EXPECT_FALSE(finished.timedOut);
    EXPECT_EQ(finished.exitCode, kStopped) << finished.err;
    expectRefused(start(0, {"--patience", "600"})->wait(), {"MASTER_PORT", "is taken by another program"}, kIo);
    ::close(silent);
}

TEST_F(Workers, OneThatCannotBeginTellsTheOthersWhy) {
    const std::string text = write("some.txt", std::string(20'000, 'x'));
    const auto first = start(0, {"--data", text});
    const auto other = start(1, {"--data", text}, 2, {"--init", path("nothing")});
    EXPECT_THAT(other->wait().err, testing::HasSubstr("worker 1: "));
    expectRefused(first->wait(), {"Worker 1 of 2 has given up", "nothing"}, kTraining);
}

// Which the first one alone writes.
TEST_F(Workers, AStepLogThatCannotBeOpenedIsToldByAll) {
    const auto first = start(0, {}, 2, {"--step-log", path("nowhere/steps.csv")});
    const auto other = start(1, {});
    EXPECT_THAT(first->wait().err, testing::HasSubstr("nowhere/steps.csv"));
    expectRefused(other->wait(), {"Worker 0 of 2 has given up", "nowhere/steps.csv"}, kTraining);
}

// Of a checkpoint, before they have met: the others wait for it.
TEST_F(Workers, AFileThatOneOfThemLacksIsToldByAllInItsWords) {
    expectDone(run({"--steps", "6"}));
    const std::string kept = checkpoint();
    std::filesystem::copy(kept, path("lacking"), std::filesystem::copy_options::recursive);
    std::filesystem::remove(path("lacking/optimizer.safetensors"));
    for (const std::string& lacking : {path("lacking"), path("nowhere")}) {
        std::vector<std::unique_ptr<Process>> workers;
        for (int rank = 0; rank < 3; ++rank) workers.push_back(start(rank, {"--steps", "9", "--resume", rank == 1 ? lacking : kept}, 3));
        std::vector<Finished> finished;
        for (const auto& worker : workers) finished.push_back(worker->wait());
        const std::string& own = finished[1].err;
        EXPECT_THAT(own, testing::HasSubstr(lacking));
        EXPECT_EQ(finished[1].exitCode, lacking == path("lacking") ? kDamaged : kNotFound) << own;
        const std::string why = own.substr(own.find(": ") + 2, own.find_last_not_of('\n') - own.find(": ") - 1);
        for (const std::size_t other : {std::size_t{0}, std::size_t{2}}) {
            EXPECT_EQ(finished[other].exitCode, kTraining) << finished[other].err;
            EXPECT_THAT(finished[other].err, testing::HasSubstr("Worker 1 of 3 has given up: " + why));
        }
    }
    EXPECT_EQ(newest()["steps"], 6) << "nothing has begun anew";
}

TEST_F(Workers, OneThatIsKilledIsNamedByTheOtherWhichKeepsACheckpoint) {
    const auto first = start(0, {"--steps", "100000000", "--step-log", path("log")}), other = start(1, {"--steps", "100000000"});
    ASSERT_TRUE(waitForSteps(path("log"), 20));
    other->send(SIGKILL);
    const auto killed = std::chrono::steady_clock::now();
    const auto finished = first->wait();
    EXPECT_LT(std::chrono::steady_clock::now() - killed, std::chrono::seconds(30)) << "of 300 that it may wait for one that hangs";
    EXPECT_EQ(finished.exitCode, kTraining);
    EXPECT_THAT(finished.err, testing::HasSubstr("Worker 1 of 2 has ended while worker 0 waited to"));
    EXPECT_THAT(finished.err, testing::HasSubstr("is kept; resume from"));
    EXPECT_EQ(newest()["state"], "failed");
}

TEST_F(Workers, OneThatIsKilledTakesItsPartOfTheMomentsWithIt) {
    const Words words{"--steps", "100000000", "--checkpoint-every", "10", "--keep", "1", "--set", "zero=1"};
    const auto first = start(0, words, 2, {"--step-log", path("log")}), other = start(1, words);
    ASSERT_TRUE(waitForSteps(path("log"), 25));
    other->send(SIGKILL);
    const auto finished = first->wait();
    EXPECT_EQ(finished.exitCode, kTraining);
    EXPECT_THAT(finished.err, testing::HasSubstr("Worker 1 of 2 has ended while worker 0 waited to"));
    EXPECT_THAT(finished.err, testing::ContainsRegex("Step [0-9]*0 is kept; resume from")) << "the newest one that was due";
}

TEST_F(Workers, TheOthersNameTheFirstWhenItIsKilled) {
    meetAtAPort();
    const auto first = start(0, {"--steps", "100000000", "--step-log", path("log")}), other = start(1, {"--steps", "100000000"});
    ASSERT_TRUE(waitForSteps(path("log"), 20));
    first->send(SIGKILL);
    const auto killed = std::chrono::steady_clock::now();
    expectRefused(other->wait(), {"worker 1: Worker 0 of 2 has ended while worker 1 waited to"}, kTraining);
    EXPECT_LT(std::chrono::steady_clock::now() - killed, std::chrono::seconds(30));
}

TEST_F(Workers, OneThatHangsEndsTheOthersAfterThePatience) {
    const Words words{"--steps", "100000000", "--step-log", path("log"), "--patience", "6"};
    const auto first = start(0, words), other = start(1, words);
    ASSERT_TRUE(waitForSteps(path("log"), 20));
    other->send(SIGSTOP);
    const auto finished = first->wait();
    EXPECT_EQ(finished.exitCode, kTraining);
    EXPECT_THAT(finished.err, testing::HasSubstr("Worker 1 of 2 does not answer, while worker 0 waited to"));
}

TEST_F(Workers, AStopAskedOfOneStopsAllAfterTheSameStep) {
    const auto first = start(0, {"--steps", "100000000", "--step-log", path("log")}), other = start(1, {"--steps", "100000000"});
    ASSERT_TRUE(waitForSteps(path("log"), 20));
    other->send(SIGTERM);
    EXPECT_EQ(other->wait().exitCode, kStopped);
    EXPECT_EQ(first->wait().exitCode, kStopped);
    EXPECT_EQ(newest()["state"], "stopped");
}

TEST_F(Workers, OneThatIsStoppedBeforeTheOthersComeEndsAtOnce) {
    for (const int rank : {0, 1}) {
        const auto worker = start(rank, {"--patience", "600"});
        ASSERT_TRUE(comes("meet"));
        worker->send(SIGTERM);
        const auto finished = worker->wait();
        EXPECT_EQ(finished.exitCode, kStopped) << rank << ": " << finished.err;
        EXPECT_FALSE(std::filesystem::exists(database())) << "nothing has begun";
        std::filesystem::remove(path("meet"));
    }
}

}  // namespace
}  // namespace stepscope::test
