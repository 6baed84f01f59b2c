// Workers that are processes of their own: they find each other by a file, by a store that rank 0 opens, and add up, hand on and tell; one that ends
// or never comes is a sentence with the others.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "core/workers/StoreFile.h"
#include "core/workers/WorkerGroup.h"
#include "tests/support/FreePort.h"

namespace stepscope {
namespace {

using testing::HasSubstr;

struct Ended {
    int exit = -1;
    std::string said;
};

// All at once, each with variables of its own.
std::vector<Ended> runEach(const std::vector<std::string>& variables, const std::string& words) {
    std::vector<FILE*> pipes;
    for (const std::string& own : variables)
        pipes.push_back(popen(fmt::format("{} timeout 60 {} {}", own, STEPSCOPE_WORKER_PEER, words).c_str(), "r"));
    std::vector<Ended> ended;
    for (FILE* pipe : pipes) {
        Ended one;
        std::array<char, 4096> buffer{};
        while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) one.said += buffer.data();
        const int status = pclose(pipe);
        one.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        ended.push_back(std::move(one));
    }
    return ended;
}

// With their rank and number before the common ones.
std::vector<Ended> run(int workers, const std::string& variables, const std::string& words, int started = -1) {
    std::vector<std::string> each;
    for (int rank = 0; rank < (started < 0 ? workers : started); ++rank)
        each.push_back(fmt::format("RANK={} WORLD_SIZE={} {}", rank, workers, variables));
    return runEach(each, words);
}

// Another program at a port of 127.0.0.1: it takes connections and never says a word.
class SilentListener {
public:
    SilentListener() : m_file(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(m_file, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(m_file, 5), 0);
        EXPECT_EQ(::getsockname(m_file, reinterpret_cast<sockaddr*>(&address), &size), 0);
        m_port = ntohs(address.sin_port);
    }
    ~SilentListener() { ::close(m_file); }
    SilentListener(const SilentListener&) = delete;
    SilentListener& operator=(const SilentListener&) = delete;
    std::string place() const { return fmt::format("MASTER_ADDR=127.0.0.1 MASTER_PORT={}", m_port); }

private:
    int m_file, m_port = 0;
};

std::chrono::seconds since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
}

std::string freshFile() {
    static int number = 0;
    const auto path = std::filesystem::temp_directory_path() / fmt::format("stepscope-workers-{}-{}", ::getpid(), ++number);
    std::filesystem::remove(path);
    return path.string();
}

void expectAllAgree(const std::vector<Ended>& ended, const std::string& texts) {
    for (const Ended& one : ended) {
        EXPECT_EQ(one.exit, 0) << one.said;
        EXPECT_THAT(one.said, HasSubstr(" 1 4711 " + texts)) << "the sum, what rank 1 handed on, and all texts";
        EXPECT_EQ(one.said.substr(0, 16), ended[0].said.substr(0, 16)) << "the same bits with every worker";
    }
}

TEST(WorkerGroup, TwoThatMeetAtAFileAddUpHandOnAndTell) {
    const std::string file = freshFile();
    expectAllAgree(run(2, "STEPSCOPE_WORKERS_FILE=" + file, "all"), "0;xxx1;");
    std::filesystem::remove(file);
}

TEST(WorkerGroup, WhatKilledWorkersLeftAtAFileDoesNotConfuseTheNext) {
    const std::string file = freshFile();
    EXPECT_EQ(run(2, "STEPSCOPE_WORKERS_FILE=" + file, "die")[1].exit, 7);
    EXPECT_TRUE(std::filesystem::exists(file)) << "there is something left";
    expectAllAgree(run(2, "STEPSCOPE_WORKERS_FILE=" + file, "all"), "0;xxx1;");
    std::filesystem::remove(file);
}

TEST(WorkerGroup, AFileThatIsNoneOfWorkersIsLeftAsItIs) {
    const std::string file = freshFile();
    std::ofstream(file) << "What somebody wrote.";
    const auto ended = run(2, "STEPSCOPE_WORKERS_FILE=" + file, "all", 1);
    EXPECT_EQ(ended[0].exit, 3);
    EXPECT_THAT(ended[0].said, HasSubstr("is there already, and no workers have met at it"));
    EXPECT_EQ(std::filesystem::file_size(file), 20u);
    std::filesystem::remove(file);
}

TEST(WorkerGroup, OneThatIsStoppedWhileItWaitsForTheOthersEndsAtOnce) {
    const int port = test::freePort();
    ASSERT_GT(port, 0);
    const std::string file = freshFile(), address = fmt::format("MASTER_ADDR=127.0.0.1 MASTER_PORT={}", port);
    for (const std::string& variables : {"STEPSCOPE_WORKERS_FILE=" + file, address, "RANK=1 " + address}) {
        const auto ended = run(2, variables, "stop 600", 1);
        EXPECT_EQ(ended[0].exit, 3) << variables;
        EXPECT_THAT(ended[0].said, HasSubstr("The run was stopped before its first step.")) << variables;
    }
    std::filesystem::remove(file);
}

// With somebody else at the same port of another address: who listens at all of them would find it taken.
TEST(WorkerGroup, TheStoreListensAtMasterAddrAlone) {
    const int other = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(other, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(other, 1), 0);
    ASSERT_EQ(::getsockname(other, reinterpret_cast<sockaddr*>(&address), &size), 0);
    const int port = ntohs(address.sin_port);
    expectAllAgree(run(2, fmt::format("MASTER_ADDR=127.0.0.1 MASTER_PORT={}", port), "all 10"), "0;xxx1;");
    ::close(other);
}

TEST(WorkerGroup, ThreeHaveTheSameBitsOfASumThatDependsOnItsOrder) {
    const std::string file = freshFile();
    expectAllAgree(run(3, "STEPSCOPE_WORKERS_FILE=" + file, "all"), "0;xxx1;xxxxxx2;");
    std::filesystem::remove(file);
}

TEST(WorkerGroup, AStoreThatTheFirstOpensServesAScriptWithoutTorchrun) {
    const int port = test::freePort();
    ASSERT_GT(port, 0);
    expectAllAgree(run(2, fmt::format("LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT={}", port), "all"), "0;xxx1;");
}

TEST(WorkerGroup, OneThatEndsIsNamedByAllOthers) {
    const std::string file = freshFile();
    const auto ended = run(3, "STEPSCOPE_WORKERS_FILE=" + file, "die");
    EXPECT_EQ(ended[2].exit, 7);
    for (const int rank : {0, 1}) {
        EXPECT_EQ(ended[static_cast<std::size_t>(rank)].exit, 3);
        EXPECT_THAT(ended[static_cast<std::size_t>(rank)].said,
                    HasSubstr(fmt::format("Worker 2 of 3 has ended while worker {} waited to add up gradients with it", rank)));
    }
    std::filesystem::remove(file);
}

TEST(WorkerGroup, TheOneThatKeepsTheStoreIsNamedToo) {
    const int port = test::freePort();
    ASSERT_GT(port, 0);
    const auto ended = run(2, fmt::format("LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT={}", port), "die-first");
    EXPECT_EQ(ended[0].exit, 7);
    EXPECT_EQ(ended[1].exit, 3);
    EXPECT_THAT(ended[1].said, HasSubstr("Worker 0 of 2 has ended while worker 1 waited to add up gradients with it"));
}

TEST(WorkerGroup, OneThatGivesUpTellsTheOtherWhy) {
    const int port = test::freePort();
    ASSERT_GT(port, 0);
    for (const std::string& variables : {"STEPSCOPE_WORKERS_FILE=" + freshFile(), fmt::format("MASTER_ADDR=127.0.0.1 MASTER_PORT={}", port)}) {
        const auto ended = run(2, variables, "give-up");
        EXPECT_EQ(ended[1].exit, 7);
        EXPECT_EQ(ended[0].exit, 3);
        EXPECT_THAT(ended[0].said, HasSubstr("Worker 1 of 2 has given up: It has had enough."));
    }
}

TEST(WorkerGroup, OneThatHangsIsNamedAfterThePatience) {
    const std::string file = freshFile();
    const auto ended = run(2, "STEPSCOPE_WORKERS_FILE=" + file, "hang 2");
    EXPECT_EQ(ended[1].exit, 7);
    EXPECT_EQ(ended[0].exit, 3);
    EXPECT_THAT(ended[0].said, HasSubstr("Worker 1 of 2 does not answer, while worker 0 waited to add up gradients with it, for up to 2 s"));
    std::filesystem::remove(file);
    std::filesystem::remove(file + ".lock");  // of the one that hung: it ends last, and cleans nothing up
}

TEST(WorkerGroup, OneThatNeverComesIsASentenceAfterThePatience) {
    const std::string file = freshFile();
    const auto ended = run(2, "STEPSCOPE_WORKERS_FILE=" + file, "all 2", 1);
    EXPECT_EQ(ended[0].exit, 3);
    EXPECT_THAT(ended[0].said, HasSubstr("Worker 0 of 2 did not find the others"));
    std::filesystem::remove(file);
}

TEST(WorkerGroup, APortThatAnotherProgramHoldsIsNamedByTheFirstAtOnce) {
    const SilentListener other;
    const auto begin = std::chrono::steady_clock::now();
    const auto ended = run(2, other.place(), "all 40", 1);
    EXPECT_EQ(ended[0].exit, 3);
    EXPECT_THAT(ended[0].said, testing::MatchesRegex("MASTER_PORT [0-9]+ at 127.0.0.1 is taken by another program, .*\n"));
    EXPECT_LT(since(begin).count(), 20) << "it waits for nobody";
}

TEST(WorkerGroup, AListenerThatNeverAnswersIsASentenceAfterThePatienceAndHoldsUpNoStop) {
    const SilentListener other;
    for (const std::string& store : {other.place(), other.place() + " TORCHELASTIC_USE_AGENT_STORE=True"}) {
        const auto begin = std::chrono::steady_clock::now();
        const auto late = runEach({"RANK=1 WORLD_SIZE=2 " + store}, "all 2");
        EXPECT_EQ(late[0].exit, 3) << store;
        EXPECT_THAT(late[0].said, HasSubstr("but does not answer as the store of workers does; is MASTER_PORT taken by another program")) << store;
        EXPECT_LT(since(begin).count(), 30) << store;
        const auto stopped = runEach({"RANK=1 WORLD_SIZE=2 " + store}, "stop 600");
        EXPECT_EQ(stopped[0].exit, 3) << store;
        EXPECT_THAT(stopped[0].said, HasSubstr("The run was stopped before its first step.")) << store;
    }
}

// 192.0.2.1 is of an example's network (RFC 5737): no machine has it.
TEST(WorkerGroup, AnAddressThatTheFirstWorkersMachineHasNotIsNamedAndNothingListensElsewhere) {
    const auto begin = std::chrono::steady_clock::now();
    const auto ended = run(2, fmt::format("MASTER_ADDR=192.0.2.1 MASTER_PORT={}", test::freePort()), "all 40", 1);
    EXPECT_EQ(ended[0].exit, 3);
    EXPECT_THAT(ended[0].said, HasSubstr("MASTER_ADDR 192.0.2.1 is not an address of this machine"));
    EXPECT_LT(since(begin).count(), 20);
}

TEST(WorkerGroup, NumbersOfWorkersThatAreNotAlikeAreNamedByAllAtOnce) {
    const std::string file = freshFile();
    const int port = test::freePort();
    for (const std::string& store : {"STEPSCOPE_WORKERS_FILE=" + file, fmt::format("MASTER_ADDR=127.0.0.1 MASTER_PORT={}", port)}) {
        const auto begin = std::chrono::steady_clock::now();
        const auto ended = runEach({"RANK=0 WORLD_SIZE=2 " + store, "RANK=1 WORLD_SIZE=3 " + store}, "all 40");
        for (const Ended& one : ended) {
            EXPECT_EQ(one.exit, 3) << store;
            EXPECT_THAT(one.said, testing::MatchesRegex("WORLD_SIZE is 2 with worker 0 .process [0-9]+ on .*. and 3 with worker 1 .*\n")) << store;
        }
        EXPECT_EQ(ended[0].said, ended[1].said);
        EXPECT_LT(since(begin).count(), 20) << store;
    }
    std::filesystem::remove(file);
}

TEST(WorkerGroup, ARankThatTwoProcessesHaveIsNamedWithBothAtOnce) {
    const std::string file = freshFile();
    const int port = test::freePort();
    const auto held = StoreFile::hold(file);  // so that none is too late, however long the machine takes to start it
    ASSERT_TRUE(held) << held.error().sentence;
    for (const std::string& store : {"STEPSCOPE_WORKERS_FILE=" + file, fmt::format("MASTER_ADDR=127.0.0.1 MASTER_PORT={}", port)}) {
        const auto begin = std::chrono::steady_clock::now();
        // The third one, which never comes, is not waited for.
        const auto ended = runEach({"RANK=0 WORLD_SIZE=3 " + store, "RANK=1 WORLD_SIZE=3 " + store, "RANK=1 WORLD_SIZE=3 " + store}, "all 40");
        for (const Ended& one : ended) {
            EXPECT_EQ(one.exit, 3) << store;
            EXPECT_THAT(one.said, testing::MatchesRegex("RANK is 1 with two workers, process [0-9]+ on .* and process [0-9]+ on .*\n")) << store;
        }
        EXPECT_LT(since(begin).count(), 20) << store;
    }
    std::filesystem::remove(file);
}

// Loading LibTorch takes one of them longer than the others, who know already that they will never train together.
TEST(WorkerGroup, OneThatComesASecondLaterHearsWhyTheOthersHaveEnded) {
    const std::string file = freshFile(), store = "WORLD_SIZE=3 STEPSCOPE_WORKERS_FILE=" + file;
    const auto ended = runEach({"sleep 1; RANK=0 " + store, "RANK=1 " + store, "RANK=1 " + store}, "all 40");
    for (const Ended& one : ended) EXPECT_THAT(one.said, testing::MatchesRegex("RANK is 1 with two workers, .*\n"));
    std::filesystem::remove(file);
}

TEST(WorkerGroup, WhyTheyCannotTrainTogetherIsSaidHoweverShortThePatience) {
    const std::string file = freshFile(), store = "WORLD_SIZE=3 STEPSCOPE_WORKERS_FILE=" + file;
    // The third one never comes.
    for (const Ended& one : runEach({"RANK=1 " + store, "RANK=1 " + store}, "all 2"))
        EXPECT_THAT(one.said, testing::MatchesRegex("RANK is 1 with two workers, .*\n"));
    std::filesystem::remove(file);
}

TEST(WorkerGroup, SeveralInterfacesWithCommasBetweenThemAreTakenAsPyTorchTakesThem) {
    const std::string file = freshFile();
    expectAllAgree(run(2, "GLOO_SOCKET_IFNAME=lo,lo STEPSCOPE_WORKERS_FILE=" + file, "all"), "0;xxx1;");
    std::filesystem::remove(file);
}

// The other one would wait for it for as long as its patience lasts.
TEST(WorkerGroup, ANetworkInterfaceThatOneHasNotIsNamedByAllAtOnce) {
    const std::string file = freshFile();
    const int port = test::freePort();
    const auto held = StoreFile::hold(file);  // so that none is too late
    ASSERT_TRUE(held) << held.error().sentence;
    for (const std::string& store : {"STEPSCOPE_WORKERS_FILE=" + file, fmt::format("MASTER_ADDR=127.0.0.1 MASTER_PORT={}", port)}) {
        const auto begin = std::chrono::steady_clock::now();
        const auto ended = runEach({"RANK=0 WORLD_SIZE=2 " + store, "RANK=1 WORLD_SIZE=2 GLOO_SOCKET_IFNAME=nowhere " + store}, "all 40");
        for (const Ended& one : ended) {
            EXPECT_EQ(one.exit, 3) << store;
            EXPECT_THAT(one.said, testing::MatchesRegex("Worker 1 of 2 on .*: GLOO_SOCKET_IFNAME names the network interface \"nowhere\", .*\n"))
                << store;
        }
        EXPECT_LT(since(begin).count(), 20) << store;
    }
    std::filesystem::remove(file);
}

// One of them has died, and what they said to each other is there still.
TEST(WorkerGroup, ThoseWhoAreStartedAnewClaimTheirRanksAnew) {
    const std::string file = freshFile(), store = "STEPSCOPE_WORKERS_FILE=" + file;
    {
        const auto held = StoreFile::hold(file);  // so that nobody takes it away
        ASSERT_TRUE(held) << held.error().sentence;
        EXPECT_EQ(run(2, "TORCHELASTIC_RESTART_COUNT=0 " + store, "die")[1].exit, 7);
        ASSERT_TRUE(std::filesystem::exists(file));
        expectAllAgree(run(2, "TORCHELASTIC_RESTART_COUNT=1 " + store, "all"), "0;xxx1;");
    }
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace stepscope
