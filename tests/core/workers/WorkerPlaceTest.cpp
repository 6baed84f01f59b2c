// Which worker a process is, from the environments that torchrun, srun and scripts make, and the sentence for each that contradicts itself.
#include <gmock/gmock.h>

#include <map>

#include "core/workers/WorkerPlace.h"

namespace stepscope {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Result<WorkerPlace> placeIn(const Variables& variables) {
    return workerPlaceFrom([&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

const Variables kTorchrun{{"RANK", "3"},
                          {"WORLD_SIZE", "4"},
                          {"LOCAL_RANK", "1"},
                          {"LOCAL_WORLD_SIZE", "2"},
                          {"MASTER_ADDR", "node0"},
                          {"MASTER_PORT", "29500"},
                          {"TORCHELASTIC_RESTART_COUNT", "2"},
                          {"TORCHELASTIC_USE_AGENT_STORE", "True"}};

Variables with(Variables variables, const std::string& name, const std::string& value) {
    variables[name] = value;
    return variables;
}

TEST(WorkerPlace, WithoutAnythingSetAProcessIsAlone) {
    ASSERT_TRUE(placeIn({}));
    EXPECT_TRUE(placeIn({})->alone());
    EXPECT_TRUE(placeIn({{"RANK", "0"}, {"WORLD_SIZE", "1"}})->alone());
}

TEST(WorkerPlace, TorchrunSaysAllOfIt) {
    const auto place = placeIn(kTorchrun);
    ASSERT_TRUE(place) << place.error().sentence;
    EXPECT_EQ(
        *place,
        (WorkerPlace{
            .rank = 3, .size = 4, .localRank = 1, .localSize = 2, .address = "node0", .port = 29500, .agentStore = true, .file = "", .restart = 2}));
    EXPECT_FALSE(place->oneMachine());
}

TEST(WorkerPlace, AStepOfASlurmJobIsWorkersAndABatchScriptIsNot) {
    const Variables step{
        {"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_LOCALID", "1"}, {"MASTER_ADDR", "n1"}, {"MASTER_PORT", "1234"}};
    const auto place = placeIn(step);
    ASSERT_TRUE(place) << place.error().sentence;
    EXPECT_EQ(place->rank, 5);
    EXPECT_EQ(place->size, 8);
    EXPECT_FALSE(place->agentStore);
    EXPECT_TRUE(placeIn({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}})->alone());
    // torchrun within a job: SLURM counts its agents.
    Variables both = kTorchrun;
    both.insert(step.begin(), step.end());
    EXPECT_EQ(placeIn(both)->rank, 3);
    // A script that gives the workers of a step numbers in an order of its own.
    const Variables script{{"RANK", "0"},         {"WORLD_SIZE", "2"},    {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"},
                           {"MASTER_ADDR", "n1"}, {"MASTER_PORT", "1234"}};
    ASSERT_TRUE(placeIn(script)) << placeIn(script).error().sentence;
    EXPECT_EQ(placeIn(script)->rank, 0);
}

TEST(WorkerPlace, AFileIsMetOnOneMachine) {
    const auto place = placeIn({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"STEPSCOPE_WORKERS_FILE", "/tmp/w"}});
    ASSERT_TRUE(place) << place.error().sentence;
    EXPECT_EQ(place->file, "/tmp/w");
    EXPECT_TRUE(place->oneMachine());
}

TEST(WorkerPlace, WhereAllWorkersAreOnOneMachineEachHasAPlaceOfItsOwnThere) {
    const Variables file{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"STEPSCOPE_WORKERS_FILE", "/tmp/w"}};
    EXPECT_EQ(placeIn(file)->localRank, 1) << "so that each takes another GPU";
    EXPECT_EQ(placeIn({{"RANK", "2"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "1234"}})->localRank, 2);
    EXPECT_EQ(placeIn({{"RANK", "2"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "node0"}, {"MASTER_PORT", "1234"}})->localRank, 0) << "nobody knows";
    EXPECT_EQ(placeIn(with(file, "LOCAL_RANK", "0"))->localRank, 0) << "what is said holds";
}

TEST(WorkerPlace, EveryStartIsToldFromTheOneBeforeIt) {
    const Variables file{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"STEPSCOPE_WORKERS_FILE", "/tmp/w"}};
    EXPECT_EQ(placeIn(file)->run, "");
    EXPECT_EQ(placeIn(with(file, "TORCHELASTIC_RUN_ID", "b1c2-3"))->run, "b1c2-3");
    EXPECT_EQ(placeIn(with(file, "TORCHELASTIC_RESTART_COUNT", "2"))->restart, 2) << "where workers meet at a file, too";
    const Variables step{
        {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_JOB_ID", "77"}, {"SLURM_STEP_ID", "4"}, {"STEPSCOPE_WORKERS_FILE", "/tmp/w"}};
    EXPECT_EQ(placeIn(step)->run, "77.4");
    EXPECT_EQ(placeIn(with(file, "TORCHELASTIC_RUN_ID", "a/b c"))->run, "a_b_c");
    EXPECT_EQ(placeIn(with(file, "TORCHELASTIC_RUN_ID", std::string(100'000, 'x')))->run.size(), 200u);
}

TEST(WorkerPlace, WhoMeetsAtThisMachinesOwnAddressIsOnIt) {
    const Variables script{{"RANK", "1"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "1234"}};
    ASSERT_TRUE(placeIn(script)) << placeIn(script).error().sentence;
    EXPECT_TRUE(placeIn(script)->oneMachine());
    EXPECT_FALSE(placeIn(with(script, "MASTER_ADDR", "node0"))->oneMachine());
    EXPECT_FALSE(placeIn(with(script, "LOCAL_WORLD_SIZE", "1"))->oneMachine());
}

TEST(WorkerPlace, WhatIsMissingOrContradictsIsNamed) {
    const auto sentence = [](const Variables& variables) {
        const auto place = placeIn(variables);
        return place ? std::string("taken") : place.error().sentence;
    };
    EXPECT_THAT(sentence({{"RANK", "0"}}), HasSubstr("WORLD_SIZE is not set"));
    EXPECT_THAT(sentence({{"WORLD_SIZE", "2"}}), HasSubstr("RANK is not set"));
    EXPECT_THAT(sentence(with(kTorchrun, "RANK", "4")), HasSubstr("RANK is 4, but WORLD_SIZE says that there are 4 workers, 0 to 3."));
    EXPECT_THAT(sentence(with(kTorchrun, "RANK", "-1")), HasSubstr("RANK is \"-1\""));
    EXPECT_THAT(sentence(with(kTorchrun, "WORLD_SIZE", "4x")), HasSubstr("WORLD_SIZE is \"4x\""));
    EXPECT_THAT(sentence(with(kTorchrun, "WORLD_SIZE", "99999999999")), HasSubstr("from 1 to 4096"));
    EXPECT_THAT(sentence(with(kTorchrun, "MASTER_PORT", "0")), HasSubstr("MASTER_PORT is \"0\""));
    EXPECT_THAT(sentence(with(kTorchrun, "MASTER_PORT", "")), HasSubstr("MASTER_PORT is not set"));
    EXPECT_THAT(sentence(with(kTorchrun, "MASTER_ADDR", "")), HasSubstr("MASTER_ADDR does not say where they meet"));
    EXPECT_THAT(sentence(with(kTorchrun, "LOCAL_RANK", "2")), HasSubstr("LOCAL_RANK is 2, but LOCAL_WORLD_SIZE"));
    EXPECT_THAT(sentence({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}}),
                HasSubstr("RANK is 0 and LOCAL_RANK is 1, but LOCAL_WORLD_SIZE says that all 2 workers are on this machine"));
    EXPECT_THAT(sentence(with(kTorchrun, "LOCAL_WORLD_SIZE", "5")), HasSubstr("LOCAL_WORLD_SIZE is \"5\""));
    EXPECT_THAT(sentence(with(kTorchrun, "TORCHELASTIC_RESTART_COUNT", "many")), HasSubstr("TORCHELASTIC_RESTART_COUNT"));
}

}  // namespace
}  // namespace stepscope
