// Workers that are processes of their own: they find each other by a file, by a store that rank 0 opens, and add up, hand on and tell; one that ends
// or never comes is a sentence with the others.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "core/workers/WorkerGroup.h"

namespace stepscope {
namespace {

using testing::HasSubstr;

struct Ended {
    int exit = -1;
    std::string said;
};

// All at once, each with variables of its own before the common ones.
std::vector<Ended> run(int workers, const std::string& variables, const std::string& words, int started = -1) {
    std::vector<FILE*> pipes;
    for (int rank = 0; rank < (started < 0 ? workers : started); ++rank)
        pipes.push_back(
            popen(fmt::format("RANK={} WORLD_SIZE={} {} timeout 60 {} {}", rank, workers, variables, STEPSCOPE_WORKER_PEER, words).c_str(), "r"));
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

std::string freshFile() {
    static int number = 0;
    const auto path = std::filesystem::temp_directory_path() / fmt::format("stepscope-workers-{}-{}", ::getpid(), ++number);
    std::filesystem::remove(path);
    return path.string();
}

// That nobody listens on at the moment.
int freePort() {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(socket, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        return 0;
    ::close(socket);
    return ntohs(address.sin_port);
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

TEST(WorkerGroup, ThreeHaveTheSameBitsOfASumThatDependsOnItsOrder) {
    const std::string file = freshFile();
    expectAllAgree(run(3, "STEPSCOPE_WORKERS_FILE=" + file, "all"), "0;xxx1;xxxxxx2;");
    std::filesystem::remove(file);
}

TEST(WorkerGroup, AStoreThatTheFirstOpensServesAScriptWithoutTorchrun) {
    const int port = freePort();
    ASSERT_GT(port, 0);
    expectAllAgree(run(2, fmt::format("LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT={}", port), "all"), "0;xxx1;");
}

TEST(WorkerGroup, OneThatEndsIsASentenceWithTheOther) {
    const std::string file = freshFile();
    const auto ended = run(2, "STEPSCOPE_WORKERS_FILE=" + file, "die");
    EXPECT_EQ(ended[1].exit, 7);
    EXPECT_EQ(ended[0].exit, 3);
    EXPECT_THAT(ended[0].said, HasSubstr("Worker 0 of 2 could not add up gradients with the others: another worker has ended"));
    std::filesystem::remove(file);
}

TEST(WorkerGroup, OneThatNeverComesIsASentenceAfterThePatience) {
    const std::string file = freshFile();
    const auto ended = run(2, "STEPSCOPE_WORKERS_FILE=" + file, "all 2", 1);
    EXPECT_EQ(ended[0].exit, 3);
    EXPECT_THAT(ended[0].said, HasSubstr("Worker 0 of 2 did not find the others"));
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace stepscope
