// Runs whose moments are dealt out among the workers: checkpoints do not show it, a flip deals out and brings together, and a worker that is lost
// takes its part with it. Workers are threads here. CTest.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "ThreadWorkers.h"
#include "TinyTraining.h"
#include "core/program/DataParallel.h"
#include "core/state/Checkpoint.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;
using testing::ThreadWorkers;
using testing::TinyTrainer;

const std::string kWhole = "0", kDealt = "1";

RunConfig tinyRun(std::int64_t steps, const std::string& zero) {
    RunConfig config = testing::tinyConfig(Registry(testing::plainCpu(), 2), steps);
    config.switches["zero"] = zero;
    return config;
}

class MomentWorkers {
public:
    explicit MomentWorkers(const RunConfig& config) {
        for (auto& worker : m_workers) {
            worker = std::make_unique<TinyTrainer>(config);
            worker->registry = std::make_shared<const Registry>(testing::plainCpu(), 2);
            worker->setup.factory = worker->registry.get();
        }
    }
    std::array<TrainerOutcome, 2> run() {
        std::array<TrainerOutcome, 2> outcomes;
        m_group.run([&](int rank) {
            at::set_num_threads(1);
            DataParallel others(m_group.of(rank));
            (*this)[rank].setup.others = &others;
            auto& outcome = outcomes[static_cast<std::size_t>(rank)];
            outcome = (*this)[rank].run();
            if (outcome.state == RunState::Failed) m_group.leave();
        });
        return outcomes;
    }
    void finish() {
        for (const auto& outcome : run()) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    }
    TinyTrainer& operator[](int rank) { return *m_workers[static_cast<std::size_t>(rank)]; }
    // Of both, before the step that follows.
    void flipAfter(const std::vector<std::pair<std::int64_t, Flip>>& flips) {
        for (const int rank : {0, 1})
            (*this)[rank].sink.onEvent = [this, rank, flips](const Event& event) {
                const auto* done = std::get_if<StepDone>(&event);
                for (const auto& [step, flip] : flips)
                    if (done != nullptr && done->step == step) (*this)[rank].commands.push(flip);
            };
    }
    std::vector<double> losses() { return (*this)[0].sink.losses(); }

private:
    std::array<std::unique_ptr<TinyTrainer>, 2> m_workers;
    ThreadWorkers m_group{2};
};

std::vector<double> lossesOfWhole(std::int64_t steps) {
    MomentWorkers workers(tinyRun(steps, kWhole));
    workers.finish();
    return workers.losses();
}

class Folder {
public:
    Folder() { std::filesystem::remove_all(m_path); }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    std::string path() const { return m_path.string(); }
    std::string file(const std::string& name) const { return (m_path / name).string(); }
    std::string content(const std::string& name) const {
        std::ifstream stream(m_path / name, std::ios::binary);
        std::ostringstream all;
        all << stream.rdbuf();
        return all.str();
    }

private:
    std::filesystem::path m_path = std::filesystem::temp_directory_path() / ("stepscope-moments-" + std::to_string(::getpid()));
};

TEST(WorkersMoments, CheckpointsAreThoseOfARunWithoutPartsAndAnyNumberGoesOn) {
    const Folder folder;
    for (const std::string& zero : {kWhole, kDealt}) {
        RunConfig config = tinyRun(12, zero);
        config.checkpointEvery = 5;
        config.checkpointAtEnd = "on";
        MomentWorkers workers(config);
        workers[0].setup.checkpointFolder = folder.file(zero);
        workers.finish();
        EXPECT_EQ(workers[0].sink.all<CheckpointSaved>().size(), 3u);
        EXPECT_TRUE(workers[1].sink.all<CheckpointSaved>().empty());
        EXPECT_EQ(workers.losses(), lossesOfWhole(12));
    }
    for (const char* step : {"step-0000005", "step-0000010", "step-0000012"})
        for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
            const std::string whole = folder.content("0/" + std::string(step) + "/" + file);
            ASSERT_NE(whole, "");
            EXPECT_EQ(folder.content("1/" + std::string(step) + "/" + file), whole) << step << " " << file;
        }
    RunConfig alone = testing::tinyConfig(Registry(testing::plainCpu()), 12);
    alone.switches["grad-accumulation"] = std::int64_t{2};
    TinyTrainer trainer(alone);
    trainer.setup.state = loadCheckpoint(folder.file("1/step-0000005"), trainer.setup.state.config.paddedVocabulary).value();
    trainer.run();
    const auto losses = lossesOfWhole(12);
    EXPECT_EQ(trainer.sink.losses(), std::vector(losses.begin() + 5, losses.end()));
}

TEST(WorkersMoments, AFlipDealsThemOutAndBringsThemTogetherAndLosesNothing) {
    for (const std::string& first : {kWhole, kDealt}) {
        MomentWorkers workers(tinyRun(12, first));
        const std::string& second = first == kWhole ? kDealt : kWhole;
        // In between the State gets another shape, for which it has to be whole.
        workers.flipAfter({{3, Flip{"zero", second}}, {6, Flip{"vocab-padding", std::string("64")}}, {9, Flip{"zero", first}}});
        workers.finish();
        for (const int rank : {0, 1}) EXPECT_EQ(workers[rank].sink.all<SwitchApplied>().size(), 3u) << first;
        EXPECT_EQ(workers.losses(), workers[1].sink.losses());
        const auto steps = workers[0].sink.all<StepDone>();
        const auto losses = lossesOfWhole(12);
        ASSERT_EQ(steps.size(), losses.size());
        for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(steps[i].loss, losses[i]) << i;
        for (std::size_t i = 6; i < 12; ++i)
            EXPECT_NEAR(steps[i].loss / losses[i], 1, 1e-5) << i << ": rows that are padded change how sums are taken";
    }
}

TEST(WorkersMoments, GoWithAPlannedStepAndAreFlippedUnderIt) {
    const auto losses = [](const std::string& zero, bool flips) {
        RunConfig config = tinyRun(12, zero);
        config.switches["fusion"] = std::string("step");
        MomentWorkers workers(config);
        if (flips) workers.flipAfter({{3, Flip{"zero", zero == kWhole ? kDealt : kWhole}}, {7, Flip{"zero", zero}}});
        workers.finish();
        EXPECT_EQ(workers[0].sink.all<SwitchApplied>().size(), flips ? 2u : 0u);
        EXPECT_EQ(workers.losses(), workers[1].sink.losses());
        return workers.losses();
    };
    const auto whole = losses(kWhole, false);
    ASSERT_EQ(whole.size(), 12u);
    EXPECT_EQ(losses(kDealt, false), whole);
    for (const std::string& first : {kWhole, kDealt}) EXPECT_EQ(losses(first, true), whole) << first;
}

// The others have gone on to the next boundary, where they hear of the flip.
TEST(WorkersMoments, AFlipThatDealsThemOutWhileACheckpointWaitsForRoomGivesThatOneUpAndTheRunGoesOn) {
    const Folder folder;
    std::filesystem::create_directories(folder.file(""));
    std::ofstream(folder.file("in-the-way")) << "a file";
    RunConfig config = tinyRun(10, kWhole);
    config.checkpointEvery = 4;
    MomentWorkers workers(config);
    workers[0].setup.checkpointFolder = folder.file("in-the-way/checkpoints");
    int asked = 0;
    workers[0].setup.room = [&] {
        if (++asked == 4) workers[0].commands.push(Flip{"zero", kDealt});
        if (asked < 12) return std::int64_t{1000};
        std::filesystem::remove(folder.file("in-the-way"));
        return std::int64_t{1} << 40;
    };
    const auto outcomes = workers.run();
    for (const auto& outcome : outcomes) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    EXPECT_EQ(outcomes[0].lostCheckpoints, 1);
    for (const int rank : {0, 1}) EXPECT_EQ(workers[rank].sink.all<SwitchApplied>().size(), 1u);
    ASSERT_EQ(workers[0].sink.all<CheckpointSaved>().size(), 1u);
    EXPECT_EQ(workers[0].sink.all<CheckpointSaved>()[0].step, 8);
    EXPECT_EQ(workers.losses(), lossesOfWhole(10));
    bool said = false;
    for (const auto& line : workers[0].sink.all<LogLine>()) said = said || line.text.find("The checkpoint of step 4 is not written") == 0;
    EXPECT_TRUE(said);
}

TEST(WorkersMoments, ARunThatBreaksDownKeepsItsLastGoodStepWhole) {
    const Folder folder;
    RunConfig config = tinyRun(500, kDealt);
    config.lr = 1e30;
    config.switches["grad-clip"] = 0.0;
    MomentWorkers workers(config);
    workers[0].setup.checkpointFolder = folder.file("kept");
    for (const auto& outcome : workers.run()) {
        EXPECT_EQ(outcome.state, RunState::Failed);
        EXPECT_THAT(outcome.error.sentence, HasSubstr("not a number at step"));
    }
    EXPECT_EQ(workers[0].sink.losses(), workers[1].sink.losses());
}

TEST(WorkersMoments, AWorkerThatIsLostTakesItsPartWithItAndNothingTornIsKept) {
    const Folder folder;
    RunConfig config = tinyRun(1'000'000, kDealt);
    config.checkpointEvery = 4;
    MomentWorkers workers(config);
    workers[0].setup.checkpointFolder = folder.file("kept");
    workers[1].sink.onEvent = [](const Event& event) {
        if (const auto* done = std::get_if<StepDone>(&event); done != nullptr && done->step == 6)
            throw std::runtime_error("a mistake of this worker alone");
    };
    const auto outcomes = workers.run();
    EXPECT_THAT(outcomes[0].error.sentence, HasSubstr("Another worker has left. Step 4 is kept; resume from"));
    EXPECT_TRUE(std::filesystem::exists(folder.file("kept/step-0000004")));
    EXPECT_FALSE(std::filesystem::exists(folder.file("kept/step-0000006")));
}

TEST(WorkersMoments, ACheckpointThatFindsNoRoomIsGivenUpAndSaid) {
    const Folder folder;
    std::ofstream(folder.path()) << "in the way";
    RunConfig config = tinyRun(6, kDealt);
    config.checkpointEvery = 3;
    MomentWorkers workers(config);
    workers[0].setup.checkpointFolder = folder.file("checkpoints");
    workers[0].setup.room = [] { return std::int64_t{1000}; };
    const auto outcomes = workers.run();
    for (const auto& outcome : outcomes) EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    EXPECT_EQ(outcomes[0].lostCheckpoints, 2);
    EXPECT_EQ(workers.losses(), lossesOfWhole(6));
}

TEST(WorkersMoments, ACheckpointThatIsAskedForIsThatOfARunWithoutParts) {
    const Folder folder;
    for (const std::string& zero : {kWhole, kDealt}) {
        MomentWorkers workers(tinyRun(8, zero));
        workers[0].setup.checkpointFolder = folder.file(zero);
        for (const int rank : {0, 1}) workers[rank].setup.commandsBefore = [](std::int64_t step) { return step == 5; };
        workers[0].sink.onEvent = [&](const Event& event) {
            const auto* done = std::get_if<StepDone>(&event);
            if (done == nullptr || done->step != 4) return;
            workers[0].commands.push(SaveCheckpoint{});
            workers[0].commands.push(SaveCheckpoint{folder.file("named" + zero)});
        };
        workers.finish();
        const auto saved = workers[0].sink.all<CheckpointSaved>();
        ASSERT_EQ(saved.size(), 2u) << zero;
        EXPECT_EQ(saved[0].step, 4);
        EXPECT_TRUE(workers[1].sink.all<CheckpointSaved>().empty());
        EXPECT_EQ(workers.losses(), lossesOfWhole(8));
    }
    for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
        const std::string whole = folder.content("0/step-0000004/" + std::string(file));
        ASSERT_NE(whole, "");
        EXPECT_EQ(folder.content("1/step-0000004/" + std::string(file)), whole) << file;
        EXPECT_EQ(folder.content("named1/" + std::string(file)), whole) << file;
    }
}

// As a window does that is closed while a run goes on.
TEST(WorkersMoments, WhatIsAskedForBeforeAStopIsKeptAtTheStepAtWhichTheyStop) {
    for (const std::string& zero : {kWhole, kDealt}) {
        const Folder folder;
        MomentWorkers workers(tinyRun(1'000'000, zero));
        workers[0].setup.checkpointFolder = folder.file("kept");
        workers[0].sink.onEvent = [&](const Event& event) {
            const auto* done = std::get_if<StepDone>(&event);
            if (done == nullptr || done->step != 6) return;
            workers[0].commands.push(Flip{"fusion", std::string("kernels")});
            workers[0].commands.push(SaveCheckpoint{});
            workers[0].commands.push(Stop{});
        };
        for (const auto& outcome : workers.run()) EXPECT_EQ(outcome.state, RunState::Stopped) << outcome.error.sentence;
        const auto saved = workers[0].sink.all<CheckpointSaved>();
        ASSERT_EQ(saved.size(), 1u) << zero;
        EXPECT_EQ(saved[0].step, workers[0].sink.all<StepDone>().back().step);
        EXPECT_TRUE(workers[0].sink.all<SwitchApplied>().empty()) << "nothing is built for a run that ends";
    }
}

TEST(WorkersMoments, ACheckpointThatIsAskedForAndCannotBeWrittenIsToldAndTheRunGoesOn) {
    const Folder folder;
    std::ofstream(folder.path()) << "in the way";
    MomentWorkers workers(tinyRun(8, kDealt));
    workers[0].sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done != nullptr && done->step == 4) workers[0].commands.push(SaveCheckpoint{folder.file("named")});
    };
    workers.finish();
    EXPECT_TRUE(workers[0].sink.all<CheckpointSaved>().empty());
    int errors = 0;
    for (const auto& line : workers[0].sink.all<LogLine>()) errors += line.level == LogLevel::Error ? 1 : 0;
    EXPECT_EQ(errors, 1);
    EXPECT_EQ(workers.losses(), lossesOfWhole(8));
}

}  // namespace
}  // namespace stepscope
