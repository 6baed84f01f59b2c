// What workers leave for those who are started in their place: kept by torchrun's agent, by nobody else.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "tests/support/FreePort.h"

extern char** environ;

namespace stepscope {
namespace {

// Everything that two workers said, one after the other.
std::string said(const std::string& variables, const std::string& words) {
    std::array<FILE*, 2> pipes{};
    for (std::size_t rank = 0; rank < 2; ++rank)
        pipes[rank] = popen(fmt::format("RANK={} WORLD_SIZE=2 LOCAL_RANK={} LOCAL_WORLD_SIZE=2 {} timeout 60 {} {} 2>&1", rank, rank, variables,
                                        words.starts_with("sh ") ? "" : STEPSCOPE_WORKER_PEER, words)
                                .c_str(),
                            "r");
    std::string all;
    std::array<char, 4096> buffer{};
    for (FILE* pipe : pipes) {
        while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) all += buffer.data();
        EXPECT_EQ(pclose(pipe), 0) << all;
    }
    return all;
}

class LeftForOthers : public testing::Test {
protected:
    LeftForOthers() {
        const std::string port = std::to_string(m_port);
        std::array<char*, 3> words{const_cast<char*>(STEPSCOPE_AGENT_STORE), const_cast<char*>(port.c_str()), nullptr};
        EXPECT_EQ(::posix_spawn(&m_agent, words[0], nullptr, nullptr, words.data(), environ), 0);
    }
    ~LeftForOthers() override {
        ::kill(m_agent, SIGKILL);
        ::waitpid(m_agent, nullptr, 0);
    }
    std::string started(const std::string& run, int times, const std::string& words) const {
        return said(fmt::format("MASTER_ADDR=127.0.0.1 MASTER_PORT={} TORCHELASTIC_USE_AGENT_STORE=True TORCHELASTIC_RUN_ID={} "
                                "TORCHELASTIC_RESTART_COUNT={}",
                                m_port, run, times),
                    words);
    }

private:
    int m_port = test::freePort();
    pid_t m_agent = -1;
};

TEST_F(LeftForOthers, IsFoundByAllWhoAreStartedAnewInTheSameRunAndByNoOther) {
    EXPECT_EQ(started("a", 0, "left"), "left: nothing\nleft: nothing\n");
    EXPECT_EQ(started("a", 1, "leave"), "left: a word\nleft: a word\n");
    EXPECT_EQ(started("a", 2, "left"), "left: a word\nleft: a word\n");
    EXPECT_EQ(started("b", 2, "left"), "left: nothing\nleft: nothing\n");
}

// Addresses of the first time, and what was said there, are in the agent's store all the while; one of the two is late.
TEST_F(LeftForOthers, WorkersMeetAnewEachTimeThatTheirScriptTrains) {
    const std::string all = fmt::format("sh -c '{0} all; sleep $RANK; {0} all; {0} all'", STEPSCOPE_WORKER_PEER);
    const std::string heard = started("several", 0, all);
    const auto said = [&](const char* what) {
        int count = 0;
        for (std::size_t at = heard.find(what); at != std::string::npos; at = heard.find(what, at + 1)) ++count;
        return count;
    };
    EXPECT_EQ(said("0;xxx1;"), 6) << heard;
}

TEST(LeftNowhere, WorkersWithoutAnAgentKeepNothing) {
    const auto file = std::filesystem::temp_directory_path() / fmt::format("stepscope-left-{}", ::getpid());
    EXPECT_EQ(said("STEPSCOPE_WORKERS_FILE=" + file.string(), "leave"), "left: nothing\nleft: nothing\n");
    std::filesystem::remove(file);
    EXPECT_EQ(said(fmt::format("MASTER_ADDR=127.0.0.1 MASTER_PORT={}", test::freePort()), "leave"), "left: nothing\nleft: nothing\n");
}

}  // namespace
}  // namespace stepscope
