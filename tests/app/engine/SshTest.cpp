// An engine reached by the real ssh: OpenSSH's client and server, joined by a pipe (ProxyCommand and `sshd -i`), so that nothing listens. Skipped
// where there is no sshd: it is not installed for the tests' sake, for a system that has it may open a port. STEPSCOPE_TEST_SSHD: the command instead
// of /usr/sbin/sshd. CTest.
#include <gmock/gmock.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "app/workbench/engine/EngineQuestions.h"
#include "app/workbench/engine/detached/EngineFolder.h"
#include "tests/app/engine/EngineFixture.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using test::Ear;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class OverSsh : public test::EngineRuns {
protected:
    void SetUp() override {
        const char* named = std::getenv("STEPSCOPE_TEST_SSHD");
        const std::string server = named != nullptr ? named : "/usr/sbin/sshd";
        if (named == nullptr && ::access(server.c_str(), X_OK) != 0) GTEST_SKIP() << "there is no " << server;
        const passwd* const user = ::getpwuid(::getuid());
        if (user == nullptr) GTEST_SKIP() << "this user has no name, and sshd asks for it";
        for (const char* key : {"host", "own", "strange"})
            ASSERT_EQ(std::system(("ssh-keygen -q -t ed25519 -N '' -f '" + path(key) + "'").c_str()), 0);
        fs::copy_file(path("own.pub"), path("authorized"));
        write("server", "HostKey " + path("host") + "\nAuthorizedKeysFile " + path("authorized") +
                            "\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none\n");
        std::ifstream hostKey(path("host.pub"));
        write("known", "gpu-rack " + std::string(std::istreambuf_iterator<char>(hostKey), {}));
        write("client", "Host gpu-rack\n  User " + std::string(user->pw_name) +
                            "\n  IdentityFile ${STEPSCOPE_TEST_KEY}\n  IdentitiesOnly yes\n  IdentityAgent none\n" + "  UserKnownHostsFile " +
                            path("known") + "\n  ProxyCommand " + server + " -i -f " + path("server") + "\n");
        useKey("own");
        if (std::system(("ssh -F '" + path("client") + "' -o BatchMode=yes gpu-rack true >/dev/null 2>&1").c_str()) != 0)
            GTEST_SKIP() << "this system's sshd lets nobody in who starts it like this";
        ::setenv("XDG_DATA_HOME", path("there").c_str(), 1);  // of this process, which looks at what lies there
        std::signal(SIGPIPE, SIG_IGN);
    }
    void TearDown() override {
        for (const ListedEngine& one : listEngines())
            if (const auto folder = EngineFolder::open(one.id))
                if (const auto process = folder->engine(); process && *process > 0) ::kill(*process, SIGKILL);
        ::unsetenv("XDG_DATA_HOME");
        ::unsetenv("STEPSCOPE_TEST_KEY");
    }

    void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
    void useKey(const std::string& name) const { ::setenv("STEPSCOPE_TEST_KEY", path(name).c_str(), 1); }
    std::vector<std::string> command(const std::string& behind = " --detach") const {
        return {"ssh",          "-F",
                path("client"), "-T",
                "-o",           "BatchMode=yes",
                "gpu-rack",     "XDG_DATA_HOME='" + path("there") + "' " STEPSCOPE_CLI " engine" + behind};
    }
    std::string refusal() const {
        const auto found = EngineQuestions::findOut(command(""));
        return found ? "" : found.error().sentence;
    }
};

TEST_F(OverSsh, ARunIsTrainedAsHereAndIsStoredOnBothSides) {
    Ear here, there;
    ASSERT_EQ(start(asked(30, {}), here)->wait().state, RunState::Finished);
    RunRequest request = asked(30, command());
    request.engineElsewhere = true;
    const RunSummary apart = start(request, there)->wait();
    ASSERT_EQ(apart.state, RunState::Finished) << apart.why;
    EXPECT_EQ(there.losses(), here.losses());
    EXPECT_THAT(there.log(), Contains(HasSubstr("it is recorded there, too, as session 1")));
    ASSERT_EQ(stored().size(), 2u);
    EXPECT_FALSE(stored()[0].host.empty());
    EXPECT_TRUE(fs::exists(path("there/stepscope/sessions.db")));
}

// ssh is killed, and so is its sshd: what was started by it lives.
TEST_F(OverSsh, ALineThatIsCutIsTakenUpAgain) {
    Ear ear;
    RunRequest request = asked(1'000'000, command());
    request.enginePause = std::chrono::milliseconds(1);
    const auto run = start(request, ear);
    for (int cut = 0; cut < 3; ++cut) {
        ASSERT_TRUE(ear.waitForStep(static_cast<std::int64_t>(ear.losses().size()) + 20));
        for (const pid_t line : children()) ::kill(line, SIGKILL);
        const auto back = [&ear] {
            const auto log = ear.log();
            return std::ranges::count(log, std::string("The line to the engine is there again."));
        };
        for (int i = 0; i < 3'000 && back() <= cut; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ASSERT_EQ(back(), cut + 1);
    }
    run->send(Stop{});
    EXPECT_EQ(run->wait().state, RunState::Stopped);
    const auto steps = ear.all<StepDone>();
    for (std::size_t i = 0; i < steps.size(); ++i) ASSERT_EQ(steps[i].step, static_cast<std::int64_t>(i) + 1);
}

TEST_F(OverSsh, AKeyThatIsRefusedAndAMachineThatNobodyKnowsAreOneSentence) {
    const auto found = EngineQuestions::findOut(command(""));
    ASSERT_TRUE(found) << found.error().sentence;
    EXPECT_GT(found->machine.memory.count, 0);
    useKey("strange");
    EXPECT_THAT(refusal(), HasSubstr("Permission denied"));
    Ear ear;
    EXPECT_THAT(start(asked(3, command()), ear)->wait().why, HasSubstr("Permission denied"));
    useKey("own");
    write("known", "");
    EXPECT_THAT(refusal(), HasSubstr("Host key verification failed"));
    fs::remove(path("client"));
    EXPECT_THAT(refusal(), HasSubstr("client"));
}

}  // namespace
}  // namespace stepscope
