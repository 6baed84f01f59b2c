// Workers as `srun` starts them: real processes that know each other by the variables of a SLURM job's step alone, and where they meet by MASTER_ADDR
// and MASTER_PORT, which the job's script sets. As WorkersTest has them of a script's own.
#include <gmock/gmock.h>

#include <map>

#include "tests/app/WorkersFixture.h"

namespace stepscope::test {
namespace {

class SlurmStep : public Workers {
protected:
    using Environment = std::map<std::string, std::string>;
    // What SLURM sets for a task of a step of `size` tasks on one node.
    Environment ofTask(int rank, int size, int port) const {
        return {{"SLURM_JOB_ID", "4711"},
                {"SLURM_STEP_ID", "0"},
                {"SLURM_PROCID", std::to_string(rank)},
                {"SLURM_LOCALID", std::to_string(rank)},
                {"SLURM_NTASKS", std::to_string(size)},
                {"SLURM_STEP_NUM_TASKS", std::to_string(size)},
                {"SLURM_STEP_TASKS_PER_NODE", std::to_string(size)},
                {"MASTER_ADDR", "127.0.0.1"},
                {"MASTER_PORT", std::to_string(port)}};
    }
    std::unique_ptr<Process> task(const Words& words, const Environment& environment) const {
        Words command{STEPSCOPE_CLI};
        const Words all = tiny(words);
        command.insert(command.end(), all.begin(), all.end());
        Process::Options with = options();
        for (const auto& [name, value] : environment) with.environment[name] = value;
        return std::make_unique<Process>(command, with);
    }
    std::vector<Finished> srun(const Words& words, int size = 2) const {
        const int port = freePort();
        std::vector<std::unique_ptr<Process>> tasks;
        for (int rank = 0; rank < size; ++rank) tasks.push_back(task(words, ofTask(rank, size, port)));
        std::vector<Finished> finished;
        for (const auto& one : tasks) finished.push_back(one->wait());
        return finished;
    }
};

TEST_F(SlurmStep, ItsTasksTrainTogetherAsThoseThatAScriptStarts) {
    expectDone(srun({"--steps", "10", "--step-log", path("step")}));
    EXPECT_EQ(newest()["state"], "finished");
    EXPECT_EQ(newest()["steps"], 10);
    EXPECT_THAT(newest()["name"].get<std::string>(), testing::EndsWith("2 workers"));
    EXPECT_EQ(logLines("2 workers train together, 2 of them on this machine, with 1 thread each: an update takes 4 sequences, 2 of each worker."), 1);
    const std::string bySlurm = weights();
    ASSERT_FALSE(bySlurm.empty());
    EXPECT_EQ(Json::parse(cli({"sessions", "list", "--db", database(), "--json"}).out).size(), 1u) << "the first one alone records";

    meetAtAPort();
    expectDone(run({"--steps", "10", "--step-log", path("script")}));
    EXPECT_EQ(losses(path("step")), losses(path("script")));
    EXPECT_EQ(weights(), bySlurm);
}

TEST_F(SlurmStep, ABatchScriptOutsideOfAStepIsOneProcess) {
    Environment batch = ofTask(0, 2, freePort());
    for (const char* ofTheStep : {"SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"}) batch.erase(ofTheStep);
    const Finished alone = task({"--steps", "3"}, batch)->wait();
    EXPECT_EQ(alone.exitCode, 0) << alone.err;
    EXPECT_EQ(newest()["steps"], 3) << "it waits for nobody";
}

TEST_F(SlurmStep, WhatItsVariablesContradictIsRefusedByTheirNames) {
    Environment third = ofTask(2, 2, freePort());
    third["SLURM_LOCALID"] = "0";
    expectRefused(task({}, third)->wait(), {"SLURM_PROCID is 2", "SLURM_STEP_NUM_TASKS", "2 workers"}, kBadInput);
    Environment nowhere = ofTask(0, 2, freePort());
    nowhere.erase("MASTER_ADDR");
    expectRefused(task({}, nowhere)->wait(), {"2 workers", "MASTER_ADDR"}, kBadInput);
}

}  // namespace
}  // namespace stepscope::test
