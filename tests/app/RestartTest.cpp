// Workers that are started anew, as torchrun does when one of them has died: a store that outlives them, the same command line, a count. agent_store
// stands in for the agent, the test for what it starts. The run goes on from its newest checkpoint, as the same session.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>

#include "tests/app/CliFixture.h"
#include "tests/support/FreePort.h"

namespace stepscope::test {
namespace {

constexpr int kLost = 9;

class Restarted : public CliFixture {
protected:
    using Pair = std::array<std::unique_ptr<Process>, 2>;

    // Two workers, as torchrun starts them for the first time (0) or anew. The other one knows no database of the first's.
    Pair start(int times, const Words& words, const Words& ofFirst = {}) const {
        Pair workers;
        for (const int rank : {0, 1}) {
            Words command{STEPSCOPE_CLI};
            const Words own = rank == 0 ? ofFirst : Words{"--db", path("nowhere/else.db")};
            for (const Words& part : {tiny(words), own}) command.insert(command.end(), part.begin(), part.end());
            Process::Options with = options();
            with.environment.insert({{"RANK", std::to_string(rank)},
                                     {"LOCAL_RANK", std::to_string(rank)},
                                     {"WORLD_SIZE", "2"},
                                     {"LOCAL_WORLD_SIZE", "2"},
                                     {"MASTER_ADDR", "127.0.0.1"},
                                     {"MASTER_PORT", std::to_string(m_port)},
                                     {"TORCHELASTIC_RUN_ID", "none"},
                                     {"TORCHELASTIC_RESTART_COUNT", std::to_string(times)},
                                     {"TORCHELASTIC_MAX_RESTARTS", "3"},
                                     {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
            workers[static_cast<std::size_t>(rank)] = std::make_unique<Process>(command, with);
        }
        return workers;
    }
    // The first one's end.
    Finished finish(const Pair& workers) const {
        Finished first = workers[0]->wait();
        const Finished other = workers[1]->wait();
        EXPECT_EQ(first.exitCode, 0) << first.err;
        EXPECT_EQ(other.exitCode, 0) << other.err;
        return first;
    }
    void killAfter(const Pair& workers, std::size_t rank, std::size_t lines) const {
        ASSERT_TRUE(waitForSteps(path("log"), lines));
        workers[rank]->send(SIGKILL);
        EXPECT_EQ(workers[1 - rank]->wait().exitCode, kLost);
        EXPECT_EQ(workers[rank]->wait().signal, SIGKILL);
    }
    std::int64_t number(const std::string& query) const {
        SQLite::Database stored(database(), SQLite::OPEN_READONLY);
        SQLite::Statement rows(stored, query);
        return rows.executeStep() ? rows.getColumn(0).getInt64() : -1;
    }
    int logLines(const std::string& like) const { return static_cast<int>(number("SELECT count(*) FROM log_lines WHERE text LIKE '" + like + "'")); }
    // Every line of the log, of all starts, is that of an unbroken run: step for step the same bits.
    void expectAsUnbroken(std::size_t steps) const {
        const auto whole = losses(path("whole")), broken = losses(path("log"));
        const auto numbers = stepLog(path("log"));
        ASSERT_EQ(whole.size(), steps);
        ASSERT_EQ(broken.size(), numbers.size());
        EXPECT_GE(broken.size(), steps);
        for (std::size_t i = 0; i < broken.size(); ++i)
            ASSERT_EQ(broken[i], whole[numbers[i]["step"].get<std::size_t>() - 1]) << "step " << numbers[i]["step"];
        EXPECT_EQ(numbers.back()["step"], steps);
    }
    void trainUnbroken(const Words& words) {
        const int port = std::exchange(m_port, freePort());
        const Process agent({STEPSCOPE_AGENT_STORE, std::to_string(m_port)}, {});
        finish(start(0, words, {"--db", path("whole.db"), "--step-log", path("whole")}));
        m_port = port;
    }

    int m_port = freePort();
    Process m_agent{{STEPSCOPE_AGENT_STORE, std::to_string(m_port)}, {}};
};

TEST_F(Restarted, TheyGoOnFromTheNewestCheckpointAsTheSameSessionBitForBit) {
    const Words words{"--steps", "600", "--checkpoint-every", "40", "--keep", "2", "--set", "dropout=0.1", "--set", "validation-every=100"};
    trainUnbroken(words);
    const Words log{"--step-log", path("log")};
    // The first worker is gone, and what it had in its hands; then the other one, and the first one keeps a checkpoint of the last whole step.
    killAfter(start(0, words, log), 0, 100);
    EXPECT_EQ(newest()["state"], "interrupted");
    killAfter(start(1, words, log), 1, 250);
    EXPECT_EQ(newest()["state"], "failed");
    const Finished first = finish(start(2, words, log));
    EXPECT_EQ(Json::parse(cli({"sessions", "list", "--db", database(), "--json"}).out).size(), 1u);
    EXPECT_EQ(newest()["state"], "finished");
    EXPECT_EQ(newest()["steps"], 600);
    EXPECT_EQ(number("SELECT count(*) FROM sessions"), 1);
    EXPECT_EQ(number("SELECT count(*) - count(DISTINCT step) FROM steps"), 0) << "none is there twice";
    EXPECT_EQ(number("SELECT count(*) - count(DISTINCT step) FROM validations"), 0);
    EXPECT_EQ(number("SELECT max(step) FROM steps"), 600);
    EXPECT_EQ(logLines("Restarted for the 1st time; going on from step %, %step-00%"), 1);
    EXPECT_EQ(logLines("Restarted for the 2nd time; going on from step %, %step-00%"), 1);
    EXPECT_THAT(first.err, testing::HasSubstr("Restarted for the 2nd time"));
    EXPECT_EQ(number("SELECT count(*) FROM (SELECT at_ns < lag(at_ns) OVER (ORDER BY step) AS back FROM steps) WHERE back"), 0)
        << "its clock went on";
    expectAsUnbroken(600);
}

TEST_F(Restarted, WithoutACheckpointTheSessionBeginsAnew) {
    const Words words{"--steps", "600"};
    trainUnbroken(words);
    killAfter(start(0, words, {"--step-log", path("log")}), 0, 20);
    finish(start(1, words, {"--step-log", path("log")}));
    EXPECT_EQ(logLines("Restarted for the 1st time; session 1 has no checkpoint to go on from, so it begins anew%"), 1);
    EXPECT_EQ(number("SELECT count(*) FROM sessions"), 1);
    EXPECT_EQ(number("SELECT count(*) FROM steps"), 600);
    expectAsUnbroken(600);
}

TEST_F(Restarted, AFlipThatTheCheckpointHasIsNotMadeAgainAndALaterOneIs) {
    const Words words{"--steps", "600", "--checkpoint-every", "40", "--flip", "10:optimizer=loop", "--flip", "590:optimizer=foreach"};
    trainUnbroken(words);
    killAfter(start(0, words, {"--step-log", path("log")}), 0, 100);
    finish(start(1, words, {"--step-log", path("log")}));
    EXPECT_EQ(number("SELECT count(*) FROM switches_applied WHERE to_value = 'loop'"), 1);
    EXPECT_EQ(number("SELECT step FROM switches_applied WHERE to_value = 'foreach'"), 589);
    expectAsUnbroken(600);
}

TEST_F(Restarted, WhoFindsNothingOfTheirsBegin) {
    const Finished first = finish(start(1, {}));
    EXPECT_THAT(first.err,
                testing::HasSubstr("Restarted for the 1st time; no session had begun that is known where workers meet, so the run begins anew."));
    EXPECT_EQ(newest()["steps"], 12);
    // Other settings are another run, of a script that trains twice.
    finish(start(2, {"--set", "weight-decay=0.25"}));
    EXPECT_EQ(number("SELECT count(*) FROM sessions"), 2);
}

TEST_F(Restarted, AFirstStartSaysNothingOfIt) {
    const Finished first = finish(start(0, {}));
    EXPECT_THAT(first.err, testing::Not(testing::HasSubstr("Restarted")));
    EXPECT_EQ(logLines("Restarted%"), 0);
}

TEST_F(Restarted, OneThatHadComeToItsEndEndsAgain) {
    finish(start(0, {}));
    const Finished first = finish(start(1, {}));
    EXPECT_THAT(first.err, testing::HasSubstr("Restarted for the 1st time; going on from step 12"));
    EXPECT_EQ(newest()["state"], "finished");
    EXPECT_EQ(number("SELECT count(*) FROM steps"), 12);
}

// The same by PyTorch's own torchrun, of the wheel that set-up installs for its libraries. What Python's torch imports besides comes with the
// programs that packaging/test installs, and for CUDA's libraries, which set-up leaves out where there is no driver, tests/interop makes stand-ins.
TEST_F(Restarted, ByTorchrunItselfWhereThereIsOne) {
    const auto python = [](const Words& words, const Process::Options& with) {
        Words command{STEPSCOPE_PYTHON, "-B"};
        command.insert(command.end(), words.begin(), words.end());
        return Process(command, with).wait();
    };
    const Words load{"-c", "import torch.distributed.run"};
    Process::Options with = options();
    Finished loaded = python(load, with);
    const bool standIns = loaded.exitCode != 0;
    if (standIns) {
        const Finished made = python({"-c",
                                      "import sys, sysconfig; sys.path.insert(0, sys.argv[1]); import cpu_torch; "
                                      "print(cpu_torch.stand_ins(sysconfig.get_paths()['purelib'], sys.argv[2]))",
                                      STEPSCOPE_SOURCE "/tests/interop", STEPSCOPE_STAND_INS},
                                     with);
        with.environment["LD_LIBRARY_PATH"] = made.out.substr(0, made.out.find('\n'));
        with.environment["CUDA_VISIBLE_DEVICES"] = "";
        loaded = python(load, with);
    }
    if (loaded.exitCode != 0 && !STEPSCOPE_HAS_TORCHRUN) {
        // Its last line names the module that is not there.
        const std::string said = loaded.err.substr(0, loaded.err.find_last_not_of('\n') + 1), why = said.substr(said.rfind('\n') + 1);
        GTEST_SKIP() << "no torchrun: " << STEPSCOPE_PYTHON << " cannot load torch.distributed.run (" << (why.empty() ? "it is not there" : why)
                     << "); packaging/test installs what it imports, and the tests above stand in for it";
    }
    ASSERT_EQ(loaded.exitCode, 0) << loaded.err;
    const Words words{"--steps", "3000", "--checkpoint-every", "40"};
    trainUnbroken(words);
    // Workers load the libraries of the program, and no stand-ins.
    const std::string script = write("worker.sh", std::string(standIns ? "unset LD_LIBRARY_PATH\n" : "") +
                                                      "echo $$ > \"$1/pid-$TORCHELASTIC_RESTART_COUNT-$RANK\"\nshift\nexec \"$@\"\n");
    Words command{STEPSCOPE_PYTHON,
                  "-B",
                  "-m",
                  "torch.distributed.run",
                  "--standalone",
                  "--nproc-per-node",
                  "2",
                  "--max-restarts",
                  "1",
                  "--no-python",
                  "/bin/sh",
                  script,
                  path("."),
                  STEPSCOPE_CLI};
    for (const Words& part : {tiny(words), Words{"--step-log", path("log")}}) command.insert(command.end(), part.begin(), part.end());
    Process torchrun(command, with);
    ASSERT_TRUE(waitForSteps(path("log"), 100));
    const std::string other = read(path("pid-0-1"));
    ASSERT_NE(other, "");
    ::kill(static_cast<pid_t>(std::stoi(other)), SIGKILL);
    const Finished finished = torchrun.wait();
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_EQ(number("SELECT count(*) FROM sessions"), 1);
    EXPECT_EQ(newest()["state"], "finished");
    EXPECT_EQ(logLines("Restarted for the 1st time; going on from step %"), 1);
    expectAsUnbroken(3000);
}

}  // namespace
}  // namespace stepscope::test
